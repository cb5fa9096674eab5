"""What the fleet's calls take and answer. The shapes of its records are read off the records themselves."""

import dataclasses
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import Field, create_model

from beforehand.model.fleet import Errand, Flag, Number, Robot, Stream, Task, Worksite
from beforehand.server.kit import DoneWrite, ReasonShape, Shape, WireModel

Text = Annotated[str, Field(strict=True, max_length=100)]


class Occupancy(WireModel):
    """What lies on a worksite: `empty`, `filled` or `unknown`."""

    occupancy: Text


class StreamPatch(WireModel):
    """Whether a stream runs, and how soon; what is left out stays."""

    enabled: Flag | None = None
    priority: Number | None = None


class Load(WireModel):
    """What a person sees on the fork: `empty` or `loaded`."""

    load_state: Literal["empty", "loaded"]


class WithValue(WireModel):
    """What goes with a verb: the worksite to drop a pallet at instead, or the step that was done by hand."""

    value: Any = None


class RobotFault(WireModel):
    """What a simulated robot does wrong, from now on or `atS` seconds later."""

    fault: Text
    at_s: float = 0.0
    for_s: float | None = None
    delay_s: float | None = None
    level: float | None = None


REQUESTS: tuple[type[WireModel], ...] = (Occupancy, StreamPatch, Load, WithValue, RobotFault)


def _shape_of(name: str, record: type, **more: Any) -> type[Shape]:
    """The shape of a record as `wire_of` writes it: its fields, what is None left out."""
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(record):
        given = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        kind = get_type_hints(record)[field.name]
        fields[field.name] = (ErrandShape | None, None) if field.name == "errand" else (kind, ... if given else None)
    return create_model(name, __base__=Shape, **fields, **more)


ErrandShape: Any = _shape_of("ErrandShape", Errand)
RobotShape: Any = _shape_of(
    "RobotShape",
    Robot,
    scene=(str, ...),
    battery=(float | None, None),
    node_id=(str | None, None),
    last_seen_ts_ms=(int | None, None),
    x=(float | None, None),
    y=(float | None, None),
    says=(str, Field(description="What it does, in words.")),
)
WorksiteShape: Any = _shape_of("WorksiteShape", Worksite, scene=(str, ...))
StreamShape: Any = _shape_of("StreamShape", Stream, scene=(str, ...))
TaskShape: Any = _shape_of(
    "TaskShape", Task, scene=(str, ...), says=(str, Field(description="How it stands, in words."))
)


class RobotLinkShape(Shape):
    """What leads to a robot, and how that stands; what is not known is left out."""

    robot_id: str
    scene: str
    kind: str = Field(description="`sim`, `robokit`, `vda5050` or a plug-in's.")
    says: str = Field(description="Whether it answers, in words.")
    at: str | None = Field(default=None, description="Where it is reached.")
    answers: bool | None = None
    since_ts_ms: int | None = Field(default=None, description="Since when it answers, or does not.")
    control: str | None = Field(default=None, description="Who has control of it; empty where nobody has.")
    trouble: str | None = Field(default=None, description="What went wrong last, as a sentence.")
    trouble_ts_ms: int | None = None


class PalletWayShape(Shape):
    """Where a pallet stands and where it would go."""

    source_id: str
    target_id: str


class CandidateShape(PalletWayShape):
    """A pallet that a stream could move now."""

    since_ts_ms: int
    more: list[PalletWayShape] | None = Field(default=None, description="Those that go with it in a batch.")


class StreamTrialShape(Shape):
    """What a stream would do: the tasks it would start at the next tick, or why none."""

    stream: StreamShape
    candidates: list[CandidateShape]
    tasks: list[TaskShape]
    reasons: list[ReasonShape]


class EffectShape(Shape):
    """What would happen to one task, robot or decision."""

    about: dict[str, Any]
    says: str


class WorksiteTrialShape(Shape):
    """Whom it would affect if a person said what lies there."""

    worksite: WorksiteShape
    effects: list[EffectShape]
    streams: list[str] = Field(description="The streams that use this place.")


class HeldShape(Shape):
    """A fleet as holding and clearing leave it."""

    scene: str
    held: bool
    person: bool
    tasks: list[str]
    robots: list[str]


class FleetShape(Shape):
    scene: str
    held: bool
    person: bool
    held_tasks: list[str]
    held_robots: list[str]
    tasks_completed: int
    tasks_failed: int
    tasks_canceled: int


def scene_of(done: DoneWrite) -> str | None:
    """The scene of a write that was done; one that changed nothing left no event of a scene."""
    return done.event.scene or done.request.query_params.get("scene") or None


class RobotFaultShape(Shape):
    """A fault as it was taken in."""

    scene: str
    robot_id: str
    fault: str
    at_s: float
    for_s: float | None = None
    delay_s: float | None = None
    level: float | None = None
