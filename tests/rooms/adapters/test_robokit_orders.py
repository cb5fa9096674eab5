"""What is said of an order by what the robot says: of one taken whole, in parts, or leg by leg."""

import pytest

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.legs import legs_untold, shown_of_legs
from beforehand.adapters.robokit.loads import Load
from beforehand.adapters.robokit.orders import (
    BEGIN_MS,
    LOAD_PATIENCE_MS,
    PARTS,
    REST_MS,
    SILENT_WORK_MS,
    Order,
    drive_ended,
    fork_is_at,
    settled,
    shown,
)
from beforehand.adapters.robokit.readings import Reading


def test_what_is_reported_before_a_command_went_out_is_nothing_of_it():
    order = Order("k1")
    assert shown(order, Reading(status=4), None, 0) == (1, None)
    order.sent = True
    assert shown(order, Reading(status=4), None, 0) == (4, None)


def test_the_id_decides_where_the_robot_keeps_account_by_id():
    order = Order("k1", sent=True)
    assert shown(order, Reading(status=2), 6, 2) == (6, "k1")
    assert shown(order, Reading(status=6), None, 2) == (6, "k1")
    assert shown(order, Reading(status=2, task_id="other"), None, 6) == (2, "other")


def test_a_status_that_cannot_be_is_the_last_one_known():
    assert shown(Order("k1", sent=True), Reading(status=None), None, 2) == (2, None)


@pytest.mark.parametrize(
    ("target", "node", "another"),
    [
        ("LM9", "LM9", True),
        ("LM9", "AP1", False),
        ("LM9", None, False),
        ("AP1", "LM9", False),
        (None, "LM9", False),
    ],
)
def test_a_drive_that_ended_at_another_target_and_another_place_was_somebody_elses(target, node, another):
    part = Order("k1", {"id": "AP1", "end_height": 1.2}, sent=True, part="drive", part_began=True)
    ended = drive_ended(part, Reading(status=4, node_id=node, target=target), None, 2, 0)
    assert ended == (6 if another else 4)


def test_the_end_of_a_part_is_not_the_end_of_the_order():
    order = Order("k1", {"id": "AP1", "end_height": 1.2}, sent=True, part="drive")
    assert order.task_id == "k1/drive"
    assert shown(order, Reading(status=4), 4, 2) == (2, "k1")
    assert drive_ended(order, Reading(status=4, node_id="LM1"), None, 0, 0) is None
    assert drive_ended(order, Reading(status=2), None, 0, 100) is None
    assert drive_ended(order, Reading(status=4, node_id="LM1"), None, 2, 200) == 4
    assert drive_ended(order, Reading(status=2), 5, 2, 300) == 5


@pytest.mark.parametrize(("started_at", "patience_ms"), [("LM1", REST_MS), ("AP1", BEGIN_MS)])
@pytest.mark.parametrize("status", [0, 4])
def test_a_robot_that_shows_no_run_has_come_there_once_it_stands_there(status, started_at, patience_ms):
    """Where it stood there from the beginning, it may not have begun yet."""
    order = Order("k1", {"id": "AP1", "end_height": 1.2}, sent=True)
    order.begin("drive", started_at)
    there, leaves = Reading(status=status, node_id="AP1"), Reading(status=status, node_id="AP1", next_node_id="LM1")
    assert drive_ended(order, there, None, 0, 0) is None
    assert drive_ended(order, leaves, None, 0, patience_ms) is None
    assert drive_ended(order, there, None, 0, patience_ms + 1) is None
    assert drive_ended(order, there, None, 0, patience_ms * 2) is None
    assert drive_ended(order, there, None, 0, patience_ms * 2 + 1) == no.COMPLETED


@pytest.mark.parametrize("before", [0, 4, 6])
def test_an_order_that_is_named_before_it_begins_waits_whatever_ended_before_it(before):
    order = Order("k", {"id": "D"}, before, sent=True)
    assert shown(order, Reading(status=before, task_id="k"), None, before) == (1, "k")
    assert shown(order, Reading(status=0, task_id="k"), None, before) == (1, "k")
    order.ran = True
    assert shown(order, Reading(status=4, task_id="k"), None, 2) == (4, "k")
    assert shown(order, Reading(status=0, task_id="k"), None, 2) == (0, "k")


def test_an_order_that_is_named_and_was_never_seen_to_run_has_ended_where_the_status_is_another():
    assert shown(Order("k", {"id": "D"}, 6, sent=True), Reading(status=4, task_id="k"), None, 6) == (4, "k")
    assert shown(Order("k", sent=True), Reading(status=4, task_id="k"), None, 0) == (4, "k")


LAGS, TELLS = Reading(load=Load("empty", "hook_isFull")), Reading(load=Load("loaded", "hook_isFull"))


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("end", [4, 6])
@pytest.mark.parametrize(
    ("lags", "tells"), [(LAGS, TELLS), (Reading(node_id="LM1"), Reading(node_id="P"))], ids=["load", "place"]
)
def test_place_and_load_may_lag_behind_the_robot_for_a_while(named, end, lags, tells):
    order = Order("k", {"id": "P", "operation": "ForkLoad"}, sent=True)
    assert settled(order, 2, named, lags, 0) == 2
    assert settled(order, end, named, lags, 100) == 2
    assert settled(order, end, named, tells, 300) == end
    assert settled(order, end, named, lags, 100 + LOAD_PATIENCE_MS) == end, "it is asked about then"


