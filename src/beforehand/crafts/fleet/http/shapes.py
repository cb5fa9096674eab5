"""The words of the calls on live scenes: cells and fleets."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import AfterValidator, Field

from beforehand.model.base import WireModel
from beforehand.server.shapes import Shape

SceneQuery = Annotated[
    str | None,
    Query(description="The scene, where a name is in several of them."),
    AfterValidator(lambda scene: scene or None),
]


class Occupancy(WireModel):
    """What lies on a worksite: `empty`, `filled` or `unknown`."""

    occupancy: Annotated[str, Field(strict=True, max_length=100)]


class Enabled(WireModel):
    enabled: Annotated[bool, Field(strict=True)]


class Load(WireModel):
    """What a person sees on the fork: `empty` or `loaded`."""

    load_state: Literal["empty", "loaded"]


class WithValue(WireModel):
    """What goes with a verb, such as the worksite to drop a pallet at instead."""

    value: Any = None


class RobotFault(WireModel):
    """What a simulated robot does wrong, from now on or `atS` seconds later."""

    fault: Annotated[str, Field(strict=True, max_length=100)]
    at_s: float = 0.0
    for_s: float | None = None
    delay_s: float | None = None
    level: float | None = None


class CellPatch(WireModel):
    """Where the robot stands and what it holds, as a person sees it; what is left out stays."""

    position: Annotated[str, Field(strict=True, max_length=1_000)] | None = None
    tool: Annotated[str, Field(strict=True, max_length=1_000)] | None = None


class CellFaultBody(WireModel):
    """What the simulated controller does wrong at the next command that fits."""

    fault: Annotated[str, Field(strict=True, max_length=100)]
    target: Annotated[str, Field(strict=True, max_length=1_000)] | None = None


REQUESTS: tuple[type[WireModel], ...] = (
    Occupancy,
    Enabled,
    Load,
    WithValue,
    RobotFault,
    CellPatch,
    CellFaultBody,
)


class RobotShape(Shape):
    robot_id: str
    scene: str
    status: str
    phase: Literal[
        "idle",
        "moving_to_pick",
        "picking",
        "moving_to_drop",
        "dropping",
        "parking",
        "charging",
        "error",
        "held",
    ]
    load_state: Literal["empty", "loaded", "unknown"]
    battery: float | None = None
    node_id: str | None = None
    x: float
    y: float
    task_id: str | None = None


class WorksiteShape(Shape):
    worksite_id: str
    scene: str
    worksite_type: str
    group_id: str | None = None
    entry_node_id: str
    action_node_id: str | None = None
    occupancy: Literal["empty", "filled", "unknown", "reserved"]
    reserved_by: str | None = None
    occupancy_before: str | None = None


class StreamShape(Shape):
    stream_id: str
    scene: str
    kind: str
    enabled: bool
    priority: float
    quota: int | None = None
    params: dict[str, Any]


class TaskShape(Shape):
    task_id: str
    scene: str
    stream_id: str | None = None
    source_id: str
    target_id: str
    robot_id: str | None = None
    status: Literal["created", "active", "held", "stale", "completed", "failed", "canceled"]
    step: str
    phase: str


class FleetShape(Shape):
    scene: str
    held: bool


class CellShape(Shape):
    scene: str
    current_position: Annotated[str | None, Field(alias="current_position")]
    current_tool: Annotated[str, Field(alias="current_tool")]
    active: bool
