"""A Robokit robot with a record of its own: what it was told, what it began, what its fork truly did.

It talks as `other_robokit` does and shares no code with ours. How it names its orders, whether it shows that it runs,
what its load sensor is worth and whether it drives and lifts in one order is its character; every robot can also be
told its way leg by leg (3066). Pallets stand on a floor that all robots share, and only a robot's own fork moves them;
what it reports of that is another matter.
"""

import random
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tests.contract.other_robokit import CANCELLED, DONE, RUNNING, SUSPENDED, Answer, Habits, OtherRobot

FAILED = 5
UP_M = 0.3
"""A pallet is on the fork above this height; only robots that take single orders look at it."""


@dataclass(frozen=True)
class Character:
    ids: Literal["ours", "theirs", "none"]
    """Whether it tells how an order of our id stands, names its orders itself, or neither."""
    shows_run: Literal["always", "sometimes", "never"]
    sensor: Literal["right", "absent", "empty", "loaded"]
    """`empty` and `loaded`: stuck there."""
    orders: Literal["whole", "single"] = "whole"
    """Whether it takes orders that drive and lift in one."""

    @property
    def name(self) -> str:
        return f"ids {self.ids}, shows 2 {self.shows_run}, sensor {self.sensor}, orders {self.orders}"


CHARACTERS = (
    Character("ours", "always", "empty"),
    Character("ours", "never", "right"),
    Character("theirs", "always", "right"),
    Character("theirs", "sometimes", "absent"),
    Character("none", "sometimes", "right"),
    Character("none", "never", "loaded"),
    Character("none", "always", "empty"),
)


class Fact(NamedTuple):
    """One thing that truly was. `books` is how many events our log had then."""

    what: Literal["ordered", "begun", "loaded", "unloaded", "failed", "cancelled", "forgotten", "collided", "taken off"]
    robot: str
    key: str
    """The id that came with the order, whatever the robot shows of it."""
    operation: str
    node: str
    books: int


@dataclass
class Floor:
    """Where pallets stand, by node."""

    pallets: set[str]
    facts: list[Fact] = field(default_factory=list)
    books: Callable[[], int] = lambda: 0
    lock: threading.RLock = field(default_factory=threading.RLock)


