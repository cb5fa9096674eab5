"""Candidate rules of each stream kind, from small tables of what lies where; and a kind added from outside."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from beforehand.crafts.fleet.core.params import PickDropParams
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.streams import KINDS, Candidate, StreamView, TaskUpdate, register_kind
from beforehand.crafts.fleet.testing import Shift
from beforehand.model.fleet import Robot, Stream, Task, Worksite


def view(kind: str, lies: Mapping[str, str], cursor: str | None = None, **params: Any) -> StreamView:
    """Places named A… are picks and B… drops; letters: f filled, e empty, r reserved, u unknown."""
    words = {"f": "filled", "e": "empty", "r": "reserved", "u": "unknown"}
    sites = {name: Worksite(name, "buffer", "N", occupancy=words[letter]) for name, letter in lies.items()}  # type: ignore[arg-type]
    groups = {
        "pickGroup": [name for name in lies if name.startswith("A")],
        "dropGroup": [name for name in lies if name.startswith("B")],
    }
    read = KINDS[kind].params.model_validate({**groups, **params})
    return StreamView(
        Stream("s", kind, cursor=cursor),
        read,
        sites.__getitem__,
        lambda name: sites[name].occupancy == "filled",
        lambda name: sites[name].occupancy == "empty",
    )


def first(kind: str, lies: Mapping[str, str], **more: Any) -> tuple[str, str] | None:
    candidate = next(KINDS[kind].evaluate(view(kind, lies, **more)), None)
    return None if candidate is None else (candidate.source_id, candidate.target_id)


@pytest.mark.parametrize(
    ("lies", "policy", "expected"),
    [
        ({"A1": "f", "B1": "e"}, {}, ("A1", "B1")),
        ({"A1": "e", "A2": "f", "B1": "f", "B2": "e"}, {}, ("A2", "B2")),
        ({"A1": "u", "B1": "e"}, {}, None),
        ({"A1": "f", "B1": "u"}, {}, None),
        ({"A1": "r", "B1": "e"}, {}, None),
        ({"A1": "f", "B1": "e", "B2": "e"}, {"selection": "last_available_in_order"}, ("A1", "B2")),
        ({"A1": "f", "B1": "f", "B2": "e"}, {"accessRule": "preceding_empty"}, None),
        ({"A1": "f", "B1": "r", "B2": "e"}, {"accessRule": "preceding_empty"}, None),
        (
            {"A1": "f", "B1": "e", "B2": "e", "B3": "f"},
            {"selection": "last_available_in_order", "accessRule": "preceding_empty"},
            ("A1", "B2"),
        ),
        (
            {"A1": "f", "B1": "e", "B2": "r"},
            {"selection": "last_available_in_order", "accessRule": "preceding_empty"},
            None,
        ),
    ],
)
def test_pick_drop(lies: Mapping[str, str], policy: dict[str, Any], expected: tuple[str, str] | None) -> None:
    assert first("pickDrop", lies, dropPolicy=policy) == expected


def test_round_robin_goes_on_after_its_last_drop() -> None:
    lies = {"A1": "f", "B1": "e", "B2": "e", "B3": "e"}
    assert first("roundRobin", lies) == ("A1", "B1")
    assert first("roundRobin", lies, cursor="B1") == ("A1", "B2")
    assert first("roundRobin", lies, cursor="B3") == ("A1", "B1")
    assert first("roundRobin", lies | {"B2": "f"}, cursor="B1") == ("A1", "B3")


def test_replenish_counts_what_is_on_its_way() -> None:
    lies = {"A1": "f", "B1": "f", "B2": "e", "B3": "e"}
    assert first("replenish", lies, threshold=2) == ("A1", "B2")
    assert first("replenish", lies | {"B2": "r"}, threshold=2) is None


def test_buffered_empties_the_buffer_first() -> None:
    lies = {"A1": "f", "C1": "f", "C2": "e", "B1": "e"}
    assert first("buffered", lies, bufferGroup=["C1", "C2"]) == ("C1", "B1")
    assert first("buffered", lies | {"B1": "f"}, bufferGroup=["C1", "C2"]) == ("A1", "C2")
    assert first("buffered", lies | {"B1": "f", "C2": "f"}, bufferGroup=["C1", "C2"]) is None


def batches(lies: Mapping[str, str], **params: Any) -> list[list[tuple[str, str]]]:
    return [
        [(one.source_id, one.target_id), *one.more] for one in KINDS["batch"].evaluate(view("batch", lies, **params))
    ]


def test_a_batch_waits_until_there_are_enough() -> None:
    lies = {"A1": "f", "A2": "e", "A3": "f", "B1": "e", "B2": "f", "B3": "e"}
    assert batches(lies, batchSize=2) == [[("A1", "B1"), ("A3", "B3")]]
    assert batches(lies, batchSize=3) == []
    assert batches(lies, batchSize=3, partial=True)[0] == [("A1", "B1"), ("A3", "B3")]
    assert batches(lies | {"B1": "r"}, batchSize=2) == []
    assert "waits for 3 pallets" in KINDS["batch"].silence(view("batch", lies, batchSize=3))
    assert "needs 2 drop places" in KINDS["batch"].silence(view("batch", lies | {"B1": "f"}, batchSize=2))


def test_a_batch_that_is_passed_over_is_offered_smaller_and_then_without_its_oldest_pallet() -> None:
    lies = {"A1": "f", "A2": "f", "A3": "f", "B1": "e", "B2": "e"}
    sources = [[source for source, _ in pairs] for pairs in batches(lies, batchSize=2)]
    assert sources == [["A1", "A2"], ["A2", "A3"]]
    sources = [[source for source, _ in pairs] for pairs in batches(lies, batchSize=2, partial=True)]
    assert sources == [["A1", "A2"], ["A1"], ["A2", "A3"], ["A2"], ["A3"]]


@pytest.mark.parametrize(
    ("lies", "both_ways", "expected"),
    [
        ({"A1": "f", "B1": "e"}, True, ("A1", "B1")),
        ({"A1": "e", "B1": "f"}, True, ("B1", "A1")),
        ({"A1": "e", "B1": "f"}, False, None),
        ({"A1": "f", "B1": "f"}, True, None),
        ({"A1": "u", "B1": "e"}, True, None),
        ({"A1": "f", "B1": "r"}, True, None),
    ],
)
def test_a_shuttle_goes_between_its_ends(
    lies: Mapping[str, str], both_ways: bool, expected: tuple[str, str] | None
) -> None:
    assert first("shuttle", lies, bothWays=both_ways) == expected


@pytest.mark.parametrize("kind", ["pickDrop", "roundRobin", "replenish", "buffered", "batch", "shuttle"])
def test_a_silent_stream_says_why(kind: str) -> None:
    more: dict[str, Any] = {"buffered": {"bufferGroup": ["C1"]}, "batch": {"batchSize": 2}}.get(kind, {})
    lies = {"A1": "e", "C1": "e", "B1": "e"}
    assert "A1 is empty" in KINDS[kind].silence(view(kind, lies, **more))


class Nearest:
    """A kind of its own: always the last pick to the last drop."""

    kind = "lastToLast"
    params = PickDropParams

    def groups(self, params: Any) -> Mapping[str, tuple[str, ...]]:
        return {"pickGroup": params.pick_group, "dropGroup": params.drop_group}

    def evaluate(self, view: StreamView) -> Iterator[Candidate]:
        source, target = view.params.pick_group[-1], view.params.drop_group[-1]
        if view.can_pick(source) and view.can_drop(target):
            yield Candidate(view.stream.stream_id, source, target, 0)

    def retarget(self, view: StreamView, source_id: str, target_id: str) -> str | None:
        return None

    def silence(self, view: StreamView) -> str:
        return "Its last place is not filled."


def hall(kind: str, *places: tuple[str, str], **more: Any) -> dict[str, Any]:
    return {
        "name": "own",
        "nodes": [{"id": f"N{n}", "x": 10 * n, "y": 0} for n in range(len(places))],
        "edges": [{"from": f"N{n}", "to": f"N{n + 1}"} for n in range(len(places) - 1)],
        "worksites": [
            {"worksiteId": name, "worksiteType": "buffer", "entryNodeId": f"N{n}", "occupancy": lies}
            for n, (name, lies) in enumerate(places)
        ],
        "robots": [{"robotId": "RB-01", "nodeId": "N0", "loadState": "empty"}],
        "streams": [
            {
                "streamId": "s",
                "kind": kind,
                "params": {
                    "pickGroup": [name for name, _ in places if name.startswith("A")],
                    "dropGroup": [name for name, _ in places if name.startswith("B")],
                },
            }
        ],
        **more,
    }


class Follows(Nearest):
    """A kind that follows its tasks, and does what it was last told to."""

    kind = "follows"

    def __init__(self, wants: TaskUpdate) -> None:
        self.wants = wants
        self.asked = 0

    def on_tick(self, view: StreamView, task: Task, robot: Robot) -> TaskUpdate | None:
        self.asked += 1
        assert robot.task_id == task.task_id
        return self.wants if task.step == "pick" and task.error is None else None


@pytest.mark.parametrize(
    ("wants", "ends"),
    [
        (TaskUpdate(target_id="B1"), ("B1", "completed", None)),
        (TaskUpdate(target_id="B9"), ("B2", "completed", None)),
        (TaskUpdate(target_id="A1"), ("B2", "completed", None)),
        (TaskUpdate(cancel="It is not wanted any more."), ("B2", "canceled", "It is not wanted any more.")),
        (TaskUpdate(hold="Somebody has to look."), ("B2", "held", "Somebody has to look.")),
    ],
)
def test_a_kind_may_follow_its_tasks(wants: TaskUpdate, ends: tuple[str, str, str | None]) -> None:
    handler = Follows(wants)
    register_kind(handler)
    try:
        places = [("A1", "filled"), ("A2", "filled"), ("B1", "empty"), ("B2", "empty")]
        shift = Shift(hall("follows", *places))
        shift.run(120)
        task = shift.state.tasks["own-t1"]
        assert (task.target_id, task.status, task.error) == ends
        assert handler.asked
        assert shift.check.violations == []
    finally:
        del KINDS["follows"]


def test_a_kind_can_be_added() -> None:
    register_kind(Nearest())
    try:
        places = [("A1", "filled"), ("A2", "filled"), ("B1", "empty"), ("B2", "empty")]
        shift = Shift(read_fleet(hall("lastToLast", *places)))
        shift.run(120)
        assert (shift.task().source_id, shift.task().target_id, shift.task().status) == ("A2", "B2", "completed")
        assert len(shift.state.tasks) == 1
    finally:
        del KINDS["lastToLast"]
