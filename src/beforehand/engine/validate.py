"""Is this plan valid? Every problem at once, each with the step it is about and where it stands."""

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nlargest
from itertools import pairwise
from typing import Any

from beforehand.engine.condition import ConditionError, parse_condition
from beforehand.engine.graph import RESERVED_NAMES, dependencies, find_cycles, ranks, step_references
from beforehand.engine.reading import MAX_STEPS, PlanReading, read_plan, too_large
from beforehand.engine.references import (
    Reference,
    broken_references,
    holds_reference,
    parse_reference,
    references_in,
)
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.errors import BadInputError, TooLargeError
from beforehand.model.plan import Plan, Step, StepStatus
from beforehand.model.reason import Problem, UnknownName, name_list, unknown
from beforehand.model.words import counted

PARAMETERS = "params"
"""What a template's steps call its parameters by."""
_UNKNOWN_FIRST = ("step.unknown_tool", "step.unknown_dependency", "step.unknown_reference", "plan.unknown_key")


class Names:
    """The names of a plan's steps, and which of them come near a wrong one.

    A plan of thousands may hold thousands of wrong names: then only likely ones are compared letter by letter, and
    only the first wrong names get suggestions.
    """

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.left = 25 if len(names) > 200 else 1000

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def unknown(self, name: Any, inside: str = "") -> UnknownName:
        """What is said of a name that no step has."""
        if self.left == 0:
            return unknown("step", name, None, inside=inside)
        self.left -= 1
        near = self.names if len(self.names) <= 200 else self._likely(str(name))
        return unknown("step", name, near, inside=inside)

    def _likely(self, name: str) -> list[str]:
        pairs = {name[place : place + 2] for place in range(len(name) - 1)}

        def likeness(other: str) -> float:
            return sum(pair in other for pair in pairs) / (len(name) + len(other))

        return nlargest(50, self.names, key=likeness)


def check_document(document: Any, catalog: ToolCatalog) -> tuple[Plan, list[Problem]]:
    """Read and validate a document. The plan is whole only when there are no problems."""
    reading = read_plan(document)
    problems = reading.problems + find_problems(reading, catalog)
    problems.sort(key=lambda problem: problem.code not in _UNKNOWN_FIRST)
    return reading.plan, problems


def plan_from(document: Any, catalog: ToolCatalog) -> Plan:
    """The plan a document holds; BadInputError with every problem when it is not valid."""
    plan, problems = check_document(document, catalog)
    if problems:
        raise invalid_plan(problems)
    return plan


MOST_TOLD = 100
"""How many problems are told one by one; of more only the number."""


def invalid_plan(problems: list[Problem]) -> BadInputError:
    """The error for a plan with problems: the first of them, and how many there are."""
    count = counted(len(problems), "problem")
    if len(problems) > MOST_TOLD:
        count += f", of which the first {MOST_TOLD} are listed"
    if problems[0].code == "plan.too_large":
        return TooLargeError(problems[0].says, code="plan.too_large", hint="Make several plans of it.")
    return BadInputError(
        f"The plan has {count}: {problems[0].says}",
        code="plan.invalid",
        problems=problems[:MOST_TOLD],
        nearest=problems[0].nearest,
        extra={"problemCount": len(problems)} if len(problems) > MOST_TOLD else None,
        hint="Correct what is listed and send it again.",
    )


def find_problems(reading: PlanReading, catalog: ToolCatalog) -> list[Problem]:
    """Everything wrong with a plan that could be read: tools, arguments, dependencies, conditions, circles."""
    plan = reading.plan
    if len(plan.steps) > MAX_STEPS:
        return [too_large(len(plan.steps))]
    ids = {step.id for step in plan.steps}
    known = Names(ids | reading.broken_ids)
    uses = [step_references(step) for step in plan.steps]
    problems: list[Problem] = [*_duplicates(plan), *_parameters(uses)]
    needs: dict[str, tuple[str, ...]] = {}
    for step, path, references in zip(plan.steps, reading.paths, uses, strict=True):
        needs[step.id] = (*needs.get(step.id, ()), *dependencies(step, references))
        problems += _tool_problems(step, path, catalog)
        problems += _dependency_problems(step, path, known, references)
        problems += _language_problems(step, path)
        problems += _broken_references(step, path)
    cycles = [_cycle(cycle) for cycle in find_cycles(needs)]
    return problems + cycles + ([] if cycles else _same_paths(plan, catalog, needs))