class StrangerRobot(OtherRobot):
    def __init__(
        self,
        name: str,
        node: str,
        nodes: Mapping[str, tuple[float, float]],
        floor: Floor,
        character: Character,
        seed: object,
    ) -> None:
        self.name, self.floor, self.character = name, floor, character
        self.line_is_down = False
        self.loses: Literal["", "orders", "answers"] = ""
        """What gets lost of the next command: the whole of it, or only the answer."""
        self.fails_next = False
        self.slow = 1.0
        self._dice = random.Random(f"{seed}/{name}")
        self._lines: set[socket.socket] = set()
        self._doing: Literal["", "pending", "driving", "working"] = ""
        self._paused = self._shows = False
        self._moves = 0
        self._own_name = self._last_target = self._last_id = ""
        self._by_id: dict[str, int] = {}
        self._legs: list[Answer] = []
        """What it was told to do after the present order."""
        self._places = nodes
        self._fork_goal: float | None = None
        self._fork_due_s = 0.0
        super().__init__(node, list(nodes), Habits(unknown=() if character.ids == "ours" else (1110,)))

    # -- the line

    def cut(self) -> None:
        """Every connection ends, and none is taken."""
        self.line_is_down = True
        with self.floor.lock:
            for line in list(self._lines):
                _end(line)

    def connect(self) -> None:
        self.line_is_down = False

    def _talk(self, kind: str, line: socket.socket) -> None:
        if self.line_is_down:
            line.close()
            return
        with self.floor.lock:
            self._lines.add(line)
        try:
            super()._talk(kind, line)
        finally:
            with self.floor.lock:
                self._lines.discard(line)

    def _answered(self, kind: str, api: int, body: bytes) -> tuple[int, Answer | None]:
        told = 3000 <= api < 4000 or api in (6040, 6041)
        if self.line_is_down or (told and self.loses == "orders"):
            self.loses = ""
            raise EOFError
        answer = super()._answered(kind, api, body)
        if told and self.loses == "answers":
            self.loses = ""
            raise EOFError
        return answer

    # -- what people do to it

    @property
    def is_busy(self) -> bool:
        return bool(self._doing) or self._fork_goal is not None

    @property
    def is_working(self) -> bool:
        return self._doing == "working" or self._fork_goal is not None

    @property
    def is_loaded(self) -> bool:
        return self._loaded

    @property
    def stands_at(self) -> str:
        return self._node

    def unload(self) -> None:
        """A person takes the pallet off and away."""
        with self._lock, self.floor.lock:
            if self._loaded:
                self._note("taken off")
            self._loaded = False

    def cancel_by_hand(self) -> None:
        with self._lock:
            self._ordered(3003, {})
            self._fork_goal = None

    def restart(self) -> None:
        """It forgets its order, and everything it ever named."""
        with self._lock, self.floor.lock:
            if self._doing:
                self._note("forgotten")
            elif self._fork_goal is not None:
                self._note("forgotten", self._fork_order(self._fork_goal))
            self._doing, self._status, self._order, self._own_name = "", 0, {}, ""
            self._paused, self._fork_goal = False, None
            self._legs.clear()
            self._by_id.clear()

    # -- what it says

    def _answer(self, api: int, asked: Answer) -> Answer | None:
        if api == 1110:
            known = [one for one in asked.get("task_ids", ()) if one in self._by_id]
            listed = [{"task_id": one, "status": self._by_id[one], "type": 3} for one in known]
            return {"task_status_package": {"task_status_list": listed}}
        if api == 3066:
            return self._told_legs(asked["move_task_list"])
        if api in (6040, 6041) and self.character.orders == "single":
            return self._told_fork(asked.get("height"))
        if api == 3051 and self.character.orders == "single" and "operation" in asked:
            return {"ret_code": 40_003, "err_msg": "operation is not allowed"}
        return super()._answer(api, asked)

    def _told(self, api: int) -> Answer:
        said = super()._told(api)
        driving = self._doing == "driving"
        both = {
            "task_status": self._status,
            "target_id": self._order.get("id", "") if self._doing != "pending" else self._last_target,
            "finished_path": [self._node],
            "unfinished_path": [self._order["id"]] if driving else [],
            "current_station": "" if driving else self._node,
            "x": self._places[self._node][0],
            "y": self._places[self._node][1],
            "fork_height_in_place": self._fork_goal is None,
        }
        said |= {name: value for name, value in both.items() if name in said}
        if "task_status" in said and self.character.ids == "theirs":
            said["task_id"] = self._own_name
        sensed = {"right": self._loaded, "empty": False, "loaded": True}.get(self.character.sensor)
        if api in (1100, 1101, 1102) and sensed is not None:
            said["goods_region"] = {"point": [{"x": 1, "y": 1}] * sensed}
        return said

    # -- what it does

    def _ordered(self, api: int, asked: Answer) -> Answer:
        with self.floor.lock:
            if api == 3051:
                if asked.get("id") not in self._nodes:
                    return {"ret_code": 50_101, "err_msg": "target not found"}
                self._last_target = self._order.get("id", "")
                self._take(asked)
            elif api == 3003 and self._doing:
                self._note("cancelled")
                self._end(CANCELLED, was_shown=self._doing != "pending")
            elif api == 3001 and self._doing and not self._paused:
                self._paused = True
                self._status = SUSPENDED if self._shows and self._doing != "pending" else self._status
            elif api == 3002 and self._paused:
                self._paused = False
                self._status = RUNNING if self._shows and self._doing != "pending" else self._status
                self._after(0.1)
        return {}

    def _take(self, order: Answer) -> None:
        self._legs.clear()
        self._order, self._doing, self._paused = order, "pending", False
        self._last_id = self._id
        self._note("ordered")
        self._after(self._dice.choice((0.0, 0.02, 0.1, 0.25)))

    def _told_legs(self, legs: list[Answer]) -> Answer:
        if any(leg["id"] not in self._nodes for leg in legs):
            return {"ret_code": 50_101, "err_msg": "target not found"}
        if self.character.orders == "single" and any("operation" in leg for leg in legs):
            return {"ret_code": 40_003, "err_msg": "operation is not allowed"}
        with self.floor.lock:
            first, more = (legs[0], legs[1:]) if not self._doing else (None, legs)
            if first is not None:
                self._last_target = self._order.get("id", "")
                self._take(first)
            for leg in more:
                self._note("ordered", leg)
            self._legs += more
        return {}

    def _told_fork(self, height: float | None) -> Answer:
        with self.floor.lock:
            if height is not None and height != self._height:
                if self._is_at_stand(height):
                    self._note("ordered", self._fork_order(height))
                self._fork_due_s = time.monotonic() + self._dice.uniform(0.35, 0.6) * self.slow
            self._fork_goal = height
        return {}

    def _is_at_stand(self, height: float) -> bool:
        return self._loaded if height < UP_M else self._node in self.floor.pallets

    def _fork_order(self, height: float) -> Answer:
        operation = "ForkLoad" if height >= UP_M else "ForkUnload"
        return {"task_id": self._last_id, "operation": operation, "id": self._node}

    def _move_fork(self) -> None:
        height, pallets = self._fork_goal, self.floor.pallets
        if height is None or time.monotonic() < self._fork_due_s:
            return
        done = self._fork_order(height)
        if height >= UP_M > self._height and self._node in pallets:
            pallets.discard(self._node)
            self._note("collided" if self._loaded else "loaded", done)
            self._loaded = True
        elif height < UP_M <= self._height and self._loaded:
            self._note("collided" if self._node in pallets or self._doing else "unloaded", done)
            pallets.add(self._node)
            self._loaded = False
        self._height, self._fork_goal = height, None

    def _drive(self) -> None:
        while not self._closed:
            time.sleep(0.005)
            with self._lock, self.floor.lock:
                self._move_fork()
                if not self._doing or self._paused or time.monotonic() < self._due_s:
                    continue
                if self._doing == "pending":
                    self._begin()
                elif self._doing == "driving":
                    self._node, self._doing = self._order["id"], "working"
                    self._after(self._dice.uniform(0.35, 0.6) if self._order.get("operation") else 0.0)
                else:
                    self._work()

    def _begin(self) -> None:
        self._note("begun")
        self._moves += 1
        self._own_name = f"move-{self._moves}"
        self._shows = {"always": True, "never": False}.get(self.character.shows_run, self._dice.random() < 0.5)
        if self._shows:
            self._status = RUNNING
            self._by_id[self._id] = RUNNING
        self._doing = "driving"
        self._after(self._dice.uniform(0.02, 0.4))

    def _work(self) -> None:
        operation, node = str(self._order.get("operation", "")), self._order["id"]
        pallets, fails = self.floor.pallets, self.fails_next
        if fails or (operation and (operation == "ForkLoad") == (node not in pallets)):
            self.fails_next = False
            self._note("failed")
            self._end(FAILED)
        elif not operation:
            self._leg_done()
        elif self._loaded == (operation == "ForkLoad"):
            self._note("collided")
            self._end(FAILED)
        else:
            self._loaded = operation == "ForkLoad"
            (pallets.discard if self._loaded else pallets.add)(node)
            self._note("loaded" if self._loaded else "unloaded")
            self._leg_done()

    def _leg_done(self) -> None:
        if not self._legs:
            self._end(DONE)
            return
        if self._shows:
            self._by_id[self._id] = DONE
        self._order = self._legs.pop(0)
        if self._shows:
            self._by_id[self._id] = RUNNING
        self._doing = "driving"
        self._after(self._dice.uniform(0.02, 0.4))

    def _end(self, status: int, was_shown: bool = True) -> None:
        self._doing = ""
        if was_shown:
            self._status = status
            for ended in (self._order, *self._legs):
                self._by_id[str(ended.get("task_id", ""))] = status
            self._legs.clear()
        else:
            self._order = {"id": self._last_target} if self._last_target else {}

    def _after(self, seconds: float) -> None:
        self._due_s = time.monotonic() + seconds * self.slow

    @property
    def _id(self) -> str:
        return str(self._order.get("task_id", ""))

    def _note(self, what: str, order: Answer | None = None) -> None:
        about = self._order if order is None else order
        operation, node = str(about.get("operation", "")), str(about.get("id", ""))
        key = str(about.get("task_id", "")).partition("/")[0]
        fact = Fact(what, self.name, key, operation, node, self.floor.books())  # type: ignore[arg-type]
        self.floor.facts.append(fact)


def _end(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


def orders(facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.what == "ordered" and fact.operation]
