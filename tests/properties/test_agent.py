"""A body put through anything: any home, any commands, good, half good and junk, and faults at any moment.

What is looked at is looked at from outside: with shapely on the poses of every tick, never with the world's own
geometry. A long skip is compared with the same time passed tick by tick, and the whole story told again must give the
same bytes.
"""

import json
import random
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shapely import LineString, Point, Polygon, box

from beforehand.crafts.agent.core.home_body import HomeBody, home_body
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session import Session, commanded
from beforehand.crafts.agent.core.words import HomeScene
from beforehand.ports.body import Refused

NEAR = 1e-6
AFFORDS = ["sit", "lie", "lean", "touch", "place", "push"]


# -- homes -----------------------------------------------------------------------------------------------------------


def any_home(draw: random.Random) -> HomeScene:
    """A home of up to two rooms with a door between them, and things that may stand in each other's way."""
    width, height = draw.randint(4, 8), draw.randint(4, 7)
    walls: list[Any] = []
    objects: list[dict[str, Any]] = []
    if draw.random() < 0.8:
        x, low = draw.randint(2, width - 2), draw.choice([0.5, 1.0, 2.0])
        walls += [[[x, 0], [x, low]], [[x, low + 1], [x, height]]]
        door = {"name": "door1", "at": [x, low + 0.5], "size": [0.06, 1.0], "door": True, "open": draw.random() < 0.7}
        objects.append({**door, "affords": ["open", "close", "touch"]})
    if draw.random() < 0.3:
        walls.append([[draw.randint(0, width), 1], [draw.randint(0, width) + 0.5, height - 1]])
    if draw.random() < 0.3:
        walls += [[[0, 0], [width, 0]], [[0, 0], [0, height]]]
    for number in range(draw.randint(1, 5)):
        at = [round(draw.uniform(0.3, width - 0.3), 2), round(draw.uniform(0.3, height - 0.3), 2)]
        thing = {"name": f"block{number}", "at": at, "size": [draw.choice([0.3, 0.6, 1.2]), draw.choice([0.3, 0.8])]}
        thing |= {"affords": draw.sample(AFFORDS, draw.randint(1, 6))}
        objects.append(thing | ({"open": draw.random() < 0.5} if draw.random() < 0.3 else {}))
    hosts = [thing["name"] for thing in objects if not thing.get("door")]
    for number in range(draw.randint(1, 5)):
        where: dict[str, Any] = {draw.choice(["on", "on", "in"]): draw.choice(hosts)}
        if draw.random() < 0.25:
            where = {"at": [round(draw.uniform(0.2, width - 0.2), 2), round(draw.uniform(0.2, height - 0.2), 2)]}
        affords = ["take", "touch", *(["place"] if draw.random() < 0.4 else []), *(["push"] if "at" in where else [])]
        name = f"cup{number}"
        objects.append({"name": name, **where, "affords": affords, "twoHands": draw.random() < 0.2})
        hosts.append(name)
    corners = [[0, 0], [0.5, 0.5], [width - 0.5, 0.5], [0.5, height - 0.5], [width, height]]
    taken = [body_box(thing["at"], thing["size"]) for thing in objects if "size" in thing]
    free = [corner for corner in corners if all(solid.distance(Point(corner)) > 0 for solid in taken)]
    rooms = [{"name": "west", "bounds": [0, 0, width / 2, height]}]
    if not free:
        return any_home(draw)
    agent = {"at": draw.choice(free), "facing": draw.choice([0, 90, 200]), "speedMps": draw.choice([0.5, 1.2, 2.5])}
    bounds = [0, 0, width, height]
    document = {"name": "any", "bounds": bounds, "walls": walls, "rooms": rooms, "objects": objects, "agent": agent}
    return read_home({"kind": "home", **document})


def body_box(at: Any, size: Any) -> Polygon:
    return box(at[0] - size[0] / 2, at[1] - size[1] / 2, at[0] + size[0] / 2, at[1] + size[1] / 2)


