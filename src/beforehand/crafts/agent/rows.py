"""The rows that events of sessions write: the session itself, who holds the body, and the world it leaves behind."""

from collections.abc import Mapping
from typing import Any

from beforehand.app.leases import LEASE_ROW
from beforehand.crafts.agent.homes import RESET, WORLD_ROW, machine_of
from beforehand.crafts.agent.session_documents import SESSION_ROW
from beforehand.loop.rows import RowMaker
from beforehand.model.event import Event
from beforehand.ports.store import Row

_OF_THE_EVENT = (
    "document",
    "world",
    "sceneHash",
    "command",
    "givenTick",
    "reply",
    "refused",
    "saidBy",
    "waited",
    "stopped",
    "takenOver",
)


def _session(event: Event) -> list[Row]:
    head = {name: value for name, value in event.data.items() if name not in _OF_THE_EVENT}
    is_open = head["status"] == "open"
    rows = [Row(SESSION_ROW, head["sessionId"], head, parent=head["scene"], open=is_open)]
    if "key" not in head and event.kind in ("sessionStarted", "sessionEnded"):
        rows.append(_lease(head, is_open))
    if event.kind == "sessionEnded":
        rows.append(_world(event))
    return rows


def _world(event: Event) -> Row:
    """The world as the session left it, and the scene that it is of use to."""
    scene, of = event.data["scene"], event.data.get("sceneHash")
    return Row(WORLD_ROW, scene, {"scene": scene, "world": event.data["world"], **({"sceneHash": of} if of else {})})


def _reset(event: Event) -> list[Row]:
    return [Row(WORLD_ROW, event.data["scene"], None)]


def _lease(head: Mapping[str, Any], is_open: bool) -> Row:
    """A session holds its body from its start to its end; a step of a plan holds it through its run."""
    machine = machine_of(head["scene"])
    held = {
        "machine": machine,
        "holder": f"the session {head['sessionId']}",
        "since": head["startedAt"],
        "status": "open",
    }
    if "turn" in head:  # rows of what older versions wrote stay as they were
        held["howToFree"] = f"Wait until it ends, or: `beforehand agent end {head['sessionId']}`."
    return Row(LEASE_ROW, machine, held if is_open else None, open=is_open)


ROWS: Mapping[str, RowMaker] = {
    **dict.fromkeys(("sessionStarted", "commandGiven", "sessionUpdated", "sessionEnded"), _session),
    RESET: _reset,
}
