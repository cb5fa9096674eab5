"""What is known of a session: its body, who steers it, what a person is asked, and the document that HTTP shows of it.

One steers at a time. `turn` counts how often the steering has changed hands, so that whoever steered before and does
not know it yet is told. `lease_s` says for how long a command that steers may be silent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from beforehand.crafts.agent.core.session import Session, Step
from beforehand.model.decision import Decision
from beforehand.model.event import Event, iso
from beforehand.model.usage import NOTHING, Usage
from beforehand.ports.body import TICKS_PER_S, Body

SteeredBy = Literal["person", "file", "policy", "model"]
IDLE_MS = 30 * 60 * 1000
OF_THIS_PROCESS = 0.0
"""The lease of a command that leads the home itself: it lasts as long as that process does."""
STARTED, COMMANDED, DISTURBED, UPDATED, ENDED = (
    "sessionStarted",
    "commandGiven",
    "worldDisturbed",
    "sessionUpdated",
    "sessionEnded",
)


@dataclass(frozen=True, slots=True)
class SessionState:
    session_id: str
    scene: str
    session: Session
    steered_by: SteeredBy = "person"
    goal: str | None = None
    instruction: str | None = None
    model: str | None = None
    by: str = ""
    key: str | None = None
    """The step of a plan that this session carries out."""
    started_at: int = 0
    last_said: int = 0
    decision: Decision | None = None
    """What a person is asked; nothing goes on until it is answered."""
    asked: int = 0
    held: bool = False
    """Whether somebody holds everything."""
    begins: str = ""
    """The state before the first command, in words."""
    history: tuple[Step, ...] = ()
    """The commands so far and what came of them, the newest last."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What a model is given: its `budget`, and whether it sees `pictures`."""
    turn: int = 0
    """How often the steering has changed hands."""
    steerer: str = ""
    """Who steers and nobody else; empty where whoever likes may give commands."""
    lease_s: float | None = None
    """How long the command that steers may be silent before its session ends; None where no command does."""
    used: Usage = NOTHING
    """What asking the model has used so far."""
    asking: bool = False
    """Whether the model was asked and has not answered, as far as the log knows."""
    scene_hash: str = ""
    """Of the scene's document: a world that was left is of use to the same scene only."""
    note: str = ""
    """What is to be known about how it began."""

    @property
    def owner(self) -> str:
        return f"session:{self.session_id}"

    @property
    def body(self) -> Body:
        return self.session.body

    @property
    def is_open(self) -> bool:
        return self.session.status == "open"

    @property
    def stands(self) -> bool:
        """Whether nothing may move: a person is asked, or holds everything."""
        return self.held or self.decision is not None

    def head(self) -> dict[str, Any]:
        """The session as HTTP shows it."""
        found = {
            "sessionId": self.session_id,
            "scene": self.scene,
            "status": self.session.status,
            "steeredBy": self.steered_by,
            "clock": self.session.clock,
            "goal": self.goal,
            "instruction": self.instruction,
            "model": self.model,
            "by": self.by or None,
            "key": self.key,
            "maxSteps": self.session.max_steps,
            **self.options,
            "turn": self.turn,
            "steerer": self.steerer or None,
            "leaseS": self.lease_s,
            "used": self.used.wire() if self.used.requests else None,
            "note": self.note or None,
            "startedAt": iso(self.started_at),
            "lastSaidAt": iso(self.last_said),
            "steps": self.session.steps,
            "tick": self.body.tick,
            "atS": self.body.tick / TICKS_PER_S,
            "state": self.body.state_text(),
            "actions": [action.wire() for action in self.body.actions],
            "goalReached": self.session.goal_reached,
            "reason": self.session.reason or (self.decision.evidence.get("reason") if self.decision else None),
            "waitsFor": self.decision.id if self.decision else None,
            "held": True if self.held else None,
        }
        return {name: value for name, value in found.items() if value is not None or name == "goalReached"}


def started(state: SessionState, document: Mapping[str, Any], now: int, correlation_id: str = "") -> Event:
    """The event a session begins with: its scene and the world as it is then."""
    data = {**state.head(), "document": document, "world": state.body.wire()}
    return event_of(state, STARTED, data, now, correlation_id)


def event_of(state: SessionState, kind: str, data: Mapping[str, Any], now: int, correlation_id: str = "") -> Event:
    about = {"sessionId": state.session_id}
    return Event(kind, about, data, now, scene=state.scene, correlation_id=correlation_id, owner=state.owner)
