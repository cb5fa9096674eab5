"""What can be searched of the log without any craft: its events, and runs, steps and decisions as documents.

A document holds what people ask about later: when a thing began and ended, how long it took, what became of it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from beforehand.model.event import Event, from_iso
from beforehand.model.plan import FINAL_STATUSES
from beforehand.ports.search import ByKind, Condition, Document, Field, Fold, Index, Lookup, Noun, Searchable

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
        sped=(("kind", "ts"), ("scene", "ts"), ("ts",), *((one.name, "ts") for one in fields if one.names)),
        grows=True,
    )


def _event_fold(fields: Sequence[Field]) -> Fold:
    about = {one.name.removeprefix("about."): one.name for one in fields if one.name.startswith("about.")}
    data = {one.name.removeprefix("data."): one.name for one in fields if one.name.startswith("data.")}

    def fold(event: Event, look: Lookup) -> list[tuple[str, Document]]:
        made: dict[str, Any] = {
            "seq": event.seq,
            "ts": event.ts,
            "kind": event.kind,
            "scene": event.scene,
            "owner": event.owner,
            "correlationId": event.correlation_id,
        }
        for key, value in event.about.items():
            if key in about:
                made[about[key]] = value
        told = event.data
        for key, name in data.items():
            if key in told:
                made[name] = told[key]
        return [(str(event.seq), made)]

    return fold


def indexes_of(parts: Iterable[Searchable]) -> tuple[Index, ...]:
    """Every index there is; fields that several crafts' events have are one."""
    parts = tuple(parts)
    fields = {one.name: one for part in parts for one in part.event_fields}
    endless = {kind for part in parts for kind in part.ids}
    events = event_index(tuple(fields.values()), [noun for part in parts for noun in part.event_nouns])
    return (events, *(_listing(index, endless) for part in parts for index in part.indexes))


def _listing(index: Index, endless: Collection[str]) -> Index:
    """The index with its names listed, but for those of which there are ever more."""
    return replace(index, listed=tuple(one.name for one in index.fields if one.names and one.names not in endless))


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
    summary = data.get("summary")
    made = {
        "runId": id,
        "planId": data.get("planId"),
        "scene": event.scene or before.get("scene"),
        "status": data.get("status"),
        "startedBy": data.get("startedBy") or before.get("startedBy"),
        "error": summary.get("firstError") if isinstance(summary, Mapping) else None,
        "startedAt": started,
        "endedAt": ended,
        "durationS": seconds_between(started, ended),
        "updatedAt": event.ts,
    }
    return [(id, made)]


