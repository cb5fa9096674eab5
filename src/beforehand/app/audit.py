"""Every decision for the record: who was asked what and when, what they saw, what they answered, and what followed.

Read from the log's events, so archived decisions are in it, and what is shown is what was shown then. What followed is
how the runs, steps and other things that it is about stand now.
"""

import csv
import json
from collections.abc import AsyncIterator, Callable, Mapping
from io import StringIO
from typing import Any

from beforehand.model.errors import BadInputError
from beforehand.model.event import Event, iso
from beforehand.ports.store import EventFilter, Store

OPENED, ANSWERED, WITHDRAWN = "decisionOpened", "decisionAnswered", "decisionWithdrawn"
CHUNK = 1_000
FIELDS = (
    *("decisionId", "kind", "title", "owner", "scene", "about", "covers", "seen", "verbs", "askedBy", "openedAt"),
    *("status", "closedAt", "by", "verb", "effect", "value", "note", "why", "followed", "openedSeq", "closedSeq"),
)
Entry = dict[str, Any]


async def audit(store: Store, since: int = 0, until: int | None = None) -> AsyncIterator[Entry]:
    """The decisions that were opened or closed between two times (ms), as they were closed; those open come last."""
    opened: dict[str, Event] = {}
    only, after = EventFilter(kinds=frozenset({OPENED, ANSWERED, WITHDRAWN})), 0
    while events := await store.events(after=after, limit=CHUNK, only=only):
        after = events[-1].seq
        for event in events:
            if event.kind == OPENED:
                opened[str(event.data["id"])] = event
                continue
            asked = opened.pop(str(event.data["id"]), event)
            if _within(asked.ts, since, until) or _within(event.ts, since, until):
                yield await _entry(store, asked, event)
    for event in opened.values():
        if _within(event.ts, since, until):
            yield await _entry(store, event, None)


def _within(ts: int, since: int, until: int | None) -> bool:
    return ts >= since and (until is None or ts < until)


async def _entry(store: Store, asked: Event, closed: Event | None) -> Entry:
    shown, now = asked.data, (closed or asked).data
    answer: Mapping[str, Any] = now.get("answer") or {}
    about = {**shown.get("about", {}), **({"runId": now["runId"]} if "runId" in now else {})}
    found = {
        "decisionId": shown["id"],
        **{name: shown.get(name) for name in ("kind", "title", "owner", "covers", "verbs", "askedBy")},
        "scene": asked.scene,
        "about": about,
        "seen": shown.get("evidence", {}),
        "openedAt": iso(asked.ts),
        "openedSeq": asked.seq,
        "status": now["status"],
        "closedAt": iso(closed.ts) if closed else None,
        "closedSeq": closed.seq if closed else None,
        **{name: answer.get(name) for name in ("by", "verb", "value", "note")},
        "effect": shown.get("effects", {}).get(answer.get("verb")),
        "why": now.get("why"),
        "followed": await _followed(store, about, asked.scene) if closed else [],
    }
    return {name: found[name] for name in FIELDS}


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


def as_json_line(entry: Entry) -> str:
    return json.dumps(entry, ensure_ascii=False) + "\n"


def as_csv_line(entry: Entry) -> str:
    return _csv([_written(entry[name]) for name in FIELDS])


def _csv(values: list[str]) -> str:
    line = StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue()


def _written(value: Any) -> str:
    """A value as a spreadsheet may show it: never as a formula, whatever people wrote."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


FORMATS: Mapping[str, tuple[str, Callable[[Entry], str], str]] = {
    "jsonl": ("", as_json_line, "application/x-ndjson"),
    "csv": (_csv(list(FIELDS)), as_csv_line, "text/csv; charset=utf-8"),
}
"""What stands first, how an entry is written, and the media type."""


async def audit_lines(store: Store, form: str, since: int = 0, until: int | None = None) -> AsyncIterator[str]:
    """The record as text, in one of `FORMATS`."""
    first, write, _ = FORMATS[check_form(form)]
    if first:
        yield first
    async for entry in audit(store, since, until):
        yield write(entry)


def check_form(form: str) -> str:
    if form not in FORMATS:
        raise BadInputError.unknown("format", form, FORMATS, code="audit.format")
    return form
