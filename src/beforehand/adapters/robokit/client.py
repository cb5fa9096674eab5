"""What can be asked of one robot and told to it, a function a question, over its six ports.

Robots differ in what they know. What one does not know is asked once, remembered and put together from other
questions: all of it from the single ones, a composite order by its parts (see `orders.py`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.answers import Refusal, refusal
from beforehand.adapters.robokit.connection import Connection, Dialect, NoAnswerError
from beforehand.adapters.robokit.frame import VERSIONS, Frame

NICK_NAME = "beforehand"
PATIENCE = 2
"""How often a question may go unanswered before it counts as one that the robot does not know."""
ASK_AGAIN_S, LONGEST_REST_S = 10.0, 640.0
"""Such a question is asked once more after this long, and then after twice as long each time: the line may have been
bad just then, and a robot that says how its orders stand must not be taken for one that does not."""
_GREETINGS = (no.INFO, no.TASK, no.ALL)
_SINGLY = (no.LOCATION, no.BLOCKED, no.BATTERY, no.EMERGENCY, no.FORK, no.ALARMS, no.RUN)


@dataclass(slots=True)
class Silence:
    """A question that went unanswered."""

    times: int = 0
    answers: int = 0
    """How many answers to other questions there had been by then."""
    rest_s: float = 0.0
    until: float = 0.0
    """It is not asked again before this time of the loop's clock."""


