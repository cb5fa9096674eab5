"""From a document to a Plan: shape only, every complaint at once, with the path of each in the document."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, to_json

from beforehand.engine.values import writable
from beforehand.model.plan import Plan, Step, StepStatus
from beforehand.model.reason import Problem, unknown
from beforehand.model.words import counted, wanted_value

MAX_STEPS = 10_000
MAX_LEVELS = 64
_STEP_KEYS = sorted(to_camel(name) for name in Step.model_fields)
_PLAN_KEYS = sorted({*(to_camel(name) for name in Plan.model_fields), "parameters", "decision"})
_OURS = (
    "expects",
    "id",
    "version",
    "createdAt",
    "created_at",
    "origin",
    "world",
    "workspace",
    "notes",
    "comparison",
    "parameters",
    "decision",
)
"""Plan fields that a document may carry and that are given anew when it is taken in."""
_SUBJECT = re.compile(r"^\w+ should")


@dataclass(slots=True)
class PlanReading:
    """What could be read: the plan without the steps that make no sense, and what is wrong with the rest."""

    plan: Plan
    problems: list[Problem] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    """Where each of the plan's steps stands in the document."""
    broken_ids: set[str] = field(default_factory=set)
    """Ids of steps that were there and could not be read, so that nobody calls them unknown."""


def read_plan(document: Any) -> PlanReading:
    """Read a plan's document: an object with `steps`, or just the list of steps."""
    if isinstance(document, list):
        document = {"steps": document}
    if isinstance(document, Mapping) and isinstance(document.get("plan"), Mapping) and "steps" not in document:
        document = document["plan"]
    if not isinstance(document, Mapping):
        return _nothing(Problem(code="plan.shape", about="plan", says="A plan is an object with a list of steps."))
    steps = document.get("steps")
    if not isinstance(steps, list):
        says = "A plan needs `steps`: a list with at least one step."
        return _nothing(
            Problem(code="plan.shape", about="plan", path="steps", says=says), *_unknown_plan_keys(document)
        )
    if not steps:
        return _nothing(Problem(code="plan.shape", about="plan", path="steps", says="The plan has no steps."))
    if len(steps) > MAX_STEPS:
        return _nothing(too_large(len(steps)))
    reading = _read_head(document)
    _read_steps(steps, reading)
    return reading


def too_large(count: int) -> Problem:
    says = f"The plan has {counted(count, 'step')}; {MAX_STEPS} is the most."
    return Problem(code="plan.too_large", about="plan", path="steps", says=says)


def _nothing(*problems: Problem) -> PlanReading:
    return PlanReading(Plan(steps=()), list(problems))


def _unknown_plan_keys(document: Mapping[str, Any]) -> list[Problem]:
    known = {*_PLAN_KEYS, *Plan.model_fields}
    return [_unknown_key("plan", str(key), str(key), _PLAN_KEYS) for key in document if key not in known]


def _unknown_key(about: str, path: str, key: str, known: Iterable[str]) -> Problem:
    told = unknown("field", key, known)
    says = f"{about}: {told.says}"
    return Problem(code="plan.unknown_key", about=about, path=path, says=says, nearest=told.nearest)


def _read_head(document: Mapping[str, Any]) -> PlanReading:
    problems = _unknown_plan_keys(document)
    known = {key: value for key, value in document.items() if key in {*_PLAN_KEYS, *Plan.model_fields}}
    head = {key: value for key, value in known.items() if key not in (*_OURS, "steps")}
    try:
        return PlanReading(Plan.model_validate({**head, "steps": ()}), problems)
    except ValidationError as error:
        problems += shape_problems(error, "plan", "")
        return PlanReading(Plan(steps=()), problems)


