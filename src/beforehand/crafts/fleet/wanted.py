"""What a fleet understands of a request, before anything is planned: the errands, and the names to choose from."""

from typing import Any

from beforehand.app.craft import PlanRequest, Wanted, WantedStep
from beforehand.crafts.fleet.plans import read_or_refuse
from beforehand.model.fleet import FleetScene

NO_PALLETS = ("charger", "park")


def read_wanted(scene: FleetScene, request: PlanRequest) -> Wanted:
    """The errands of words or of an intent; BadInputError for unknown names, NotUnderstoodError rather than a guess."""
    requests = read_or_refuse(scene, request).requests
    intent = {"steps": [one.intent for one in requests]}
    return Wanted(intent, tuple(WantedStep(one.says) for one in requests), step_schema(scene))


def step_schema(scene: FleetScene) -> dict[str, Any]:
    """The JSON schema of a step: transport, or a robot sent to park or charge, with the names of the scene."""
    sites = [site.worksite_id for site in scene.worksites if site.worksite_type not in NO_PALLETS]
    robots = [robot.robot_id for robot in scene.robots]
    transport = {
        "from": {"enum": sites},
        "to": {"enum": sites},
        "priority": {"type": "number", "description": "Higher goes first; 0 when left out."},
    }
    return {
        "oneOf": [
            _action("Transport", "transport", transport if sites else {}, ["from", "to"]),
            _action("Park", "park", {"robotId": {"title": "Robot", "enum": robots}} if robots else {}, ["robotId"]),
            _action("Charge", "charge", {"robotId": {"title": "Robot", "enum": robots}} if robots else {}, ["robotId"]),
        ]
    }


def _action(title: str, action: str, fields: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "title": title,
        "type": "object",
        "properties": {"action": {"const": action}, **fields},
        "required": ["action", *required],
    }
