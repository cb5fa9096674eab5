"""Reading a step list for judgement: atomic steps or a plan's steps, as words or as any document.

A line is one step as written, with nothing filled in. Of a plan only the cell's own steps become lines, in the order
they will run; two that might run side by side are a problem here, because one robot cannot do both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from beforehand.model.cell import ATTACH, RELEASE, AtomicStep
from beforehand.model.reason import Problem, nearest_names, unknown

ATOMIC_KEYS = ("id", "name", "action", "target", "position", "tool", "stabilize", "action_after", "verify")
ARG_KEYS = ("scene", "target", "position", "tool", "stabilize", "action_after", "verify")
CELL_TOOLS = {"cell.move": "move", "cell.routine": "routine"}


@dataclass(frozen=True, slots=True)
class Line:
    path: str
    label: str
    """How a sentence names the step: its number, or its id in the plan."""
    action: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    at: int = 0
    """Its place in the list it came from."""
    step_id: Any = None

    def text(self, key: str) -> str | None:
        value = self.fields.get(key)
        return value if isinstance(value, str) else None

    @property
    def name(self) -> str:
        """What the step does, in the words the builder uses; what the list itself calls it does not matter."""
        target = self.text("target") or ""
        if self.action == "move":
            return f"Move to {target}"
        if target in (ATTACH, RELEASE):
            return f"{'Attach' if target == ATTACH else 'Release'} {self.text('tool') or ''}".strip()
        return f"{target.replace('_', ' ').title()} at {self.text('position') or ''}"


def read_lines(steps: Any, scene: str) -> tuple[list[Line], list[Problem]]:
    """The lines in running order and everything that is wrong with the list as a list."""
    if isinstance(steps, BaseModel) and not isinstance(steps, AtomicStep):
        steps = steps.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(steps, Mapping):
        steps = steps.get("steps")
    if not isinstance(steps, Sequence) or isinstance(steps, str | bytes):
        return [], [problem("steps", "steps", "A step list is a list of steps, or a plan with one.")]
    documents = [_document(step) for step in steps]
    if any(isinstance(step, Mapping) and "action" not in step and "tool" in step for step in documents):
        return _plan_lines(documents, scene)
    return _atomic_lines(documents)


def problem(
    path: str, about: str, says: str, *, code: str = "cell.bad_step", names: Sequence[str] | None = None, hint: str = ""
) -> Problem:
    near = nearest_names(about, names) if names is not None else ()
    return Problem(code=code, about=about[:80], says=says, path=path, nearest=near, try_next=hint)


def _document(step: Any) -> Any:
    return step.model_dump(mode="json", by_alias=False, exclude_none=True) if isinstance(step, BaseModel) else step


def _atomic_lines(steps: list[Any]) -> tuple[list[Line], list[Problem]]:
    lines: list[Line] = []
    problems: list[Problem] = []
    for at, step in enumerate(steps):
        path, label = f"steps[{at}]", f"Step {at + 1}"
        if not isinstance(step, Mapping):
            problems.append(problem(path, path, f"{label} is not a mapping."))
            continue
        problems += _unknown_keys(step, path, label, ATOMIC_KEYS)
        number = step.get("id")
        if not isinstance(step.get("name", ""), str):
            problems.append(problem(f"{path}.name", path, f"The name of {label.lower()} must be text."))
        action = step.get("action")
        if action not in ("move", "routine"):
            says = f"{label} has the action {_short(action)}; it is move or routine."
            problems.append(problem(f"{path}.action", str(action)[:80], says, names=("move", "routine")))
            continue
        lines.append(Line(path, label, action, {key: step[key] for key in ATOMIC_KEYS if key in step}, at, number))
    return lines, problems + _numbering(steps) + [found for line in lines for found in _misfits(line, "")]


def _numbering(steps: list[Any]) -> list[Problem]:
    """One problem however many ids are off: a step put in or taken out by hand moves all behind it."""
    ids = [step.get("id") if isinstance(step, Mapping) else at for at, step in enumerate(steps, 1)]
    wrong = [(at, number) for at, number in enumerate(ids, 1) if isinstance(number, bool) or number != at]
    if not wrong:
        return []
    at, number = wrong[0]
    has = "has no id" if number is None else f"has the id {_short(number)}"
    more = f" The same is true of {len(wrong) - 1} more." if len(wrong) > 1 else ""
    says = f"Step {at} {has}; ids count up from 1, so it should be {at}.{more}"
    path = f"steps[{at - 1}]"
    return [problem(f"{path}.id", path, says, code="cell.bad_id", hint="Number the steps from 1 again.")]


def _plan_lines(steps: list[Any], scene: str) -> tuple[list[Line], list[Problem]]:
    problems: list[Problem] = []
    lines: dict[int, Line] = {}
    for at, step in enumerate(steps):
        path = f"steps[{at}]"
        if not isinstance(step, Mapping):
            problems.append(problem(path, path, f"Step {at + 1} is not a mapping."))
            continue
        action = CELL_TOOLS.get(step["tool"]) if isinstance(step.get("tool"), str) else None
        if action is None or step.get("status") == "skipped":
            continue
        label = f"Step {_short(step.get('id'))}"
        args = step.get("args")
        if not isinstance(args, Mapping):
            problems.append(problem(f"{path}.args", path, f"{label} has no arguments."))
            continue
        problems += _unknown_keys(args, f"{path}.args", label, ARG_KEYS)
        for key in ("when", "forEach", "for_each"):
            if step.get(key) is not None:
                says = f"{label} has {key}, so whether the robot does it is not known in advance."
                problems.append(problem(f"{path}.{key}", path, says, hint=f"Remove {key} from the cell's steps."))
        if args.get("scene") not in (None, scene):
            says = f"{label} was planned for {_short(args.get('scene'))}, not for {scene}."
            problems.append(problem(f"{path}.args.scene", path, says, code="cell.other_scene"))
        lines[at] = Line(path, label, action, {key: args[key] for key in ARG_KEYS if key in args}, at, step.get("id"))
    order, loose = _running_order(steps, lines)
    ordered = [lines[at] for at in order]
    return ordered, problems + loose + [found for line in ordered for found in _misfits(line, ".args")]


def _unknown_keys(step: Mapping[Any, Any], path: str, label: str, keys: tuple[str, ...]) -> list[Problem]:
    found = []
    for key in step:
        if key not in keys:
            says = f"{label}: {unknown('key', key, keys).says}"
            found.append(problem(f"{path}.{str(key)[:60]}", str(key)[:60], says, code="cell.unknown_key", names=keys))
    return found


def _misfits(line: Line, inside: str) -> list[Problem]:
    """Values of the wrong type, and fields a move has no use for."""
    found = []
    for key in ("target", "position", "tool", "action_after", "verify"):
        value = line.fields.get(key)
        if value is not None and not isinstance(value, str):
            says = f"The {key} of {line.label.lower()} must be text."
            found.append(problem(f"{line.path}{inside}.{key}", line.path, says))
    value = line.fields.get("stabilize")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        says = f"The stabilize of {line.label.lower()} must be a number."
        found.append(problem(f"{line.path}{inside}.stabilize", line.path, says))
    if line.action == "move":
        for key in ("position", "tool", "stabilize", "action_after", "verify"):
            if line.fields.get(key) is not None:
                says = f"{line.label} is a move and cannot have {key}."
                found.append(problem(f"{line.path}{inside}.{key}", line.path, says, code="cell.metadata"))
    return found


def _running_order(steps: list[Any], lines: dict[int, Line]) -> tuple[list[int], list[Problem]]:
    """Places in the order their dependencies allow, first listed first, and pairs nothing keeps apart."""
    place = {step["id"]: at for at, step in enumerate(steps) if isinstance(step, Mapping) and _is_id(step.get("id"))}
    needs = [
        [place[one] for one in _depends_on(step) if _is_id(one) and one in place and place[one] != at]
        for at, step in enumerate(steps)
    ]
    order = _topological(needs)
    rank = {at: number for number, at in enumerate(order)}
    ours = [at for at in order if at in lines] + [at for at in sorted(lines) if at not in rank]
    loose = []
    for before, after in pairwise(ours):
        if not _leads(before, after, needs, rank):
            says = f"{lines[after].label} does not wait for {lines[before].label[5:]}, so both could run at once."
            hint = f"Let it depend on {lines[before].label[5:]}."
            path = f"{lines[after].path}.dependsOn"
            loose.append(problem(path, lines[after].path, says, code="cell.not_chained", hint=hint))
    return ours, loose


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int)


def _depends_on(step: Any) -> list[Any]:
    listed = (step.get("dependsOn") or step.get("depends_on")) if isinstance(step, Mapping) else None
    return list(listed) if isinstance(listed, Sequence) and not isinstance(listed, str) else []


def _topological(needs: list[list[int]]) -> list[int]:
    open_needs = [len(set(mine)) for mine in needs]
    wanted_by: list[list[int]] = [[] for _ in needs]
    for at, mine in enumerate(needs):
        for one in set(mine):
            wanted_by[one].append(at)
    ready = [at for at, count in enumerate(open_needs) if not count]
    heapify(ready)
    order = []
    while ready:
        at = heappop(ready)
        order.append(at)
        for other in wanted_by[at]:
            open_needs[other] -= 1
            if not open_needs[other]:
                heappush(ready, other)
    return order


def _leads(before: int, after: int, needs: list[list[int]], rank: dict[int, int]) -> bool:
    """Whether `after` waits for `before`, directly or through others."""
    if before not in rank or after not in rank:
        return False
    seen, todo = {after}, [after]
    while todo:
        for one in needs[todo.pop()]:
            if one == before:
                return True
            if one not in seen and rank.get(one, -1) > rank[before]:
                seen.add(one)
                todo.append(one)
    return False


def _short(value: Any) -> str:
    if value is None:
        return "missing"
    return f"'{value[:60]}'" if isinstance(value, str) else str(value)[:60] if isinstance(value, int | float) else "odd"