def _plan(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    data, id = event.data, str(event.data["id"])
    before = look(id) or {}
    origin = data.get("origin")
    made = {
        "planId": id,
        "name": data.get("name"),
        "scene": event.scene,
        "status": "waiting",
        "version": data.get("version"),
        "planner": origin.get("planner") if isinstance(origin, Mapping) else None,
        "createdAt": before.get("createdAt") or event.ts,
        "updatedAt": event.ts,
    }
    return [(id, made)]


def _reviewed(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    """What became of a plan: a person started or cancelled it, at its review."""
    id = str(event.about.get("planId", ""))
    before, answer = look(id), event.data.get("answer")
    verb = answer.get("verb") if isinstance(answer, Mapping) else None
    status = {"start": "started", "cancel": "cancelled"}.get(str(verb))
    if before is None or event.data.get("kind") != "review" or status is None:
        return []
    by = answer.get("by") if isinstance(answer, Mapping) else None
    return [(id, {**before, "status": status, "decidedAt": event.ts, "decidedBy": by, "updatedAt": event.ts})]


def _step(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    data, run = event.data, str(event.about["runId"])
    id = f"{run}/{data['stepId']}"
    before = look(id) or {}
    status = data.get("status")
    anew = bool(data.get("reset"))
    started = None if anew else before.get("startedAt")
    if status == "running" and started is None:
        started = event.ts
    ended = event.ts if status in FINAL_STATUSES else None
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
        "planId": event.about.get("planId") or before.get("planId"),
        "runId": event.about.get("runId") or before.get("runId"),
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
        Field("startedBy", "keyword", "Who started it.", ("person",), "person"),
        Field("error", "text", "What went wrong first, in words."),
        Field("startedAt", "date", "When it started."),
        Field("endedAt", "date", "When it ended."),
        Field("durationS", "double", "How long it took.", ("duration",), unit="s"),
        Field("updatedAt", "date", "When it last changed."),
    ),
    ByKind(dict.fromkeys(("runStarted", "runUpdated", "runFinished", "runAdopted"), _run)),
    time="startedAt",
    nouns=(Noun(("run", "plan run")),),
    conditions=(
        Condition(("failed", "fail"), {"status": "failed"}, "endedAt"),
        Condition(("completed", "finished", "succeeded"), {"status": "completed"}, "endedAt"),
        Condition(("cancelled", "canceled"), {"status": "cancelled"}, "endedAt"),
        Condition(("started", "begun"), {}, "startedAt"),
        Condition(("running",), {"status": ["running", "waiting"]}),
        Condition(("paused",), {"status": "paused"}),
        Condition(("took", "take", "lasted"), {}, "endedAt", "durationS"),
    ),
    measure="durationS",
    present={"status": ["running", "waiting", "paused"]},
    shown=("runId", "planId", "status", "startedAt", "durationS", "startedBy"),
    sped=(("startedAt",), ("status", "endedAt", "durationS")),
)
_PLANS = Index(
    "plans",
    "One document per plan, as its newest version is.",
    (
        Field("planId", "keyword", "The plan.", ("plan",), "plan"),
        Field("name", "keyword", "Its name.", ("name",)),
        Field("scene", "keyword", "Its scene.", ("scene",), "scene"),
        Field("status", "keyword", "What its review came to: waiting, started or cancelled.", ("status",)),
        Field("version", "long", "Its newest version.", ("version",)),
        Field("planner", "keyword", "What planned it.", ("planner",)),
        Field("decidedBy", "keyword", "Who started or cancelled it.", ("person",), "person"),
        Field("createdAt", "date", "When it was made."),
        Field("decidedAt", "date", "When it was started or cancelled."),
        Field("updatedAt", "date", "When it last changed."),
    ),
    ByKind({"planCreated": _plan, "planEdited": _plan, "decisionAnswered": _reviewed}),
    time="createdAt",
    nouns=(Noun(("plan",)),),
    conditions=(
        Condition(("created", "made", "drafted", "planned"), {}, "createdAt"),
        Condition(("started", "start", "approved", "approve"), {"status": "started"}, "decidedAt"),
        Condition(("cancelled", "canceled", "cancel", "rejected"), {"status": "cancelled"}, "decidedAt"),
        Condition(("waiting", "open", "unreviewed"), {"status": "waiting"}),
    ),
    present={"status": "waiting"},
    shown=("planId", "name", "scene", "status", "createdAt", "decidedBy"),
    sped=(("createdAt",),),
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
    ByKind({"stepUpdated": _step}),
    time="updatedAt",
    nouns=(Noun(("step",)),),
    conditions=(
        Condition(("failed", "fail"), {"status": "failed"}, "endedAt"),
        Condition(("completed", "finished", "succeeded"), {"status": "completed"}, "endedAt"),
        Condition(("skipped",), {"status": "skipped"}, "endedAt"),
        Condition(("denied",), {"status": "denied"}, "endedAt"),
        Condition(("started", "begun"), {}, "startedAt"),
        Condition(("running",), {"status": "running"}),
        Condition(("took", "take", "lasted"), {}, "endedAt", "durationS"),
    ),
    measure="durationS",
    present={"status": "running"},
    shown=("stepId", "runId", "status", "startedAt", "durationS", "error"),
    sped=(("runId",), ("updatedAt",), ("status", "endedAt", "durationS"), ("endedAt",)),
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
        Field("planId", "keyword", "The plan it is about.", ("plan",), "plan"),
        Field("runId", "keyword", "The run it is about, or that came of it.", ("run",), "run"),
        Field("verb", "keyword", "The answer.", ("answer", "verb")),
        Field("by", "keyword", "Who answered.", ("person",), "person"),
    ),
    ByKind(dict.fromkeys(("decisionOpened", "decisionAnswered", "decisionWithdrawn"), _decision)),
    time="openedAt",
    nouns=(Noun(("decision",)),),
    conditions=(
        Condition(("open", "unanswered", "waiting", "pending"), {"status": "open"}),
        Condition(("opened", "asked", "made"), {}, "openedAt"),
        Condition(("answered", "answer"), {"status": "answered"}, "closedAt"),
        Condition(("approved", "approve", "started"), {"verb": ["approve", "start"]}, "closedAt"),
        Condition(("denied", "deny"), {"verb": "deny"}, "closedAt"),
        Condition(("cancelled", "canceled"), {"verb": "cancel"}, "closedAt"),
        Condition(("withdrawn",), {"status": "withdrawn"}, "closedAt"),
        Condition(("waited",), {}, "openedAt", "openS"),
    ),
    measure="openS",
    present={"status": "open"},
    shown=("decisionId", "kind", "title", "status", "openedAt", "openS", "verb", "by"),
    sped=(("openedAt",),),
)

SEARCHABLE = Searchable(
    (_RUNS, _PLANS, _STEPS, _DECISIONS),
    moments={"hold": ("everythingHeld",), "run": ("runStarted",)},
    ids={"run": "", "plan": "", "task": ""},
)
