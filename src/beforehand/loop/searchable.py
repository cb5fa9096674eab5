"""What can be searched of the log without any craft: its events, and runs, steps and decisions as documents.

A document holds what people ask about later: when a thing began and ended, how long it took, what became of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from beforehand.model.event import Event, from_iso
from beforehand.model.plan import StepStatus
from beforehand.ports.search import Condition, Document, Field, Fold, Index, Lookup, Noun, Searchable

_EVENT_FIELDS = (
    Field("seq", "long", "The event's number in the log."),
    Field("ts", "date", "When it happened."),
    Field("kind", "keyword", "What kind of event it is.", ("kind",), "kind"),
    Field("scene", "keyword", "The scene it belongs to.", ("scene", "hall", "site"), "scene"),
    Field("owner", "keyword", "The driver whose state it belongs to.", ("owner",)),
    Field("correlationId", "keyword", "What it was done for."),
    Field("about.taskId", "keyword", "The task it is about.", ("task",), "task"),
    Field("about.planId", "keyword", "The plan it is about.", ("plan",), "plan"),
    Field("about.runId", "keyword", "The run it is about.", ("run",), "run"),
    Field("about.stepId", "keyword", "The step it is about.", ("step",)),
    Field("about.decisionId", "keyword", "The decision it is about.", ("decision",)),
    Field("data.status", "keyword", "The status of the thing after the event.", ("status",)),
    Field("data.error", "text", "What went wrong, in words."),
)


def event_index(fields: Sequence[Field], nouns: Sequence[Noun]) -> Index:
    """The events themselves, flat: with these fields and nouns besides the ones that every event has."""
    every = (*_EVENT_FIELDS, *fields)
    return Index(
        "events",
        "The log itself, one document per event.",
        every,
        _event_fold(every),
        time="ts",
        nouns=(Noun(("event",)), *nouns),
        conditions=(Condition(("sent", "given", "recorded", "written")),),
        shown=("ts", "kind", "scene"),
        sped=(("kind", "ts"), ("ts",), *((one.name, "ts") for one in fields if one.names)),
    )


def _event_fold(fields: Sequence[Field]) -> Fold:
    about = [(one.name, one.name.removeprefix("about.")) for one in fields if one.name.startswith("about.")]
    data = [(one.name, one.name.removeprefix("data.")) for one in fields if one.name.startswith("data.")]

    def fold(event: Event, look: Lookup) -> list[tuple[str, Document]]:
        made: dict[str, Any] = {
            "seq": event.seq,
            "ts": event.ts,
            "kind": event.kind,
            "scene": event.scene,
            "owner": event.owner,
            "correlationId": event.correlation_id,
        }
        for name, key in about:
            if key in event.about:
                made[name] = event.about[key]
        for name, key in data:
            if key in event.data:
                made[name] = event.data[key]
        return [(str(event.seq), made)]

    return fold


def indexes_of(parts: Iterable[Searchable]) -> tuple[Index, ...]:
    """Every index there is; fields that several crafts' events have are one."""
    parts = tuple(parts)
    fields = {one.name: one for part in parts for one in part.event_fields}
    events = event_index(tuple(fields.values()), [noun for part in parts for noun in part.event_nouns])
    return (events, *(index for part in parts for index in part.indexes))


