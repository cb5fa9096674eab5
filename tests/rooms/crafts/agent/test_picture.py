"""The picture is looked at as a file: it is decoded, and colours are where the world says."""

import struct
import zlib
from dataclasses import dataclass, replace

import pytest

from beforehand.app.documents import read_file
from beforehand.crafts.agent.core.floor_plan import COLOURS, Sheet, sheet_of
from beforehand.crafts.agent.core.font import HEIGHT, UNKNOWN, rim_of, set_text
from beforehand.crafts.agent.core.home_body import HomeBody, home_body
from beforehand.crafts.agent.core.labels import Label, lay, shared
from beforehand.crafts.agent.core.picture import picture_of, way_ahead
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.words import HomeScene, Point
from beforehand.crafts.agent.core.world import Place, World, first_world
from beforehand.ports.body import Refused

APARTMENT = read_home(read_file("scenes/apartment.yaml"))
Colour = tuple[int, int, int]


@dataclass
class Seen:
    """A decoded PNG of indexed colours."""

    width: int
    height: int
    rows: list[list[Colour]]

    def at(self, sheet: Sheet, point: Point) -> Colour:
        x, y = sheet.at(point)
        return self.rows[int(y)][int(x)]

    def count(self, colour: str) -> int:
        return sum(row.count(COLOURS[colour]) for row in self.rows)

    def shows(self, text: str, colour: str) -> list[tuple[int, int]]:
        """Where a text stands: every place at which all its pixels have the colour, and none of its rim has."""
        ink = COLOURS[colour]
        width, pixels = set_text(text)
        (first_x, first_y), rim = pixels[0], rim_of(text)
        return [
            (x, y)
            for y in range(self.height - HEIGHT)
            for x in range(1, self.width - width - 1)
            if self.rows[y + first_y][x + first_x] == ink
            and all(self.rows[y + dy][x + dx] == ink for dx, dy in pixels)
            and not any(self.rows[y + dy][x + dx] == ink for dx, dy in rim)
        ]


def decoded(png: bytes) -> Seen:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + data),)
        chunks[kind] = data
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    width, height, depth, kind_of, *_ = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, kind_of) == (8, 3)
    parts = iter(chunks[b"PLTE"])
    colours = list(zip(parts, parts, parts, strict=True))
    data = zlib.decompress(chunks[b"IDAT"])
    assert len(data) == height * (width + 1)
    lines = [data[y * (width + 1) : (y + 1) * (width + 1)] for y in range(height)]
    assert all(line[0] == 0 for line in lines)
    return Seen(width, height, [[colours[number] for number in line[1:]] for line in lines])


def looked_at(world: World, path: tuple[Point, ...] = ()) -> tuple[Seen, Sheet]:
    return decoded(picture_of(world, path)), sheet_of(world.scene.bounds)


def empty_world(**scene: object) -> World:
    return first_world(read_home({"kind": "home", "name": "hut", "bounds": [0, 0, 10, 10], **scene}))


def body_of(scene: HomeScene, *starts: str) -> HomeBody:
    body = home_body(scene)
    for text in starts:
        begun = body.start(text)
        assert not isinstance(begun, Refused)
        body = begun[0]
    return body


def test_it_is_a_png_of_512_pixels_with_the_same_bytes_every_time() -> None:
    world = first_world(APARTMENT)
    seen, _ = looked_at(world)
    assert (seen.width, seen.height) == (512, 512)
    again = first_world(read_home(read_file("scenes/apartment.yaml")))
    assert picture_of(world) == picture_of(world) == picture_of(again)


def test_rooms_walls_and_things_have_their_colours_x_to_the_right_and_y_up() -> None:
    seen, sheet = looked_at(first_world(APARTMENT))
    assert seen.at(sheet, (3.2, 3.8)) == COLOURS["room 1"]  # the living room, below
    assert seen.at(sheet, (2.6, 6.0)) == COLOURS["room 4"]  # the bedroom, above
    assert seen.at(sheet, (11.5, 5.0)) == COLOURS["room 5"]  # the bathroom, to the right
    assert seen.at(sheet, (6, 1.5)) == COLOURS["wall"]
    assert seen.at(sheet, (0.5, 7.0)) == COLOURS["furniture"]  # bed1
    assert seen.at(sheet, (11.4, 0.8)) == COLOURS["closed"]  # fridge1
    assert seen.at(sheet, (4.9, 5.4)) == COLOURS["carried"]  # box1
    assert sheet.at((0, 0))[1] > sheet.at((0, 8))[1]


def test_everything_is_named_once_and_names_do_not_lie_on_each_other() -> None:
    world = first_world(APARTMENT)
    seen, _ = looked_at(world)
    areas = []
    for thing in APARTMENT.objects:
        colour = "carried ink" if thing.carried else "opens ink" if thing.opens else "ink"
        places = seen.shows(thing.name, colour)
        assert len(places) == 1, (thing.name, places)
        (x, y) = places[0]
        areas.append((x, y, x + set_text(thing.name)[0], y + HEIGHT))
    assert not any(shared(one, other) for n, one in enumerate(areas) for other in areas[:n])
    for room in APARTMENT.rooms:
        assert seen.shows(room.name, "room name"), room.name
    assert len(seen.shows("you", "body ink")) == 1


@pytest.mark.parametrize("text", ["opening door3", "taking cup1", "sitting on chair1", "lying on sofa1"])
def test_names_stay_readable_wherever_the_body_goes(text: str) -> None:
    body = body_of(APARTMENT, text)
    body, _ = body.passed(600, "done")
    seen = decoded(body.picture())
    for name in ("sofa1", "table1", "chair1"):
        assert len(seen.shows(name, "ink")) == 1, name
    assert seen.shows("you" if body.world.posture == "standing" else f"you {body.world.posture}", "body ink")


