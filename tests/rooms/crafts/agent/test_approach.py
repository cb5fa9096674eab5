"""Where there is room to stand, the body gets to: in crowded homes, in rooms with a closet, in gaps nobody foresaw."""

import random
from typing import Any

import pytest
from shapely import LineString, Point, Polygon, box, union_all
from tests.rooms.crafts.agent.homes import Steered, home, thing

RADIUS = 0.2
SIZE = (10, 8)


def crowded(draw: random.Random) -> dict[str, Any]:
    """A home with walls and furniture anywhere, and a body that stands free."""
    while True:
        walls = [[any_point(draw), any_point(draw)] for _ in range(draw.randint(0, 3))]
        furniture = [
            thing(f"rack{number}", any_point(draw), "touch", size=[draw.uniform(0.3, 3), draw.uniform(0.3, 2)])
            for number in range(draw.randint(4, 12))
        ]
        left, low = draw.uniform(0, 8), draw.uniform(0, 6)
        rooms = [{"name": "nook", "bounds": [left, low, left + draw.uniform(0.5, 2), low + draw.uniform(0.5, 2)]}]
        document = home(*furniture, walls=walls, rooms=rooms, agent={"at": any_point(draw)})
        if ground_of(document) is not None:
            return document


def any_point(draw: random.Random) -> list[float]:
    return [round(draw.uniform(0, SIZE[0]), 2), round(draw.uniform(0, SIZE[1]), 2)]


def ground_of(document: dict[str, Any]) -> Polygon | None:
    """Everywhere the body's centre can get to, worked out from the scene alone."""
    walls = [LineString(wall).buffer(0.001, cap_style="flat") for wall in document["walls"]]
    solids = [*walls, *(area_of(rack) for rack in document["objects"])]
    free = box(0, 0, *SIZE) - union_all([solid.buffer(RADIUS, join_style="mitre") for solid in solids])
    start = Point(document["agent"]["at"])
    parts = [part for part in getattr(free, "geoms", [free]) if part.contains(start)]
    return parts[0] if parts else None


def area_of(rack: dict[str, Any]) -> Polygon:
    (x, y), (width, depth) = rack["at"], rack["size"]
    return box(x - width / 2, y - depth / 2, x + width / 2, y + depth / 2)


def room_beside(rack: dict[str, Any], ground: Polygon) -> float:
    """How much of the lines along a thing's sides, a radius away, can be stood on."""
    left, low, right, high = area_of(rack).bounds
    rows = [[(left, y), (right, y)] for y in (low - RADIUS, high + RADIUS)]
    columns = [[(x, low), (x, high)] for x in (left - RADIUS, right + RADIUS)]
    return float(sum(LineString(side).intersection(ground.buffer(1e-9)).length for side in (*rows, *columns)))


def goes(document: dict[str, Any], action: str) -> bool:
    steered = Steered(document)
    steered(f"start({action})")
    return steered.body.actions[0].stage != "failed"


@pytest.mark.parametrize("seed", range(30))
def test_whatever_has_room_beside_it_is_got_to(seed: int) -> None:
    document = crowded(random.Random(seed))
    ground = ground_of(document)
    assert ground is not None
    missed = [
        rack["name"]
        for rack in document["objects"]
        if room_beside(rack, ground) > 0.01 and not goes(document, f"touching {rack['name']}")
    ]
    assert missed == []
    nook = box(*document["rooms"][0]["bounds"]).intersection(ground)
    assert goes(document, "walking to nook") or nook.area < 1e-4


COUNTER = thing("counter1", [5, 0.4], "touch", "place", size=[8, 0.8])
GAP = home(
    COUNTER,
    *(thing(f"bin{x:g}", [x, 1.3], "touch", size=[2, 1]) for x in (2, 4.2, 8)),
    thing("bin6", [6.3, 1.3], "touch", size=[1.3, 1]),
    walls=[[[1, 0], [1, 2]], [[9, 0], [9, 2]]],
    agent={"at": [5, 6]},
)
"""A counter against a wall, with bins before it and one gap between them that is just wide enough."""
CLOSET = home(
    thing("shelf1", [5, 7.6], "touch", size=[1, 0.4]),
    walls=[[[4, 3], [6, 3]], [[6, 3], [6, 5]], [[6, 5], [4, 5]], [[4, 5], [4, 3]]],
    rooms=[{"name": "hall", "bounds": [2, 1, 8, 7]}, {"name": "closet", "bounds": [4.3, 3.3, 5.7, 4.7]}],
    agent={"at": [1, 0.5]},
)
"""A hall with a closet without a door in its middle."""


def test_a_gap_just_wide_enough_is_found_wherever_it_is() -> None:
    steered = Steered(GAP)
    steered("start(touching counter1)", "skip(60, wake_on=done)")
    assert steered.body.actions[0].stage == "done"
    assert "(5.4, 1)" in steered.body.state_text()


def test_a_room_whose_middle_is_walled_in_is_entered_elsewhere() -> None:
    steered = Steered(CLOSET)
    steered("start(walking to hall)", "skip(60, wake_on=done)")
    x, y = steered.body.world.at
    assert steered.body.actions[0].stage == "done"
    assert 2 <= x <= 8
    assert 1 <= y <= 7
    steered("stop(walking to hall)", "start(walking to closet)")
    assert "failed, 0.0s, no way to closet" in steered.body.state_text()


def test_a_side_is_stood_at_wherever_it_can_be_got_to() -> None:
    """The middle of the side is free, and walled in."""
    walls = [[[6, 3], [9, 3]], [[9, 3], [9, 5]], [[9, 5], [6, 5]], [[6, 5], [6, 3]]]
    document = home(thing("bench1", [4, 4], "touch", size=[1, 6]), walls=walls, agent={"at": [1, 0.5]})
    steered = Steered(document)
    steered("start(standing on the right of bench1 three meters away)", "skip(60, wake_on=done)")
    x, y = steered.body.world.at
    assert steered.body.actions[0].stage == "done"
    assert x == pytest.approx(7.5)
    assert not 3 <= y <= 5
