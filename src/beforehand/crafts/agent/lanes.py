"""A session as lanes: every action that was started, and when it was moving, acting or done; and its command log."""

from collections.abc import Mapping
from typing import Any

from beforehand.crafts.agent.sessions import Sessions
from beforehand.ports.body import TICKS_PER_S
from beforehand.ports.store import EventFilter

CHUNK = 1_000
_OVER = ("stopped",)


async def lanes(sessions: Sessions, session_id: str) -> list[dict[str, Any]]:
    """One lane per start of an action, in the order they were started, with its spans in seconds."""
    session = await sessions.show(session_id)
    found: list[dict[str, Any]] = []
    running: dict[str, dict[str, Any]] = {}
    for data in await _events(sessions, session_id, "actionUpdated"):
        action, at = data["action"], data["tick"] / TICKS_PER_S
        lane = running.get(action)
        if lane is None or (lane["spans"][-1]["stage"] in ("done", "failed") and data["stage"] in ("moving", "acting")):
            if data["stage"] in _OVER:
                continue
            lane = running[action] = {"action": action, "spans": []}
            found.append(lane)
        _end_span(lane, at)
        if data["stage"] in _OVER:
            running.pop(action, None)
        elif data["stage"] != "stuck":
            span = {"stage": data["stage"], "fromS": at, "toS": None}
            lane["spans"].append({**span, "reason": data["reason"]} if data.get("reason") else span)
    for lane in running.values():
        _end_span(lane, float(session["atS"]))
    return found


def _end_span(lane: Mapping[str, Any], at: float) -> None:
    if lane["spans"] and lane["spans"][-1]["toS"] is None:
        lane["spans"][-1]["toS"] = at


async def command_log(sessions: Sessions, session_id: str) -> list[dict[str, Any]]:
    """Every command of a session with its reply, and the state after it."""
    await sessions.show(session_id)
    return [
        {
            "command": data["command"],
            "reply": data["reply"],
            "refused": data["refused"],
            "state": data["state"],
            "givenS": data["givenTick"] / TICKS_PER_S,
            "atS": data["atS"],
            **({"saidBy": data["saidBy"]} if data.get("saidBy") else {}),
        }
        for data in await _events(sessions, session_id, "commandGiven")
    ]


async def _events(sessions: Sessions, session_id: str, kind: str) -> list[Mapping[str, Any]]:
    only = EventFilter(kinds=frozenset({kind}), owner=f"session:{session_id}")
    found: list[Mapping[str, Any]] = []
    after = 0
    while events := await sessions.runtime.store.events(after=after, limit=CHUNK, only=only):
        found += [event.data for event in events]
        after = events[-1].seq
    return found
