"""The order a robot was last given, and how far it is, by what the robot says after it was sent.

A robot that keeps account of orders by id is asked about this one; else its status is the robot's own. Where a robot
refuses an order that drives and lifts in one, it is given the parts: fork, drive, fork. Those carry an id of their
own, so that the end of a part is never taken for the end of the whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from beforehand.adapters.robokit.numbers import CANCELLED, COMPLETED, FAILED, NONE, RUNNING, SUSPENDED, WAITING
from beforehand.adapters.robokit.readings import Reading

ENDED = frozenset({COMPLETED, FAILED, CANCELLED})
UNDER_WAY = frozenset({WAITING, RUNNING, SUSPENDED})
FORK_SLACK_M = 0.01
LOAD_PATIENCE_MS = 2000
"""How long the load sensor of a robot whose work is done may take to say so, too."""
REST_MS = 1000
"""How long a robot that does not show that it runs has stood where it was sent to, when its way is over."""
BEGIN_MS = 10_000
"""How long a part may take to begin whose end looks the same as its beginning."""
SILENT_WORK_MS = 30_000
"""How long a robot that shows nothing of its work is taken to be at it, once it is at the place."""
_LOAD_AFTER = {"ForkLoad": "loaded", "ForkUnload": "empty"}

Part = Literal["fork-before", "drive", "fork-after"]
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(slots=True)
class Order:
    key: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    status_before: int | None = None
    """The robot's status when it was sent; None where nobody knows."""
    sent: bool = False
    """Whether the robot may have it: until then whatever it reports belongs to what was before."""
    named: bool = False
    """Whether the robot has been seen to know it by its id."""
    over: int | None = None
    """The status it ended with."""
    part: Part | None = None
    """What is being done of an order that was taken apart; None for one that was taken whole."""
    part_began: bool = False
    part_at: str | None = None
    """Where it stood when it was told of the part."""
    done_since_ms: int | None = None
    """Since when the part looks done."""
    cancelled: bool = False
    """Whether it has heard that it is to end, or that the driving part of one in parts is."""
    halted: bool = False
    """Told to pause while it is done in parts: no further part is begun."""
    still: bool = False
    """Halted, and the fork does not move any more."""
    error: str | None = None
    ran: bool = False
    """Whether it was ever said to run: an end that was there before it is none of it."""
    done_ms: int | None = None
    """When it was first seen to be done while its place or the load sensor still said otherwise."""
    way: tuple[str, ...] | None = None
    """The nodes it may drive over, where it is told of them one by one; None where it finds its own way."""
    told: int = 0
    """How many of those nodes the robot knows of."""
    unsure: int = 0
    """How many nodes it was last told of without an answer; 0 where every telling was answered."""
    broken: Part | Literal["unknown"] | None = None
    """The part that was under way when an earlier process ended, of an order that was taken apart."""

    @property
    def task_id(self) -> str:
        """The id it has at the robot."""
        if self.way is not None:
            return self.leg_id(max(1, len(self.way) - 1))
        return f"{self.key}/drive" if self.part or self.broken else self.key

    @property
    def stage(self) -> tuple[bool, str, int]:
        """Changes with everything that the robot is told of it: what was seen of it before is then of no use."""
        return self.sent, self.task_id, self.told

    @property
    def target(self) -> str | None:
        given = self.payload.get("id")
        return given if isinstance(given, str) else None

    @property
    def all_told_of(self) -> bool:
        """Whether the way leads to the target."""
        return self.way is not None and self.way[-1] == self.target

    def leaves(self, reading: Reading) -> bool:
        """Whether its fork is as the order leaves it, where it has work to do."""
        wanted = _LOAD_AFTER.get(str(self.payload.get("operation")))
        return wanted is None or (reading.load is not None and reading.load.reading == wanted)

    def begin(self, part: Part, at: str | None) -> None:
        self.part, self.part_at, self.part_began, self.done_since_ms = part, at, False, None

    def part_is_done(self, looks_done: bool, patience_ms: int, now_ms: int) -> bool:
        """Whether the part was seen to begin and looks done, or has looked so for long enough."""
        if not looks_done:
            self.done_since_ms = None
            return False
        self.done_since_ms = now_ms if self.done_since_ms is None else self.done_since_ms
        return self.part_began or now_ms - self.done_since_ms >= patience_ms

    def leg_id(self, number: int) -> str:
        return f"{self.key}/{number}"

    def wire(self) -> dict[str, Any]:
        kept: dict[str, Any] = {
            "key": self.key,
            "payload": dict(self.payload),
            "statusBefore": self.status_before,
            "ran": self.ran,
            "cancelled": self.cancelled,
            "apart": self.part or self.broken,
            "over": self.seen[1],
        }
        if self.way is not None:
            kept |= {"way": list(self.way), "told": self.told}
        return kept

    @classmethod
    def kept(cls, data: Mapping[str, Any]) -> "Order":
        """The order as an earlier process left it."""
        key, payload, before = str(data["key"]), data.get("payload") or {}, data.get("statusBefore")
        order = cls(key, payload, before, sent=True, ran=bool(data.get("ran")), cancelled=bool(data.get("cancelled")))
        if data.get("apart"):
            order.broken = next((part for part in PARTS if part == data["apart"]), "unknown")
        if data.get("way"):
            order.way, order.told = tuple(str(node) for node in data["way"]), int(data["told"])
            order.part_began = order.ran
        order.over = data.get("over")
        return order

    @property
    def seen(self) -> tuple[bool, int | None]:
        """What was seen of it that the next process needs."""
        return self.ran, self.over if self.is_divided else None

    @property
    def is_divided(self) -> bool:
        """Whether the robot knows it only by its parts, so that nothing it says of itself is the end of the whole."""
        return bool(self.way is not None or self.part or self.broken)


