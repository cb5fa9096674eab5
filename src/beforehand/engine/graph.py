"""The graph of a plan: who waits for whom, cycles with their names, and an order that respects it."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from beforehand.engine.condition import ConditionError, parse_condition
from beforehand.engine.references import Reference, references_in
from beforehand.model.plan import Step

RESERVED_NAMES = frozenset({"item", "index", "params"})
"""Words a reference may use that are no steps: the item and place of a `forEach`, a template's parameters."""


def step_references(step: Step) -> list[Reference]:
    """Every reference a step makes, in its arguments, its `when` and its `forEach`."""
    found = references_in(step.args)
    if step.for_each is not None:
        found += references_in(step.for_each)
    if step.when:
        with suppress(ConditionError):  # reported by validation
            found += parse_condition(step.when).references
    return found


def dependencies(step: Step, references: Iterable[Reference] | None = None) -> tuple[str, ...]:
    """What a step waits for: what it says, and what it refers to. A reference implies the dependency.

    `references` are the step's, for whoever has them already.
    """
    names = dict.fromkeys(step.depends_on)
    for reference in step_references(step) if references is None else references:
        if reference.step not in RESERVED_NAMES:
            names.setdefault(reference.step)
    return tuple(names)


def find_cycles(needs: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """One cycle for every knot of steps that wait for each other, each as the names along it, first repeated last."""
    needed = {name: sorted(set(deps) & needs.keys()) for name, deps in needs.items()}
    return [_cycle_in(knot, needed) for knot in _knots(needed)]


def _knots(needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Strongly connected parts with a cycle in them (Tarjan, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    knots: list[list[str]] = []
    for root in needs:
        if root in index:
            continue
        work = [(root, iter(needs[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(needs[other])))
                    break
                if other in on_stack:
                    low[name] = min(low[name], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    knot = _pop_knot(name, stack, on_stack)
                    if len(knot) > 1 or name in needs[name]:
                        knots.append(sorted(knot))
    return knots


def _pop_knot(root: str, stack: list[str], on_stack: set[str]) -> list[str]:
    knot: list[str] = []
    while True:
        name = stack.pop()
        on_stack.discard(name)
        knot.append(name)
        if name == root:
            return knot


def _cycle_in(knot: Sequence[str], needs: Mapping[str, Sequence[str]]) -> list[str]:
    inside = set(knot)
    path, seen = [knot[0]], {knot[0]: 0}
    while True:
        following = next(name for name in needs[path[-1]] if name in inside)
        if following in seen:
            return [*path[seen[following] :], following]
        seen[following] = len(path)
        path.append(following)


def ranks(needs: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Each step's place in an order in which everything comes after what it waits for; ties keep the given order."""
    waiting = {name: sum(1 for dep in set(deps) if dep in needs) for name, deps in needs.items()}
    followers: dict[str, list[str]] = {name: [] for name in needs}
    for name, deps in needs.items():
        for dep in set(deps):
            if dep in followers:
                followers[dep].append(name)
    ready = [name for name, count in waiting.items() if count == 0]
    order: list[str] = []
    while ready:
        following: list[str] = []
        for name in ready:
            order.append(name)
            for follower in followers[name]:
                waiting[follower] -= 1
                if waiting[follower] == 0:
                    following.append(follower)
        ready = following
    return {name: rank for rank, name in enumerate(order)}
