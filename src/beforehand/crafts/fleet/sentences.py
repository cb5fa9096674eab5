"""What events of fleets say, a short sentence each."""

from collections.abc import Callable, Mapping
from typing import Any

from beforehand.model.event import Event
from beforehand.model.machine import SIM
from beforehand.ports.robot import LinkStanding

Data = Mapping[str, Any]
_PHASES = {
    "moving_to_pick": "drives to pick",
    "moving_to_drop": "drives to drop",
    "picking": "picks",
    "dropping": "drops",
}
_THEN = {
    "cancel": ", which is cancelled then",
    "fail": ", which is aborted then",
    "fail-loaded": ", which is aborted then",
    "hand-back": ", which another robot gets then",
    "resend": ", and gets it anew then",
}
_PHASES |= {"held": "is held"}


def _task(data: Data) -> str:
    return f"from {data['sourceId']} to {data['targetId']}"


def _task_created(data: Data) -> str:
    return f"A transport was made {_task(data)}."


def task_says(data: Data) -> str:
    who, status = data.get("robotId") or "A transport", data.get("status")
    if status == "completed":
        return f"{who} has brought the pallet {_task(data)}."
    if status in ("failed", "canceled", "held", "stale"):
        says = f" {data['error']}" if data.get("error") else ""
        return f"The transport {_task(data)} is {status}.{says}"
    if data.get("commandState") == "canceling":
        return f"{who} is told to let go of the transport {_task(data)}{_THEN.get(str(data.get('then')), '')}."
    return f"{who} takes a pallet {_task(data)}: it {_PHASES.get(str(data.get('phase')), 'waits')}."


def robot_says(data: Data) -> str:
    """What a robot does, from its record."""
    return f"{data['robotId']} {_doing(data)}".rstrip(".") + "."


def _doing(data: Data) -> str:
    phase, errand = str(data.get("phase")), data.get("errand") or {}
    place = errand.get("worksiteId") or errand.get("nodeId") or data.get("nodeId") or "an unknown place"
    there = errand.get("state") == "there"
    if data.get("status") == "offline":
        return "is silent"
    if data.get("status") == "blocked" and phase != "error":
        return "is blocked by something in its way"
    if phase == "error":
        return f"is in error. {data.get('error') or ''}".strip()
    if data.get("held") or data.get("paused"):
        return "is held by a person" if data.get("held") else "waits: the fleet is held"
    if data.get("waitsSays"):
        return str(data["waitsSays"])
    if phase == "charging":
        return f"charges at {place}" if there or not errand else f"drives to charge at {place}"
    if phase == "parking":
        return f"drives to park at {place}"
    if phase in _PHASES:
        return _PHASES[phase]
    if errand.get("kind") == "park" and there:
        return f"is parked at {place}"
    return "is out of service" if data.get("outOfService") else f"is idle at {place}"


def link_says(robot_id: str, kind: str, stands: LinkStanding | None) -> str:
    """Whether a robot answers, in words."""
    if kind == SIM:
        return f"{robot_id} is simulated."
    if stands is None:
        return f"The link {kind} does not say whether {robot_id} answers."
    if stands.answers is None:
        return f"{robot_id} has not been heard yet."
    return f"{robot_id} answers." if stands.answers else f"{robot_id} does not answer."


def _worksite_updated(data: Data) -> str:
    by = f" by {data['reservedBy']}" if data.get("reservedBy") else ""
    return f"{data['worksiteId']} is {data['occupancy']}{by}."


def stream_says(data: Data) -> str:
    """Whether a stream is on, from its record."""
    switched = "on" if data["enabled"] else "off"
    before = f", with priority {data['priority']:g}" if data.get("priority") else ""
    return f"The stream {data['streamId']} is switched {switched}{before}."


def _hands(data: Data) -> str:
    return f"A person, for {data['robotId']}," if data.get("byHand") else str(data["robotId"])


_TOLD = {"pause": "stop where it is", "resume": "go on", "cancel": "give up its order"}


def _command_sent(data: Data) -> str:
    payload = data.get("payload") or {}
    if data["command"] == "driveOn":
        return f"{data['robotId']} may drive on to {payload['way'][-1]}."
    if data["command"] != "goTarget":
        return f"{data['robotId']} was told to {_TOLD[data['command']]}."
    work = f" for {payload['operation']}" if payload.get("operation") else ""
    return f"{data['robotId']} was sent to {payload.get('id')}{work}."


SENTENCES: dict[str, Callable[[Data], str]] = {
    "taskCreated": _task_created,
    "taskUpdated": task_says,
    "robotUpdated": robot_says,
    "worksiteUpdated": _worksite_updated,
    "streamUpdated": stream_says,
    "palletPicked": lambda data: f"{_hands(data)} has picked a pallet at {data['worksiteId']}.",
    "palletDropped": lambda data: f"{_hands(data)} has dropped a pallet at {data['worksiteId']}.",
    "commandSent": _command_sent,
    "fleetHeld": lambda data: f"{data['scene']} is held.",
    "fleetCleared": lambda data: f"{data['scene']} goes on.",
}


def effect_says(event: Event) -> str:
    """What an event that has not happened yet would say."""
    if event.kind == "decisionOpened":
        return f"A person would be asked: {event.data['title']}"
    return SENTENCES[event.kind](event.data)
