"""The assignment that costs least in all: who takes which pallet so that the empty driving together is shortest.

Distance is in metres. Priority and waiting count as metres too, at fixed rates, and what has waited past `maxWaitS`
outweighs everything. scipy solves it; it is imported when first needed.
"""

from collections.abc import Sequence

from beforehand.fleet.board import Board
from beforehand.fleet.fitness import Offer, fit

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
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    costs = np.full((len(offers), len(robots)), IMPOSSIBLE_M)
    for row, offer in enumerate(offers):
        worth = _worth(board, offer)
        for column, robot_id in enumerate(robots):
            distance = fit(board, robot_id, offer)
            if distance is not None:
                costs[row, column] = distance - worth + (SHUNNED_M if robot_id == offer.not_robot_id else 0.0)
    rows, columns = linear_sum_assignment(costs)
    return [
        (offers[row], robots[column])
        for row, column in zip(rows, columns, strict=True)
        if costs[row, column] < IMPOSSIBLE_M / 2
    ]


def _worth(board: Board, offer: Offer) -> float:
    waited_s = max(0, board.now - offer.since_ms) / 1000
    worth = PRIORITY_M * offer.priority + AGING_M * board.settings.aging_per_s * waited_s
    return worth + (LATE_M + waited_s if waited_s >= board.settings.max_wait_s else 0.0)