# -- what is said and what goes wrong --------------------------------------------------------------------------------

TARGETED = (
    *("sitting on {a}", "lying on {a}", "leaning against {a} in front of it", "touching {a}", "looking at {a}"),
    *("taking {a}", "taking {a} from {b}", "placing {a} on {b}", "placing {a} in {b}", "pushing {a}", "opening {a}"),
    *("closing {a}", "walking to {a}", "standing on the right of {a}", "standing behind {a} one meter away"),
    "waving at {a}",
)
UNTARGETED = ("dancing", "clapping", "singing a song", "walking to west", "walking to (1, 1)", "standing", "stretching")
FITTING = ("take", "take", "take", "push", "open", "close", "sit", "touch", "lean")
FAULTS = ("block", "unblock", "unblock", "shut", "slip", "slip", "move", "move", "move")
Op = tuple[Any, ...]


def any_story(draw: random.Random, junk: list[str]) -> list[Op]:
    """What is said and what happens, in any order; now and then something sensible is done to its end."""

    def one(*kind: str) -> Op:
        return (*kind, draw.randint(0, 11), draw.randint(0, 11))

    ops: list[Op] = []
    while len(ops) < 60:
        skip = ("skip", draw.choice([0.05, 0.3, 1.0, 2.5, 6.0, 11.0]))
        match draw.randint(0, 11):
            case 0 | 1:
                ops += [("free",), one("start", draw.choice(TARGETED)), skip]
            case 2:
                ops += [one("start", draw.choice(UNTARGETED)), skip]
            case 3 | 4 | 5:
                ops += [("free",), one("fitting", draw.choice(FITTING)), ("skip", draw.choice([1.0, 9.0, 9.0]))]
            case 6:
                ops += [("free",), one("fitting", "place"), ("skip", draw.choice([0.5, 9.0]))]
            case 7:
                ops += [one("fault", draw.choice(FAULTS)), skip]
            case 8 | 9:
                there = one("start", draw.choice(["walking to {a}", "touching {a}", "pushing {a}"]))
                meanwhile = one("fault", draw.choice(["block", "shut", "move"]))
                ops += [("free",), there, ("skip", draw.choice([0.3, 0.9, 1.7])), meanwhile, ("skip", 6.0)]
            case 10:
                ops += [("stop", draw.randint(0, 5)), skip]
            case _:
                ops += [("half", draw.choice(TARGETED), *one()[:2], draw.randint(0, 40))]
                ops += [("text", draw.choice(junk))] if junk else []
    return ops


# -- the same body seen from outside ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """The world of a body as shapely sees it."""

    scene: HomeScene
    wire: dict[str, Any]

    @property
    def at(self) -> Point:
        return Point(self.wire["at"])

    def solids(self) -> dict[str, tuple[Any, Any]]:
        """Everything a body has to stay out of: its own shape, and the shape its centre has to stay out of."""
        radius = self.scene.agent.radius_m
        found: dict[str, tuple[Any, Any]] = {}
        for at, wall in enumerate(self.scene.walls):
            line = LineString(wall)
            found[f"wall {at}"] = (line, line.buffer(radius, cap_style="square"))
        for thing in self.scene.objects:
            place = self.wire["places"][thing.name]
            closed = thing.door and (not self.wire["open"][thing.name] or thing.name in self.wire["blocked"])
            if "at" in place and (closed or (not thing.door and "take" not in thing.affords)):
                shape = body_box(place["at"], thing.extent)
                found[thing.name] = (shape, shape.buffer(radius, join_style="mitre"))
        return found


def depth(hull: Any, at: Point) -> float:
    return float(hull.exterior.distance(at)) if hull.contains(at) else 0.0


