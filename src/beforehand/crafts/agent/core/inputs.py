"""What comes in to a session, and what it wants done: inputs and commands, all of them data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.model.decision import Decision
from beforehand.model.usage import Usage


@dataclass(frozen=True, slots=True)
class Said:
    """A line of text for the session. `tick`: when it was said, with clocks that go on by themselves.

    `waited`: for a skip in real time, how many ticks have been waited before it is decided. `turn`: at which turn
    whoever says it believes to steer. `own`: the session's own policy or model says it, which has used `used` by now.
    """

    text: str
    by: str = ""
    tick: int | None = None
    waited: int | None = None
    turn: int | None = None
    own: bool = False
    used: Usage | None = None


@dataclass(frozen=True, slots=True)
class TimePassed:
    tick: int


@dataclass(frozen=True, slots=True)
class WentWrong:
    """A fault in the world."""

    fault: Mapping[str, Any]
    tick: int | None = None


@dataclass(frozen=True, slots=True)
class SteeringFailed:
    """Whoever steers cannot go on: everything is stopped, and a person decides."""

    says: str
    tick: int | None = None
    used: Usage | None = None


@dataclass(frozen=True, slots=True)
class TakenUp:
    """The session was found in the log after a start, and nobody knows what has moved since."""


@dataclass(frozen=True, slots=True)
class CalledOff:
    """Somebody wants the session over: everything is stopped."""

    says: str
    failed: bool = False
    tick: int | None = None
    turn: int | None = None
    """The turn at which whoever wants that steered; nothing is done where it is another by now."""


@dataclass(frozen=True, slots=True)
class Unheard:
    """The command that steered it has been silent for longer than its lease."""

    tick: int | None = None


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A person steers from here on, whoever did before; with `lease_s`, by a command that must not be silent longer."""

    by: str
    tick: int | None = None
    lease_s: float | None = None
    turn: int | None = None
    """The turn that whoever takes it over has seen; nothing is done where it is another by now."""


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody holds everything: the body stands still, and takes no commands until it is let go."""

    tick: int | None = None


@dataclass(frozen=True, slots=True)
class LetGo:
    """What was held may go on; nothing is started again by itself, but whoever steers goes on."""


@dataclass(frozen=True, slots=True)
class Answered:
    decision: Decision
    verb: str
    note: str = ""
    by: str = ""
    value: Mapping[str, Any] | None = None


SessionInput = (
    Said | TimePassed | WentWrong | SteeringFailed | TakenUp | CalledOff | Unheard | TakenOver | Held | LetGo | Answered
)


@dataclass(frozen=True, slots=True)
class Steer:
    """Have the model or the policy go on."""
