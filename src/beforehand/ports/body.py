"""A body in a world that can be steered: actions are started and stopped while time passes in ticks of 50 ms.

A session knows nothing else of the world it works in, so that another world behind this port takes the same commands,
shows the same state and pictures, and judges its own goals. A body decides and never waits: the same calls in the same
order give the same answers.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from beforehand.model.reason import Reason

TICKS_PER_S = 20
Stage = Literal["moving", "acting", "done", "failed"]


def folded(name: str) -> str:
    """A name as it is compared: without case, spacing, dashes and a trailing dot; wide letters are plain ones."""
    return re.sub(r"[\s_\-]+", "", unicodedata.normalize("NFKC", name).casefold()).rstrip(".")


@dataclass(frozen=True, slots=True)
class Change:
    """An action reached another stage, got `stuck` or was `stopped`, at a tick."""

    tick: int
    text: str
    stage: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ActionInfo:
    """An action under way, as it is shown."""

    text: str
    stage: Stage
    duration_s: float
    stuck_s: float = 0.0
    why: str = ""

    def wire(self) -> dict[str, Any]:
        found: dict[str, Any] = {"action": self.text, "stage": self.stage, "durationS": round(self.duration_s, 3)}
        if self.stuck_s:
            found["stuckS"] = round(self.stuck_s, 3)
        return {**found, "reason": self.why} if self.why else found


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing changed, and why: everything that speaks against it."""

    reasons: tuple[Reason, ...]


class Body(Protocol):
    """Each call that changes something gives the body after it; the one it was asked of is not used any more."""

    @property
    def tick(self) -> int: ...

    @property
    def actions(self) -> tuple[ActionInfo, ...]:
        """Everything that was started and not stopped, in the order it was started."""
        ...

    def start(self, text: str) -> "tuple[Body, Change] | Refused":
        """Start an action given in words."""
        ...

    def stop(self, text: str) -> "tuple[Body, Change] | Refused":
        """Stop an action, at once in every stage."""
        ...

    def passed(self, until: int, wake_on: str | None = None) -> "tuple[Body, list[Change]]":
        """Let time pass up to a tick, or until a change of the stage `wake_on` names (`change`: of any)."""
        ...

    def next_instant(self) -> int | None:
        """The next tick at which something happens by itself; None where nothing will."""
        ...

    def disturbed(self, fault: Mapping[str, Any]) -> "Body | Refused":
        """Let something go wrong in the world."""
        ...

    def state_text(self) -> str:
        """The state in four lines: position, actions, left hand, right hand."""
        ...

    @property
    def goal_text(self) -> str | None:
        """What is wanted, in words: what the session was given, or what the world itself asks for."""
        ...

    def goal_reached(self) -> bool | None:
        """Whether what is wanted is so now; None where nobody can tell."""
        ...

    def surroundings(self) -> str:
        """What there is and where, a line each, for whoever steers by words."""
        ...

    def frame(self) -> dict[str, Any]:
        """Where everything that moves is, for whoever looks."""
        ...

    def picture(self) -> bytes:
        """The world seen from above, as a PNG of 512 pixels a side."""
        ...

    def wire(self) -> dict[str, Any]:
        """The world as data, for the next session to begin with."""
        ...
