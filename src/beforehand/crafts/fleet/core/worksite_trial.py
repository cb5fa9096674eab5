"""Whom it would affect if a person said what lies on a worksite: the tasks and robots that would do something else.

The very tick is asked, once with the correction and once without it, on a state that nobody keeps. What happens only
with the correction is its effect.
"""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.decide import decide
from beforehand.crafts.fleet.core.inputs import PatchWorksite
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.crafts.fleet.core.streams import KINDS
from beforehand.model.event import Event, Verdict
from beforehand.model.fleet import Worksite
from beforehand.model.robot import RobotCommand

TOLD = ("taskCreated", "taskUpdated", "robotUpdated", "decisionOpened")
"""What somebody on the floor would notice, besides the worksite itself."""


@dataclass(frozen=True, slots=True)
class WorksiteTrial:
    worksite: Worksite
    effects: tuple[Event, ...]
    """Of each task, robot or decision the last thing that would happen to it."""
    streams: tuple[str, ...]
    """The streams that use this place."""
    verdict: Verdict[RobotCommand]


def try_worksite(state: FleetState, as_if: PatchWorksite, now_ms: int) -> WorksiteTrial:
    """One tick in which a person says so; the state given stays as it is."""
    trial = copy(state)
    trial.firsts, trial.no_work = {}, False
    anyway = {_key(event) for event in _told(decide(trial, (), now_ms))}
    verdict = decide(trial, (as_if,), now_ms)
    effects = {_of(event): event for event in _told(verdict) if _key(event) not in anyway}
    kept = tuple(event for event in effects.values() if not _is_told_by_another(event, effects.values()))
    site = trial.worksites[as_if.worksite_id]
    return WorksiteTrial(site, kept, tuple(_users(trial, as_if.worksite_id, now_ms)), verdict)


def _is_told_by_another(event: Event, effects: Iterable[Event]) -> bool:
    """A held task by the question it asks, and a robot by its task."""
    if event.kind == "robotUpdated":
        return event.data.get("taskId") is not None or any(
            other.kind != "robotUpdated" and other.about.get("robotId") == event.data["robotId"] for other in effects
        )
    asked = {other.about.get("taskId") for other in effects if other.kind == "decisionOpened"}
    return event.kind != "decisionOpened" and event.about.get("taskId") in asked


def _told(verdict: Verdict[RobotCommand]) -> Iterator[Event]:
    return (event for event in verdict.events if event.kind in TOLD)


def _of(event: Event) -> tuple[str, str]:
    """The task, robot or decision it is about; a task is one thing from its making on."""
    about = {"taskCreated": "taskId", "taskUpdated": "taskId", "robotUpdated": "robotId"}.get(event.kind, "decisionId")
    return about, str(event.about.get(about, ""))


def _key(event: Event) -> tuple[str, ...]:
    """What makes it the same thing with and without the correction; a task's number does not."""
    data = event.data
    parts = ("sourceId", "targetId", "robotId", "status", "commandState", "then", "nextTargetId", "phase", "title")
    return (event.kind, *(str(data.get(part)) for part in parts))


def _users(state: FleetState, worksite_id: str, now_ms: int) -> Iterator[str]:
    board = Board(state, (), now_ms)
    for stream_id in state.streams:
        groups = KINDS[board.stream(stream_id).kind].groups(state.params[stream_id])
        if any(worksite_id in group for group in groups.values()):
            yield stream_id
