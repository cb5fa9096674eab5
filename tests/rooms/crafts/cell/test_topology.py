"""Paths at sizes a brute force cannot follow: three ways of searching agree, and huge or tiny costs stay exact."""

import random
from itertools import pairwise

import pytest

from beforehand.crafts.cell.core import topology as module
from beforehand.crafts.cell.core.distances import distances_among
from beforehand.crafts.cell.core.topology import Topology, strong_components
from beforehand.model.cell import CellScene, Move, Number, Position


def grid(side: int, cost: Number | None = 1, seed: int = 3) -> CellScene:
    rng = random.Random(seed)
    names = [[f"P{row}_{column}" for column in range(side)] for row in range(side)]
    pairs = [(names[r][c], names[r][c + 1]) for r in range(side) for c in range(side - 1)]
    pairs += [(names[r][c], names[r + 1][c]) for r in range(side - 1) for c in range(side)]
    moves = [Move(source=a, target=b, cost=rng.choice([1, 2, 0.5]) if cost is None else cost) for a, b in pairs]
    positions = [Position(name=name) for row in names for name in row]
    return CellScene(name="grid", positions=tuple(positions), moves=tuple(moves))


def test_the_smallest_names_of_very_many_ties() -> None:
    path = Topology(grid(12)).shortest_path("P0_0", "P11_11")
    assert path is not None
    assert len(path) == 23
    assert path == _downhill(Topology(grid(12)), "P0_0", "P11_11")


def _downhill(topology: Topology, start: str, end: str) -> list[str]:
    found = topology._downhill(topology.number[start], topology.number[end])
    assert found is not None
    return [topology.names[at] for at in found]


def test_both_searches_agree_on_even_costs() -> None:
    topology, other = Topology(grid(9)), Topology(grid(9))
    rng = random.Random(5)
    for _ in range(150):
        start, end = rng.sample(topology.names, 2)
        assert topology.shortest_path(start, end) == _downhill(other, start, end)


def test_small_and_big_even_graphs_take_the_same_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = Topology(grid(9))
    pairs = [random.Random(seed).sample(topology.names, 2) for seed in range(100)]
    small = [topology.shortest_path(start, end) for start, end in pairs]
    monkeypatch.setattr(module, "SMALL", 1)
    big = Topology(grid(9))
    assert [big.shortest_path(start, end) for start, end in pairs] == small


def test_kept_paths_are_bounded_and_cannot_be_spoilt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 40)
    topology = Topology(grid(9))
    for seed in range(50):
        start, end = random.Random(seed).sample(topology.names, 2)
        first = topology.shortest_path(start, end)
        assert first is not None
        expected = list(first)
        first.append("spoilt")
        assert topology.shortest_path(start, end) == expected
        assert sum(map(len, topology._paths.values())) <= 40


def test_scipy_and_python_agree_on_uneven_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, scene = Topology(grid(9, None)), grid(9, None)
    monkeypatch.setattr(module, "BIG", 1)
    big = Topology(scene)
    rng = random.Random(7)
    for _ in range(100):
        start, end = rng.sample(plain.names, 2)
        assert big.shortest_path(start, end) == plain.shortest_path(start, end)


def test_big_graphs_are_the_same_without_scipy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[object]:
        topology = Topology(grid(9, None))
        moves = distances_among(topology, range(0, 81, 7))
        pairs = [random.Random(seed).sample(topology.names, 2) for seed in range(50)]
        return [moves.tolist(), [topology.shortest_path(start, end) for start, end in pairs]]

    monkeypatch.setattr(module, "BIG", 1)
    compiled = found()
    request.getfixturevalue("without_scipy")
    assert found() == compiled


def test_costs_beyond_floats_stay_exact() -> None:
    moves = [
        Move(source="A", target="B", cost=10**17),
        Move(source="B", target="D", cost=10**17 + 1),
        Move(source="A", target="C", cost=10**17),
        Move(source="C", target="D", cost=10**17),
        Move(source="A", target="D", cost=2 * 10**17 + 0),
    ]
    names = ["A", "B", "C", "D"]
    scene = CellScene(name="big", positions=tuple(Position(name=name) for name in names), moves=tuple(moves))
    topology = Topology(scene)
    assert topology.shortest_path("A", "D") == ["A", "D"]
    without = Topology(scene.model_copy(update={"moves": tuple(moves[:4])}))
    assert without.shortest_path("A", "D") == ["A", "C", "D"]
    assert distances_among(without, [0, 3])[0, 1] == 2
    assert without.distances_to("D")[0] == 2 * 10**17 * without.radix + 2


def test_ten_thousand_positions_have_paths() -> None:
    for cost in (1, None):
        topology = Topology(grid(100, cost))
        path = topology.shortest_path("P0_0", "P99_99")
        assert path is not None
        counts = distances_among(topology, [topology.number["P0_0"], topology.number["P99_99"]])
        assert counts[0, 1] == len(path) - 1


def test_unknown_and_unreachable() -> None:
    topology = Topology(CellScene(name="two", positions=(Position(name="A"), Position(name="B"))))
    assert topology.shortest_path("A", "B") is None
    assert topology.shortest_path("A", "Q") is None
    assert topology.shortest_path("A", "A") == ["A"]
    assert topology.reachable("A") == {"A"}


def test_positions_that_can_be_left_and_come_back_to_are_one_component() -> None:
    """Two loops with a one-way move between them, and a position nobody gets to; against what `reachable` says."""
    pairs = [("A", "B"), ("B", "C"), ("C", "A"), ("C", "D"), ("D", "E"), ("E", "D"), ("F", "A")]
    moves = tuple(Move(source=a, target=b, one_way=True) for a, b in pairs)
    scene = CellScene(name="loops", positions=tuple(Position(name=name) for name in "FEDCBA"), moves=moves)
    numbers, topology = strong_components("FEDCBA", moves), Topology(scene)
    for a in "ABCDEF":
        for b in "ABCDEF":
            assert (numbers[a] == numbers[b]) == (b in topology.reachable(a) and a in topology.reachable(b))


def test_a_long_line_of_positions_has_components() -> None:
    names = [f"P{at}" for at in range(20_000)]
    there = [Move(source=a, target=b, one_way=True) for a, b in pairwise(names)]
    assert len(set(strong_components(names, there).values())) == len(names)
    assert set(strong_components(names, [*there, Move(source=names[-1], target=names[0])]).values()) == {0}
