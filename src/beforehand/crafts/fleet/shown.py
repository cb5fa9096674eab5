"""Robots, worksites, streams and tasks as people and programs are shown them, live or read from the log."""

from collections.abc import Callable, Mapping
from typing import Any

from beforehand.crafts.fleet.core.state import ENDED, FleetState, robot_wire
from beforehand.crafts.fleet.finding import States, refuse_inactive, scene_of
from beforehand.crafts.fleet.sentences import link_says, robot_says, task_says
from beforehand.model.machine import kind_of
from beforehand.model.records import wire_of
from beforehand.ports.robot import LinkStanding
from beforehand.ports.store import Store

Document = dict[str, Any]


def robot(state: FleetState, name: str) -> Document:
    if name not in state.seen:
        return robot_in_past(state, name)
    report = state.seen[name].report
    where = {"x": round(report.x, 3), "y": round(report.y, 3)}
    return _told(state, name, robot_wire(state.robots[name], state.seen[name])) | where


def robot_in_past(state: FleetState, name: str) -> Document:
    """A robot without what was only ever seen live: where exactly it is, and its battery."""
    return _told(state, name, wire_of(state.robots[name]))


def _told(state: FleetState, name: str, shown: Document) -> Document:
    """With its scene, and what it does in words."""
    task = state.tasks.get(str(state.robots[name].task_id))
    says = robot_says(shown) if task is None or _stands(shown) else task_says(wire_of(task))
    return {**shown, "scene": state.scene.name, "says": says}


def _stands(robot: Document) -> bool:
    """Whether it stands still, whatever its task says."""
    stands = robot.get("held") or robot.get("paused") or robot.get("waitsFor")
    return robot["status"] in ("offline", "blocked") or bool(stands)


def link(state: FleetState, name: str, stands: LinkStanding | None) -> Document:
    """What leads to a robot, and how that stands; what is not known is left out."""
    spec = next(one for one in state.scene.robots if one.robot_id == name)
    kind = kind_of(spec.link)
    told: Document = {"robotId": name, "scene": state.scene.name, "kind": kind, "says": link_says(name, kind, stands)}
    if stands is not None:
        told |= {"at": stands.at, "answers": stands.answers, "sinceTsMs": stands.since_ms, "control": stands.control}
        told |= {"trouble": stands.trouble, "troubleTsMs": stands.trouble_ms}
    return {key: value for key, value in told.items() if value is not None}


def worksite(state: FleetState, name: str) -> Document:
    return {**wire_of(state.worksites[name]), "scene": state.scene.name}


def stream(state: FleetState, name: str) -> Document:
    return {**wire_of(state.streams[name]), "scene": state.scene.name}


def told_task(task: Document, scene: str) -> Document:
    """A task with its scene, and how it stands in words."""
    return {**task, "scene": scene, "says": task_says(task)}


def held(state: FleetState) -> Document:
    """Whether a fleet is held, and what of it."""
    return {"scene": state.scene.name, "held": bool(state.hold), **state.hold.wire()}


def lists(state: FleetState) -> dict[str, list[Document]]:
    """Everything of a fleet but its robots, as `GET /state` has it."""
    name = state.scene.name
    fleet = {
        "scene": name,
        "held": bool(state.hold),
        "person": state.hold.person,
        "heldTasks": list(state.hold.tasks),
        "heldRobots": list(state.hold.robots),
        "tasksCompleted": state.completed,
        "tasksFailed": state.failed,
        "tasksCanceled": state.canceled,
    }
    tasks = [task for task in state.tasks.values() if task.status not in ENDED]
    return {
        "worksites": [worksite(state, site_id) for site_id in state.worksites],
        "streams": [stream(state, stream_id) for stream_id in state.streams],
        "tasks": [told_task(wire_of(task), name) for task in tasks],
        "fleets": [fleet],
    }


SHOWN: Mapping[str, Callable[[FleetState, str], Document]] = {
    "robots": robot,
    "worksites": worksite,
    "streams": stream,
}


def one(states: States, kind: str, name: str, scene: str | None) -> Document:
    """One robot, worksite or stream as it is."""
    return SHOWN[kind](states[scene_of(states, (kind,), name, scene)], name)


def listed(states: States, kind: str, scene: str | None) -> list[Document]:
    """All of a kind, in every active fleet or in one."""
    if scene is not None:
        refuse_inactive(states, scene)
    asked = [state for where, state in states.items() if scene in (None, where)]
    return [SHOWN[kind](state, name) for state in asked for name in getattr(state, kind)]


async def tasks(
    store: Store, states: States, scene: str | None, *, open: bool | None = None, limit: int = 200
) -> list[Document]:
    """Tasks from the log, newest first: also those that ended long ago."""
    if scene is not None:
        refuse_inactive(states, scene)
    rows = await store.rows("task", parent=scene, open=open, limit=limit, newest_first=True)
    return [_as_known(row, states) for row in rows]


def _as_known(row: Document, states: States) -> Document:
    """A task of the log as its fleet has it: one that should be live and is not has it held."""
    task_id, scene = row["taskId"], _scene_of_task(row["taskId"])
    task = states[scene].tasks.get(task_id) if scene in states else None
    return told_task(row if task is None or task.status != "held" else wire_of(task), scene)


async def task(store: Store, states: States, name: str, scene: str | None) -> Document:
    """One task, ended or not."""
    if scene is not None:
        refuse_inactive(states, scene)
    where = scene or _scene_of_task(name)
    row = await store.row("task", f"{where}/{name}")
    if row is None:
        scene_of(states, ("tasks",), name, scene)
    return _as_known(row, states) if row is not None else {}


def _scene_of_task(task_id: str) -> str:
    """A task's id is its scene's name and its number there."""
    return task_id.rpartition("-t")[0]
