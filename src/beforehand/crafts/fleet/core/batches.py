"""Tasks that carry several pallets at once: all are picked, one after the other, before the first is dropped.

Each pallet is a leg with its own source and target, all reserved from the start. The task's `sourceId` and `targetId`
are those of the leg it is at, so that everything else sees one pick or one drop, as of any task. A leg is known by its
source, which no other leg shares.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from beforehand.model.fleet import Leg, LoadState, Task
from beforehand.model.records import changed

Pair = tuple[str, str]
"""Where a pallet is picked and where it is dropped."""


def legs_of(pairs: Sequence[Pair]) -> tuple[Leg, ...] | None:
    """The legs of a task for so many pallets; a task for one has none."""
    return tuple(Leg(source, target) for source, target in pairs) if len(pairs) > 1 else None


def pairs_of(task: Task) -> tuple[Pair, ...]:
    """What the task has not dropped yet, the leg it is at first."""
    others = tuple((leg.source_id, leg.target_id) for leg in other_legs(task))
    return ((task.source_id, task.target_id), *others)


def other_legs(task: Task) -> Iterator[Leg]:
    """The legs that are not done, without the one the task is at."""
    return (leg for leg in task.legs or () if leg.state != "dropped" and leg.source_id != task.source_id)


def carried(task: Task) -> int:
    """How many pallets of the task are on the robot."""
    if task.legs is None:
        return int(task.step == "drop")
    return sum(leg.state == "carried" for leg in task.legs)


def load_after(task: Task) -> LoadState:
    """What the robot carries once the present step is done."""
    return "loaded" if task.step == "pick" or carried(task) > 1 else "empty"


def changes_load(task: Task) -> bool:
    """Whether the present step takes the robot from empty to loaded or back, which a sensor can see."""
    return carried(task) == int(task.step == "drop")


def after_step(task: Task) -> dict[str, Any] | None:
    """What the task is at once its present step is done; None when that was its last."""
    if task.legs is None:
        return {"step": "drop"} if task.step == "pick" else None
    done = "carried" if task.step == "pick" else "dropped"
    legs = tuple(changed(leg, state=done) if leg.source_id == task.source_id else leg for leg in task.legs)
    following = _following(legs)
    return {"legs": legs} if following is None else {"legs": legs, "committed": False, **following}


def without_leg(task: Task, source_id: str) -> dict[str, Any] | None:
    """What the task is at without this pallet; None when nothing is left to do."""
    legs = tuple(leg for leg in task.legs or () if leg.source_id != source_id)
    if source_id != task.source_id:
        return {"legs": legs}
    following = _following(legs)
    return None if following is None else {"legs": legs, "committed": False, **following}


def with_target(task: Task, source_id: str, target_id: str) -> dict[str, Any]:
    """The pallet from this source goes to another place."""
    changes: dict[str, Any] = {} if source_id != task.source_id else {"target_id": target_id}
    if task.legs is not None:
        legs = (changed(leg, target_id=target_id) if leg.source_id == source_id else leg for leg in task.legs)
        changes["legs"] = tuple(legs)
    return changes


def _following(legs: Sequence[Leg]) -> dict[str, Any] | None:
    """The next pick; when all are picked, the next drop."""
    for state, step in (("waiting", "pick"), ("carried", "drop")):
        for leg in legs:
            if leg.state == state:
                return {"step": step, "source_id": leg.source_id, "target_id": leg.target_id}
    return None
