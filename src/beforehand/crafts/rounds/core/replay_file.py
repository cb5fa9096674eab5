"""The document of a replay file: what is in it, and everything that is wrong with one, each with its place."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic.alias_generators import to_camel, to_snake

from beforehand.crafts.rounds.core.words import (
    MAX_ROUNDS,
    PlannedInputRef,
    PlannedSubGoal,
    PlannerDecision,
    Precondition,
    Worker,
)
from beforehand.model.base import SnakeWireModel
from beforehand.model.errors import BadInputError
from beforehand.model.reason import Problem, unknown


class Result(SnakeWireModel):
    outputs: Mapping[str, Any] | None = None
    error: str | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "Result":
        if (self.outputs is None) == (self.error is None):
            raise ValueError("a result has either outputs or an error")
        return self


class ReplayWorker(SnakeWireModel):
    name: str
    description: str = ""
    preconditions: tuple[Precondition, ...] = ()
    outputs: tuple[str, ...] = ()
    exclusive: bool = False
    results: tuple[Result, ...] = ()

    def registered(self) -> Worker:
        return Worker(
            name=self.name,
            description=self.description,
            preconditions=self.preconditions,
            outputs=self.outputs,
            exclusive=self.exclusive,
        )


class NotPutIntoWords(SnakeWireModel):
    error: str


class Note(SnakeWireModel):
    at: int = Field(ge=0)
    """How many warnings there were before it."""
    says: str


class Replay(SnakeWireModel):
    question: str = ""
    max_rounds: int = Field(default=MAX_ROUNDS, ge=0)
    context: Mapping[str, Any] = Field(default_factory=dict)
    workers: tuple[ReplayWorker, ...] = ()
    decisions: tuple[PlannerDecision, ...] = ()
    order: tuple[int, ...] | None = None
    """The sub-goals in the order in which they ended, where that is not the order in which they were called."""
    stopped: str | None = None
    """Why the session was stopped after everything that is recorded."""
    answer: str | NotPutIntoWords | None = None
    """The answer in words, where somebody put it into words."""
    noted: tuple[Note, ...] = ()
    """Warnings that came from outside, such as that the model was not there any more."""

    @field_validator("question", mode="before")
    @classmethod
    def _none_is_empty(cls, question: Any) -> Any:
        return "" if question is None else question


def read_replay(document: Any) -> Replay:
    """The session in a file; BadInputError with every problem and its place."""
    problems = _given_twice(document)
    try:
        replay = Replay.model_validate(document)
    except ValidationError as error:
        found = [_problem(document, item) for item in error.errors()]
        raise _bad([*found, *problems]) from None
    if problems:
        raise _bad(problems)
    return replay


def _given_twice(document: Any) -> list[Problem]:
    workers = document.get("workers") if isinstance(document, Mapping) else None
    listed = workers if isinstance(workers, list) else []
    names = [each.get("name") if isinstance(each, Mapping) else None for each in listed]
    twice = [at for at, name in enumerate(names) if isinstance(name, str) and name in names[:at]]
    return [_at(f"workers[{at}].name", f"The worker {names[at]} is given twice.") for at in twice]


def _bad(problems: list[Problem]) -> BadInputError:
    problems.sort(key=lambda each: not each.says.startswith("Unknown"))  # unknown names first
    return BadInputError("This is not a replay file of a session.", code="replay.invalid", problems=problems)


def _at(path: str, says: str, nearest: tuple[str, ...] = ()) -> Problem:
    return Problem(code="replay.invalid", about=path, says=says, path=path, nearest=nearest)


_MODELS: Mapping[str, type[SnakeWireModel]] = {
    "workers": ReplayWorker,
    "preconditions": Precondition,
    "results": Result,
    "noted": Note,
    "decisions": PlannerDecision,
    "subGoals": PlannedSubGoal,
    "inputs": PlannedInputRef,
    "synthesisInputs": PlannedInputRef,
}


def _problem(document: Any, item: Any) -> Problem:
    loc = item["loc"]
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
    if not isinstance(document, Mapping):
        return _at("", "A replay file is a mapping with question, context, workers and decisions.")
    if item["type"] == "extra_forbidden":
        model = next(
            (_MODELS[to_camel(str(part))] for part in reversed(loc[:-1]) if to_camel(str(part)) in _MODELS), Replay
        )
        told = unknown("key", loc[-1], model.model_fields)
        return _at(path, told.says, told.nearest)
    if item["type"] == "missing":
        return _at(path, f"The key {to_snake(str(loc[-1]))} is missing.")
    says = _SHAPES.get(item["type"], item["msg"].removeprefix("Value error, "))
    return _at(path, f"{says[:1].upper()}{says[1:]}.")


_SHAPES = {
    "string_type": "this must be text",
    "int_type": "this must be a whole number",
    "bool_type": "this must be true or false",
}
_SHAPES |= dict.fromkeys(("tuple_type", "list_type"), "this must be a list")
_SHAPES |= dict.fromkeys(("mapping_type", "dict_type", "model_type"), "this must be a mapping")