def check_pose(before: Seen, now: Seen) -> None:
    low_x, low_y, high_x, high_y = now.scene.bounds
    assert box(low_x - NEAR, low_y - NEAR, high_x + NEAR, high_y + NEAR).contains(now.at), "outside the bounds"
    if before.wire["at"] == now.wire["at"] and before.wire["places"] == now.wire["places"]:
        return
    gone = LineString([before.at, now.at]) if before.at != now.at else now.at
    earlier = before.solids()
    for name, (shape, hull) in now.solids().items():
        was_in = depth(earlier[name][1], before.at) if name in earlier else 0.0
        inside = name in earlier and earlier[name][0].distance(before.at) < NEAR
        if inside:
            continue
        assert depth(hull, now.at) <= was_in + NEAR, f"into {name} at {now.at}"
        assert not gone.crosses(shape), f"through {name} at {now.at}"


def check_things(before: Seen, now: Seen) -> None:
    places = now.wire["places"]
    assert set(places) == {thing.name for thing in now.scene.objects}
    for name, place in places.items():
        assert sum(key in place for key in ("at", "on", "in", "hands")) == 1, f"{name} is not in one place"
        under, steps = place, 0
        while "on" in under or "in" in under:
            under, steps = places[under.get("on") or under.get("in")], steps + 1
            assert steps <= len(places), f"{name} lies on itself"
    held = [hand for place in places.values() for hand in place.get("hands", ())]
    assert len(held) == len(set(held)), "one hand holds two things"
    for thing in now.scene.objects:
        hands = places[thing.name].get("hands")
        assert hands is None or len(hands) == (2 if thing.two_hands else 1)
        if not {"take", "push"} & set(thing.affords):
            assert places[thing.name] == before.wire["places"][thing.name], f"{thing.name} was moved"
        elif places[thing.name] != before.wire["places"][thing.name] and "at" in places[thing.name]:
            check_pushed(thing.name, before, now)


def check_pushed(name: str, before: Seen, now: Seen) -> None:
    """A thing that is pushed goes into nothing that it was not in before."""
    size = now.scene.thing(name).extent
    was, moved = (body_box(seen.wire["places"][name]["at"], size) for seen in (before, now))
    swept = was.union(moved).convex_hull
    for other, (shape, _) in now.solids().items():
        if other != name:
            over = shape.intersection(was)
            assert not swept.intersects(shape) or swept.intersection(shape).area <= over.area + NEAR, f"into {other}"
            assert not shape.crosses(moved) or shape.crosses(was), f"{name} through {other}"


def check_resources(body: HomeBody) -> None:
    for one, other in combinations(body.going.actions, 2):
        assert not set(one.holds) & set(other.holds), f"{one.text} and {other.text} hold the same"
    for tracked in body.going.actions:
        assert tracked.stage != "failed" or not tracked.holds


def pictured(body: HomeBody) -> str:
    """All that can be seen of a body, as text."""
    return json.dumps([body.tick, body.wire(), body.frame(), body.state_text(), body.next_instant()])


# -- telling a story -------------------------------------------------------------------------------------------------


def told(session: Session, what: tuple[Any, ...]) -> tuple[Session, str]:
    """One thing said or done, and what came of it as text."""
    body = session.body
    assert isinstance(body, HomeBody)
    if what[0] == "fault":
        return disturbed(session, body, what)
    text = words(body, what)
    after, step = commanded(session, text)
    if step.refused:
        assert pictured(after.body) == pictured(body)  # type: ignore[arg-type]
        assert step.changes == ()
    return after, json.dumps(step.wire() | {"changes": [[c.tick, c.text, c.stage, c.why] for c in step.changes]})


def words(body: HomeBody, what: tuple[Any, ...]) -> str:
    names = list(body.world.places)
    match what:
        case ("start", text, a, b):
            return f'start("{text.format(a=names[a % len(names)], b=names[b % len(names)])}")'
        case ("fitting", verb, a, b):
            return f"start({fitting_words(body, verb, a, b)})"
        case ("free",):
            return f"stop({next((tracked.text for tracked in body.going.actions if 'base' in tracked.holds), 'none')})"
        case ("half", text, a, b, cut):
            return f'start("{text.format(a=names[a % len(names)], b=names[b % len(names)])}")'[:cut]
        case ("skip", seconds):
            return f"skip({seconds})"
        case ("stop", a):
            texts = [action.text for action in body.actions] or ["nothing"]
            return f"stop({texts[a % len(texts)]})"
    return str(what[1])


