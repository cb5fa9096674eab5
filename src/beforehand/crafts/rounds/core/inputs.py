"""What comes in to a question, and what it wants done: inputs and commands, all of them data.

A command has a stable key, which goes to whoever carries it out; after a crash the same commands come again under the
same keys, and only for what has not ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from beforehand.crafts.rounds.core.words import PlannedInputRef, PlannerDecision
from beforehand.model.decision import Decision

# -- what comes in ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """The question begins."""

    correlation_id: str = ""


@dataclass(frozen=True, slots=True)
class PlannerDecided:
    round: int
    decision: PlannerDecision


@dataclass(frozen=True, slots=True)
class PlannerFailed:
    """The planner gave no decision: the model did not answer, or not in a way that can be used."""

    round: int
    says: str


@dataclass(frozen=True, slots=True)
class WorkerFinished:
    sub_goal: int
    outputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WorkerFailed:
    sub_goal: int
    says: str
    transient: bool = False
    refused: bool = False
    """Whether the worker would not guess what the words mean."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A person's answer to what a sub-goal asked."""

    decision_id: str
    verb: str
    value: Any = None
    note: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Synthesised:
    text: str


@dataclass(frozen=True, slots=True)
class SynthesisFailed:
    """Nobody put the answer into words; what was found is told as it is."""

    says: str


@dataclass(frozen=True, slots=True)
class CalledOff:
    """It shall end now: a person cancelled it, its time is up, its money is spent. What was finished is kept."""

    says: str


@dataclass(frozen=True, slots=True)
class TakenUp:
    """The question was found in the log after a start: what was in the air is to be carried out again."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that whoever reads the answer should know; it is told as a warning, once."""

    says: str


QuestionInput = (
    Asked
    | PlannerDecided
    | PlannerFailed
    | WorkerFinished
    | WorkerFailed
    | Answered
    | Synthesised
    | SynthesisFailed
    | CalledOff
    | TakenUp
    | Noted
)


# -- what is wanted --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CallPlanner:
    """Ask the planner, from the state as it is now; its answer carries the same round."""

    round: int
    key: str


@dataclass(frozen=True, slots=True)
class RunWorker:
    sub_goal: int
    worker: str
    question: str
    inputs: Mapping[str, Any]
    params: Mapping[str, Any]
    key: str


@dataclass(frozen=True, slots=True)
class StopWorker:
    """Nobody waits for this call any more."""

    sub_goal: int
    key: str


@dataclass(frozen=True, slots=True)
class AskPerson:
    """A decision was opened (its event is in the same verdict); tell whoever follows the question."""

    sub_goal: int
    kind: Literal["question", "approval", "inDoubt"]
    decision: Decision


@dataclass(frozen=True, slots=True)
class Synthesise:
    """Put the answer into words, from these values and nothing else."""

    question: str
    values: Mapping[str, Any]
    key: str
    inputs: Mapping[str, PlannedInputRef] = field(default_factory=dict)


Command = CallPlanner | RunWorker | StopWorker | AskPerson | Synthesise
