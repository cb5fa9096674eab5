"""The pairs of rows and columns whose costs add up to the least: as many pairs as the shorter side has.

scipy solves it where it is installed. Otherwise the same method runs in plain Python and takes ties the same way, so
that the pairs are the same: one row after another gets the column that is cheapest in all, and those before it move
over where that saves more than it costs (the shortest augmenting path, after Jonker and Volgenant).
"""

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from beforehand.ports.compiled import has_scipy

NOBODY = -1


def least_sum_pairs(costs: np.ndarray[Any, np.dtype[np.float64]]) -> list[tuple[int, int]]:
    """Pairs of (row, column) in the order of the rows. Costs are finite numbers."""
    if has_scipy():
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(costs)
        return list(zip(rows.tolist(), columns.tolist(), strict=True))
    return plain_pairs(costs.tolist())


def plain_pairs(costs: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The same without scipy."""
    if len(costs[0]) < len(costs):
        return sorted((row, column) for column, row in plain_pairs(list(zip(*costs, strict=True))))
    matching = _Matching(costs)
    for row in range(len(costs)):
        matching.add(row)
    return list(enumerate(matching.column_of))


class _Matching:
    """Rows that have their column so far. What a row and a column add to a price keeps every reduced cost above 0."""

    def __init__(self, costs: Sequence[Sequence[float]]) -> None:
        self.costs = costs
        self.row_adds = [0.0] * len(costs)
        self.column_adds = [0.0] * len(costs[0])
        self.column_of = [NOBODY] * len(costs)
        self.row_of = [NOBODY] * len(costs[0])

    def add(self, row: int) -> None:
        """Give this row a column, by the cheapest chain of moves that ends at a free one."""
        path = _CheapestPath(self, row)
        self.row_adds[row] += path.length
        for other in path.rows[1:]:
            self.row_adds[other] += path.length - path.reach[self.column_of[other]]
        for column in path.columns:
            self.column_adds[column] -= path.length - path.reach[column]
        self._move_over(path.columns[-1], row, path.before)

    def _move_over(self, free: int, first: int, before: Sequence[int]) -> None:
        row, column = NOBODY, free
        while row != first:
            row = before[column]
            self.row_of[column] = row
            self.column_of[row], column = column, self.column_of[row]


class _CheapestPath:
    """From a row to the free column that is cheapest to reach over rows which would move over for it."""

    def __init__(self, matching: _Matching, row: int) -> None:
        size = len(matching.row_of)
        self.length = 0.0
        self.reach = [inf] * size
        self.before = [NOBODY] * size
        """The row from which each column is reached."""
        self.rows: list[int] = []
        self.columns: list[int] = []
        # From the last to the first: of equal columns the first is then taken, as long as it is free.
        self._open = list(range(size - 1, -1, -1))
        while row != NOBODY:
            self.rows.append(row)
            row = matching.row_of[self._nearest(matching, row)]

    def _nearest(self, matching: _Matching, row: int) -> int:
        """Look from this row at the columns that are left, and take the nearest; of equal ones a free one."""
        costs, row_adds, column_adds = matching.costs[row], matching.row_adds[row], matching.column_adds
        lowest, chosen = inf, NOBODY
        for place, column in enumerate(self._open):
            through = self.length + costs[column] - row_adds - column_adds[column]
            if through < self.reach[column]:
                self.reach[column] = through
                self.before[column] = row
            reach = self.reach[column]
            if reach < lowest or (reach == lowest and matching.row_of[column] == NOBODY):
                lowest, chosen = reach, place
        self.length = lowest
        return self._take(chosen)

    def _take(self, place: int) -> int:
        column = self._open[place]
        self._open[place] = self._open[-1]
        self._open.pop()
        self.columns.append(column)
        return column
