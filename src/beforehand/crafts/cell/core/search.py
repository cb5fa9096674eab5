"""Local search over the order of many goals: batch by tool, then move runs of goals about and turn them round.

Every neighbour of an order is priced roughly in one numpy sweep over a matrix of goal-to-goal prices; the most
promising are priced exactly and only a true gain is taken. Kicks from a fixed pattern leave local optima. No clock
and no chance: the work is bounded by counting.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, permutations

import numpy as np

from beforehand.crafts.cell.core.cost_matrix import CostMatrix, Price
from beforehand.crafts.cell.core.cost_rows import FAR, Floats, Rows

Order = tuple[int, ...]
Found = tuple[tuple[bool, int, int], Order]
"""Whether it takes longer than the limit, steps and milliseconds; and the order."""

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

    def run(self) -> Order | None:
        """Down from the order given and from the likeliest others, then on from the best end of these."""
        found = [one for start in dict.fromkeys(self._starts()) if (one := self._priced(start)) is not None]
        ends = [self._descend(one) for one in dict.fromkeys([*found[:1], *sorted(found)[:STARTS]])]
        return self._kick(min(ends))[1] if ends else None

    def _priced(self, order: Order) -> Found | None:
        """What an order takes; one that takes longer than the limit ranks behind all that do not."""
        price = self.matrix.price(order)
        if price is None:
            return None
        late = self.limit is not None and price[1] > self.limit[1]
        return (late, *price), order

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
        spot, done = self.matrix.start, 0
        order: list[int] = []
        taken = np.zeros(self.count)
        while len(order) < self.count:
            prices = self.rows.row(spot) + taken
            if tools is not None:
                prices = prices + np.where(self.rows.fits(spot), 0.0, FAR / 4) + self._rank_of_tools(tools)
            if self.bound:
                prices = prices + np.array([FAR * 2 if needs & ~done else 0.0 for needs in self.before])
            index = int(prices.argmin())
            found = self.matrix.advance(spot, index)
            if found is None or taken[index] or self.before[index] & ~done:
                return None
            order.append(index)
            taken[index] = FAR * 4
            done |= 1 << index
            spot = found[0]
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
        matrix, runs = self._matrix(best[1])
        self.left -= matrix.size * 5 + OVERHEAD
        offers = sorted(_turns(matrix) + _shifts(matrix, runs))[: MOST_OFFERS * (3 if self.bound else 1)]
        given = best[1]
        for _, turns, k, end, m in offers:
            behind = given[m - 1] if m else None
            changed = _changed(best[1], given[k - 1 : end], turns, behind)
            if changed is None or not self._allowed(changed):
                continue
            found = self._priced(changed)
            if found is not None and found[0] < best[0]:
                best = found
        return best

    def _matrix(self, order: Order) -> tuple[Floats, list[tuple[int, int]]]:
        """Rough price from each goal (row) to each (column) in this order, a start before and a sink after it."""
        matrix = np.zeros((self.count + 2, self.count + 2))
        where = np.array(order)
        spot = self.matrix.start
        tools = [spot[1]]
        matrix[0, 1:-1] = self.rows.row(spot)[where]
        for row, index in enumerate(order, 1):
            found = self.matrix.advance(spot, index)
            spot = found[0] if found else spot
            matrix[row, 1:-1] = self.rows.row(spot)[where]
            tools.append(spot[1])
        return matrix, _runs(tools)

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


Offer = tuple[float, bool, int, int, int]
"""Rough change, whether the run is turned (else shifted), its first and last (from 1), and what it goes behind."""


def _turns(matrix: Floats) -> list[Offer]:
    """Runs walked the other way round."""
    size = matrix.shape[0]
    forth = np.concatenate([[0.0], np.cumsum(np.diagonal(matrix, 1))])
    back = np.concatenate([[0.0], np.cumsum(np.diagonal(matrix, -1))])
    inner = np.arange(1, size - 1)
    enter, leave = np.diagonal(matrix, 1)[:-1], np.diagonal(matrix, 1)[1:]
    swing = (back - forth)[1 : size - 1]
    change = matrix[:-2, 1:-1] + matrix[1:-1, 2:] + (swing - leave)[None, :] - (swing + enter)[:, None]
    change = np.where(inner[None, :] > inner[:, None], change, np.inf)
    return [(value, True, i + 1, j + 1, 0) for value, i, j in _lowest(change)]


def _shifts(matrix: Floats, runs: list[tuple[int, int]]) -> list[Offer]:
    """Short runs, and whole runs with one tool, put somewhere else."""
    size = matrix.shape[0]
    short = [(k, k + more) for more in range(3) for k in range(1, size - 1 - more)]
    pieces = np.array(short + runs)
    k, end = pieces[:, 0], pieces[:, 1]
    gone = matrix[k - 1, k] + matrix[end, end + 1] - matrix[k - 1, end + 1]
    change = matrix.T[k, :-1] + matrix[end, 1:] - np.diagonal(matrix, 1)[None, :] - gone[:, None]
    m = np.arange(size - 1)[None, :]
    change[(m >= k[:, None] - 1) & (m <= end[:, None])] = np.inf
    return [(value, False, int(k[i]), int(end[i]), j) for value, i, j in _lowest(change)]


def _lowest(change: Floats) -> list[tuple[float, int, int]]:
    """The best cell of each row, of those that promise anything."""
    columns = change.argmin(axis=1)
    values = change[np.arange(len(columns)), columns]
    rows = np.flatnonzero(values < -1e-9)
    return [(float(values[row]), int(row), int(columns[row])) for row in rows]


def _runs(tools: list[str]) -> list[tuple[int, int]]:
    """Neighbouring goals done with one tool, and up to three such runs together."""
    edges = [1] + [at for at in range(2, len(tools)) if tools[at] != tools[at - 1]] + [len(tools)]
    return [
        (edges[first], edges[first + many] - 1)
        for many in (1, 2, 3)
        for first in range(len(edges) - many)
        if edges[first + many] - edges[first] > 3
    ]


def _changed(order: Order, run: Order, turns: bool, behind: int | None) -> Order | None:
    """The order with the run turned or put behind a goal; None when an earlier change has torn the run apart."""
    at = order.index(run[0])
    if order[at : at + len(run)] != run:
        return None
    rest = order[:at] + order[at + len(run) :]
    if turns:
        return rest[:at] + run[::-1] + rest[at:]
    place = 0 if behind is None else rest.index(behind) + 1
    return rest[:place] + run + rest[place:]
