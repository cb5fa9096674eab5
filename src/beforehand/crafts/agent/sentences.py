"""What events of sessions say."""

from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]


def _started(data: Data) -> str:
    goal = f": {data['goal']}" if data.get("goal") else ""
    return f"A session begins in {data['scene']}, steered by {_who(data['steeredBy'])}{goal}."


def _who(steered_by: str) -> str:
    return {"person": "a person", "file": "a command file", "policy": "the policy", "model": "a model"}[steered_by]


def _commanded(data: Data) -> str:
    how = "was refused" if data["refused"] else "was given"
    return f"{data['command']} {how}: {data['reply']}"


def _action(data: Data) -> str:
    why = f": {data['reason']}" if data.get("reason") else ""
    return f"{data['action']} is {data['stage']} after {data['atS']:g} s{why}."


def _disturbed(data: Data) -> str:
    fault = data["fault"]
    to = f" to {fault['to']}" if fault.get("to") else ""
    return f"Something goes wrong: {fault['fault']} {fault['about']}{to}."


def _updated(data: Data) -> str:
    if data.get("takenOver"):
        return f"{data['steerer']} takes the session in {data['scene']} over, and steers it from here on."
    return f"The session in {data['scene']} is {data['status']}, steered by {_who(data['steeredBy'])}."


def _ended(data: Data) -> str:
    how = "has ended" if data["status"] == "ended" else "has failed"
    why = f" {data['reason']}" if data.get("reason") else ""
    reached = {None: "", True: " The goal was reached."}.get(data.get("goalReached"), " The goal was not reached.")
    return f"The session in {data['scene']} {how} after {data['steps']} commands.{why}{reached}"


def _reset(data: Data) -> str:
    return f"The body of {data['scene']} is put back to where its scene begins, by {data['by'] or 'a person'}."


def session_says(data: Data) -> str:
    """What a session is for and what its body does."""
    if data["status"] != "open":
        return _ended(data)
    goal = f"{data['goal']}: " if data.get("goal") else ""
    doing = ", ".join(f"{one['action']} ({one['stage']})" for one in data["actions"]) or "nothing is under way"
    return f"{goal}{doing}, in {data['scene']}, steered by {_who(data['steeredBy'])}."


def told(session: dict[str, Any]) -> dict[str, Any]:
    """A session with what it does in words."""
    return {**session, "says": session_says(session)}


SENTENCES = {
    "sessionStarted": _started,
    "commandGiven": _commanded,
    "actionUpdated": _action,
    "worldDisturbed": _disturbed,
    "sessionUpdated": _updated,
    "sessionEnded": _ended,
    "homeReset": _reset,
}