def _same_paths(plan: Plan, catalog: ToolCatalog, needs: Mapping[str, tuple[str, ...]]) -> list[Problem]:
    """Two steps that change the same file and might do so side by side; one with `when` may not run at all."""
    writers: dict[str, list[str]] = {}
    for step in plan.steps:
        spec = catalog.get(step.tool)
        if spec is None or step.when is not None or step.status is StepStatus.SKIPPED:
            continue
        for path in dict.fromkeys(step.args.get(name) for name in spec.writes):
            if isinstance(path, str) and not holds_reference(path):
                writers.setdefault(posixpath.normpath(path.replace("$$", "$")), []).append(step.id)
    found = []
    order = ranks(needs)
    for path, names in writers.items():
        for first, second in pairwise(sorted(names, key=order.__getitem__)) if len(names) > 1 else ():
            if first != second and not _is_behind(second, first, needs, order):
                says = f"{first} and {second} both change {path!r}, and neither waits for the other."
                hint = f"Let {second} depend on {first}."
                found.append(Problem(code="step.same_path", about=second, path="steps", says=says, try_next=hint))
    return found


def _is_behind(name: str, other: str, needs: Mapping[str, tuple[str, ...]], order: Mapping[str, int]) -> bool:
    """Whether one step waits, directly or not, for another; what comes before that one in the order cannot."""
    looked_at, stack = {name}, [name]
    while stack:
        for need in needs.get(stack.pop(), ()):
            if need == other:
                return True
            if need not in looked_at and order.get(need, -1) > order[other]:
                looked_at.add(need)
                stack.append(need)
    return False


def _parameters(uses: Iterable[Iterable[Reference]]) -> list[Problem]:
    """A plan whose steps use parameters is a template, and has to be filled in first."""
    used = [reference for references in uses for reference in references if reference.step == PARAMETERS]
    if not used:
        return []
    names = list(dict.fromkeys(str(reference.parts[0]) for reference in used if reference.parts))
    given = "".join(f" {name}=…" for name in names)
    says = f"This is a template, not a plan: its steps use the parameters {name_list(names)}."
    try_next = f"Keep it with `beforehand template save PLAN`, then run it with `beforehand template run NAME{given}`."
    return [Problem(code="plan.template", about="plan", path="steps", says=says, try_next=try_next)]


def _duplicates(plan: Plan) -> list[Problem]:
    problems = []
    for name, count in Counter(step.id for step in plan.steps).items():
        if count > 1:
            says = f"{count} steps have the id {name!r}; every id is used once."
            problems.append(Problem(code="step.duplicate_id", about=name, path="steps", says=says))
        if name in RESERVED_NAMES:
            says = f"{name!r} is kept for references (${name}) and cannot be a step's id."
            problems.append(Problem(code="step.reserved_id", about=name, path="steps", says=says))
    return problems


def _tool_problems(step: Step, path: str, catalog: ToolCatalog) -> list[Problem]:
    if catalog.get(step.tool) is None:
        told = unknown("tool", step.tool, catalog.names())
        says = f"{step.id}: {told.says}"
        return [Problem(code="step.unknown_tool", about=step.id, path=f"{path}.tool", says=says, nearest=told.nearest)]
    return [
        Problem(code="step.bad_args", about=step.id, path=f"{path}.{where}", says=f"{step.id}: {where} {what}.")
        for where, what in catalog.complaints(step.tool, step.args, filled_in=False)
    ]