def test_a_cancel_of_ours_is_told_at_once():
    order = Order("k", {"id": "P", "operation": "ForkLoad"}, sent=True, ran=True, cancelled=True)
    assert settled(order, 6, False, LAGS, 0) == 6


@pytest.mark.parametrize(
    ("payload", "named", "reading"),
    [
        ({"id": "P", "operation": "ForkLoad"}, False, LAGS),
        ({"id": "P", "operation": "ForkUnload"}, True, LAGS),
        ({"id": "P", "operation": "ForkLoad"}, True, Reading(load=Load("empty", "fork_pressure_actual", "low"))),
        ({"id": "P", "operation": "ForkLoad"}, True, Reading()),
        ({"id": "P"}, True, LAGS),
    ],
    ids=["an end from before", "it agrees", "it is not sure", "no sensor", "no work"],
)
def test_any_other_end_is_told_at_once(payload, named, reading):
    assert settled(Order("k", payload, sent=True), 4, named, reading, 0) == 4


def test_what_an_order_was_before_a_restart_is_known_after_it():
    order = Order("k", {"id": "P", "operation": "ForkLoad"}, 4, sent=True)
    later = Order.kept(order.wire())
    assert shown(later, Reading(status=4, task_id="k"), None, 4) == (1, "k"), "a 4 from before is none of it"
    order.ran = True
    assert shown(Order.kept(order.wire()), Reading(status=4, task_id="k"), None, 4) == (4, "k")


@pytest.mark.parametrize(("part", "ended"), [("fork-before", 5), ("drive", 5), ("fork-after", 0)])
def test_an_order_in_parts_that_outlived_its_process_has_failed_unless_it_may_have_lifted(part, ended):
    order = Order.kept(Order("k1", part=part).wire())
    assert shown(order, Reading(status=2), None, 0) == (2, "k1")
    assert shown(order, Reading(status=4), None, 2) == (ended, "k1")
    assert "restarted" in order.error
    again = Order.kept(order.wire())
    assert shown(again, Reading(status=2), None, 0) == (ended, "k1"), "what ended stays so"


def test_a_part_that_nobody_knows_may_have_been_the_lifting():
    assert shown(Order.kept({"key": "k1", "apart": True}), Reading(status=4), None, 2) == (0, "k1")


@pytest.mark.parametrize("order", [*(Order("k1", part=part) for part in PARTS), Order("k1", way=("A", "B"), told=2)])
@pytest.mark.parametrize("over", [None, no.NONE, no.FAILED, no.CANCELLED])
def test_what_the_next_process_needs_of_an_order_that_was_divided_is_kept(order, over):
    order.cancelled, order.over, order.ran = True, over, True
    later = Order.kept(order.wire())
    assert (later.cancelled, later.over, later.ran, later.task_id) == (True, over, True, order.task_id)


def test_of_an_order_taken_whole_the_robot_says_itself_how_it_ended():
    assert Order.kept(Order("k1", sent=True, over=no.COMPLETED).wire()).over is None


def test_a_fork_is_there_when_height_and_robot_say_so():
    assert fork_is_at(1.2, Reading(fork_m=1.2, fork_there=True))
    assert fork_is_at(1.2, Reading(fork_m=1.2))
    assert fork_is_at(1.2, Reading(fork_there=True))
    assert not fork_is_at(1.2, Reading(fork_m=1.2, fork_there=False))
    assert not fork_is_at(1.2, Reading(fork_m=0.9, fork_there=True))
    assert not fork_is_at(1.2, Reading())


# Leg by leg

CAME, LEFT = Reading(node_id="D", status=no.NONE), Reading(node_id="A", status=no.NONE)
LOADS = {"id": "D", "operation": "ForkLoad"}


def legs(*way: str, **more) -> Order:
    return Order("t1", LOADS, sent=True, way=way, told=len(way), **more)


def test_legs_run_until_the_robot_says_more():
    order = legs("A", "B")
    between = Reading(node_id="A", next_node_id="B", status=no.RUNNING)
    assert shown_of_legs(order, between, None, 0, 0) == (no.RUNNING, None)
    waits = Reading(node_id="B", status=no.NONE)
    assert shown_of_legs(order, waits, None, 0, 0) == (no.RUNNING, None), "it stands where it may drive no further"
    assert shown_of_legs(order, Reading(status=no.SUSPENDED, task_id="t1/1"), None, 0, 0) == (no.SUSPENDED, "t1")


