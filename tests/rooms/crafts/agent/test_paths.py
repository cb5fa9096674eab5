"""Ways are the shortest there are: held against a visibility graph that shapely and scipy work out on their own."""

import math
import random
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra
from shapely import LineString, Point, Polygon, box, prepare, union_all
from tests.rooms.crafts.agent.homes import home, scene_of, thing

from beforehand.crafts.agent.core.geometry import Solid, still_around, wall
from beforehand.crafts.agent.core.geometry import box as solid_box
from beforehand.crafts.agent.core.paths import Floor
from beforehand.crafts.agent.core.words import Box
from beforehand.crafts.agent.core.world import first_world, floor_of

RADIUS = 0.2
BOUNDS: Box = (0.0, 0.0, 10.0, 8.0)
Way = tuple[tuple[float, float], ...] | None


def length(way: Way) -> float:
    return math.inf if way is None else sum(math.dist(*leg) for leg in pairwise(way))


def any_solids(draw: random.Random) -> tuple[Solid, ...]:
    solids = []
    for number in range(draw.randint(1, 7)):
        at = (draw.uniform(1, 9), draw.uniform(1, 7))
        if draw.random() < 0.6:
            solids.append(solid_box(f"box {number}", at, (draw.uniform(0.2, 3), draw.uniform(0.2, 3))))
        else:
            end = (draw.uniform(0, 10), draw.uniform(0, 8))
            solids.append(wall(f"wall {number}", (at, end)))
    return tuple(solids)


def hull(solid: Solid) -> Polygon:
    """The box grown by the radius, from the corners of the box itself."""
    return Polygon(solid.corners).buffer(RADIUS, join_style="mitre", mitre_limit=10)


def shortest(solids: tuple[Solid, ...], start: Any, goal: Any) -> float:
    hulls = [hull(solid) for solid in solids]
    inside = union_all([shape.buffer(-1e-6, join_style="mitre") for shape in hulls])
    prepare(inside)
    limits = box(*BOUNDS).buffer(1e-9)
    corners = [Point(xy) for shape in hulls for xy in shape.exterior.coords[:-1]]
    free = [corner for corner in corners if limits.covers(corner) and not inside.contains(corner)]
    nodes = [Point(start), Point(goal), *free]
    lengths = np.zeros((len(nodes), len(nodes)))
    for one, other in combinations(range(len(nodes)), 2):
        line = LineString([nodes[one], nodes[other]])
        if line.length == 0:
            lengths[one, other] = 1e-12
        elif not inside.intersects(line):
            lengths[one, other] = line.length
    return float(dijkstra(lengths, directed=False, indices=0)[1])


@pytest.mark.parametrize("seed", range(40))
def test_a_way_is_as_short_as_the_shortest(seed: int) -> None:
    draw = random.Random(seed)
    solids = any_solids(draw)
    floor = Floor(solids, RADIUS, BOUNDS)
    spots = [(draw.uniform(0, 10), draw.uniform(0, 8)) for _ in range(40)]
    free = [spot for spot in spots if all(hull(solid).distance(Point(spot)) > 0.01 for solid in solids)]
    for start, goal in zip(free[:3], free[3:6], strict=False):
        way = floor.way(start, [goal])
        assert length(way) == pytest.approx(shortest(solids, start, goal), abs=1e-5)
        if way is not None:
            assert (way[0], way[-1]) == (start, goal)
            path = LineString(way)
            assert not any(path.crosses(hull(solid).buffer(-1e-6, join_style="mitre")) for solid in solids)


def test_of_several_goals_the_nearest_by_the_way_is_taken() -> None:
    floor = Floor([wall("w", ((5, 0), (5, 7)))], RADIUS, BOUNDS)
    way = floor.way((4, 1), [(6, 1), (1, 1)])
    assert way == ((4, 1), (1, 1))