def test_the_body_faces_and_gazes_where_the_world_says() -> None:
    world = replace(empty_world(), at=(5.0, 5.0), facing=90.0, gaze=0.0)
    seen, sheet = looked_at(world)
    reach = 13 / sheet.scale
    assert seen.at(sheet, (5.0, 5.0)) == COLOURS["body"]
    assert seen.at(sheet, (5.0, 5.0 + reach)) == COLOURS["body"]  # the nose
    assert seen.at(sheet, (5.0 - reach, 5.0)) == COLOURS["ground"]
    gazed = seen.at(sheet, (6.0, 5.0))
    assert gazed not in COLOURS.values()  # what the gaze lies on is washed over
    assert seen.at(sheet, (4.0, 5.0)) == COLOURS["ground"]


def test_what_the_hands_hold_is_at_the_body_and_told_below() -> None:
    world = replace(first_world(APARTMENT), at=(4.0, 2.5))
    empty, _ = looked_at(world)
    assert len(empty.shows("empty", "quiet")) == 2
    holding, sheet = looked_at(world.put("cup1", Place(hands=("right",))))
    assert len(holding.shows("empty", "quiet")) == 1
    places = holding.shows("cup1", "carried ink")
    assert len(places) == 2  # beside the body, and in the line below
    x, y = sheet.at(world.at)
    assert min(abs(px - x) + abs(py - y) for px, py in places) < 60


def test_open_and_closed_look_different_and_a_blocked_door_does_not() -> None:
    world = first_world(APARTMENT)
    door3, fridge = (10.2, 4.5), (11.4, 0.8)
    shut, sheet = looked_at(world)
    opened, _ = looked_at(replace(world, open={**world.open, "door3": True, "fridge1": True}))
    assert (shut.at(sheet, door3), opened.at(sheet, door3)) == (COLOURS["closed"], COLOURS["open"])
    assert (shut.at(sheet, fridge), opened.at(sheet, fridge)) == (COLOURS["closed"], COLOURS["open"])
    assert picture_of(replace(world, blocked=frozenset({"door1"}))) == picture_of(world)


def test_the_way_ahead_is_dotted_and_gets_shorter() -> None:
    body = body_of(APARTMENT, "walking to kitchen")
    begun = way_ahead(body.going)
    body, _ = body.passed(60)
    left = way_ahead(body.going)
    assert left[0] == body.world.at
    assert left[-1] == begun[-1]
    red = [decoded(picture_of(body.world, path)).count("body") for path in ((), left, begun)]
    assert red[0] < red[1] < red[2]
    body, _ = body.passed(2_000)
    assert way_ahead(body.going) == ()


def test_a_moved_thing_is_drawn_where_it_is_now() -> None:
    world = empty_world(objects=[{"name": "crate1", "at": [2, 2], "size": [1, 1]}])
    seen, sheet = looked_at(world)
    moved, _ = looked_at(world.put("crate1", Place(at=(7.0, 7.0))))
    spots = ((2.0, 1.7), (7.0, 6.7))
    assert [seen.at(sheet, spot) == COLOURS["furniture"] for spot in spots] == [True, False]
    assert [moved.at(sheet, spot) == COLOURS["furniture"] for spot in spots] == [False, True]


@pytest.mark.parametrize(
    "bounds", [[0, 0, 0.5, 0.5], [-9000, -9000, 9000, 9000], [0, 0, 100, 1], [-3, -50, -1, 50]], ids=str
)
def test_homes_of_every_size_fit(bounds: list[float]) -> None:
    middle = [(bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2]
    world = first_world(
        read_home({"kind": "home", "name": "hut", "bounds": bounds, "agent": {"at": middle, "radius_m": 0.1}})
    )
    seen, sheet = looked_at(world)
    assert seen.at(sheet, world.at) == COLOURS["body"]
    for corner in ((bounds[0], bounds[1]), (bounds[2], bounds[3])):
        x, y = sheet.at(corner)
        assert 0 <= x < 512
        assert 0 <= y < 512


def test_names_of_every_kind_are_drawn() -> None:
    names = ["Küche é", "書棚1", "a name that is much too long to be drawn on one line of a picture"]
    things = [{"name": name, "at": [2, 2 * number + 2]} for number, name in enumerate(names)]
    seen, _ = looked_at(empty_world(objects=things))
    assert seen.shows("Kuche e", "ink")
    assert seen.shows(f"{UNKNOWN}{UNKNOWN}1", "ink")
    assert set_text("Küche") == set_text("Kuche")


def test_glyphs_differ_and_rims_surround_them() -> None:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,:-_/()+'#&"
    drawn = {letter: set_text(letter) for letter in letters}
    assert len(set(drawn.values())) == len(letters)
    assert all(pixels and max(y for _, y in pixels) < HEIGHT for _, pixels in drawn.values())
    assert not set(rim_of("door1")) & set(set_text("door1")[1])


def test_labels_in_a_crowd_choose_spots_that_do_not_overlap() -> None:
    labels = [Label(f"cup{n}", "ink", (100 + 12 * n, 100, 108 + 12 * n, 108)) for n in range(4)]
    laid = lay(labels, [label.about for label in labels], [], (0, 0, 512, 512))
    areas = [one.area for one in laid]
    assert not any(shared(one, other) for n, one in enumerate(areas) for other in areas[:n])
    assert not any(shared(area, label.about) for area in areas for label in labels)