def _read_steps(documents: list[Any], reading: PlanReading) -> None:
    steps: list[tuple[Step, str]] = []
    for place, document in enumerate(documents):
        path = f"steps[{place}]"
        if not isinstance(document, Mapping):
            says = f"{path} is not a step: a step is an object with `id` and `tool`."
            reading.problems.append(Problem(code="plan.shape", about=path, path=path, says=says))
            continue
        step, problems = _read_step(document, path)
        reading.problems += problems
        if step is not None:
            steps.append((step, path))
        elif isinstance(document.get("id"), str | int):
            reading.broken_ids.add(str(document["id"]))
    if all(step.order > 0 for step, _ in steps):
        steps.sort(key=lambda pair: pair[0].order)
    fresh = tuple(_taken_in(step, place) for place, (step, _) in enumerate(steps, start=1))
    reading.paths = [path for _, path in steps]
    reading.plan = reading.plan.model_copy(update={"steps": fresh})


def _read_step(document: Mapping[str, Any], path: str) -> tuple[Step | None, list[Problem]]:
    """A step, if need be without the fields that make no sense, so that the rest of it is still checked."""
    if says := _unwritable(document):
        about = writable(str(document.get("id") or path)[:100])
        return None, [Problem(code="plan.shape", about=about, path=path, says=f"{path} {says}.")]
    try:
        return Step.model_validate(document), []
    except ValidationError as error:
        problems = shape_problems(error, str(document.get("id") or path)[:100], path + ".")
        wrong = {item["loc"][0] for item in error.errors(include_url=False) if item["loc"]}
    try:
        return Step.model_validate({key: value for key, value in document.items() if key not in wrong}), problems
    except ValidationError:
        return None, problems


def _unwritable(document: Mapping[str, Any]) -> str:
    """Why a step could not be kept in the log, if it could not."""
    try:
        written = to_json(document, inf_nan_mode="constants")
    except (ValueError, TypeError, RecursionError) as error:
        if "surrogates" in str(error):
            return "holds half a character (a lone surrogate)"
        return "holds something that is not JSON, or is nested without end"
    if (b"NaN" in written or b"Infinity" in written) and written != to_json(document, inf_nan_mode="null"):
        return "holds a number that is not finite"
    if written.count(b"[") + written.count(b"{") > MAX_LEVELS and _levels(document) > MAX_LEVELS:
        return f"is nested more than {MAX_LEVELS} levels deep"
    return ""


def _levels(value: Any) -> int:
    """How deep lists and objects lie in each other."""
    deepest, stack = 0, [(value, 1)]
    while stack:
        item, level = stack.pop()
        if isinstance(item, Mapping | list):
            deepest = max(deepest, level)
            stack += [(part, level + 1) for part in (item.values() if isinstance(item, Mapping) else item)]
    return deepest


def _taken_in(step: Step, order: int) -> Step:
    """A step of a plan that has not begun: nothing has run, only what a person marked as skipped stays so."""
    status = StepStatus.SKIPPED if step.status is StepStatus.SKIPPED else StepStatus.PENDING
    return step.model_copy(update={"order": order, "status": status, "result": None})


def shape_problems(
    error: ValidationError, about: str, prefix: str, *, keys: Iterable[str] = _STEP_KEYS
) -> list[Problem]:
    """What a validation found, in plain words, each with its path after `prefix`; `keys` are the names there are."""
    problems = []
    for item in error.errors(include_url=False, include_input=False):
        path = prefix + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in item["loc"]).lstrip(".")
        if item["type"] == "extra_forbidden":
            problems.append(_unknown_key(about, path, str(item["loc"][-1]), keys))
        elif item["type"] == "missing":
            says = f"{about} needs the field {item['loc'][-1]!r}."
            problems.append(Problem(code="plan.shape", about=about, path=path, says=says))
        else:
            says = f"{about}: {path.removeprefix(prefix)} {_plain(item)}."
            problems.append(Problem(code="plan.shape", about=about, path=path, says=says))
    return problems


def _plain(found: ErrorDetails) -> str:
    kind = found["type"]
    if kind == "string_pattern_mismatch":
        return "may hold only letters, digits, `_` and `-`"
    if kind == "string_too_short":
        return "must not be empty"
    if wanted := wanted_value(kind, found.get("ctx", {})):
        return f"must be {wanted}"
    return _SUBJECT.sub("should", found["msg"])
