"""The conversation with one robot: it is looked at again and again, and told what to do when there is something.

It has a task of its own, so its trouble is its own. The task status is only ever taken from answers to questions that
were asked after a command went out; what the robot pushes by itself says only that it is time to look.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.answers import Refusal
from beforehand.adapters.robokit.client import RobotClient
from beforehand.adapters.robokit.connection import LONGEST_REST_S, NoAnswerError
from beforehand.adapters.robokit.control import Control
from beforehand.adapters.robokit.frame import Frame
from beforehand.adapters.robokit.legs import shown_of_legs
from beforehand.adapters.robokit.options import RobokitOptions
from beforehand.adapters.robokit.orders import UNDER_WAY, Order, settled, shown
from beforehand.adapters.robokit.readings import Reading, read_status, status_in
from beforehand.adapters.robokit.standing import Standing
from beforehand.adapters.robokit.telling import Telling
from beforehand.adapters.robokit.uptime import Uptime
from beforehand.model.errors import UnavailableError
from beforehand.model.robot import (
    Ack,
    CancelTarget,
    DriveOn,
    GoTarget,
    PauseRobot,
    ResumeRobot,
    RobotCommand,
    Telemetry,
)
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.robot import LinkStanding
from beforehand.ports.tasks import lasting, part, stop

log = Log("beforehand.robokit")
BUSY_MS = 200
IDLE_MS = 1000
PUSH_MS = 200
PUSHED_FIELDS = ("task_status", "current_station", "blocked", "emergency", "x", "y")
NAMED_EVERY = 10
"""A running order that the robot knows by its id is asked about this often, in looks."""
ANSWERS_KEPT = 32
CLOCK_SLACK_MS = 2000

Say = Callable[[Telemetry | Ack], None]


class Talk:
    def __init__(
        self,
        robot_id: str,
        options: RobokitOptions,
        clock: Clock,
        say: Say,
        *,
        kept: Mapping[str, Any] | None = None,
        keep: Callable[[], None] = lambda: None,
        idle_ms: int = IDLE_MS,
    ) -> None:
        self.robot_id = robot_id
        self._client = RobotClient(options.host, options.ports, options.answer_limit_s)
        self._control = Control(self._client)
        self._options = options
        self._clock = clock
        self._say = say
        self._keep = keep
        self._idle_ms = idle_ms
        order = Order.kept(kept["order"]) if kept and kept.get("order") else None
        self._telling = Telling(robot_id, self._client, self._control, order, keep)
        self._boot = int((kept or {}).get("boot", 1))
        self._uptime = Uptime.taken_up(kept or {})
        self._seq = clock.now_ms()
        """Counts up over restarts of this process, too: it begins at the time."""
        self._last: Telemetry | None = None
        self._pushed_last: tuple[Any, ...] | None = None
        self._looks = 0
        self._answers: dict[str, Ack] = {}
        self._standing = Standing(robot_id, self._client, clock)
        self._clock_told = False
        self._look_now = asyncio.Event()
        self._looking = asyncio.Lock()

    def kept(self) -> dict[str, Any]:
        """What the next process needs to know: the last order, by the key the robot has it under."""
        order = None if self._telling.order is None else self._telling.order.wire()
        return {"order": order, "boot": self._boot, **self._uptime.kept()}

    # -- looking

    async def follow(self) -> None:
        """Look at the robot until cancelled."""
        pushing = lasting(self._hear_pushes, f"what {self.robot_id} says by itself", may_end=True)
        try:
            while True:
                await self._look_once()
                await self._rest()
        finally:
            await stop([pushing])

    async def read(self) -> Telemetry | None:
        """Its present state; None where it does not answer."""
        try:
            report = await self._look()
        except UnavailableError as error:
            self._standing.note_reached(False, error.says)
            return None
        self._standing.note_reached(True)
        return report

    async def standing(self) -> LinkStanding:
        return await self._standing.now()

    async def _look_once(self) -> None:
        report = await self.read()
        if report is not None:
            self._say(report)

    async def _look(self) -> Telemetry:
        async with self._looking:
            while True:
                self._look_now.clear()
                order = self._telling.order
                stage = None if order is None else order.stage
                # First what it does, then what is on its fork: a load that is older than the end of an order belies it.
                task = await self._client.task()
                by_id = await self._asked_by_id(order, status_in(task or {}))
                asked_ms = self._clock.now_ms()
                reading = read_status(await self._client.all_status(), task, self._options)
                if self._telling.order is order and (order is None or order.stage == stage):
                    break  # else a command went out meanwhile, and what was seen is from before it
            self._note_boot(reading, asked_ms)
            if order is not None and order.part is not None and order.over is None:
                await self._telling.next_part(order, reading, by_id, self._clock.now_ms())
            return self._report(order, reading, by_id)

    async def _asked_by_id(self, order: Order | None, status: int | None) -> int | None:
        if order is None or not order.sent or not self._client.knows(no.TASK_BY_ID):
            return None
        self._looks += 1
        if order.over is not None and status not in UNDER_WAY:
            return None
        if order.named and status == no.RUNNING and self._looks % NAMED_EVERY:
            return no.RUNNING
        return await self._client.task_status(order.task_id)

    def _report(self, order: Order | None, reading: Reading, by_id: int | None) -> Telemetry:
        now_ms = self._clock.now_ms()
        known = None if order is None else order.seen
        if order is not None and order.way is not None and order.sent:
            status, key = shown_of_legs(order, reading, by_id, self._telling.status, now_ms)
        else:
            status, key = shown(order, reading, by_id, self._telling.status)
        status = settled(order, status, order is not None and key == order.key, reading, now_ms)
        if order is not None and known != order.seen:
            self._keep()
        self._telling.status = self._telling.status if reading.status is None else reading.status
        self._seq += 1
        load = reading.load
        self._last = Telemetry(
            self.robot_id,
            now_ms,
            self._seq,
            self._boot,
            reading.node_id,
            reading.next_node_id,
            reading.x,
            reading.y,
            reading.heading,
            status,
            key,
            reading.battery,
            reading.charging,
            reading.blocked,
            None if load is None else load.reading,
            self._trouble(order, reading),
            "high" if load is None else load.confidence,
            target=reading.target,
        )
        self._telling.at = None if reading.next_node_id is not None else reading.node_id
        return self._last

    def _trouble(self, order: Order | None, reading: Reading) -> str | None:
        told = [order.error if order is not None else None, reading.error]
        found = " ".join(one for one in told if one)
        return f"{self.robot_id}: {found}" if found else None

    def _note_boot(self, reading: Reading, asked_ms: int) -> None:
        """A robot that was started again has forgotten its order, and who has control."""
        now_ms = self._clock.now_ms()
        if reading.clock_ms is not None and not self._clock_told and abs(reading.clock_ms - now_ms) > CLOCK_SLACK_MS:
            self._clock_told = True
            log.info("a robot's clock differs from ours", robot=self.robot_id, ms=reading.clock_ms - now_ms)
        if reading.up_ms is not None and self._uptime.has_restarted(asked_ms, now_ms, reading.up_ms, reading.clock_ms):
            self._boot += 1
            self._control.forget()
            self._keep()

    async def _rest(self) -> None:
        """Until it is time to look again: soon while it does something, at once where it has news."""
        said = no.NONE if self._last is None else self._last.task_status
        busy = {self._telling.status, said} & UNDER_WAY or (
            self._telling.order is not None and self._telling.order.over is None
        )
        due_ms = self._clock.now_ms() + (min(BUSY_MS, self._idle_ms) if busy else self._idle_ms)
        waits = {
            part(self._clock.sleep_until(due_ms)),
            part(self._look_now.wait()),
        }
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    # -- what it pushes

    async def _hear_pushes(self) -> None:
        connection = self._client.connection("push", self._pushed)
        while True:
            with suppress(UnavailableError):
                refused = await self._client.push_every(PUSH_MS, PUSHED_FIELDS)
                if refused is not None:
                    return
                await connection.lost()
            await asyncio.sleep(LONGEST_REST_S)

    def _pushed(self, frame: Frame) -> None:
        if frame.number == no.PUSHED:
            news = tuple(str(frame.body.get(name)) for name in PUSHED_FIELDS[:4])
            if news != self._pushed_last:
                self._pushed_last = news
                self._look_now.set()

    # -- telling

    async def send(self, command: RobotCommand) -> None:
        """Hand a command over; its answer comes among the reports. NotReachedError where it certainly was not sent."""
        known = self._answers.get(command.key)
        if known is not None:
            self._say(replace(known, ts=self._clock.now_ms()))
            return
        try:
            if await self._telling.has_already(command):
                refused = None
            else:
                refused = await self._telling.tell(command)
        except NoAnswerError as error:
            log.warning("a command was not answered", robot=self.robot_id, key=command.key, says=error.says)
            self._standing.note_trouble(error.says)
            self._look_now.set()
            return  # the robot may have it: what it does will tell
        self._answer(self._as_ack(command, refused))
        self._look_now.set()

    def _as_ack(self, command: RobotCommand, refused: Refusal | None) -> Ack:
        now_ms = self._clock.now_ms()
        if refused is None:
            return Ack(command.key, self.robot_id, now_ms)
        says = refused.says(self.robot_id, _what_it_asks(command))
        self._standing.note_trouble(says)
        return Ack(command.key, self.robot_id, now_ms, False, refused.code, says)

    def _answer(self, ack: Ack) -> None:
        self._answers[ack.key] = ack
        if len(self._answers) > ANSWERS_KEPT:
            del self._answers[next(iter(self._answers))]
        self._say(ack)

    async def close(self) -> None:
        """Give control back, and go."""
        await self._control.give_back()
        self._client.close()


def _what_it_asks(command: RobotCommand) -> str:
    match command:
        case GoTarget():
            return "the order"
        case DriveOn():
            return "to drive on"
        case PauseRobot():
            return "to pause"
        case ResumeRobot():
            return "to go on"
        case CancelTarget():
            return "to cancel"
