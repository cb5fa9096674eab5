"""The assignment that costs least in all: who takes which pallet so that the empty driving together is shortest.

Distance is in metres. Priority and waiting count as metres too, at fixed rates, and what has waited past `maxWaitS`
outweighs everything, older before younger.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.eligibility import Offer, Whereabouts, cannot_take, is_joined, metres_along, way_of
from beforehand.crafts.fleet.core.least_sum import least_sum_pairs

PRIORITY_M = 1000.0
"""Metres that one point of priority is worth."""
AGING_M = 100.0
"""Metres that one point of ageing is worth; at the default of 0.01 points a second, a second is a metre."""
LATE_M = 1e6
SHUNNED_M = 1e4
IMPOSSIBLE_M = 1e9


def best_matching(board: Board, robots: Sequence[str], offers: Sequence[Offer]) -> list[tuple[Offer, str]]:
    """Pairs of work and robot, in the order of the work."""
    if not robots or not offers:
        return []
    where = Whereabouts(board, robots)
    table = where.table([board.site(offer.source_id).node_id for offer in offers])
    worths = _worths(board, offers)
    costs = np.stack([_costs(board, where, *one) for one in zip(offers, table, worths, strict=True)])
    return [
        (offers[row], robots[column]) for row, column in least_sum_pairs(costs) if costs[row, column] < IMPOSSIBLE_M / 2
    ]


def _costs(
    board: Board, where: Whereabouts, offer: Offer, metres: np.ndarray[Any, np.dtype[np.float64]], worth: float
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """What this piece of work costs with each robot."""
    way = way_of(board, offer)
    if not is_joined(board, way):
        return np.full(len(metres), IMPOSSIBLE_M)
    costs = np.where(np.isfinite(metres), metres - worth, IMPOSSIBLE_M)
    if board.state.has_chargers:
        short = where.short(board, metres + metres_along(board, way), way[-1])
        costs = np.where(short, IMPOSSIBLE_M, costs)
        board.short_of_charge.update(where.robots[number] for number in np.flatnonzero(short))
    if offer.more or board.state.has_choosy_robots:
        for number, robot_id in enumerate(where.robots):
            if cannot_take(board, robot_id, offer) is not None:
                costs[number] = IMPOSSIBLE_M
    if offer.not_robot_id in where.robots:
        shunned = IMPOSSIBLE_M if offer.shuns(str(offer.not_robot_id), board.now) else SHUNNED_M
        costs[where.robots.index(offer.not_robot_id)] += shunned
    return costs


def _worths(board: Board, offers: Sequence[Offer]) -> list[float]:
    """What each piece of work is worth in metres. Where priorities are far apart all are worth less, so that none
    outweighs what is late."""
    settings = board.settings
    waits = [max(0, board.now - offer.since_ms) / 1000 for offer in offers]
    worths = [
        PRIORITY_M * offer.priority + AGING_M * settings.aging_per_s * waited_s
        for offer, waited_s in zip(offers, waits, strict=True)
    ]
    scale = min(1.0, LATE_M / 2 / max(1.0, *map(abs, worths)))
    return [
        LATE_M + waited_s if waited_s >= settings.max_wait_s else worth * scale
        for worth, waited_s in zip(worths, waits, strict=True)
    ]