def can_be_taken_apart(payload: Mapping[str, Any]) -> str | None:
    """Why an order cannot be given in parts; None where it can."""
    if payload.get("recognize"):
        return "it takes no orders that drive and lift in one, and a pallet can only be recognised by such an order"
    if not isinstance(payload.get("end_height"), int | float):
        return "it takes no orders that drive and lift in one, and this one does not say how high to lift"
    return None


def shown(order: Order | None, reading: Reading, by_id: int | None, before: int) -> tuple[int, str | None]:
    """The status to report and the key it speaks of. `before` is the last robot-level status known."""
    status = before if reading.status is None else reading.status
    if order is None:
        return status, reading.task_id
    if not order.sent:
        return WAITING, None
    if order.part is not None or order.broken:
        return _of_parts(order, status, by_id), order.key
    if by_id is not None:
        order.named = True
        order.over = by_id if by_id in ENDED else None
        return by_id, order.key
    if order.over is not None and order.over == status:
        return status, order.key
    if reading.task_id != order.task_id:
        return status, reading.task_id
    return of_named(order, status), order.key


def of_named(order: Order, status: int) -> int:
    """The status of an order that the robot names beside its own status: it may name it before it has begun, while that
    status is still none, or the end of what it did before. Called off, such an order says nothing of itself."""
    begun = order.ran or status in UNDER_WAY or order.status_before is None
    if begun or status not in (NONE, order.status_before):
        return status
    return NONE if order.cancelled else WAITING


def settled(order: Order | None, status: int, named: bool, reading: Reading, now_ms: int) -> int:
    """The status to report, with an order that is done still running while its place or its load sensor may lag behind.
    `named` where the robot named this order."""
    if order is None:
        return status
    order.ran = order.ran or (order.sent and status == RUNNING)
    load, wanted = reading.load, _LOAD_AFTER.get(str(order.payload.get("operation")))
    agrees = load is None or load.confidence == "low" or load.reading == (wanted or load.reading)
    there = order.target is None or reading.node_id in (None, order.target)
    ended = status == COMPLETED or (status == CANCELLED and not order.cancelled)
    if not ended or (agrees and there) or not (order.ran or named):
        return status
    order.done_ms = now_ms if order.done_ms is None else order.done_ms
    return status if now_ms - order.done_ms >= LOAD_PATIENCE_MS else RUNNING


def _led_elsewhere(order: Order, reading: Reading) -> bool:
    """Whether what has ended was somebody else's order: the robot names another target and does not stand at ours. Each
    alone means little, as robots leave an old target there, or do not say at which station they are."""
    named = reading.target is not None and reading.target != order.target
    return named and order.target is not None and reading.node_id not in (None, order.target)


def _of_parts(order: Order, status: int, by_id: int | None) -> int:
    if order.over is not None:
        return order.over
    of_drive = status if by_id is None else by_id
    if order.broken:
        if of_drive in UNDER_WAY:
            return of_drive
        lifted_not = order.broken in ("fork-before", "drive")  # The last part is kept before it is told.
        order.over = FAILED if lifted_not else NONE
        order.error = "It was lifting or driving by parts when Beforehand was restarted."
        return order.over
    if order.part == "drive":
        stands = of_drive == SUSPENDED or (order.halted and of_drive not in UNDER_WAY)
    else:
        stands = order.halted and order.still
    return SUSPENDED if stands else RUNNING


def fork_height(order: Order) -> float | None:
    """Where the part under way brings the fork; None where it does not move it."""
    given = order.payload.get("start_height" if order.part == "fork-before" else "end_height")
    return float(given) if order.part != "drive" and isinstance(given, int | float) else None


def drive_ended(order: Order, reading: Reading, by_id: int | None, before: int, now_ms: int) -> int | None:
    """How the driving part ended, by the same rule as a whole order: it must have been seen to run, or be named; or it
    has come there and stands."""
    status = before if reading.status is None else reading.status
    if order.cancelled and status not in UNDER_WAY:
        return CANCELLED
    if by_id is not None:
        return by_id if by_id in ENDED else None
    if status in (RUNNING, SUSPENDED):
        order.part_began = True
        return None
    there = reading.node_id == order.target and reading.next_node_id is None
    patience_ms = BEGIN_MS if order.part_at == order.target else REST_MS
    if order.part_is_done(there and status in (NONE, COMPLETED), patience_ms, now_ms):
        return COMPLETED
    if not order.part_began or status not in ENDED:
        return None
    return CANCELLED if _led_elsewhere(order, reading) else status


def fork_is_at(height_m: float, reading: Reading) -> bool:
    if reading.fork_m is not None and abs(reading.fork_m - height_m) > FORK_SLACK_M:
        return False
    return reading.fork_there is not False and (reading.fork_m is not None or reading.fork_there is True)
