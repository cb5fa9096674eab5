"""What became of an order: one rule for every way in which it can end.

What a robot says of an order is a claim. It counts where the robot was seen to run the order and then to end it, or
names the order itself, and only as far as place and fork do not say otherwise: witnesses that disagree are doubt. A
status that was there before, or that nobody saw come about, claims nothing: then target, place, load and time must all
agree for the order to be done, and the robot must show that it never began for it to be not done. All else is doubt.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from beforehand.crafts.fleet.core.batches import load_after
from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.payload import least_fork_s, payload_of
from beforehand.crafts.fleet.core.rules import RUNNING, needed_place, speaks_of_another
from beforehand.model.fleet import LoadState, Task, Trace
from beforehand.model.robot import Telemetry

End = Literal["under way", "done", "not done", "failed", "doubt"]
CONTRADICTED = "step.contradicted"
DOUBT = "task.in_doubt"
OTHER_LOG = "robot.other_log"
"""The code of what a robot says of an order that this log, as it is now, has not sent."""
_WORDS = ("no order", "waiting", "running", "paused", "completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Order:
    """What was ordered, and what has been seen of it so far."""

    robot_id: str
    step: str
    key: str
    nodes: tuple[str, ...]
    """Where the work is: the node that the robot was sent to first, then the one beside it where there is one."""
    load_after: LoadState
    least_ms: int
    """The least time that it takes."""
    age_ms: int
    """How long ago it was sent."""
    trace: Trace
    stood_ms: int | None = None
    """How long the robot has been seen at the place."""
    stood_at_most_ms: int | None = None
    """How long it may have been there; None where nobody knows."""
    completes: tuple[int, ...] = (4, 6)
    called_off: bool = False
    """The robot was told to cancel it."""
    watched: bool = True
    """The robot was heard before by this process, so that what changes now was seen to change."""
    lost: bool = False
    """The robot does not know where it is."""
    of_this_log: bool = True
    """It was sent by this log as it is now; otherwise nobody knows what the robot was told after it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    end: End
    code: str = ""
    says: str = ""
    difference: dict[str, Any] | None = None
    """What the order leaves beside what is seen."""
    claimed: bool = False
    """The robot says that the order is over; without that a doubt may still settle itself."""
    away: bool = False
    """It ended away from the place, its fork as before: a person is asked what is to follow, not what has happened."""
    sensor: bool = False
    """Its load sensor is one of the witnesses that disagree."""


UNDER_WAY = Verdict("under way")


def judge(order: Order, report: Telemetry, late: bool = False) -> Verdict:
    """What became of the order, by what its robot reports now; `late` where it should have begun by now."""
    verdict = _judged(order, report, late)
    if order.of_this_log or verdict.end == "under way":
        return verdict
    says = (
        f"{order.robot_id} got the {order.step} before this log was restored, copied or cut short, and what it did "
        f"since is in no log that we have: {', '.join(_facts(order, report))}."
    )
    return _doubt(order, report, OTHER_LOG, says, claimed=True)


def _judged(order: Order, report: Telemetry, late: bool) -> Verdict:
    trace, status = order.trace, report.task_status
    if speaks_of_another(order.key, report, trace):
        return _names_another(order, report)
    if status in RUNNING:
        return _still_waiting(order, report) if late and status == 1 else UNDER_WAY
    named = report.task_id == order.key
    if not (named or (trace.ran and order.watched) or _failed_since(order, report)):
        return _by_what_is_seen(order, report)
    match status:
        case 4:
            return _done(order, report)
        case 5:
            return _failed(order, report)
        case 6:
            return _six(order, report, named)
        case _ if order.called_off or named:
            return _by_what_is_seen(order, report)
        case _:
            says = f"{order.robot_id} no longer knows its order."
            return _doubt(order, report, "robot.order_lost", says, claimed=True)


# What the robot claims


def _names_another(order: Order, report: Telemetry) -> Verdict:
    if not (order.trace.ran or order.trace.named):
        return UNDER_WAY if report.task_status in RUNNING else _by_what_is_seen(order, report, another=True)
    if order.called_off:
        return _after_cancel(order, report)
    if report.task_status == 2:
        says = f"{order.robot_id} is carrying out an order of somebody else."
        return _doubt(order, report, "robot.other_order", says, claimed=True)
    if report.task_status in RUNNING:
        return UNDER_WAY
    says = f"{order.robot_id} no longer knows its order: the last one it names is another."
    return _doubt(order, report, "robot.order_lost", says, claimed=True)


