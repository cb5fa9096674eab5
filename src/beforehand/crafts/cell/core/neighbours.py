"""The neighbours of an order of goals, all priced roughly in one numpy sweep over a matrix of goal-to-goal prices.

A neighbour is the order with a run of goals turned round or put somewhere else. Each run's best one is offered, where
it promises anything at all.
"""

import numpy as np
from numpy.typing import NDArray

from beforehand.crafts.cell.core.cost_rows import Floats

Offer = tuple[float, bool, int, int, int]
"""Rough change, whether the run is turned (else shifted), its first and last (from 1), and what it goes behind."""


class Sweep:
    """All neighbours of an order priced roughly at once; what depends only on the number of goals is made once."""

    def __init__(self, size: int) -> None:
        self.size, self.cells = size, size * size
        inner = np.arange(1, size - 1)
        self.not_a_run = inner[None, :] <= inner[:, None]
        self.gaps = np.arange(size - 1)[None, :]
        self.short = np.array([(k, k + more) for more in range(3) for k in range(1, size - 1 - more)]).reshape(-1, 2)
        self.short_inside = self._inside(self.short)

    def _inside(self, pieces: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Where a piece would go behind itself or stay where it is."""
        inside: NDArray[np.bool_] = (self.gaps >= pieces[:, :1] - 1) & (self.gaps <= pieces[:, 1:])
        return inside

    def turns(self, matrix: Floats) -> list[Offer]:
        """Runs walked the other way round."""
        ahead, behind = matrix.diagonal(1), matrix.diagonal(-1)
        swing = behind.cumsum()[:-1] - ahead.cumsum()[:-1]
        change = matrix[:-2, 1:-1] + matrix[1:-1, 2:]
        change += (swing - ahead[1:])[None, :]
        change -= (swing + ahead[:-1])[:, None]
        np.copyto(change, np.inf, where=self.not_a_run)
        return [(value, True, i + 1, j + 1, 0) for value, i, j in _lowest(change)]

    def shifts(self, matrix: Floats, runs: list[tuple[int, int]]) -> list[Offer]:
        """Short runs, and whole runs with one tool, put somewhere else."""
        longer = np.array(runs, dtype=np.int64).reshape(-1, 2)
        pieces = np.concatenate([self.short, longer])
        k, end = pieces[:, 0], pieces[:, 1]
        gone = matrix[k - 1, k] + matrix[end, end + 1] - matrix[k - 1, end + 1]
        change = matrix.T[:, :-1].take(k, axis=0) + matrix[:, 1:].take(end, axis=0)
        change -= matrix.diagonal(1)[None, :]
        change -= gone[:, None]
        np.copyto(change[: len(self.short)], np.inf, where=self.short_inside)
        np.copyto(change[len(self.short) :], np.inf, where=self._inside(longer))
        firsts, lasts = k.tolist(), end.tolist()
        return [(value, False, firsts[i], lasts[i], j) for value, i, j in _lowest(change)]


def _lowest(change: Floats) -> list[tuple[float, int, int]]:
    """The best cell of each row, of those that promise anything."""
    columns = change.argmin(axis=1)
    values = change[np.arange(len(columns)), columns]
    rows = (values < -1e-9).nonzero()[0]
    return list(zip(values[rows].tolist(), rows.tolist(), columns[rows].tolist(), strict=True))


def runs_of(tools: list[str]) -> list[tuple[int, int]]:
    """Neighbouring goals done with one tool, and up to three such runs together."""
    edges = [1] + [at for at in range(2, len(tools)) if tools[at] != tools[at - 1]] + [len(tools)]
    return [
        (edges[first], edges[first + many] - 1)
        for many in (1, 2, 3)
        for first in range(len(edges) - many)
        if edges[first + many] - edges[first] > 3
    ]
