"""Events of fleets and cells as sentences: whole, with the names that matter, whatever fields are there."""

from typing import Any

import pytest

from beforehand.app.crafts import load_crafts
from beforehand.app.sentences import Sentences

SENTENCES = Sentences(craft.sentences for craft in load_crafts().by_name.values())

TASK = {"taskId": "t1", "sourceId": "IN_1", "targetId": "OUT_2", "robotId": "RB-1", "status": "active"}
TOLD = [
    ("taskCreated", TASK, "A transport was made from IN_1 to OUT_2."),
    (
        "taskUpdated",
        {**TASK, "phase": "moving_to_pick"},
        "RB-1 takes a pallet from IN_1 to OUT_2: it drives to pick.",
    ),
    ("taskUpdated", {**TASK, "status": "completed"}, "RB-1 has brought the pallet from IN_1 to OUT_2."),
    (
        "taskUpdated",
        {**TASK, "status": "held", "error": "RB-1 is silent."},
        "The transport from IN_1 to OUT_2 is held. RB-1 is silent.",
    ),
    ("robotUpdated", {"robotId": "RB-1", "phase": "idle", "status": "online"}, "RB-1 is idle at an unknown place."),
    ("robotUpdated", {"robotId": "RB-1", "phase": "idle", "nodeId": "LM3"}, "RB-1 is idle at LM3."),
    ("robotUpdated", {"robotId": "RB-1", "phase": "idle", "outOfService": True}, "RB-1 is out of service."),
    ("robotUpdated", {"robotId": "RB-1", "phase": "held", "held": True}, "RB-1 is held by a person."),
    ("robotUpdated", {"robotId": "RB-1", "phase": "held", "paused": True}, "RB-1 waits: the fleet is held."),
    (
        "robotUpdated",
        {"robotId": "RB-1", "phase": "idle", "status": "blocked"},
        "RB-1 is blocked by something in its way.",
    ),
    (
        "robotUpdated",
        {"robotId": "RB-1", "phase": "charging", "errand": {"kind": "charge", "worksiteId": "C1", "state": "there"}},
        "RB-1 charges at C1.",
    ),
    (
        "robotUpdated",
        {"robotId": "RB-1", "phase": "idle", "errand": {"kind": "park", "nodeId": "P1", "state": "there"}},
        "RB-1 is parked at P1.",
    ),
    (
        "robotUpdated",
        {"robotId": "RB-1", "phase": "error", "error": "Its fork is stuck."},
        "RB-1 is in error. Its fork is stuck.",
    ),
    ("robotUpdated", {"robotId": "RB-1", "phase": "picking", "status": "offline"}, "RB-1 is silent."),
    ("worksiteUpdated", {"worksiteId": "IN_1", "occupancy": "reserved", "reservedBy": "t1"}, "IN_1 is reserved by t1."),
    ("cellStateChanged", {"current_position": "Home"}, "The cell's robot stands at Home, holding nothing."),
    ("cellStateChanged", {"current_position": None}, "The position of the cell's robot is not known."),
    ("fleetHeld", {"scene": "dock", "held": True}, "dock is held."),
]


@pytest.mark.parametrize(("kind", "data", "told"), TOLD)
def test_an_event_says_what_happened(kind: str, data: dict[str, Any], told: str) -> None:
    assert SENTENCES.of(kind, {}, data) == told


@pytest.mark.parametrize("kind", sorted({kind for kind, _, _ in TOLD} | {"palletPicked", "palletDropped"}))
def test_an_event_without_its_fields_is_told_by_its_name(kind: str) -> None:
    assert SENTENCES.of(kind, {"robotId": "RB-1"}, {}).endswith(".")
