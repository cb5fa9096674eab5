"""The order of goals when it is free: fewest steps, then least time, and in neither worse than as given.

What the goals mean stays: an explicit attach or release is a barrier no goal crosses, a move given last stays last,
and `after` binds. Small intents are solved exactly, over all subsets of goals; bigger ones by local search
(`search.py`). The same question always gets the same answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.crafts.cell.core.builder import refusal, state_problems
from beforehand.crafts.cell.core.cost_matrix import CostMatrix, Price, Stop
from beforehand.crafts.cell.core.goals import Task, resolve
from beforehand.crafts.cell.core.intent import parse_intent
from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.core.topology import Topology
from beforehand.model.cell import CellScene, CellState, Goal, Intent
from beforehand.model.errors import BadInputError
from beforehand.model.reason import Problem
from beforehand.model.words import counted

EXACT_UP_TO = 11
"""Goals up to which every order is weighed."""

BARRIERS = ("attach", "release")
"""What no goal is put before or behind of: a person who names a tool change means what stands round it."""


@dataclass(frozen=True, slots=True)
class Saved:
    order: tuple[int, ...]
    """The given numbers of the goals, in the order proposed."""
    given: Price | None
    """Steps and milliseconds as given; None when the goals cannot be done in the order given."""
    found: Price
    """The same in the order proposed."""
    optimal: bool
    """True where every order was weighed."""

    @property
    def steps_given(self) -> int | None:
        return None if self.given is None else self.given[0]

    @property
    def steps(self) -> int:
        return self.found[0]

    @property
    def steps_saved(self) -> int:
        return 0 if self.given is None else self.given[0] - self.steps

    @property
    def says(self) -> str:
        if self.given is None:
            return f"In the order given the goals cannot be done; in this one they take {counted(self.steps, 'step')}."
        if self.order == tuple(sorted(self.order)):
            best = " No order is better." if self.optimal else ""
            return f"The order stays as given: {counted(self.steps, 'step')}, none saved.{best}"
        numbers = ", ".join(map(str, self.order))
        if not self.steps_saved:
            sooner = (self.given[1] - self.found[1]) / 1_000
            return f"The goals go in the order {numbers}: as many steps ({self.steps}), {sooner:.1f} s sooner."
        percent = round(100 * self.steps_saved / self.given[0])
        steps, saved = counted(self.steps, "step"), counted(self.steps_saved, "step")
        return f"The goals go in the order {numbers}: {steps}, {saved} ({percent} %) fewer than as given."


def best_order(
    scene: CellScene, intent: Intent | Any, state: CellState, *, topology: Topology | Lookup | None = None
) -> tuple[Intent, Saved]:
    """The same goals in the best order found, and what that saves; BadInputError when no order works."""
    lookup = topology if isinstance(topology, Lookup) else Lookup(scene, topology)
    goals, problems = parse_intent(intent)
    tasks, unknown = resolve(lookup, goals)
    problems += state_problems(lookup, state) + unknown
    read = [goal for goal in goals if goal is not None]
    if problems:
        raise refusal(_with_paths(scene, intent, state, lookup, problems))
    if torn := _torn(read, tasks):
        raise refusal(torn)
    matrix = CostMatrix(lookup, tasks, state)
    before = bounds(read, tasks)
    as_given = tuple(range(len(tasks)))
    given = matrix.price(as_given) if respects(as_given, before) else None
    optimal = len(tasks) <= EXACT_UP_TO
    if optimal:
        order = _weigh_all(matrix, before, given)
    else:
        from beforehand.crafts.cell.core.search import search

        order = search(matrix, before, given)
    price = matrix.price(order) if order is not None else None
    if price is None or order is None:
        raise refusal(_with_paths(scene, intent, state, lookup, [_no_order()]))
    if given is not None and (given <= price or price[1] > given[1]):
        order, price = as_given, given
    return _reordered(read, order), Saved(tuple(index + 1 for index in order), given, price, optimal)


def bounds(goals: Sequence[Goal], tasks: Sequence[Task]) -> list[int]:
    """For every goal those it must come after, as bits of their indexes: its `after`, barriers, a last move."""
    before = [sum(1 << number - 1 for number in goal.after) for goal in goals]
    barrier = 0
    for index, task in enumerate(tasks):
        before[index] |= barrier
        if task.action in BARRIERS:
            before[index] |= (1 << index) - 1
            barrier = (1 << index + 1) - 1
    last = len(tasks) - 1
    if tasks[last].action == "move" and not any(needs >> last & 1 for needs in before):
        before[last] |= (1 << last) - 1
    return before


def _torn(goals: Sequence[Goal], tasks: Sequence[Task]) -> list[Problem]:
    """Goals whose `after` would have them cross an attach or a release."""
    problems = []
    for at, goal in enumerate(goals, 1):
        for number in goal.after:
            walls = [task for task in tasks[at - 1 : number] if task.action in BARRIERS]
            if walls:
                says = f"Step {at} must come after step {number}, but no step crosses step {walls[0].number}"
                says += f" ({walls[0].says})."
                hint = "Give the steps in the order you want, or leave the tool change to the planner."
                path = f"steps[{at - 1}].after"
                problems.append(
                    Problem(code="cell.order", about=path, says=says, try_next=hint, path=path, fixable_by="user")
                )
    return problems


def respects(order: Sequence[int], before: Sequence[int]) -> bool:
    """Whether every goal comes after those it must come after (bits of their indexes)."""
    done = 0
    for index in order:
        if before[index] & ~done:
            return False
        done |= 1 << index
    return True


Label = tuple[int, int, tuple[int, ...]]
"""The steps and milliseconds of an order, and the order."""

Ends = dict[int, tuple[Stop, list[Label]]]
"""By the number of a stop: the stop, and the best orders that end there."""

Front = dict[int, Ends]
"""By the goals done, as bits."""


def _weigh_all(matrix: CostMatrix, before: Sequence[int], limit: Price | None) -> tuple[int, ...] | None:
    """The best orders of each subset that end at each spot, subsets growing by one goal at a time.

    More than one is kept where one has fewer steps and the other is sooner: the limit binds in both.
    """
    front: Front = {0: {matrix.first.number: (matrix.first, [(0, 0, ())])}}
    for _ in matrix.tasks:
        grown: Front = {}
        for done, stops in front.items():
            for index, needs in enumerate(before):
                if not done >> index & 1 and not needs & ~done:
                    _grow(grown.setdefault(done | 1 << index, {}), stops, index)
        for stops in grown.values():
            for _, labels in stops.values():
                _keep_unbeaten(labels, limit)
        front = grown
    best = [label for stops in front.values() for _, labels in stops.values() for label in labels]
    return min(best)[2] if best else None


def _grow(grown: Ends, stops: Ends, index: int) -> None:
    """Every order that ends at one of these stops, with this goal behind it; not those that are plainly beaten."""
    for stop, labels in stops.values():
        leg = stop[index]
        if leg is None:
            continue
        end, more_steps, more_time = leg
        number = end.number
        for steps, time, order in labels:
            steps += more_steps
            time += more_time
            if number not in grown:
                grown[number] = (end, [(steps, time, (*order, index))])
                continue
            known = grown[number][1]
            other = known[0]
            if steps < other[0] or time < other[1]:
                known.append((steps, time, (*order, index)))
            elif steps == other[0] and time == other[1] and order < other[2]:
                known[0] = (steps, time, (*order, index))


def _keep_unbeaten(labels: list[Label], limit: Price | None) -> None:
    """Those no other beats both in steps and in time; without a limit the very best is enough."""
    if limit is None:
        labels[:] = [min(labels)]
        return
    labels.sort()
    soonest = limit[1] + 1
    kept = 0
    for label in labels:
        if label[0] <= limit[0] and label[1] < soonest:
            labels[kept] = label
            kept += 1
            soonest = label[1]
    del labels[kept:]


def _reordered(goals: list[Goal], order: Sequence[int]) -> Intent:
    """Goals in their new order, their `after` numbers following them."""
    number = {old + 1: new + 1 for new, old in enumerate(order)}
    steps = []
    for index in order:
        after = tuple(sorted(number[old] for old in goals[index].after))
        steps.append(goals[index].model_copy(update={"after": after}))
    return Intent(steps=tuple(steps))


def _with_paths(
    scene: CellScene, intent: Any, state: CellState, lookup: Lookup, problems: list[Problem]
) -> list[Problem]:
    """What the builder finds wrong in the order given, which says more than "no order works"."""
    from beforehand.crafts.cell.core.builder import build

    try:
        build(scene, intent, state, topology=lookup)
    except BadInputError as error:
        told = [problem for problem in error.problems if problem.code != "cell.order"]
        return told or problems
    return problems


def _no_order() -> Problem:
    says = "These goals cannot be done in any order that was tried."
    return Problem(code="cell.no_order", about="steps", says=says, path="steps", fixable_by="user")
