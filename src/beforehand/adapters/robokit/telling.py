"""What one robot is told: orders whole, leg by leg or in parts; to pause, to go on, to cancel.

A robot that takes no orders which drive and lift in one gets the parts, each once the one before is seen to be done.
What is told goes through `Control`, and is kept for the next process before it is sent.
"""

from collections.abc import Awaitable, Callable, Mapping

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.answers import Refusal
from beforehand.adapters.robokit.client import RobotClient
from beforehand.adapters.robokit.connection import NoAnswerError, NotReachedError
from beforehand.adapters.robokit.control import Control
from beforehand.adapters.robokit.legs import legs_untold
from beforehand.adapters.robokit.orders import (
    BEGIN_MS,
    UNDER_WAY,
    Order,
    Part,
    can_be_taken_apart,
    drive_ended,
    fork_height,
    fork_is_at,
)
from beforehand.adapters.robokit.readings import Reading
from beforehand.model.robot import CancelTarget, DriveOn, GoTarget, PauseRobot, ResumeRobot, RobotCommand


class Telling:
    def __init__(
        self, robot_id: str, client: RobotClient, control: Control, order: Order | None, keep: Callable[[], None]
    ) -> None:
        self.order = order
        """The order it was last given."""
        self.status = no.NONE
        """Its own status, as it was last seen."""
        self.at: str | None = None
        """The station where it was last seen to stand; None between two."""
        self._robot_id = robot_id
        self._client = client
        self._control = control
        self._keep = keep

    async def has_already(self, command: RobotCommand) -> bool:
        """Whether an order that was sent before, and never answered, has reached the robot after all. Where the robot
        cannot tell, nobody can, and it is not sent again."""
        order = self.order
        if not isinstance(command, GoTarget) or order is None or order.key != command.key or not order.sent:
            return False
        known = await self._client.task_status(order.task_id)
        return known is not None or not self._client.knows(no.TASK_BY_ID)

    async def tell(self, command: RobotCommand) -> Refusal | None:
        """Its refusal, or None where it agreed. NotReachedError and NoAnswerError as a connection raises them."""
        match command:
            case GoTarget():
                return await self._go(command)
            case DriveOn():
                return await self._drive_on(command)
            case PauseRobot():
                return await self._pause()
            case ResumeRobot():
                return await self._resume()
            case CancelTarget():
                return await self._cancel()

    async def _go(self, command: GoTarget) -> Refusal | None:
        before, order = self.order, Order(command.key, command.payload, self.status, way=command.way)
        self.order = order
        self._keep()
        try:
            if command.way is not None:
                refused = await self._tell_legs(order)
            else:
                refused = await self._control.tell(
                    lambda: self._client.go_target(command.payload, order.task_id, self.at)
                )
            if (
                command.way is None
                and refused is not None
                and refused.number in no.UNSUITED
                and "operation" in command.payload
            ):
                refused = await self._take_apart(order, refused)
        except NoAnswerError:
            order.sent = True
            raise
        except NotReachedError:
            self.order = before
            self._keep()
            raise
        if refused is None:
            order.sent = True
        else:
            self.order = before
        self._keep()
        return refused

    async def _pause(self) -> Refusal | None:
        order = self._apart
        if order is None:
            return await self._control.tell(self._client.pause)
        order.halted, order.still = True, False
        if order.part == "drive":
            refused = await self._control.tell(self._client.pause)
            order.halted = refused is None or self.status not in UNDER_WAY
            return refused if not order.halted else None
        refused = await self._control.tell(self._client.stop_fork)
        order.still = refused is None
        return refused  # a fork that cannot be stopped comes to its height, and then nothing follows

    async def _resume(self) -> Refusal | None:
        order = self._apart
        if order is None or not order.halted:
            return await self._control.tell(self._client.resume)
        height = fork_height(order)
        if height is not None:
            refused = await self._control.tell(lambda: self._client.fork_to(height))
        else:
            refused = await self._control.tell(self._client.resume) if self.status in UNDER_WAY else None
        order.halted = refused is not None
        return refused

    @property
    def _apart(self) -> Order | None:
        """The order under way, if it was taken apart."""
        order = self.order
        return None if order is None or order.part is None or order.over is not None else order

    async def _drive_on(self, command: DriveOn) -> Refusal | None:
        """More of the way; what is refused ends the order, since nobody would drive it to its end."""
        order = self.order
        if order is None or order.key != command.order_key or order.way is None or order.over is not None:
            return Refusal(0, "order.unknown", "it does not have that order")
        order.way += command.unknown_to(len(order.way))
        self._keep()
        if order.unsure and await self._client.task_status(order.leg_id(max(1, order.told))) is not None:
            order.told = max(order.told, order.unsure)
        elif order.unsure and not self._client.knows(no.TASK_BY_ID):
            return None  # It may have them; told twice, it might drive them twice.
        order.unsure = 0
        refused = await self._tell_legs(order)
        if refused is not None:
            order.over, order.error = no.FAILED, refused.says(self._robot_id, "to drive on")
        return refused

    async def _tell_legs(self, order: Order) -> Refusal | None:
        """Tells the robot of the legs it does not know yet."""
        legs, known = legs_untold(order), len(order.way or ())
        if not legs:
            return None
        try:
            refused = await self._control.tell(lambda: self._client.drive_legs(legs))
        except NoAnswerError:
            order.unsure = known
            raise
        if refused is None:
            order.told = known
        self._keep()
        return refused

    async def _cancel(self) -> Refusal | None:
        order, apart = self.order, self._apart
        if apart is not None:
            apart.halted = False
        if apart is not None and apart.part != "drive":
            refused = await self._control.tell(self._client.stop_fork)
            if refused is None:  # It may have lifted by then.
                apart.cancelled = True
                apart.over = no.CANCELLED if apart.part == "fork-before" else no.NONE
                self._keep()
            return refused
        refused = await self._control.tell(self._client.cancel)
        if order is not None and (refused is None or refused.code == "robot.refused"):
            order.cancelled = True
            self._keep()
        return refused

    # -- in parts

    async def _take_apart(self, order: Order, refused: Refusal) -> Refusal | None:
        cannot = can_be_taken_apart(order.payload)
        if cannot is not None:
            return Refusal(refused.number, refused.code, f"{cannot}; {refused.why}")
        stations = await self._client.look(no.STATIONS)
        names = [one.get("id") for one in (stations or {}).get("stations", ()) if isinstance(one, Mapping)]
        if names and order.target not in names:
            return refused
        order.begin("fork-before", self.at)
        start = order.payload.get("start_height")
        if isinstance(start, int | float):
            return await self._control.tell(lambda: self._client.fork_to(float(start)))
        return None

    async def next_part(self, order: Order, reading: Reading, by_id: int | None, now_ms: int) -> None:
        """Go on to the next part where the present one is done, and nobody has told it to pause."""
        height = fork_height(order)
        there = height is None or fork_is_at(height, reading)
        knows = height is None or reading.fork_m is not None
        if order.part == "drive":
            ended = drive_ended(order, reading, by_id, self.status, now_ms)
            if ended == no.COMPLETED and not order.halted:
                end = float(order.payload["end_height"])
                await self._begin(order, "fork-after", lambda: self._client.fork_to(end))
            elif ended not in (None, no.COMPLETED):
                order.over = ended
        elif order.halted:
            order.still = order.still or there
        elif order.part_is_done(there, 0 if knows else BEGIN_MS, now_ms):
            if order.part == "fork-before":
                drive = {"id": order.target}
                await self._begin(order, "drive", lambda: self._client.go_target(drive, order.task_id, self.at))
            else:
                order.over = no.COMPLETED if knows or order.part_began else no.NONE
        elif not there:
            order.part_began = True

    async def _begin(self, order: Order, part: Part, tell: Callable[[], Awaitable[Refusal | None]]) -> None:
        before = order.part, order.part_at, order.part_began
        order.begin(part, self.at)
        self._keep()
        try:
            refused = await self._control.tell(tell)
        except NotReachedError:
            order.part, order.part_at, order.part_began = before  # it is tried again with the next look
            raise
        if refused is not None:
            order.over, order.error = no.FAILED, refused.says(self._robot_id, "a part of the order")
