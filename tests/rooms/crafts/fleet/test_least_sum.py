"""Plain Python finds the same pairs as scipy, ties and all, so that a fleet works alike with scipy and without."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.least_sum import least_sum_pairs, plain_pairs
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate

FEW = st.integers(0, 4).map(float)
"""So few that most choices are ties."""
METRES = st.floats(-1e6, 1e6, allow_nan=False) | st.just(1e9)


@st.composite
def tables(draw: st.DrawFn) -> list[list[float]]:
    rows, columns = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    cost = draw(st.sampled_from([FEW, METRES]))
    row = st.lists(cost, min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=rows, max_size=rows))


@given(tables())
def test_the_pairs_are_those_of_scipy(costs: list[list[float]]) -> None:
    assert plain_pairs(costs) == least_sum_pairs(np.array(costs))


@pytest.mark.parametrize("shape", [(40, 300), (60, 25), (30, 30)])
def test_the_pairs_are_those_of_scipy_in_tables_as_big_as_a_fleet_has_them(shape: tuple[int, int]) -> None:
    draw = np.random.default_rng(7)
    costs = draw.integers(0, 40, shape) * 2.5 - draw.integers(0, 3, (shape[0], 1)) * 1000.0
    assert plain_pairs(costs.tolist()) == least_sum_pairs(costs)


@pytest.mark.usefixtures("without_scipy")
def test_no_other_pairs_cost_less() -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        costs = draw.integers(0, 9, (4, 6)) * 1.0
        tried = (sum(costs[row, column] for row, column in enumerate(order)) for order in permutations(range(6), 4))
        assert sum(costs[pair] for pair in least_sum_pairs(costs)) == min(tried)


def test_a_fleet_works_alike_without_scipy(request: pytest.FixtureRequest, repository: Path) -> None:
    scene = read_fleet(yaml.safe_load((repository / "scenes" / "cross_dock.yaml").read_text(encoding="utf-8")))
    assert scene.settings.dispatch == "optimal"
    with_scipy = simulate(scene, SimFleet(scene), for_s=600).events
    request.getfixturevalue("without_scipy")
    assert simulate(scene, SimFleet(scene), for_s=600).events == with_scipy
