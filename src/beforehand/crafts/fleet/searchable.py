"""What can be searched and asked about fleets: tasks, picks and drops, and what robots did for how long."""

from collections.abc import Iterable
from typing import Any

from beforehand.loop.searchable import seconds_between
from beforehand.model.event import Event
from beforehand.ports.search import ByKind, Condition, Document, Field, Index, Lookup, Noun, Searchable

_ENDED = ("completed", "failed", "canceled")
_OPEN = ("created", "active", "held", "stale")
_WAITING = ("idle", "held", "error")


def _task(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    data, id = event.data, f"{event.scene}/{event.data['taskId']}"
    before = look(id) or {}
    created, sent = data.get("createdTsMs"), data.get("sentTsMs") or None
    started = before.get("startedAt") or sent
    ended = data.get("endedTsMs")
    held = before.get("held") or 0
    if data.get("status") == "held" and before.get("status") != "held":
        held += 1
    made = {
        "taskId": data["taskId"],
        "scene": event.scene,
        "streamId": data.get("streamId"),
        "robotId": data.get("robotId") or before.get("robotId"),
        "sourceId": data.get("sourceId"),
        "targetId": data.get("targetId"),
        "status": data.get("status"),
        "step": data.get("step"),
        "priority": data.get("priority"),
        "retries": data.get("retries"),
        "held": held,
        "createdAt": created,
        "startedAt": started,
        "endedAt": ended,
        "waitS": seconds_between(created, started),
        "durationS": seconds_between(created, ended),
        "errorCode": data.get("errorCode"),
        "error": data.get("error"),
    }
    return [(id, made)]


def _handled(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    operation = "pick" if event.kind == "palletPicked" else "drop"
    return [_handling(event, operation, event.data["worksiteId"], None)]


def _broken_off(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    """A task that failed, failed in its pick or its drop; once, however often it is told."""
    data = event.data
    if data.get("status") != "failed" or data.get("step") not in ("pick", "drop"):
        return []
    place = data["sourceId"] if data["step"] == "pick" else data["targetId"]
    id, made = _handling(event, data["step"], place, data)
    return [] if look(id) is not None else [(id, made)]


def _handling(event: Event, operation: str, place: Any, failed: Any) -> tuple[str, Document]:
    data = event.data
    made = {
        "operation": operation,
        "ok": failed is None,
        "ts": event.ts,
        "scene": event.scene,
        "worksiteId": place,
        "robotId": data.get("robotId"),
        "taskId": data.get("taskId"),
        "byHand": bool(data.get("byHand")),
        "errorCode": None if failed is None else failed.get("errorCode"),
        "error": None if failed is None else failed.get("error"),
    }
    mark = event.seq if failed is None else "failed"
    return f"{event.scene}/{data.get('taskId')}/{operation}/{mark}", made


def _stretch(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    """What a robot does now lies under its own id; once it does something else, that stretch gets an id of its own."""
    data = event.data
    id = f"{event.scene}/{data['robotId']}"
    before = look(id)
    phase = "silent" if data.get("status") == "offline" else "held" if data.get("held") else data.get("phase")
    if before is not None and before.get("phase") == phase:
        return []
    made: list[tuple[str, Document]] = []
    if before is not None:
        ended = {**before, "endedAt": event.ts, "durationS": seconds_between(before["startedAt"], event.ts)}
        made.append((f"{id}@{before['startedAt']}-{event.seq}", ended))
    now = {
        "robotId": data["robotId"],
        "scene": event.scene,
        "phase": phase,
        "waiting": phase in _WAITING,
        "startedAt": event.ts,
        "taskId": data.get("taskId"),
    }
    return [*made, (id, now)]


_TASKS = Index(
    "tasks",
    "One document per transport task of a fleet.",
    (
        Field("taskId", "keyword", "The task.", ("task", "transport"), "task"),
        Field("scene", "keyword", "Its scene.", ("scene", "hall", "site"), "scene"),
        Field("streamId", "keyword", "The stream it came from.", ("stream", "flow"), "stream"),
        Field("robotId", "keyword", "The robot that has or had it.", ("robot", "forklift", "truck"), "robot"),
        Field("sourceId", "keyword", "Where it picks.", ("source", "pick place"), "worksite", "from"),
        Field("targetId", "keyword", "Where it drops.", ("target", "destination", "drop place"), "worksite", "to"),
        Field("status", "keyword", "Where it stands.", ("status",)),
        Field("step", "keyword", "What it was doing: pick, drop or done."),
        Field("priority", "double", "Its priority.", ("priority",)),
        Field("retries", "long", "How often its present step was tried again.", ("retry",)),
        Field("held", "long", "How often it was held."),
        Field("createdAt", "date", "When it was made."),
        Field("startedAt", "date", "When a robot was first sent."),
        Field("endedAt", "date", "When it ended."),
        Field(
            "waitS", "double", "From its making to the first order.", ("wait", "waiting time", "wait time"), unit="s"
        ),
        Field("durationS", "double", "From its making to its end.", ("duration", "cycle time", "lead time"), unit="s"),
        Field("errorCode", "keyword", "What went wrong, as a code.", ("error", "error code", "reason", "cause")),
        Field("error", "text", "What went wrong, in words."),
    ),
    ByKind({"taskCreated": _task, "taskUpdated": _task}),
    time="createdAt",
    nouns=(Noun(("task", "transport", "transport task")), Noun(("failure",), {"status": "failed"}, "endedAt")),
    conditions=(
        Condition(("failed", "fail", "broke"), {"status": "failed"}, "endedAt"),
        Condition(
            (
                "completed",
                "complete",
                "finished",
                "finish",
                "done",
                "delivered",
                "deliver",
                "succeeded",
                "succeed",
                "successful",
            ),
            {"status": "completed"},
            "endedAt",
        ),
        Condition(("cancelled", "canceled", "cancel"), {"status": "canceled"}, "endedAt"),
        Condition(("ended", "end"), {"status": list(_ENDED)}, "endedAt"),
        Condition(("created", "create", "made", "requested"), {}, "createdAt"),
        Condition(("started", "start", "begun", "begin"), {}, "startedAt"),
        Condition(("open", "unfinished", "active"), {"status": list(_OPEN)}),
        Condition(("running", "in progress", "under way"), {"status": "active"}),
        Condition(("went", "go", "moved", "carried", "handled")),
        Condition(("waited", "wait", "waiting"), {}, "createdAt", "waitS"),
        Condition(("took", "take", "taken", "lasted"), {}, "endedAt", "durationS"),
    ),
    measure="durationS",
    present={"status": list(_OPEN)},
    shown=("taskId", "robotId", "sourceId", "targetId", "status", "createdAt", "durationS", "error"),
    sped=(("createdAt",), ("endedAt",), ("status", "endedAt", "durationS")),
)
_HANDLINGS = Index(
    "handlings",
    "One document per pick or drop that worked, and one per task that failed in one.",
    (
        Field("operation", "keyword", "pick or drop.", ("operation",)),
        Field("ok", "boolean", "Whether it worked."),
        Field("ts", "date", "When it was done, or failed."),
        Field("scene", "keyword", "Its scene.", ("scene", "hall", "site"), "scene"),
        Field("worksiteId", "keyword", "Where.", ("worksite", "place", "station", "location"), "worksite"),
        Field("robotId", "keyword", "By which robot.", ("robot", "forklift", "truck"), "robot"),
        Field("taskId", "keyword", "For which task.", ("task",), "task"),
        Field("byHand", "boolean", "Whether a person did it."),
        Field("errorCode", "keyword", "What went wrong, as a code.", ("error", "error code", "reason", "cause")),
        Field("error", "text", "What went wrong, in words."),
    ),
    ByKind({"palletPicked": _handled, "palletDropped": _handled, "taskUpdated": _broken_off}),
    time="ts",
    nouns=(
        Noun(("pick", "pickup"), {"operation": "pick"}),
        Noun(("drop", "dropoff"), {"operation": "drop"}),
        Noun(("handling", "pick and drop", "pick or drop")),
        Noun(("pallet",), {"ok": True}, split_by="operation"),
        Noun(("failure",), {"ok": False}),
    ),
    conditions=(
        Condition(("failed", "fail"), {"ok": False}),
        Condition(("succeeded", "succeed", "worked", "successful"), {"ok": True}),
        Condition(("picked",), {"operation": "pick", "ok": True}),
        Condition(
            ("dropped", "delivered", "deliver", "moved", "move", "transported"),
            {"operation": "drop", "ok": True},
        ),
        Condition(("by hand", "manually"), {"byHand": True}),
    ),
    shown=("ts", "operation", "worksiteId", "robotId", "taskId", "ok", "error"),
    sped=(("ts",), ("operation", "ts")),
)
_STRETCHES = Index(
    "stretches",
    "One document per stretch of time in which a robot did one thing; the present one has no end yet.",
    (
        Field("robotId", "keyword", "The robot.", ("robot", "forklift", "truck"), "robot"),
        Field("scene", "keyword", "Its scene.", ("scene", "hall", "site"), "scene"),
        Field("phase", "keyword", "What it did: idle, picking, charging, held, error, silent …", ("phase",)),
        Field("waiting", "boolean", "Whether it stood without work, held or in error."),
        Field("startedAt", "date", "When it began."),
        Field("endedAt", "date", "When the robot went on to something else."),
        Field("durationS", "double", "How long.", ("duration", "time"), unit="s"),
        Field("taskId", "keyword", "The task it had then.", ("task",), "task"),
    ),
    ByKind({"robotUpdated": _stretch}),
    time="startedAt",
    nouns=(Noun(("stretch",)), Noun(("robot wait",), {"waiting": True})),
    conditions=(
        Condition(("waited", "wait", "waiting"), {"waiting": True}, measure="durationS", alone=True),
        Condition(("idle", "idled", "idling"), {"phase": "idle"}, measure="durationS", alone=True),
        Condition(("charged", "charging", "charge"), {"phase": "charging"}, measure="durationS", alone=True),
        Condition(("held",), {"phase": "held"}, measure="durationS", alone=True),
        Condition(("in error",), {"phase": "error"}, measure="durationS", alone=True),
        Condition(("silent", "offline"), {"phase": "silent"}, measure="durationS", alone=True),
        Condition(
            ("drove", "driving", "drive"),
            {"phase": ["moving_to_pick", "moving_to_drop", "parking"]},
            measure="durationS",
            alone=True,
        ),
    ),
    measure="durationS",
    present={"endedAt": None},
    shown=("robotId", "phase", "startedAt", "durationS", "taskId"),
    sped=(("startedAt",), ("phase", "startedAt")),
)

SEARCHABLE = Searchable(
    (_TASKS, _HANDLINGS, _STRETCHES),
    ids={"task": r"(?:\w+-)?t\d+"},
    event_fields=(
        Field("about.robotId", "keyword", "The robot it is about.", ("robot", "forklift", "truck"), "robot"),
        Field("about.streamId", "keyword", "The stream it is about.", ("stream", "flow"), "stream"),
        Field("about.worksiteId", "keyword", "The worksite it is about.", ("worksite", "place", "station"), "worksite"),
        Field("data.phase", "keyword", "What a robot or task is doing.", ("phase",)),
        Field("data.errorCode", "keyword", "What went wrong, as a code.", ("error", "error code")),
        Field("data.occupancy", "keyword", "What lies on a worksite.", ("occupancy",)),
        Field("data.command", "keyword", "What a robot was told.", ("command",)),
    ),
    event_nouns=(
        Noun(("command", "order"), {"kind": "commandSent"}),
        Noun(("hold", "fleet hold"), {"kind": "fleetHeld"}),
    ),
    moments={"hold": ("fleetHeld",)},
)
