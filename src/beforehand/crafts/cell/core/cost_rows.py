"""Prices from one spot to every goal at once, as numbers that can be compared: steps, and time as a small fraction.

The local search asks for thousands of these. What does not depend on the spot (from a tool's stand to each goal, from
stand to stand) is worked out once.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from beforehand.crafts.cell.core.cost_matrix import CostMatrix, Leg, Price, Spot, Stop
from beforehand.model.cell import NO_TOOL

Floats = NDArray[np.float64]

FAR = 1e9
"""The price of what cannot be done."""


class Rows:
    def __init__(self, matrix: CostMatrix) -> None:
        self.matrix = matrix
        count = len(matrix.tasks)
        behind = [len(matrix.tools_behind(task)) for task in matrix.tasks]
        self.scale = 0.4 / max(1, max(map(max, matrix.time)) * (count + 1) * 3 * (1 + max(behind, default=0)))
        moves = np.array(matrix.moves, dtype=np.float64)
        time = np.array(matrix.time, dtype=np.float64)
        self.between: Floats = np.where(moves < 0, FAR, moves + time * self.scale)
        self.tools = sorted(matrix.stands)
        plain = [
            task.action in ("move", "routine") and not (more and task.tool is None)
            for task, more in zip(matrix.tasks, behind, strict=True)
        ]
        self.odd = [index for index in range(count) if not plain[index]]
        """Goals that attach or release, or take any tool and are followed by what needs one: priced one by one."""
        self.where = np.array([matrix.at.get(task.position, 0) for task in matrix.tasks])
        self.need = np.array([self._tool(task.tool) if plain[at] else -1 for at, task in enumerate(matrix.tasks)])
        self.there: Floats = np.array([self._in_place(index) if plain[index] else 0.0 for index in range(count)])
        self.fetched: Floats = np.array([self._from_stand(index) if plain[index] else 0.0 for index in range(count)])
        self._rows: Floats = np.zeros((64, count))
        self._priced: set[int] = set()
        self._swaps: dict[str, Floats] = {}
        self._apart: dict[str, Floats] = {}

    def _tool(self, tool: str | None) -> int:
        return self.tools.index(tool) if tool in self.tools else -1 if tool is None else -2

    def value(self, price: Price | None) -> float:
        return FAR if price is None else price[0] + price[1] * self.scale

    def _goal(self, leg: Leg | None) -> float:
        return self.value(leg and leg[1:])

    def _in_place(self, index: int) -> float:
        """The goal itself, for a robot that stands there with the right tool."""
        task = self.matrix.tasks[index]
        return self._goal(self.matrix.leg((task.position, task.tool or NO_TOOL), index))

    def _from_stand(self, index: int) -> float:
        """The goal, for a robot that has just fetched its tool."""
        tool = self.matrix.tasks[index].tool
        fetched = self.matrix.fetched(tool) if tool else None
        return self._goal(self.matrix.leg(fetched, index) if fetched else None)

    def fits(self, spot: Spot) -> NDArray[np.bool_]:
        """Which goals need no other tool than the one on."""
        fits: NDArray[np.bool_] = (self.need == -1) | (self.need == self._tool(spot[1]))
        return fits

    def apart(self, spot: Spot) -> Floats:
        """What puts the goals that need another tool behind those that do not."""
        known = self._apart.get(spot[1])
        if known is None:
            known = self._apart[spot[1]] = np.where(self.fits(spot), 0.0, FAR / 4)
        return known

    def row(self, stop: Stop) -> Floats:
        """What each goal would take from here."""
        if stop.number not in self._priced:
            self._fill(stop)
        row: Floats = self._rows[stop.number]
        return row

    def table(self, stops: Iterable[Stop]) -> Floats:
        """The rows of all stops by their numbers, those of these stops filled in."""
        for stop in stops:
            if stop.number not in self._priced:
                self._fill(stop)
        return self._rows

    def _fill(self, stop: Stop) -> None:
        priced = self._price(stop)
        while stop.number >= len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[stop.number] = priced
        self._priced.add(stop.number)

    def _price(self, stop: Stop) -> Floats:
        spot = stop.spot
        direct = self.between[self.matrix.at[spot[0]], self.where] + self.there
        keeps = self.fits(spot)
        if not keeps.all():
            swap = self._swap(spot)
            direct = np.where(keeps, direct, swap[self.need] + self.fetched)
        for index in self.odd:
            direct[index] = self._goal(stop[index])
        priced: Floats = np.minimum(direct, FAR)
        return priced

    def _swap(self, spot: Spot) -> Floats:
        """From here to each tool freshly attached; the last entry is for tools that cannot be had."""
        freed = self.matrix.change(spot, NO_TOOL)
        if freed is None:
            return np.full(len(self.tools) + 2, FAR)
        place, price = freed[0][0], freed[1]
        if place not in self._swaps:
            to = [self.matrix.change((place, NO_TOOL), tool) for tool in self.tools]
            self._swaps[place] = np.array([self.value(one and one[1]) for one in to] + [FAR, FAR])
        return self._swaps[place] + self.value(price)
