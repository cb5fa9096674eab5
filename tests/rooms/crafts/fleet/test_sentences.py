"""Events of fleets and cells as sentences: whole, with the names that matter, whatever fields are there."""

from typing import Any

import pytest

from beforehand.model.event import Event
from beforehand.server.page.events import sentence

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
    ("robotUpdated", {"robotId": "RB-1", "phase": "idle", "status": "online"}, "RB-1 is idle."),
    ("robotUpdated", {"robotId": "RB-1", "phase": "picking", "status": "offline"}, "RB-1 is silent."),
    ("worksiteUpdated", {"worksiteId": "IN_1", "occupancy": "reserved", "reservedBy": "t1"}, "IN_1 is reserved by t1."),
    ("cellStateChanged", {"current_position": "Home"}, "The cell's robot stands at Home, holding nothing."),
    ("cellStateChanged", {"current_position": None}, "Nobody knows where the cell's robot stands."),
    ("fleetHeld", {"scene": "dock", "held": True}, "dock is held."),
]


@pytest.mark.parametrize(("kind", "data", "told"), TOLD)
def test_an_event_says_what_happened(kind: str, data: dict[str, Any], told: str) -> None:
    assert sentence(Event(kind, {}, data, 0)) == told


@pytest.mark.parametrize("kind", sorted({kind for kind, _, _ in TOLD} | {"palletPicked", "palletDropped"}))
def test_an_event_without_its_fields_is_told_by_its_name(kind: str) -> None:
    assert sentence(Event(kind, {"robotId": "RB-1"}, {}, 0)).endswith(".")
