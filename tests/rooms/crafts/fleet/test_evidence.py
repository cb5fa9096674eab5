"""What became of an order, by everything that can be known of it: a table of what is seen and what it comes to."""

from itertools import product
from typing import Any

import pytest

from beforehand.crafts.fleet.core.evidence import Order, judge
from beforehand.model.fleet import Trace
from beforehand.model.robot import Telemetry, is_order_key

KEY, EARLIER = "hall-t2:pick:1", "hall-t1:drop:2"
LEAST_MS = 5_000


def order(*, age_ms: int = 20_000, stood_ms: int | None = None, at_most: int | None = None, **more: Any) -> Order:
    names = ("status_before", "load_before", "target_before", "ran", "named", "cancel_heard")
    seen = {name: more.pop(name) for name in names if name in more}
    trace = Trace(**{"status_before": 4, "load_before": "empty", "target_before": "LM9", **seen})
    return Order("RB-01", "pick", KEY, ("AP1", "LM1"), "loaded", LEAST_MS, age_ms, trace, stood_ms, at_most, **more)


def report(status: int, node: str | None = "AP1", ahead: str | None = None, **more: Any) -> Telemetry:
    names = {"load": "load_sensor", "name": "task_id"}
    said = {names.get(name, name): value for name, value in more.items()}
    return Telemetry("RB-01", 0, 1, task_status=status, node_id=node, next_node_id=ahead, **said)


@pytest.mark.parametrize(
    ("made", "said", "end"),
    [
        # Seen to run, and to end.
        (order(ran=True), report(4), "done"),
        (order(ran=True), report(4, load="loaded"), "done"),
        (order(ran=True), report(4, load="empty"), "doubt"),
        (order(ran=True), report(4, node="LM9", load="loaded"), "doubt"),
        (order(ran=True), report(4, node="AP1", ahead="LM1"), "doubt"),
        (order(ran=True), report(4, node="LM1"), "done"),
        (order(ran=True, lost=True), report(4, node="LM9"), "done"),
        (order(ran=True), report(5), "failed"),
        (order(ran=True), report(5, load="loaded"), "doubt"),
        (order(ran=True), report(0), "doubt"),
        (order(ran=True), report(6), "doubt"),
        (order(ran=True), report(6, load="loaded"), "done"),
        (order(ran=True), report(6, load="empty"), "doubt"),
        (order(ran=True, stood_ms=LEAST_MS), report(6), "done"),
        (order(ran=True, stood_ms=LEAST_MS), report(6, called_off=True), "doubt"),
        (order(ran=True, stood_ms=LEAST_MS, completes=(4,)), report(6), "doubt"),
        # It names the order.
        (order(), report(4, name=KEY), "done"),
        (order(), report(6, name=KEY), "done"),
        (order(), report(4, name=KEY, load="empty"), "doubt"),
        (order(called_off=True), report(6, name=KEY), "not done"),
        (order(called_off=True), report(6, name=KEY, load="loaded"), "doubt"),
        (order(called_off=True), report(4, name=KEY), "done"),
        # A level, not an edge: it was there before, or nobody saw it come.
        (order(), report(4), "doubt"),
        (order(), report(4, target="AP1"), "doubt"),
        (order(), report(4, target="AP1", load="empty"), "doubt"),
        (order(), report(4, target="AP1", load="loaded"), "done"),
        (order(age_ms=LEAST_MS - 1), report(4, target="AP1", load="loaded"), "under way"),
        (order(), report(4, target="LM9", load="loaded"), "doubt"),
        (order(), report(4, node="LM9", target="AP1", load="loaded"), "doubt"),
        (order(load_before="loaded"), report(4, target="AP1", load="loaded"), "doubt"),
        (order(ran=True, watched=False), report(4), "doubt"),
        (order(ran=True, watched=False), report(4, target="AP1", load="loaded"), "done"),
        (order(ran=True, watched=False), report(6, target="AP1", load="loaded"), "done"),
        # It shows that it never began.
        (order(), report(4, node="LM9", target="LM9"), "not done"),
        (order(), report(4, node="LM9", target="LM9", load="empty"), "not done"),
        (order(), report(4, node="LM9", target="LM9", load="loaded"), "doubt"),
        (order(), report(4, node="LM9", ahead="LM8", target="LM9"), "doubt"),
        (order(), report(4, node="LM9"), "doubt"),
        (order(), report(6, node="LM9", target="LM9"), "doubt"),
        (order(lost=True), report(4, node="LM9", target="LM9"), "doubt"),
        (order(status_before=0), report(0, node="LM9"), "not done"),
        (order(status_before=0, watched=False), report(0, node="LM9"), "doubt"),
        (order(ran=True, watched=False), report(4, node="LM9", target="LM9"), "doubt"),
        (order(), report(4, node="LM9", name=EARLIER), "not done"),
        (order(), report(4, name=EARLIER), "doubt"),
        (order(named=True), report(4, node="LM9", name=EARLIER), "doubt"),
        (order(named=True), report(4, name="move-2"), "doubt"),
        # A name that it gave itself says nothing.
        (order(ran=True), report(4, name="move-2"), "done"),
        (order(), report(4, name="move-2", target="AP1", load="loaded"), "done"),
        (order(), report(2, name="move-2"), "under way"),
        (order(), report(2, name=EARLIER), "under way"),
        # Told to cancel.
        (order(called_off=True), report(4, node="LM9"), "under way"),
        (order(called_off=True, cancel_heard=True), report(4, node="LM9"), "not done"),
        (order(called_off=True, cancel_heard=True), report(4), "doubt"),
        (order(called_off=True, cancel_heard=True), report(4, load="empty"), "doubt"),
        (order(called_off=True, ran=True), report(6, node="LM9"), "not done"),
        (order(called_off=True, ran=True), report(6), "doubt"),
        (order(called_off=True, ran=True), report(6, load="empty"), "not done"),
        (order(called_off=True, ran=True), report(6, load="loaded"), "doubt"),
        (order(called_off=True, ran=True, at_most=LEAST_MS - 1), report(6), "not done"),
        (order(called_off=True, ran=True), report(4), "done"),
        (order(called_off=True, ran=True), report(4, node="LM9"), "not done"),
        # Sent before this log was put back to an earlier time.
        (order(ran=True, of_this_log=False), report(4, load="loaded", target="AP1"), "doubt"),
        (order(ran=True, of_this_log=False), report(4, name=KEY), "doubt"),
        (order(ran=True, of_this_log=False), report(5), "doubt"),
        (order(ran=True, of_this_log=False), report(2), "under way"),
        (order(of_this_log=False), report(4, node="LM9", target="LM9"), "doubt"),
    ],
)
def test_what_an_order_has_come_to(made: Order, said: Telemetry, end: str) -> None:
    verdict = judge(made, said)
    assert verdict.end == end
    assert bool(verdict.says and verdict.code and verdict.difference) == (end == "doubt")