def test_a_room_without_a_door_cannot_be_left() -> None:
    floor = Floor([wall("w", ((5, 0), (5, 8)))], RADIUS, BOUNDS)
    assert floor.way((4, 1), [(6, 1)]) is None


def test_the_same_question_has_the_same_answer_bit_for_bit() -> None:
    solids = any_solids(random.Random(7))
    first = Floor(solids, RADIUS, BOUNDS)
    answers = [first.way((0.1, 0.1), [(9.9, y)]) for y in (1, 4, 7.9)]
    assert answers == [Floor(solids, RADIUS, BOUNDS).way((0.1, 0.1), [(9.9, y)]) for y in (1, 4, 7.9)]


def test_a_gap_narrower_than_the_body_is_no_way() -> None:
    def gap(width: float) -> Way:
        walls = [wall("a", ((5, 0), (5, 4 - width / 2))), wall("b", ((5, 4 + width / 2), (5, 8)))]
        return Floor(walls, RADIUS, BOUNDS).way((1, 4), [(9, 4)])

    assert gap(0.39) is None
    assert length(gap(0.41)) == pytest.approx(8.0)


@pytest.mark.parametrize("corner", [(0, 0), (10, 0), (0, 8), (10, 8)])
def test_a_body_in_the_corner_of_walls_along_the_bounds_can_leave_it(corner: tuple[float, float]) -> None:
    outer = [[[0, 0], [10, 0]], [[10, 0], [10, 8]], [[10, 8], [0, 8]], [[0, 8], [0, 0]]]
    scene = scene_of(home(thing("block", [5, 4], "touch", size=[1, 1]), walls=outer, agent={"at": list(corner)}))
    way = floor_of(first_world(scene)).way(scene.agent.at, [(5, 3.0)])
    assert length(way) == pytest.approx(math.dist(corner, (5, 3.0)), abs=0.5)


def test_a_body_too_close_to_a_thing_may_leave_and_not_come_closer() -> None:
    block = solid_box("block", (5, 4), (2, 2))
    floor = Floor([block], RADIUS, BOUNDS)
    start = (3.9, 4.0)
    assert length(floor.way(start, [(1, 4)])) == pytest.approx(2.9)
    around = floor.way(start, [(9, 4)])
    assert around is not None
    path = LineString(around)
    assert path.distance(box(4, 3, 6, 5)) >= 0.1 - 1e-9
    assert still_around(block, RADIUS, (5, 4)) is None


def test_bodies_in_the_same_surroundings_share_a_floor() -> None:
    one, other = (first_world(scene_of(home(thing("block", [5, 4], "touch")))) for _ in range(2))
    assert floor_of(one) is floor_of(other)


@pytest.mark.parametrize("size", [[2, 2], [1.9, 1.9], [2, 1.8], [1.7, 1.7]])
def test_a_body_between_a_thing_and_the_corner_of_the_bounds_gets_out(size: list[float]) -> None:
    scene = scene_of(home(thing("bed1", [1, 1], "sit", size=size), agent={"at": [0, 0]}))
    way = floor_of(first_world(scene)).way((0, 0), [(5, 5)])
    assert way is not None
    bed = box(1 - size[0] / 2, 1 - size[1] / 2, 1 + size[0] / 2, 1 + size[1] / 2)
    path = LineString(way)
    assert not path.crosses(bed)
    assert path.distance(bed) >= min(0.2, Point(0, 0).distance(bed)) * 0.7 - 1e-9
    clear = LineString(way[1:])
    assert clear.distance(bed) >= 0.2 - 1e-9


def test_a_body_in_a_nook_between_two_things_gets_out_along_them() -> None:
    solids = (solid_box("a", (2, 1), (4, 1.7)), solid_box("b", (2, 3), (3, 1.7)))
    floor = Floor(solids, RADIUS, BOUNDS)
    way = floor.way((2, 2), [(8, 2)])
    assert way is not None
    assert LineString(way).length == pytest.approx(6)
    assert floor.way((2, 2), [(2, 6)]) is not None
