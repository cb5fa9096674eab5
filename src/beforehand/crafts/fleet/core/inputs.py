"""What may come into one tick: reports and answers from robots, and what people ask for.

Time is the tick's own argument. Ids that must be new (a task's, a decision's) are counted in the state.
"""

from dataclasses import dataclass
from typing import Any

from beforehand.model.fleet import Occupancy
from beforehand.model.robot import Ack, Telemetry


@dataclass(frozen=True, slots=True)
class TaskVerb:
    task_id: str
    verb: str
    value: Any = None
    """For `abort` with a pallet on the fork: the worksite to drop it at instead, as text or `{targetId}`. For
    `done-by-hand`: the step meant, `pick` or `drop`, as text or `{step}`; the present one when absent."""


@dataclass(frozen=True, slots=True)
class RobotVerb:
    robot_id: str
    verb: str
    value: Any = None
    """For `set-load`: `empty` or `loaded`."""


@dataclass(frozen=True, slots=True)
class FleetVerb:
    verb: str
    """`hold` stops every robot and all dispatch; `let-go` lifts that, `clear` also a freeze after an error."""


@dataclass(frozen=True, slots=True)
class PatchWorksite:
    worksite_id: str
    occupancy: Occupancy


@dataclass(frozen=True, slots=True)
class PatchStream:
    """What is None stays as it is."""

    stream_id: str
    enabled: bool | None = None
    priority: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerDecision:
    decision_id: str
    verb: str
    value: Any = None
    note: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class RequestTransport:
    """One pallet from here to there on request, outside all streams."""

    source_id: str
    target_id: str
    priority: float = 0.0
    request_id: str = ""
    """Goes on the `taskCreated` event as `correlationId`, so that the asker can find the task."""


@dataclass(frozen=True, slots=True)
class NotSent:
    """Orders that were decided and have not gone out: the log kept them waiting, and they may be wrong by now."""

    keys: frozenset[str]


FleetInput = (
    Telemetry
    | Ack
    | TaskVerb
    | RobotVerb
    | FleetVerb
    | PatchWorksite
    | PatchStream
    | AnswerDecision
    | RequestTransport
    | NotSent
)
