"""Local search over the order of many goals: batch by tool, then move runs of goals about and turn them round.

Every neighbour of an order is priced roughly in one numpy sweep over a matrix of goal-to-goal prices; the most
promising are priced exactly and only a true gain is taken. Kicks from a fixed pattern leave local optima. No clock
and no chance: the work is bounded by counting.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, permutations

import numpy as np

from beforehand.crafts.cell.core.cost_matrix import CostMatrix, Order, Price, Walk
from beforehand.crafts.cell.core.cost_rows import FAR, Floats, Rows
from beforehand.crafts.cell.core.neighbours import Sweep, runs_of

Rank = tuple[bool, int, int]
"""Whether it takes longer than the limit, steps and milliseconds."""

Found = tuple[Rank, Order]

WORK = 90_000_000
"""Matrix cells that may be looked at in all; what bounds the time."""

OVERHEAD = 12_000
"""What a sweep costs beside its cells."""

KICKS = 2_000
STARTS = 4
"""Starting orders worth descending from, the cheapest first."""

SEQUENCES = 120
"""Sequences of tools tried: all, of five tools."""

MOST_OFFERS = 40


def search(matrix: CostMatrix, before: Sequence[int], limit: Price | None = None) -> Order | None:
    """The best order found that takes no longer than the limit, or None when none that works was found."""
    return _Search(matrix, before, limit).run()


class _Search:
    def __init__(self, matrix: CostMatrix, before: Sequence[int], limit: Price | None) -> None:
        self.matrix = matrix
        self.limit = limit
        self.before = before
        self.count = len(matrix.tasks)
        self.bound = any(before)
        self.left = WORK
        self.rows = Rows(matrix)
        self.sweep = Sweep(self.count + 2)
        self.walk = Walk(matrix.first, ())
        """The last one; a descent goes on from it."""
        self.ends: dict[Order, Found] = {}
        """What an order has been improved to: kicks come to the same orders again and again."""

    def run(self) -> Order | None:
        """Down from the order given and from the likeliest others, then on from the best end of these."""
        found = [one for start in dict.fromkeys(self._starts()) if (one := self._priced(start)) is not None]
        ends = [self._descend(one) for one in dict.fromkeys([*found[:1], *sorted(found)[:STARTS]])]
        return self._kick(min(ends))[1] if ends else None

    def _priced(self, order: Order) -> Found | None:
        rank = self._rank(self.matrix.price(order))
        return None if rank is None else (rank, order)

    def _rank(self, price: Price | None) -> Rank | None:
        """What an order takes; one that takes longer than the limit ranks behind all that do not."""
        if price is None:
            return None
        return self.limit is not None and price[1] > self.limit[1], *price

    def _starts(self) -> Iterator[Order]:
        """As given, always the cheapest next, and tool by tool in one sequence of tools after the other."""
        as_given = tuple(range(self.count))
        if self._allowed(as_given):
            yield as_given
        for tools in (None, (), *islice(permutations(self.rows.tools), SEQUENCES)):
            order = self._greedy(tools)
            if order is not None:
                yield order

    def _allowed(self, order: Sequence[int]) -> bool:
        if not self.bound:
            return True
        done = 0
        for index in order:
            if self.before[index] & ~done:
                return False
            done |= 1 << index
        return True

    def _greedy(self, tools: Sequence[str] | None) -> Order | None:
        """Always the cheapest goal next; with tools, all that needs no change first, then the next tool's."""
        stop, done = self.matrix.first, 0
        order: list[int] = []
        taken = np.zeros(self.count)
        ranks = None if tools is None else self._rank_of_tools(tools)
        while len(order) < self.count:
            prices = self.rows.row(stop) + taken
            if ranks is not None:
                prices = prices + self.rows.apart(stop.spot) + ranks
            if self.bound:
                prices = prices + np.array([FAR * 2 if needs & ~done else 0.0 for needs in self.before])
            index = int(prices.argmin())
            leg = stop[index]
            if leg is None or taken[index] or self.before[index] & ~done:
                return None
            order.append(index)
            taken[index] = FAR * 4
            done |= 1 << index
            stop = leg[0]
        return tuple(order)

    def _rank_of_tools(self, tools: Sequence[str]) -> Floats:
        """What puts the goals of an earlier tool first; nothing where no sequence of tools is asked for."""
        ranks = {tool: at * FAR / 64 for at, tool in enumerate(tools)}
        return np.array([ranks.get(task.tool or "", 0.0) for task in self.matrix.tasks])

    def _descend(self, best: Found) -> Found:
        while self.left > 0:
            better = self._improve(best)
            if better is best:
                break
            best = better
        return best

    def _improve(self, best: Found) -> Found:
        """Take every true gain among the most promising neighbours, the most promising first."""
        self.left -= self.sweep.cells * 5 + OVERHEAD  # for an order known already too: the work is what is counted
        known = self.ends.get(best[1])
        if known is None:
            known = self.ends[best[1]] = self._gains(best)
        return best if known[1] == best[1] else known

    def _gains(self, best: Found) -> Found:
        given = best[1]
        walk = self.walk if self.walk.order == given else Walk(self.matrix.first, given)
        matrix, runs = self._matrix(walk)
        offers = sorted(self.sweep.turns(matrix) + self.sweep.shifts(matrix, runs))
        for _, turns, k, end, m in offers[: MOST_OFFERS * (3 if self.bound else 1)]:
            changed = _changed(walk.order, given[k - 1 : end], turns, given[m - 1] if m else None)
            rank = changed and self._rank(walk.price(*changed))
            if changed is None or rank is None or rank >= best[0]:
                continue
            other = walk.changed(*changed)
            if self._allowed(other.order):
                best, walk = (rank, other.order), other
        self.walk = walk
        return best

    def _matrix(self, walk: Walk) -> tuple[Floats, list[tuple[int, int]]]:
        """Rough price from each goal (row) to each (column) in this order, a start before and a sink after it."""
        matrix = np.zeros((self.count + 2, self.count + 2))
        rows = self.rows.table(walk.stops).take([stop.number for stop in walk.stops], axis=0)
        matrix[:-1, 1:-1] = rows.take(walk.order, axis=1)
        return matrix, runs_of([stop.spot[1] for stop in walk.stops])

    def _kick(self, best: Found) -> Found:
        """Swap two neighbouring runs of the best order and descend again; where to cut follows a fixed pattern."""
        seed = 1
        for _ in range(KICKS):
            if self.left <= 0 or self.count < 4:
                break
            cuts: set[int] = set()
            while len(cuts) < 3:
                seed = (seed * 1_103_515_245 + 12_345) % 2**31
                low = (seed >> 8) % self.count if not cuts else max(1, min(cuts) - 15)
                span = min(30, self.count - low)
                seed = (seed * 1_103_515_245 + 12_345) % 2**31
                cuts.add(low + (seed >> 8) % span)
            a, b, c = sorted(cuts)
            order = best[1]
            changed = order[:a] + order[b:c] + order[a:b] + order[c:]
            kicked = self._priced(changed) if self._allowed(changed) else None
            found = self._descend(kicked) if kicked is not None else best
            if found[0] <= best[0]:  # as good counts: only so it wanders over a plain to the next way down
                best = found
        return best


def _changed(order: Order, run: Order, turns: bool, behind: int | None) -> tuple[int, Order] | None:
    """The run turned or put behind a goal: where the order changes and what stands there then, up to where it goes on.

    None when an earlier change has torn the run apart.
    """
    at, length = order.index(run[0]), len(run)
    if order[at : at + length] != run:
        return None
    if turns:
        return at, run[::-1]
    place = 0 if behind is None else order.index(behind) + 1
    if place <= at:
        return place, run + order[place:at]
    return at, order[at + length : place] + run
