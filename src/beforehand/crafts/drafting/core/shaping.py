"""What is done to a sound draft before a person sees it: needless waiting goes, and what nobody verifies is said.

A dependency is dropped only where the outcome cannot differ. First, one that another implies: what waits for b, which
waits for a, need not name a as well. Second, one look that waits for another: both call the same pure tool, the later
one does not use the earlier one's value, and somebody else does, so that it was made for its value and not for its
moment. The later look then waits for whatever the earlier one waited for, and whoever waits for the later one waits
for both, so that nothing that changes the world moves ahead of a look it came after.
"""

from collections.abc import Sequence

from beforehand.engine.graph import dependencies, ranks, step_references
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.plan import Step
from beforehand.model.words import counted

Needs = dict[str, list[str]]


def shaped(steps: Sequence[Step], catalog: ToolCatalog) -> tuple[tuple[Step, ...], list[str]]:
    """The steps of a sound plan with as little waiting as they need, and a note on what was dropped."""
    needs: Needs = {step.id: list(dependencies(step)) for step in steps}
    apart = _looks_apart(steps, needs, catalog)
    lean = {name: _lean(name, apart) for name in apart}
    dropped = sum(len(set(needs[name]) - set(lean[name])) for name in needs)
    if not dropped:
        return tuple(steps), []
    says = f"{counted(dropped, 'needless dependency', 'needless dependencies')} left out, so that more can run at once."
    return tuple(step.model_copy(update={"depends_on": tuple(lean[step.id])}) for step in steps), [says]


def _looks_apart(steps: Sequence[Step], needs: Needs, catalog: ToolCatalog) -> Needs:
    by_id = {step.id: step for step in steps}
    uses = {step.id: {reference.step for reference in step_references(step)} for step in steps}
    made = {name: list(some) for name, some in needs.items()}

    def may_go(name: str, other: str) -> bool:
        used_by = {user for user in uses if other in uses[user]}
        return bool(used_by) and name not in used_by and _both_look(by_id[name], by_id[other], catalog)

    for name in ranks(needs):
        while others := [other for other in made[name] if may_go(name, other)]:
            _put_apart(name, others[0], made)
    return made


def _put_apart(name: str, other: str, made: Needs) -> None:
    made[name] = list(dict.fromkeys([need for need in made[name] if need != other] + made[other]))
    for followers in made.values():
        if name in followers and other not in followers:
            followers.append(other)


def _both_look(step: Step, other: Step, catalog: ToolCatalog) -> bool:
    spec = catalog.get(step.tool)
    return step.tool == other.tool and spec is not None and spec.effect == "pure" and not spec.asks_person


def _lean(name: str, needs: Needs) -> list[str]:
    """The needs that no other need brings along."""
    return [need for need in needs[name] if not any(need in _behind(other, needs) for other in needs[name])]


def _behind(name: str, needs: Needs) -> set[str]:
    """Everything a step waits for, however far back."""
    found: set[str] = set()
    stack = list(needs[name])
    while stack:
        need = stack.pop()
        if need not in found:
            found.add(need)
            stack += needs[need]
    return found


def remarks_on(steps: Sequence[Step], catalog: ToolCatalog) -> list[str]:
    """What a reviewer should know of a sound draft: what moves or may destroy something, and what nobody checks."""
    specs = {step.id: spec for step in steps if (spec := catalog.get(step.tool)) is not None}
    moving = [name for name, spec in specs.items() if spec.moves]
    harmful = [name for name, spec in specs.items() if spec.destructive != "never"]
    unchecked = _unchecked(steps, catalog)
    notes = [f"Moves a machine: {', '.join(moving)}."] if moving else []
    notes += [f"May destroy something, and asks first where it would: {', '.join(harmful)}."] if harmful else []
    notes += [f"No later step looks at what became of: {', '.join(unchecked)}."] if unchecked else []
    return notes


def _unchecked(steps: Sequence[Step], catalog: ToolCatalog) -> list[str]:
    """The steps that change something and that no look comes after."""
    needs: Needs = {step.id: list(dependencies(step)) for step in steps}
    changes, looked_at = [], set[str]()
    for step in steps:
        spec = catalog.get(step.tool)
        if spec is not None and spec.effect == "pure":
            looked_at |= _behind(step.id, needs)
        else:
            changes.append(step.id)
    return [name for name in changes if name not in looked_at]
