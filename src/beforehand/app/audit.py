"""What was decided and done, for the record: every decision, and every event that says what somebody did.

A decision says who was asked what and when, what they saw, what they answered, and what followed. The other lines are
events of their own: everything held and cleared, tokens, scenes, requests that changed something, and by whom. All is
read from the log's events, so archived ones are in it, and what is shown is what was shown then. What followed is how
the runs, steps and other things that a decision is about stand now.
"""

from collections.abc import AsyncIterator, Mapping
from hashlib import sha256
from typing import Any

from pydantic_core import to_json

from beforehand.app.sentences import Sentences
from beforehand.model.event import Event, iso
from beforehand.ports.store import EventFilter, Store

OPENED, ANSWERED, WITHDRAWN = "decisionOpened", "decisionAnswered", "decisionWithdrawn"
DONE = frozenset(
    {
        *("everythingHeld", "everythingCleared", "tokenAdded", "tokenRevoked", "requestMade", "requestDone"),
        *("sceneSaved", "sceneActivated", "sceneDeactivated", "sceneFileSaved", "templateSaved"),
        *("fileTrusted", "archivesDeleted"),
    }
)
"""Kinds of events that say what somebody did, beside answering decisions."""
CHUNK = 1_000
FIELDS = (
    *("decisionId", "kind", "title", "owner", "scene", "about", "covers", "seen", "verbs", "askedBy", "openedAt"),
    *("status", "closedAt", "by", "verb", "effect", "value", "note", "why", "followed", "openedSeq", "closedSeq"),
    *("record", "correlationId"),
)
DECISION, DEED = "decision", "event"
"""What a line is: the field `record`."""
_MOST_B = 4_000
"""What was done with longer data than that is told by its hash."""
Entry = dict[str, Any]


async def audit(store: Store, since: int = 0, until: int | None = None) -> AsyncIterator[Entry]:
    """The record between two times (ms): decisions as they were closed, events as they came; open decisions last."""
    opened: dict[str, Event] = {}
    only, after = EventFilter(kinds=DONE | {OPENED, ANSWERED, WITHDRAWN}), 0
    sentences = Sentences()
    while events := await store.events(after=after, limit=CHUNK, only=only):
        after = events[-1].seq
        for event in events:
            if event.kind == OPENED:
                opened[str(event.data["id"])] = event
                continue
            if event.kind in DONE:
                if _within(event.ts, since, until):
                    yield _deed(event, sentences)
                continue
            asked = opened.pop(str(event.data["id"]), event)
            if _within(asked.ts, since, until) or _within(event.ts, since, until):
                yield await _decision(store, asked, event)
    for event in opened.values():
        if _within(event.ts, since, until):
            yield await _decision(store, event, None)


def _within(ts: int, since: int, until: int | None) -> bool:
    return ts >= since and (until is None or ts < until)


def _deed(event: Event, sentences: Sentences) -> Entry:
    return entry_of(
        kind=event.kind,
        title=sentences.of(event.kind, event.about, event.data),
        owner=event.owner,
        scene=event.scene,
        about={name: value for name, value in event.about.items() if name not in ("requestId", "requestHash")},
        by=event.data.get("by"),
        value=_short(event.data),
        openedAt=iso(event.ts),
        openedSeq=event.seq,
        record=DEED,
        correlationId=event.correlation_id,
    )


def _short(data: Mapping[str, Any]) -> Any:
    written = to_json(data)
    if len(written) <= _MOST_B:
        return dict(data)
    return {"name": data.get("name"), "bytes": len(written), "sha256": sha256(written).hexdigest()}


def entry_of(**found: Any) -> Entry:
    """A line of the record; what is not said of it is None."""
    return {name: found.get(name) for name in FIELDS}


async def _decision(store: Store, asked: Event, closed: Event | None) -> Entry:
    shown, now = asked.data, (closed or asked).data
    answer: Mapping[str, Any] = now.get("answer") or {}
    about = {**shown.get("about", {}), **({"runId": now["runId"]} if "runId" in now else {})}
    return entry_of(
        decisionId=shown["id"],
        **{name: shown.get(name) for name in ("kind", "title", "owner", "covers", "verbs", "askedBy")},
        scene=asked.scene,
        about=about,
        seen=shown.get("evidence", {}),
        openedAt=iso(asked.ts),
        openedSeq=asked.seq,
        status=now["status"],
        closedAt=iso(closed.ts) if closed else None,
        closedSeq=closed.seq if closed else None,
        **{name: answer.get(name) for name in ("by", "verb", "value", "note")},
        effect=shown.get("effects", {}).get(answer.get("verb")),
        why=now.get("why"),
        followed=await _followed(store, about, asked.scene) if closed else [],
        record=DECISION,
        correlationId=(closed or asked).correlation_id,
    )


async def _followed(store: Store, about: Mapping[str, Any], scene: str | None) -> list[dict[str, Any]]:
    """How the things that a decision is about stand now."""
    told = []
    for name, id in about.items():
        kind = name.removesuffix("Id")
        places = [f"{about.get('runId')}/{id}"] if kind == "step" else [str(id), f"{scene}/{id}"]
        for place in places if name.endswith("Id") and isinstance(id, str) else ():
            row = await store.row(kind, place)
            if row is not None and "status" in row:
                told.append({"what": kind, "id": id, "status": row["status"]})
                break
    return told
