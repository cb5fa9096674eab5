"""The words of a planner: what it decides, and which workers it may give work to. The names are the spec's.

A reference names a sub-goal and one of its output slots; 0 is the context, which the intake writes.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator
from pydantic.alias_generators import to_camel

from beforehand.model.base import SnakeWireModel

CONTEXT = 0
"""The id of the context, which is referred to like a sub-goal that is done."""
NEEDS_CLARIFICATION = "needs_clarification"
FORCE_EXECUTE = "force_execute"
RETRY_OF = "retry_of"
BUNDLES_WITH = "bundles_with_sub_goal"
_OTHER_SPELLINGS = {to_camel(name): name for name in (RETRY_OF, BUNDLES_WITH, FORCE_EXECUTE)}
MAX_ROUNDS = 10
WITHOUT_MODEL = "Rules plan on without the model "

Action = Literal["continue", "done", "failed"]
GoalType = Literal["support", "deliverable"]
Effect = Literal["pure", "idempotent", "physical"]


class PlannedInputRef(SnakeWireModel):
    from_sub_goal: int
    slot: str


class PlannedSubGoal(SnakeWireModel):
    worker: str
    description: str = ""
    inputs: Mapping[str, PlannedInputRef] = Field(default_factory=dict)
    params: Mapping[str, Any] = Field(default_factory=dict)
    goal_type: GoalType = "support"

    @field_validator("params")
    @classmethod
    def _in_the_specs_spelling(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The parameters that the planner itself reads are taken in both spellings, as all names of a document."""
        return {_OTHER_SPELLINGS.get(name, name): value for name, value in params.items()}


class PlannerDecision(SnakeWireModel):
    action: Action
    reasoning: str = ""
    sub_goals: tuple[PlannedSubGoal, ...] = ()
    synthesis_inputs: Mapping[str, PlannedInputRef] = Field(default_factory=dict)

    def wire(self) -> dict[str, Any]:
        """As the spec writes it: each action with the fields it has."""
        told = self.model_dump(mode="json")
        used = {"continue": "sub_goals", "done": "synthesis_inputs"}.get(self.action)
        return {name: value for name, value in told.items() if name in ("action", "reasoning", used) or value}


class Precondition(SnakeWireModel):
    """The slot must be there; and have a value, where one is given, be it null."""

    slot: str
    equals: Any = None

    @property
    def has_value(self) -> bool:
        return "equals" in self.model_fields_set

    def wire(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_unset=True)

    def in_words(self) -> str:
        if not self.has_value:
            return self.slot
        shown = {True: "true", False: "false", None: "null"}.get(self.equals) if _is_word(self.equals) else self.equals
        return f"{self.slot} = {shown}"


def _is_word(value: Any) -> bool:
    return value is None or isinstance(value, bool)


class Worker(SnakeWireModel):
    """A worker as the planner knows it: what must hold before it is called, and which slots it delivers."""

    name: str
    description: str = ""
    preconditions: tuple[Precondition, ...] = ()
    outputs: tuple[str, ...] = ()
    exclusive: bool = False
    """Whether the planner looks at what it gave before anything else of its batch goes on."""
    destructive: bool = False
    """Whether a person is asked before it is called."""
    effect: Effect = "pure"
    """What a crash in the middle of a call means: `physical` is never called again unasked."""
    asks: bool = False
    """Whether it is a question to a person, whose answer is its output."""
    answers: bool = False
    """Whether its outputs are an answer by themselves: what the rule planner works towards."""
    takes: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Its inputs by name, each with the slots that may feed it, best first; else those of its preconditions."""
    options: tuple[str, ...] = ()
    """The static parameters it understands, such as `size`."""
    bundles: str = ""
    """The input whose source it is shown together with, such as a query with its results."""


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; unlike in Python, true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
