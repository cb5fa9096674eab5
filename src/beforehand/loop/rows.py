"""The tables that HTTP reads, as a pure function of the log's events.

Most rows are an event's data as it stands: an event says the thing after the change. Here are the rows of plans, runs,
decisions, templates and scenes; a craft brings those of its own events.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from beforehand.model.event import Event
from beforehand.model.plan import RunStatus
from beforehand.ports.store import Projection, Row

RowMaker = Callable[[Event], list[Row]]
"""The rows one event writes."""


def projection(*more: Mapping[str, RowMaker]) -> Projection:
    """The rows of every event: the ones here and those of the crafts, each by its kind."""
    makers = dict(ROWS)
    for brought in more:
        makers |= brought

    def project(event: Event) -> Iterable[Row]:
        maker = makers.get(event.kind)
        rows = maker(event) if maker is not None else []
        return [*rows, _request(event)] if "requestId" in event.about else rows

    return project


def plan_row_id(plan_id: str, version: int) -> str:
    """The id of the row that holds one version of a plan."""
    return f"{plan_id}@{version}"


def _plan(event: Event) -> list[Row]:
    plan = event.data
    head = {key: plan[key] for key in ("id", "taskId", "version", "name", "scene", "createdAt") if key in plan}
    head |= {"stepCount": len(plan["steps"]), "correlationId": event.correlation_id}
    head["planner"] = plan.get("origin", {}).get("planner", "person")
    return [
        Row("plan", plan_row_id(plan["id"], plan["version"]), plan, parent=plan["id"]),
        Row("planHead", plan["id"], head, open=True),
    ]


def _decision(event: Event) -> list[Row]:
    data = event.data
    about = data["about"]
    parent = str(about.get("runId") or about.get("planId") or event.scene or "")
    return [Row("decision", data["id"], data, parent=parent, open=data["status"] == "open")]


def _run(event: Event) -> list[Row]:
    data = event.data
    return [Row("run", data["runId"], data, parent=data["planId"], open=not RunStatus(data["status"]).is_final)]


def _step(event: Event) -> list[Row]:
    data = event.data
    key = f"{event.about['runId']}/{data['stepId']}"
    rows = [Row("step", key, data, parent=event.about["runId"])]
    if data.get("reset"):
        rows.append(Row("expansion", key, None))
    return rows


def _expansion(event: Event) -> list[Row]:
    data = event.data
    run_id = event.about["runId"]
    key = f"{run_id}/{data['stepId']}"
    running = {"taskId": data["taskId"], "stepId": data["stepId"], "status": "running"}
    return [
        Row("expansion", key, data, parent=run_id),
        Row("step", key, running, parent=run_id),
        *(Row("step", f"{key}[{place}]", None) for place in range(len(data["items"]))),
    ]


def _template(event: Event) -> list[Row]:
    return [Row("template", event.data["name"], event.data)]


def _scene(event: Event) -> list[Row]:
    return [Row("scene", event.data["name"], event.data, open=bool(event.data.get("active")))]


def _held(event: Event) -> list[Row]:
    return [Row("hold", "everything", event.data, open=True)]


def _cleared(event: Event) -> list[Row]:
    return [Row("hold", "everything", None)]


def _request(event: Event) -> Row:
    """That a write with a key was done, with this event or the ones appended with it."""
    about = event.about
    request_id = str(about["requestId"])
    return Row("request", request_id, {"id": request_id, "content": about["requestHash"], "at": event.ts}, open=True)


def _forgotten(event: Event) -> list[Row]:
    return [Row("request", request_id, None) for request_id in event.data["ids"]]


def row_in_scene(kind: str, name: str, is_open: Callable[[Any], bool] = lambda data: True) -> RowMaker:
    """Rows of things that belong to a scene: their id is the scene's name and the field `name` of the event's data."""

    def rows(event: Event) -> list[Row]:
        key = f"{event.scene}/{event.data[name]}"
        return [Row(kind, key, event.data, parent=str(event.scene), open=is_open(event.data))]

    return rows


ROWS: Mapping[str, RowMaker] = {
    "planCreated": _plan,
    "planEdited": _plan,
    "decisionOpened": _decision,
    "proposalMade": _decision,
    "decisionAnswered": _decision,
    "decisionWithdrawn": _decision,
    "runStarted": _run,
    "runUpdated": _run,
    "runFinished": _run,
    "runAdopted": _run,
    "stepUpdated": _step,
    "stepExpanded": _expansion,
    "templateSaved": _template,
    "sceneSaved": _scene,
    "sceneActivated": _scene,
    "sceneDeactivated": _scene,
    "requestsForgotten": _forgotten,
    "everythingHeld": _held,
    "everythingCleared": _cleared,
}
