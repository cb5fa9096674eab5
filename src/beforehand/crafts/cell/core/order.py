"""The order of goals when it is free: fewest steps, then least cost, the same goals, never worse than as given.

Small intents are solved exactly, over all subsets of goals; bigger ones by local search (`cell/search.py`). `after`
constraints hold either way. The same question always gets the same answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.crafts.cell.core.builder import refusal, state_problems
from beforehand.crafts.cell.core.cost_matrix import CostMatrix, Price, Spot
from beforehand.crafts.cell.core.goals import resolve
from beforehand.crafts.cell.core.intent import parse_intent
from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.core.topology import Topology
from beforehand.model.cell import CellScene, CellState, Goal, Intent
from beforehand.model.errors import BadInputError
from beforehand.model.reason import Problem

EXACT_UP_TO = 11
"""Goals up to which every order is weighed."""


@dataclass(frozen=True, slots=True)
class Saved:
    order: tuple[int, ...]
    """The given numbers of the goals, in the order proposed."""
    steps_given: int | None
    """None when the goals cannot be done in the order given."""
    steps: int
    cost_given: int | None
    cost: int
    optimal: bool
    """True where every order was weighed."""

    @property
    def steps_saved(self) -> int:
        return 0 if self.steps_given is None else self.steps_given - self.steps

    @property
    def says(self) -> str:
        if self.steps_given is None:
            return f"In the order given the goals cannot be done; in this one they take {self.steps} steps."
        if self.order == tuple(sorted(self.order)):
            best = " No order is better." if self.optimal else ""
            return f"The order stays as given: {self.steps} steps, none saved.{best}"
        numbers = ", ".join(map(str, self.order))
        if not self.steps_saved:
            return f"The goals go in the order {numbers}: as many steps ({self.steps}), at less cost."
        percent = round(100 * self.steps_saved / self.steps_given)
        many = "1 step" if self.steps_saved == 1 else f"{self.steps_saved} steps"
        return f"The goals go in the order {numbers}: {self.steps} steps, {many} ({percent} %) fewer than as given."


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
    matrix = CostMatrix(lookup, tasks, state)
    before = [sum(1 << number - 1 for number in goal.after) for goal in read]
    as_given = tuple(range(len(tasks)))
    given = matrix.price(as_given) if respects(as_given, before) else None
    optimal = len(tasks) <= EXACT_UP_TO
    if optimal:
        order = _weigh_all(matrix, before)
    else:
        from beforehand.crafts.cell.core.search import search

        order = search(matrix, before)
    price = matrix.price(order) if order is not None else None
    if price is None or order is None:
        raise refusal(_with_paths(scene, intent, state, lookup, [_no_order()]))
    if given is not None and given <= price:
        order, price = as_given, given
    numbers = tuple(index + 1 for index in order)
    saved = Saved(numbers, given and given[0], price[0], given and given[1], price[1], optimal)
    return _reordered(read, order), saved


def respects(order: Sequence[int], before: Sequence[int]) -> bool:
    """Whether every goal comes after those it must come after (bits of their indexes)."""
    done = 0
    for index in order:
        if before[index] & ~done:
            return False
        done |= 1 << index
    return True


def _weigh_all(matrix: CostMatrix, before: Sequence[int]) -> tuple[int, ...] | None:
    """The best order of each subset that ends at each spot, subsets growing by one goal at a time."""
    Best = dict[tuple[int, Spot], tuple[Price, tuple[int, ...]]]  # noqa: N806  a type
    front: Best = {(0, matrix.start): ((0, 0), ())}
    for _ in matrix.tasks:
        grown: Best = {}
        for (done, spot), (price, order) in front.items():
            for index, needs in enumerate(before):
                if done >> index & 1 or needs & ~done:
                    continue
                found = matrix.advance(spot, index)
                if found is None:
                    continue
                key = (done | 1 << index, found[0])
                offer = ((price[0] + found[1][0], price[1] + found[1][1]), (*order, index))
                if key not in grown or offer < grown[key]:
                    grown[key] = offer
        front = grown
    return min(front.values())[1] if front else None


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