def _done(order: Order, report: Telemetry) -> Verdict:
    amiss = [*_contradictions(order, report)]
    if not amiss:
        return Verdict("done", claimed=True)
    if order.called_off and _is_elsewhere(order, report):
        return _after_cancel(order, report)
    says = f"{order.robot_id} says that the {order.step} is done, but {' and '.join(amiss)}."
    sensor = report.sure_load not in (None, order.load_after)
    return replace(_doubt(order, report, CONTRADICTED, says, claimed=True), sensor=sensor)


def _failed(order: Order, report: Telemetry) -> Verdict:
    if not _load_changed(order, report):
        return Verdict("failed", says=report.error or "", claimed=True)
    says = f"{order.robot_id} says that the {order.step} failed, but its sensor says the fork is {order.load_after}."
    return replace(_doubt(order, report, CONTRADICTED, says, claimed=True), sensor=True)


def _six(order: Order, report: Telemetry, named: bool) -> Verdict:
    """Some robots end their work with it, and others only what was cancelled."""
    if order.called_off:
        return _after_cancel(order, report, named)
    if report.called_off or 6 not in order.completes or not _confirmed(order, report, named):
        says = f"The order of {order.robot_id} was cancelled at the robot."
        if not report.called_off and 6 in order.completes:
            says = f"{order.robot_id} ended its order with status 6, and nothing shows that the {order.step} is done."
        away = _is_elsewhere(order, report) and not _load_changed(order, report)
        return replace(_doubt(order, report, "robot.canceled", says, claimed=True), away=away)
    return _done(order, report)


def _confirmed(order: Order, report: Telemetry, named: bool) -> bool:
    """Whether a 6 is the end of the work: away from the place nothing can have been done; there the robot names the
    order, or its fork is as the order leaves it, or the fork had at least the time that its work takes."""
    if not _is_there(order, report):
        return order.lost and _load_changed(order, report)
    if report.sure_load is not None and order.trace.load_before != order.load_after:
        return report.sure_load == order.load_after
    return named or (order.stood_ms is not None and order.stood_ms >= order.least_ms)


def _after_cancel(order: Order, report: Telemetry, named: bool = False) -> Verdict:
    """A robot that was told to cancel, and has stopped. Whoever names the order knows; else, at the place, the fork may
    have done its work before it heard, if there was time for it."""
    if _load_changed(order, report):
        says = f"{order.robot_id} was told to cancel the {order.step}, and its fork is {order.load_after} now."
        return replace(_doubt(order, report, CONTRADICTED, says, claimed=True), sensor=True)
    says_so = report.task_status == 6 and order.trace.ran and order.watched
    kept = report.sure_load is not None and report.sure_load == order.trace.load_before != order.load_after
    no_time = order.stood_at_most_ms is not None and order.stood_at_most_ms < order.least_ms
    if named or _is_elsewhere(order, report) or (says_so and (kept or no_time)):
        return Verdict("not done", claimed=True)
    where = "does not know where it is" if order.lost else f"stands at {report.node_id}"
    says = f"{order.robot_id} was told to cancel the {order.step} and {where}: its fork may have done it before."
    return _doubt(order, report, DOUBT, says, claimed=True)


# What is seen, where the robot claims nothing


def _still_waiting(order: Order, report: Telemetry) -> Verdict:
    if _is_elsewhere(order, report) and not _load_changed(order, report):
        return Verdict("not done")
    return _by_what_is_seen(order, report)