def test_whatever_is_seen_nothing_is_called_done_that_place_or_fork_deny() -> None:
    """Every robot and every report: where both witnesses are silent only the robot's own word can be enough."""
    flags: tuple[Any, ...] = (None, True)
    for ran, named, heard, off, watched in product(flags, flags, flags, (False, True), (False, True)):
        for before, status, node, ahead, load, name, target in product(
            (None, "empty", "loaded"), range(7), (None, "AP1", "LM9"), (None, "LM8"), (None, "empty", "loaded"),
            (None, KEY, EARLIER, "move-1"), (None, "AP1", "LM9"),
        ):  # fmt: skip
            made = order(ran=ran, named=named, cancel_heard=heard, called_off=off, watched=watched, load_before=before)
            said = report(status, node, ahead, load=load, name=name, target=target)
            end = judge(made, said).end
            if end == "done":
                assert load != "empty"
                assert node != "LM9"
                assert ahead is None or node is None
                assert name != EARLIER
                saw_it = (ran and watched and status in (4, 6)) or (name == KEY and status in (4, 6))
                assert saw_it or ((target == "AP1" or name == KEY) and before == "empty" and load == "loaded")
            elif end == "not done":
                assert not (before == "empty" and load == "loaded")
                assert node is not None or name == KEY or (off and status == 6 and load == "empty")
                assert not ran or off, "it began, and nobody called it off"


def test_the_names_of_our_orders_are_known() -> None:
    for name in (KEY, f"{KEY}/3", "a hall-RB-1:park:12", "hall-RB-01:charge:1", f"{KEY}/drive"):
        assert is_order_key(name)
    for name in (None, "", "move-1", "t1", "hall-t1", "hall-t1:pick", "pick:1", "floor-7"):
        assert not is_order_key(name)