def fitting_words(body: HomeBody, verb: str, a: int, b: int) -> str:
    """An action that has some prospect: it is about a thing that is made for it."""
    names = list(body.world.places)
    if verb == "place":
        held = [name for name, place in body.world.places.items() if place.hands] or names
        hosts = [name for name in names if name not in held and not body.world.thing(name).door]
        return f"placing {held[a % len(held)]} {'on' if b % 3 else 'in'} {(hosts or names)[b % len(hosts or names)]}"
    made = [thing.name for thing in body.world.scene.objects if verb in thing.affords] or names
    return f"{verb} {made[a % len(made)]}"


def disturbed(session: Session, body: HomeBody, what: tuple[Any, ...]) -> tuple[Session, str]:
    names = list(body.world.places)
    _, kind, a, b = what
    about = "door1" if kind in ("block", "unblock", "shut") else names[a % len(names)]
    after = body.disturbed({"fault": kind, "about": about} | ({"to": names[b % len(names)]} if kind == "move" else {}))
    if isinstance(after, Refused):
        return session, after.reasons[0].says
    assert after.wire()["at"] == body.wire()["at"]
    return Session(after, watched=True), pictured(after)


def check_story(seed: int, length: int, junk: list[str]) -> None:
    draw = random.Random(seed)
    scene = any_home(draw)
    ops = any_story(draw, junk)[:length]
    session = Session(home_body(scene), watched=True)
    tale = []
    for what in ops:
        before = session.body
        assert isinstance(before, HomeBody)
        session, came = told(session, what)
        tale.append(came)
        body = session.body
        assert isinstance(body, HomeBody)
        if what[0] == "stop":
            check_things(Seen(scene, before.wire()), Seen(scene, body.wire()))
        check_resources(body)
        if body.tick > before.tick:
            check_tick_by_tick(before, body)
        elif what[0] in ("stop", "free") and body is not before:
            check_stands(before, body)
        again = home_body(scene, world=json.loads(json.dumps(body.wire())))
        assert again.wire() == body.wire()
    retold = Session(home_body(read_home(scene.wire())), watched=True)
    for what, came in zip(ops, tale, strict=True):
        retold, once_more = told(retold, what)
        assert once_more == came


def check_tick_by_tick(before: HomeBody, after: HomeBody) -> None:
    """The same time in small pieces: nothing is walked through on the way, and the end is the same."""
    body = before
    for tick in range(before.tick + 1, after.tick + 1):
        earlier = Seen(body.world.scene, body.wire())
        body, _ = body.passed(tick)
        seen = Seen(body.world.scene, body.wire())
        check_pose(earlier, seen)
        check_things(earlier, seen)
        check_resources(body)
    assert pictured(body) == pictured(after)
    assert body.going == after.going


def check_stands(before: HomeBody, after: HomeBody) -> None:
    """What was stopped does not move any more, from this tick on."""
    assert (after.world.at, after.world.facing) == (before.world.at, before.world.facing)
    stopped = next(tracked for tracked in before.going.actions if tracked not in after.going.actions)
    if "base" in stopped.holds:
        later, _ = after.passed(after.tick + 40)
        assert (later.world.at, later.world.facing) == (before.world.at, before.world.facing)
        assert later.wire()["places"] == after.wire()["places"]


told_of = given(st.integers(0, 2**32), st.integers(1, 40), st.lists(st.text(max_size=40), max_size=5))


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@told_of
def test_no_command_and_no_fault_breaks_the_world(seed: int, length: int, junk: list[str]) -> None:
    check_story(seed, length, junk)


@pytest.mark.soak
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@told_of
def test_no_command_and_no_fault_breaks_the_world_in_the_long_run(seed: int, length: int, junk: list[str]) -> None:
    check_story(seed, length, junk)