def _by_what_is_seen(order: Order, report: Telemetry, another: bool = False) -> Verdict:
    changed, elsewhere = _load_changed(order, report), _is_elsewhere(order, report)
    if order.called_off and (another or order.trace.ran or order.trace.cancel_heard):
        return _after_cancel(order, report)
    if order.called_off:
        return UNDER_WAY  # It may not have heard of the cancel yet, and shows nothing of what it does.
    leads_here = report.target in order.nodes or report.task_id == order.key
    if leads_here and changed and _is_there(order, report) and report.task_status != 5 and not another:
        return Verdict("done") if order.age_ms >= order.least_ms else UNDER_WAY
    began = order.trace.ran or report.task_id == order.key
    stands = elsewhere and report.next_node_id is None and not changed and not began
    has_none = report.task_status == 0 and order.watched
    told_another = another or has_none or (report.target is not None and not leads_here)
    if stands and told_another and (another or report.task_status == order.trace.status_before):
        return Verdict("not done")
    if began:
        says = f"Nobody saw how the {order.step} of {order.robot_id} ended"
    else:
        says = f"{order.robot_id} was not seen to begin the {order.step}, and may have done it"
    return _doubt(order, report, DOUBT, f"{says}: {', '.join(_facts(order, report))}.", claimed=bool(began))


def is_on_its_way(order: Order, report: Telemetry) -> bool:
    """Whether a robot that does not show that it runs names our target, as it did not before, and is not done."""
    came_up = report.target in order.nodes and order.trace.target_before not in order.nodes
    working = order.stood_ms is None or order.stood_ms < 2 * order.least_ms
    return came_up and (not _is_there(order, report) or working)


def _failed_since(order: Order, report: Telemetry) -> bool:
    """Whether a robot that was not seen to run shows a failure that was not there before."""
    return report.task_status == 5 and order.watched and order.trace.status_before != 5


def _is_there(order: Order, report: Telemetry) -> bool:
    return not order.lost and report.node_id in order.nodes and report.next_node_id is None


def _is_elsewhere(order: Order, report: Telemetry) -> bool:
    return not order.lost and report.node_id is not None and not _is_there(order, report)


def _load_changed(order: Order, report: Telemetry) -> bool:
    """Whether its sensor has seen the fork become what the order leaves."""
    before = order.trace.load_before
    return before is not None and before != order.load_after and report.sure_load == order.load_after


def _contradictions(order: Order, report: Telemetry) -> Iterator[str]:
    if report.sure_load not in (None, order.load_after):
        yield f"its load sensor says the fork is {report.sure_load}"
    if _is_elsewhere(order, report):
        yield f"it is {_where(report)}"


def _facts(order: Order, report: Telemetry) -> Iterator[str]:
    yield f"it reports {word_for(report.task_status)} ({report.task_status})"
    yield "it does not know where it is" if order.lost else f"it is {_where(report)}"
    if report.load_sensor is None:
        yield "no sensor tells what is on its fork"
    else:
        yield f"its load sensor says {report.load_sensor}"
    told = report.target is not None
    yield f"its last order led to {report.target}" if told else "it does not say where its last order led"


def word_for(status: int) -> str:
    return _WORDS[status]


def _where(report: Telemetry) -> str:
    if report.node_id is None:
        return "nowhere that we know"
    ahead = report.next_node_id
    return f"at {report.node_id}" if ahead is None else f"between {report.node_id} and {ahead}"


def _doubt(order: Order, report: Telemetry, code: str, says: str, claimed: bool) -> Verdict:
    planned = {"place": order.nodes[0], "fork": order.load_after, "target": order.nodes[0]}
    place = None if order.lost else report.node_id
    now = {"place": place, "fork": report.load_sensor, "target": report.target}
    return Verdict("doubt", code, says, {"planned": planned, "now": now, "says": [says]}, claimed)


# On the board


def order_of(board: Board, task: Task, watched: bool = True) -> Order:
    """The order of the task's present step, as it is out or was last."""
    robot_id, site = str(task.robot_id), board.site(needed_place(task)[0])
    trace = task.trace or Trace()
    came, seen = task.at_place_ts_ms, board.state.seen[robot_id]
    away = trace.away_ts_ms if came is not None else seen.at_ms if seen.heard and watched else None
    return Order(
        robot_id,
        task.step,
        str(task.command_key),
        (site.node_id,) if site.entry_node_id == site.node_id else (site.node_id, site.entry_node_id),
        load_after(task),
        round(1000 * least_fork_s(payload_of(board, task))),
        board.now - task.sent_ts_ms,
        trace,
        None if came is None else board.now - came,
        None if away is None else board.now - away,
        board.state.robot_specs[robot_id].completion_statuses,
        task.command_state == "canceling",
        watched,
        board.robot(robot_id).lost_ts_ms is not None,
        board.state.log.owns(str(task.command_key)),
    )
