"""Distances in bulk, for graphs too big to search one by one in plain Python.

Even costs: breadth-first from many places at once, one bit each, a level of the whole graph per numpy call.
Uneven costs: scipy's Dijkstra over the exact combined weights, plain Python's where scipy is not installed.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beforehand.ports.compiled import has_scipy

if TYPE_CHECKING:
    from beforehand.crafts.cell.core.topology import Topology

Ints = NDArray[np.int64]


def distances_to(topology: "Topology", target: int) -> list[float]:
    """The combined weight of the best way from every position to the target; -1 where there is none."""
    from scipy.sparse.csgraph import dijkstra

    far = dijkstra(_matrix(topology, backwards=True), indices=target)
    far[np.isinf(far)] = -1
    listed: list[float] = far.tolist()
    return listed


def distances_among(topology: "Topology", places: Sequence[int]) -> Ints:
    """Moves of the settled path between every two of the places; -1 where there is none."""
    if topology.even:
        return _even_among(topology, places)
    return _uneven_among(topology, places)


def _even_among(topology: "Topology", places: Sequence[int]) -> Ints:
    count = len(places)
    moves = np.full((count, count), -1, dtype=np.int64)
    np.fill_diagonal(moves, 0)
    sources = [u for v in range(len(topology.names)) for u in topology.before[v]]
    if not sources:
        return moves
    entered = np.array([v for v in range(len(topology.names)) if topology.before[v]])
    offsets = np.cumsum([0] + [len(topology.before[v]) for v in entered[:-1]])
    gather = np.array(sources)
    where = np.array(places)
    seen = np.zeros((len(topology.names), (count + 63) // 64), dtype=np.uint64)
    for bit, place in enumerate(places):
        seen[place, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    depth = 0
    while True:
        depth += 1
        spread = np.bitwise_or.reduceat(seen[gather], offsets, axis=0) | seen[entered]
        if np.array_equal(spread, seen[entered]):
            break
        seen[entered] = spread
        here = np.unpackbits(seen[where].view(np.uint8), axis=1, bitorder="little")[:, :count].T.astype(bool)
        moves[here & (moves < 0)] = depth
        if (moves >= 0).all():
            break
    return moves


def _uneven_among(topology: "Topology", places: Sequence[int]) -> Ints:
    countable = topology.heaviest * len(topology.names) < 2**53
    if not countable or not has_scipy():
        return _plain_among(topology, places)
    from scipy.sparse.csgraph import dijkstra

    far = dijkstra(_matrix(topology, backwards=False), indices=list(places))[:, list(places)]
    known = np.isfinite(far)
    whole = np.where(known, far, 0).astype(np.int64)
    return np.where(known, whole % topology.radix, -1)


def _plain_among(topology: "Topology", places: Sequence[int]) -> Ints:
    """One place at a time, in Python's own numbers: costs may be beyond what a float counts exactly."""
    moves = np.full((len(places), len(places)), -1, dtype=np.int64)
    for column, place in enumerate(places):
        far = topology._dijkstra_to(place)
        for row, start in enumerate(places):
            if far[start] >= 0:
                moves[row, column] = far[start] % topology.radix
    return moves


def _matrix(topology: "Topology", *, backwards: bool) -> Any:
    """Built once per topology and direction, since that takes longer than a search in it."""
    known = topology.matrices.get(backwards)
    if known is None:
        known = topology.matrices[backwards] = _built(topology, backwards)
    return known


def _built(topology: "Topology", backwards: bool) -> Any:
    from scipy.sparse import csr_matrix

    edges = np.array(list(topology.weight), dtype=np.int64).reshape(-1, 2)
    weights = np.array(list(topology.weight.values()), dtype=np.float64)
    rows, columns = (edges[:, 1], edges[:, 0]) if backwards else (edges[:, 0], edges[:, 1])
    size = len(topology.names)
    return csr_matrix((weights, (rows, columns)), shape=(size, size))