def test_whose_legs_a_robot_speaks_of():
    order = legs("A", "B")
    own = Reading(node_id="A", status=no.RUNNING, task_id="x/1")
    assert shown_of_legs(order, own, None, 0, 0) == (no.RUNNING, None), "it may name its orders as it likes"
    earlier = Reading(node_id="A", status=no.RUNNING, task_id="yard-t3:pick:1/2")
    assert shown_of_legs(order, earlier, None, 0, 0) == (no.RUNNING, "yard-t3:pick:1/2")
    assert shown_of_legs(order, Reading(status=no.RUNNING, task_id="t1/1"), None, 0, 0) == (no.RUNNING, "t1")
    assert shown_of_legs(order, own, None, 0, 0) == (no.RUNNING, "x/1"), "it has named ours as we do"


def test_a_robot_that_has_forgotten_its_legs_says_so_until_it_runs_again():
    order = legs("A", "B")
    shown_of_legs(order, Reading(node_id="A", next_node_id="B", status=no.RUNNING), None, 0, 0)
    assert shown_of_legs(order, LEFT, None, 0, 0) == (no.NONE, None)
    come = Reading(node_id="B", status=no.NONE)
    assert shown_of_legs(order, come, None, 0, 0) == (no.NONE, None), "it may have been pushed there"
    assert shown_of_legs(order, Reading(node_id="A", status=no.RUNNING), None, 0, 0) == (no.RUNNING, None)


@pytest.mark.parametrize(
    ("by_id", "status", "cancelled", "said"),
    [
        (no.COMPLETED, no.COMPLETED, False, no.COMPLETED),
        (no.FAILED, no.NONE, False, no.FAILED),
        (no.CANCELLED, no.NONE, False, no.CANCELLED),
        (None, no.NONE, True, no.CANCELLED),
        (None, no.COMPLETED, True, no.CANCELLED),
        (None, no.COMPLETED, False, no.COMPLETED),
        (no.RUNNING, no.RUNNING, True, no.RUNNING),
        (no.WAITING, no.NONE, True, no.WAITING),
    ],
)
def test_how_an_order_in_legs_ends(by_id: int | None, status: int, cancelled: bool, said: int) -> None:
    """An end that it does not name and was not seen to come is shown as the robot's own, for the core to judge."""
    order = legs("C", "D", cancelled=cancelled)
    key = None if by_id is None else "t1"
    assert shown_of_legs(order, Reading(node_id="C", status=status), by_id, 0, 0) == (said, key)


@pytest.mark.parametrize("end", [no.FAILED, no.CANCELLED])
def test_a_failure_without_a_name_counts_where_it_was_not_there_before(end):
    reading = Reading(node_id="A", status=end)
    new, old = legs("A", "D", status_before=no.COMPLETED), legs("A", "D", status_before=end)
    assert (shown_of_legs(new, reading, None, 4, 0), new.over) == ((end, None), end)
    assert (shown_of_legs(old, reading, None, end, 0), old.over) == ((end, None), None)


@pytest.mark.parametrize(("began", "over"), [(True, no.COMPLETED), (False, None)])
def test_only_legs_that_were_seen_to_run_have_come_to_their_end(began, over):
    order = legs("A", "D")
    if began:
        shown_of_legs(order, Reading(node_id="A", next_node_id="D", status=no.RUNNING), None, 0, 0)
    shown_of_legs(order, Reading(node_id="D", status=no.COMPLETED), None, 0, 100)
    assert order.over == over


def test_legs_that_were_called_off_stay_so_in_the_next_process():
    order = legs("A", "B", cancelled=True, ran=True)
    later = Order.kept(order.wire())
    assert shown_of_legs(later, Reading(node_id="B", status=no.NONE), None, 0, 0)[0] == no.CANCELLED


def test_a_robot_that_shows_nothing_of_its_work_has_time_for_it():
    """Nobody says that it worked: after that it is said of the order that nobody knows."""
    order = legs("A", "D", ran=True)
    assert shown_of_legs(order, CAME, None, 0, 0) == (no.RUNNING, "t1")
    assert shown_of_legs(order, CAME, None, 0, SILENT_WORK_MS - 1) == (no.RUNNING, "t1")
    assert shown_of_legs(order, CAME, None, 0, SILENT_WORK_MS) == (no.NONE, "t1")
    lifted = legs("A", "D", ran=True)
    loaded = Reading(node_id="D", status=no.NONE, load=Load("loaded", "hook_isFull"))
    assert shown_of_legs(lifted, CAME, None, 0, 0) == (no.RUNNING, "t1")
    assert shown_of_legs(lifted, loaded, None, 0, 100) == (no.NONE, "t1"), "its load shows that it is done"


def test_legs_name_their_edges_and_the_work_is_part_of_the_last() -> None:
    order = Order("t1", {"id": "C", "operation": "ForkLoad"}, way=("A", "B", "C"))
    assert legs_untold(order) == [
        {"source_id": "A", "id": "B", "task_id": "t1/1"},
        {"source_id": "B", "id": "C", "operation": "ForkLoad", "task_id": "t1/2"},
    ]
    order.told = 2
    assert [leg["task_id"] for leg in legs_untold(order)] == ["t1/2"]
    there = Order("t2", {"id": "C", "operation": "ForkLoad"}, way=("C",))
    assert legs_untold(there) == [{"source_id": "C", "id": "C", "operation": "ForkLoad", "task_id": "t2/1"}]