def _dependency_problems(step: Step, path: str, known: Names, references: Iterable[Reference]) -> list[Problem]:
    problems = []
    for name in dict.fromkeys(step.depends_on):
        if name not in known:
            told = known.unknown(name, "dependsOn")
            problems.append(
                Problem(
                    code="step.unknown_dependency",
                    about=step.id,
                    path=f"{path}.dependsOn",
                    says=f"{step.id}: {told.says}",
                    nearest=told.nearest,
                )
            )
    loops = step.for_each is not None
    for reference in dict.fromkeys(references):
        told_apart = reference.step == PARAMETERS or (loops and reference.step in ("item", "index"))
        if told_apart or reference.step in known:
            continue
        problems.append(_bad_reference(step, f"{path}.{_place_of(step, reference)}", reference, known, loops))
    return problems


def _place_of(step: Step, reference: Reference) -> str:
    """Which field of a step holds a reference, however deep."""
    stack: list[tuple[str, Any]] = [("args", step.args)]
    while stack:
        where, value = stack.pop()
        if isinstance(value, dict):
            stack += [(f"{where}.{key}", item) for key, item in value.items()]
        elif isinstance(value, list):
            stack += [(f"{where}[{at}]", item) for at, item in enumerate(value)]
        elif reference in references_in(value):
            return where
    return "forEach" if reference in references_in(step.for_each) else "when"


def _bad_reference(step: Step, path: str, reference: Reference, known: Names, loops: bool) -> Problem:
    name, shown = reference.step, str(reference)
    told = known.unknown(name, shown)
    says = f"{step.id}: {told.says}"
    if name in ("item", "index") and not loops:
        says = f"{step.id} uses {shown}, which only a step with forEach has."
    return Problem(
        code="step.unknown_reference",
        about=step.id,
        path=path,
        says=says,
        nearest=told.nearest,
        try_next=f"Write ${shown} if a literal dollar is meant.",
    )


def _broken_references(step: Step, path: str) -> list[Problem]:
    """Texts that were meant as references and would be written out as they stand."""
    problems = []
    for text in dict.fromkeys(broken_references(step.args)):
        says = f"{step.id}: {text[:80]!r} is not a reference that can be read; parts are .name or [0], counted from 0."
        literal = f"Write ${text[:80]} if a literal dollar is meant."
        problems.append(
            Problem(code="step.bad_reference", about=step.id, path=f"{path}.args", says=says, try_next=literal)
        )
    return problems


def _language_problems(step: Step, path: str) -> list[Problem]:
    problems = []
    if step.when is not None:
        try:
            parse_condition(step.when)
        except ConditionError as error:
            says = f"{step.id}: its `when` cannot be read, {error}."
            problems.append(Problem(code="step.bad_condition", about=step.id, path=f"{path}.when", says=says))
    if step.for_each is None:
        return problems
    if any(reference.step in ("item", "index") for reference in references_in(step.for_each)):
        says = f"{step.id}: forEach itself cannot use $item or $index."
        problems.append(Problem(code="step.bad_for_each", about=step.id, path=f"{path}.forEach", says=says))
    if not isinstance(step.for_each, list):
        text = step.for_each if isinstance(step.for_each, str) else ""
        if parse_reference(text) is None:
            says = f"{step.id}: forEach takes a reference to a list, such as $step_1.files."
            problems.append(Problem(code="step.bad_for_each", about=step.id, path=f"{path}.forEach", says=says))
    return problems


def _cycle(cycle: list[str]) -> Problem:
    shown = " → ".join(cycle if len(cycle) <= 12 else [*cycle[:6], "…", *cycle[-5:]])
    return Problem(
        code="plan.cycle",
        about=cycle[0],
        path="steps",
        says=f"These steps wait for each other in a circle: {shown}.",
        try_next="Remove one of these dependencies or references.",
    )
