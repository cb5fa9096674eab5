"""What can be searched and asked about sessions of an agent."""

from collections.abc import Iterable
from typing import Any

from beforehand.loop.searchable import seconds_between
from beforehand.model.event import Event, from_iso
from beforehand.ports.search import ByKind, Condition, Document, Field, Index, Lookup, Noun, Searchable


def _session(event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
    data, id = event.data, str(event.data["sessionId"])
    before: Any = look(id) or {}
    told = data.get("startedAt")
    started = before.get("startedAt") or (from_iso(told) if isinstance(told, str) else event.ts)
    ended = event.ts if event.kind == "sessionEnded" else None
    made = {
        "sessionId": id,
        "scene": data.get("scene"),
        "status": data.get("status"),
        "steeredBy": data.get("steeredBy"),
        "goalReached": data.get("goalReached"),
        "commands": (before.get("commands") or 0) + (event.kind == "commandGiven"),
        "startedAt": started,
        "endedAt": ended,
        "durationS": seconds_between(started, ended),
    }
    return [(id, made)]


_SESSIONS = Index(
    "sessions",
    "One document per session of an agent.",
    (
        Field("sessionId", "keyword", "The session.", ("session",), "session"),
        Field("scene", "keyword", "Its scene.", ("scene", "home"), "scene"),
        Field("status", "keyword", "Whether it goes on.", ("status",)),
        Field("steeredBy", "keyword", "Who or what steered it.", ("driver",)),
        Field("goalReached", "boolean", "Whether its goal was reached."),
        Field("commands", "long", "How many commands were given in it.", ("command count",)),
        Field("startedAt", "date", "When it started."),
        Field("endedAt", "date", "When it ended."),
        Field("durationS", "double", "How long it took.", ("duration",), unit="s"),
    ),
    ByKind(dict.fromkeys(("sessionStarted", "commandGiven", "sessionUpdated", "sessionEnded"), _session)),
    time="startedAt",
    nouns=(Noun(("session", "agent session")),),
    conditions=(
        Condition(("open", "running"), {"status": "open"}),
        Condition(("ended", "finished"), {"status": "ended"}, "endedAt"),
        Condition(("succeeded", "successful", "reached their goal"), {"goalReached": True}, "endedAt"),
        Condition(("started", "begun"), {}, "startedAt"),
        Condition(("took", "take", "lasted"), {}, "endedAt", "durationS"),
    ),
    measure="durationS",
    present={"status": "open"},
    shown=("sessionId", "scene", "status", "goalReached", "startedAt", "durationS"),
    sped=(("startedAt",),),
)

SEARCHABLE = Searchable((_SESSIONS,), ids={"session": ""})