def by_kind(makers: Mapping[str, Callable[[Event, Lookup], Iterable[tuple[str, Document]]]]) -> Fold:
    """A fold that looks at events of some kinds only."""

    def fold(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
        maker = makers.get(event.kind)
        return () if maker is None else maker(event, look)

    return fold


def seconds_between(start: Any, end: Any) -> float | None:
    """How long something took, from and to ms; None while one of them is not known."""
    return None if start is None or end is None else max(end - start, 0) / 1000


def _when(told: Any) -> int | None:
    return from_iso(told) if isinstance(told, str) and told else None


def _run(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    data, id = event.data, str(event.data["runId"])
    before = look(id) or {}
    started = before.get("startedAt") or _when(data.get("startedAt")) or event.ts
    ended = event.ts if event.kind == "runFinished" else None
    made = {
        "runId": id,
        "planId": data.get("planId"),
        "scene": event.scene or before.get("scene"),
        "status": data.get("status"),
        "startedAt": started,
        "endedAt": ended,
        "durationS": seconds_between(started, ended),
        "updatedAt": event.ts,
    }
    return [(id, made)]


def _step(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    data, run = event.data, str(event.about["runId"])
    id = f"{run}/{data['stepId']}"
    before = look(id) or {}
    status = data.get("status")
    anew = bool(data.get("reset"))
    started = None if anew else before.get("startedAt")
    if status == "running" and started is None:
        started = event.ts
    ended = event.ts if StepStatus(data["status"]).is_final else None
    result = data.get("result")
    made = {
        "stepId": data["stepId"],
        "runId": run,
        "planId": event.about.get("planId"),
        "scene": event.scene,
        "status": status,
        "attempt": data.get("attempt"),
        "startedAt": started,
        "endedAt": ended,
        "durationS": seconds_between(started, ended),
        "error": result.get("error") if isinstance(result, Mapping) else None,
        "updatedAt": event.ts,
    }
    return [(id, made)]


def _decision(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    data, id = event.data, str(event.data["id"])
    before = look(id) or {}
    opened = before.get("openedAt") or _when(data.get("openedAt")) or event.ts
    answer = data.get("answer")
    closed = None if data["status"] == "open" else event.ts
    made = {
        "decisionId": id,
        "kind": data.get("kind"),
        "owner": data.get("owner"),
        "scene": event.scene or before.get("scene"),
        "title": data.get("title"),
        "status": data["status"],
        "openedAt": opened,
        "closedAt": closed,
        "openS": seconds_between(opened, closed),
        "verb": answer.get("verb") if isinstance(answer, Mapping) else None,
        "by": answer.get("by") if isinstance(answer, Mapping) else None,
    }
    return [(id, made)]


_RUNS = Index(
    "runs",
    "One document per run of a plan.",
    (
        Field("runId", "keyword", "The run.", ("run",), "run"),
        Field("planId", "keyword", "The plan it runs.", ("plan",), "plan"),
        Field("scene", "keyword", "The scene of its plan.", ("scene",), "scene"),
        Field("status", "keyword", "Where it stands.", ("status",)),
        Field("startedAt", "date", "When it started."),
        Field("endedAt", "date", "When it ended."),
        Field("durationS", "double", "How long it took.", ("duration",), unit="s"),
        Field("updatedAt", "date", "When it last changed."),
    ),
    by_kind(dict.fromkeys(("runStarted", "runUpdated", "runFinished", "runAdopted"), _run)),
    time="startedAt",
    nouns=(Noun(("run", "plan run")),),
    conditions=(
        Condition(("failed", "fail"), {"status": "failed"}, "endedAt"),
        Condition(("completed", "finished", "succeeded"), {"status": "completed"}, "endedAt"),
        Condition(("cancelled", "canceled"), {"status": "cancelled"}, "endedAt"),
        Condition(("started", "begun"), {}, "startedAt"),
        Condition(("running",), {"status": ["running", "waiting"]}),
        Condition(("paused",), {"status": "paused"}),
    ),
    measure="durationS",
    shown=("runId", "planId", "status", "startedAt", "durationS"),
    sped=(("startedAt",),),
)
_STEPS = Index(
    "steps",
    "One document per step of a run.",
    (
        Field("stepId", "keyword", "The step.", ("step",)),
        Field("runId", "keyword", "Its run.", ("run",), "run"),
        Field("planId", "keyword", "Its plan.", ("plan",), "plan"),
        Field("scene", "keyword", "The scene of its plan.", ("scene",), "scene"),
        Field("status", "keyword", "Where it stands.", ("status",)),
        Field("attempt", "long", "Which try it was.", ("attempt",)),
        Field("startedAt", "date", "When it began."),
        Field("endedAt", "date", "When it ended."),
        Field("durationS", "double", "How long it took.", ("duration",), unit="s"),
        Field("error", "text", "What went wrong, in words."),
        Field("updatedAt", "date", "When it last changed."),
    ),
    by_kind({"stepUpdated": _step}),
    time="updatedAt",
    nouns=(Noun(("step",)),),
    conditions=(
        Condition(("failed", "fail"), {"status": "failed"}, "endedAt"),
        Condition(("completed", "finished", "succeeded"), {"status": "completed"}, "endedAt"),
        Condition(("skipped",), {"status": "skipped"}, "endedAt"),
        Condition(("denied",), {"status": "denied"}, "endedAt"),
        Condition(("started", "begun"), {}, "startedAt"),
        Condition(("running",), {"status": "running"}),
    ),
    measure="durationS",
    shown=("stepId", "runId", "status", "startedAt", "durationS", "error"),
    sped=(("runId",), ("updatedAt",)),
)
_DECISIONS = Index(
    "decisions",
    "One document per decision that waited, or waits, for a person.",
    (
        Field("decisionId", "keyword", "The decision.", ("decision",)),
        Field("kind", "keyword", "What kind of decision it is.", ("kind",)),
        Field("owner", "keyword", "Who takes the answer.", ("owner",)),
        Field("scene", "keyword", "The scene it belongs to.", ("scene",), "scene"),
        Field("title", "text", "What was asked."),
        Field("status", "keyword", "Open, answered or withdrawn.", ("status",)),
        Field("openedAt", "date", "When it was asked."),
        Field("closedAt", "date", "When it was answered or withdrawn."),
        Field("openS", "double", "How long it was open.", ("wait", "duration"), unit="s"),
        Field("verb", "keyword", "The answer.", ("answer", "verb")),
        Field("by", "keyword", "Who answered.", ("person",), "person"),
    ),
    by_kind(dict.fromkeys(("decisionOpened", "decisionAnswered", "decisionWithdrawn"), _decision)),
    time="openedAt",
    nouns=(Noun(("decision",)),),
    conditions=(
        Condition(("open", "unanswered"), {"status": "open"}),
        Condition(("opened", "asked", "made"), {}, "openedAt"),
        Condition(("answered",), {"status": "answered"}, "closedAt"),
        Condition(("withdrawn",), {"status": "withdrawn"}, "closedAt"),
        Condition(("waited", "waiting"), {}, "openedAt", "openS"),
    ),
    measure="openS",
    shown=("decisionId", "kind", "title", "status", "openedAt", "openS"),
    sped=(("openedAt",),),
)

SEARCHABLE = Searchable((_RUNS, _STEPS, _DECISIONS), moments={"hold": ("everythingHeld",), "run": ("runStarted",)})
