"""What goes into a run's decisions and what comes out as commands, all plain data.

Every input carries its time; decide never looks at a clock. A command's key is stable for run, step and attempt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.model.plan import Plan
from beforehand.model.quick import quick
from beforehand.ports.tool import Judgement, ProbeAnswer


@dataclass(frozen=True, slots=True)
class Begin:
    """The run was approved; start what can start."""

    ts: int


@dataclass(frozen=True, slots=True)
class Recover:
    """A process takes the run up again: everything in the air before is decided anew.

    An attempt is a step and a number. Those `under_way` go on, and those `never_begun`, which the log holds as started
    though nobody was told, are handed over; `asked` are the steps whose tools are being asked something.
    """

    ts: int
    under_way: frozenset[tuple[str, int]] = frozenset()
    never_begun: frozenset[tuple[str, int]] = frozenset()
    asked: frozenset[str] = frozenset()


@quick
@dataclass(frozen=True, slots=True)
class StepEnded:
    ts: int
    step_id: str
    attempt: int
    ok: bool
    value: Any = None
    error: str = ""
    transient: bool = False
    untouched: bool = False
    stopped: bool = False
    """The tool ended because it was told to stop."""
    stale: bool = False
    """What it would change is not what was approved any more; nothing was done."""
    drift: Mapping[str, Any] | None = None
    """The world was not as the step needs it, so nothing was sent: what differs."""
    in_doubt: bool = False
    """It was sent to its machine, and nobody can tell how far it came."""
    difference: Mapping[str, Any] | None = None
    """Of what is in doubt: what it was to leave and what is seen, where these contradict each other."""
    logs: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class StepLost:
    """Whoever carried the step out is gone without a word: it is taken up as after a restart.

    Where it is known that nothing had `begun`, it is just handed to somebody else.
    """

    ts: int
    step_id: str
    attempt: int
    begun: bool = True


@dataclass(frozen=True, slots=True)
class StepJudged:
    ts: int
    step_id: str
    covers: str
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class StepProbed:
    ts: int
    step_id: str
    attempt: int
    answer: ProbeAnswer


@dataclass(frozen=True, slots=True)
class MachineAsked:
    """Whether a machine could be had: nobody holds it, or `held_by` says who."""

    ts: int
    step_id: str
    machine: str
    held_by: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TimerFired:
    ts: int
    key: str


@dataclass(frozen=True, slots=True)
class Answered:
    ts: int
    decision_id: str
    verb: str
    value: Any = None
    note: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Advised:
    """Proposals for what to answer to an open decision, each with its `verb`, the `value` it takes and why."""

    ts: int
    decision_id: str
    proposals: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class ReleaseAsked:
    """Give the run's machines back, while nothing is in flight."""

    ts: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class PauseAsked:
    ts: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class ResumeAsked:
    ts: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class CancelAsked:
    ts: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class RetryAsked:
    """Try one step again, as it is or with other arguments."""

    ts: int
    step_id: str
    by: str = ""
    args: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class SkipAsked:
    ts: int
    step_id: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class RerunAsked:
    """Run a step and everything that depends on it again."""

    ts: int
    step_id: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Adopted:
    """Go on with another version of the plan."""

    ts: int
    plan: Plan
    by: str = ""
    answers: Answered | None = None
    """The answer to a decision that this version is the outcome of."""


RunInput = (
    Begin
    | Recover
    | StepEnded
    | StepLost
    | StepJudged
    | StepProbed
    | MachineAsked
    | TimerFired
    | Answered
    | Advised
    | PauseAsked
    | ReleaseAsked
    | ResumeAsked
    | CancelAsked
    | RetryAsked
    | SkipAsked
    | RerunAsked
    | Adopted
)


@quick
@dataclass(frozen=True, slots=True)
class StartStep:
    key: str
    step_id: str
    attempt: int
    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    seen: str | None = None
    """The state that was judged or approved; None for an attempt that is repeated after a crash."""
    expects: Mapping[str, Any] = field(default_factory=dict)
    """The state of the world before the step, as it was verified."""


@dataclass(frozen=True, slots=True)
class StopStep:
    key: str
    step_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class JudgeStep:
    """Ask the tool whether this very call is destructive, and for evidence to show."""

    key: str
    step_id: str
    tool: str
    covers: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProbeStep:
    """Ask the tool whether a call that was started before a crash happened."""

    key: str
    step_id: str
    attempt: int
    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    expects: Mapping[str, Any] = field(default_factory=dict)
    """The state of the world before the step, as it was verified."""


@dataclass(frozen=True, slots=True)
class SetTimer:
    key: str
    at: int


def timeout_key(step_id: str, attempt: int) -> str:
    """The key of the timer that ends an attempt which takes too long; it falls away when the attempt ends."""
    return f"timeout:{step_id}:{attempt}"


@dataclass(frozen=True, slots=True)
class LeaseMachine:
    """Ask for a machine that a step works on and that the run does not hold yet."""

    key: str
    step_id: str
    machine: str


RunCommand = LeaseMachine | StartStep | StopStep | JudgeStep | ProbeStep | SetTimer