class RobotClient:
    """Connections are made when they are first needed."""

    def __init__(
        self, host: str, ports: Mapping[str, int], limit_s: float = no.ANSWER_LIMIT_S, patience: int = PATIENCE
    ) -> None:
        self.host = host
        self.ports = dict(ports)
        self.dialect = Dialect()
        self._limit_s = limit_s
        self._patience = patience
        self._connections: dict[str, Connection] = {}
        self._unknown: set[int] = set()
        self._answered: set[int] = set()
        self._answers = 0
        self._silent: dict[int, Silence] = {}
        self._again_from = 0.0
        """None of those is asked again before this time of the loop's clock: one after the other, since each costs the
        whole of an answer's time, and a robot that is asked many at once would seem to be gone."""
        self.met = False
        """Whether it has ever answered."""

    # -- looking

    async def meet(self) -> Frame:
        """Who it is. This also finds out which version of the header it understands: robots close the door on one they
        do not know, or stay silent, as they may to any question they do not know."""
        silent: NoAnswerError | None = None
        for number in _GREETINGS:
            for _ in VERSIONS:
                try:
                    frame = await self.ask("status", number)
                except NoAnswerError as error:
                    silent = error
                    self.dialect.other()
                else:
                    self.met = True
                    return frame
        raise silent or NoAnswerError(f"{self.host} does not answer.")

    async def all_status(self) -> dict[str, Any]:
        """Everything it reports, by one question where it knows one, else by many. What it does not know is missing."""
        for number in (no.ALL, no.ALL_2, no.ALL_3):
            found = await self.look(number)
            if found is not None:
                return found
        together: dict[str, Any] = {}
        for number in _SINGLY:
            together |= await self.look(number) or {}
        return together

    async def task(self) -> dict[str, Any] | None:
        """What it does now."""
        return await self.look(no.TASK)

    async def task_status(self, task_id: str) -> int | None:
        """How an order of this id stands, where the robot keeps account of orders by id and knows this one."""
        found = await self.look(no.TASK_BY_ID, {"task_ids": [task_id]})
        package = (found or {}).get("task_status_package", found)
        listed = package.get("task_status_list") if isinstance(package, Mapping) else None
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, Mapping) and entry.get("task_id") == task_id:
                status = entry.get("status")
                return status if isinstance(status, int) and status in no.STATUSES - {no.NONE} else None
        return None

    async def look(self, number: int, body: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """What it answers to a question of the status port; None where it does not know the question."""
        if not self.knows(number):
            return None
        if not self.met:
            await self.meet()
        try:
            frame = await self.ask("status", number, body)
        except NoAnswerError:
            if self._ignores(number):
                return None
            raise
        refused = refusal(frame)
        if refused is None:
            self._answered.add(number)
            self._silent.pop(number, None)
            self._answers += 1
            return dict(frame.body)
        if refused.number in (no.UNKNOWN_NUMBER, no.WRONG_PORT):
            self._unknown.add(number)
        return None

    def _ignores(self, number: int) -> bool:
        """Whether it never answered this, though it answers other things: some robots say nothing to what they do not
        know. A robot that answers nothing at all is another matter."""
        silence = self._silent.setdefault(number, Silence())
        if number in self._answered or silence.answers == self._answers:
            return False
        silence.times, silence.answers = silence.times + 1, self._answers
        if silence.times < self._patience:
            return False
        silence.rest_s = min(max(ASK_AGAIN_S, 2 * silence.rest_s), LONGEST_REST_S)
        now = asyncio.get_running_loop().time()
        silence.until, self._again_from = now + silence.rest_s, now + ASK_AGAIN_S
        return True

    def knows(self, number: int) -> bool:
        """Whether it is worth asking: it has neither said that it does not know this question, nor just ignored it."""
        silence = self._silent.get(number)
        resting = False
        if silence is not None and silence.times >= self._patience:
            resting = asyncio.get_running_loop().time() < max(silence.until, self._again_from)
        return number not in self._unknown and not resting

    async def holder(self) -> str | None:
        """Who has control of it; empty where nobody has, None where it does not say."""
        found = await self.look(no.CONTROL)
        if found is None:
            return None
        inside = found.get("current_lock")
        lock = inside if isinstance(inside, Mapping) else found
        locked = lock.get("locked", bool(lock.get("nick_name")))
        return str(lock.get("nick_name") or lock.get("ip") or "somebody") if locked else ""

    # -- telling

    async def take_control(self) -> Refusal | None:
        return await self.tell("config", no.TAKE_CONTROL, {"nick_name": NICK_NAME})

    async def give_control(self) -> Refusal | None:
        return await self.tell("config", no.GIVE_CONTROL)

    async def go_target(self, payload: Mapping[str, Any], task_id: str, from_node: str | None) -> Refusal | None:
        """Drive, and load or unload there where the payload says so; as a list of one where only lists are known."""
        order = {**payload, "task_id": task_id}
        if self.knows(no.GO_TARGET):
            refused = await self.tell("task", no.GO_TARGET, order)
            if refused is None or refused.number != no.UNKNOWN_NUMBER:
                return refused
            self._unknown.add(no.GO_TARGET)
        source = {"source_id": from_node or "SELF_POSITION"}
        return await self.tell("task", no.GO_TARGET_LIST, {"move_task_list": [source | order]})

    async def drive_legs(self, legs: Sequence[Mapping[str, Any]]) -> Refusal | None:
        """Drive these edges, one after the other, after those it has been told of before."""
        return await self.tell("task", no.GO_TARGET_LIST, {"move_task_list": [dict(leg) for leg in legs]})

    async def pause(self) -> Refusal | None:
        return await self.tell("task", no.PAUSE)

    async def resume(self) -> Refusal | None:
        return await self.tell("task", no.RESUME)

    async def cancel(self) -> Refusal | None:
        return await self.tell("task", no.CANCEL)

    async def fork_to(self, height_m: float) -> Refusal | None:
        return await self.tell("other", no.FORK_HEIGHT, {"height": height_m})

    async def stop_fork(self) -> Refusal | None:
        return await self.tell("other", no.FORK_STOP)

    async def push_every(self, interval_ms: int, fields: tuple[str, ...]) -> Refusal | None:
        return await self.tell("push", no.SET_PUSH, {"interval": interval_ms, "included_fields": list(fields)})

    # -- both

    async def ask(self, port: str, number: int, body: Mapping[str, Any] | None = None) -> Frame:
        return await self.connection(port).ask(number, body, self._limit_s)

    async def tell(self, port: str, number: int, body: Mapping[str, Any] | None = None) -> Refusal | None:
        """Tell it something; its refusal, or None where it agreed."""
        return refusal(await self.ask(port, number, body))

    def connection(self, port: str, on_other: Callable[[Frame], None] | None = None) -> Connection:
        found = self._connections.get(port)
        if found is None:
            found = Connection(self.host, self.ports[port], self.dialect, on_other)
            self._connections[port] = found
        return found

    def close(self) -> None:
        for connection in self._connections.values():
            connection.drop()
