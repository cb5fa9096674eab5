"""What events of fleets say, a short sentence each."""

from collections.abc import Callable, Mapping
from typing import Any

Data = Mapping[str, Any]
_PHASES = {
    "moving_to_pick": "drives to pick",
    "moving_to_drop": "drives to drop",
    "picking": "picks",
    "dropping": "drops",
}
_PHASES |= {"parking": "drives to park", "charging": "goes to charge", "error": "stands in an error", "held": "is held"}


def _task(data: Data) -> str:
    return f"from {data['sourceId']} to {data['targetId']}"


def _task_created(data: Data) -> str:
    return f"A transport was made {_task(data)}."


def _task_updated(data: Data) -> str:
    who, status = data.get("robotId") or "A transport", data.get("status")
    if status == "completed":
        return f"{who} has brought the pallet {_task(data)}."
    if status in ("failed", "canceled", "held", "stale"):
        says = f" {data['error']}" if data.get("error") else ""
        return f"The transport {_task(data)} is {status}.{says}"
    return f"{who} takes a pallet {_task(data)}: it {_PHASES.get(str(data.get('phase')), 'waits')}."


def _robot_updated(data: Data) -> str:
    if data.get("status") == "offline":
        return f"{data['robotId']} is silent."
    return f"{data['robotId']} {_PHASES.get(str(data.get('phase')), 'is idle')}."


def _worksite_updated(data: Data) -> str:
    by = f" by {data['reservedBy']}" if data.get("reservedBy") else ""
    return f"{data['worksiteId']} is {data['occupancy']}{by}."


SENTENCES: dict[str, Callable[[Data], str]] = {
    "taskCreated": _task_created,
    "taskUpdated": _task_updated,
    "robotUpdated": _robot_updated,
    "worksiteUpdated": _worksite_updated,
    "palletPicked": lambda data: f"{data['robotId']} has picked a pallet at {data['worksiteId']}.",
    "palletDropped": lambda data: f"{data['robotId']} has dropped a pallet at {data['worksiteId']}.",
    "fleetHeld": lambda data: f"{data['scene']} is held.",
    "fleetCleared": lambda data: f"{data['scene']} goes on.",
}
