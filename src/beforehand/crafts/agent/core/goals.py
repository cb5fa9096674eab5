"""What a session is to achieve, read from its goal, and whether it has been: judged from the world, not from `end()`.

A goal is one or more plain wishes: bring a thing somewhere, hold it, be somewhere, sit, open, or do something for a
while. A goal that cannot be read is not judged; nothing is guessed.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from beforehand.crafts.agent.core.action_text import Action, read_action
from beforehand.crafts.agent.core.names import Names, NotRead
from beforehand.crafts.agent.core.stages import Going
from beforehand.crafts.agent.core.verbs import VERBS, Verbs
from beforehand.crafts.agent.core.words import HomeScene, Point, Relation
from beforehand.crafts.agent.core.world import World
from beforehand.model.reason import Problem
from beforehand.ports.body import Change

WishKind = Literal["lies", "in_room", "held", "at", "did", "open", "closed"]
LONGEST_TEXT = 2_000
_BRING = re.compile(
    r"^(?:bring|carry|put|place|move|get|set|deliver|return|take)\s+(.+?)\s+(?:back\s+)?"
    r"(onto|on top of|on|into|inside|in|to)\s+(.+)$"
)
_HOLD = re.compile(r"^(?:hold|take|fetch|grab|pick up|get|bring me|bring)\s+(.+?)(?:\s+(?:from|off|out of)\s+.+)?$")
_POLITE = re.compile(r"^(?:please|now|then|finally|first|can you|could you|i want you to|you should)\s+")
_FROM = re.compile(r"\s+(?:from|off|out of)\s+.+$")
_IT = re.compile(r"\bit\b")
_SPLIT = re.compile(r"\s*(?:\.(?=\s|$)|;|,?\s+and then\s+|,?\s+then\s+|,\s*and\s+|,|\s+and\s+)\s*")
_NO_NAME = re.compile(
    r"\b(?:or|if|and|not|no|nor|never|n?either|unless|without|when|until|before|after|while|but|except|then|else|it"
    r"|them|him|her|everything|anything|something|all|any|every|me|you|in|on|to|from|of|with)\b"
)
LONGEST_NAME = 3
"""Words: what is longer is a sentence that was not understood, not the name of a thing."""
BESIDE_M = 0.6


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that is to be so."""

    kind: WishKind
    thing: str = ""
    other: str = ""
    relation: Relation = "on"
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    text: str
    wishes: tuple[Wish, ...] = ()
    """None where the text cannot be read: it is for whoever steers, and not judged."""


@dataclass(frozen=True, slots=True)
class Record:
    """What was achieved on the way, for goals about doing something."""

    did: frozenset[tuple[str, str]] = frozenset()
    """A verb's name and what it was about, for every action that got to acting or done."""

    def with_changes(self, changes: Iterable[Change], going: Going) -> "Record":
        reached = {change.text for change in changes if change.stage in ("acting", "done")}
        new = {
            _key(tracked.action)
            for tracked in going.actions
            if tracked.text in reached and _counts(tracked.stage, tracked.action)
        }
        return replace(self, did=self.did | new) if new else self


def _counts(stage: str, action: Action) -> bool:
    """Done, or acting where it never gets done."""
    return stage == "done" or (stage == "acting" and not action.verb.can_complete)


def _key(action: Action) -> tuple[str, str]:
    return (action.verb.name, action.thing or action.room or (str(action.point) if action.point else ""))


def wish_parts(text: str, scene: HomeScene, verbs: Verbs = VERBS) -> list[tuple[str, Wish | None]]:
    """The wishes in a text, one after another, each with its own words; None where those cannot be read.

    What `it` stands for is put in its place: the thing that was named last.
    """
    if len(text) > LONGEST_TEXT:
        return [(text[:LONGEST_TEXT], None)]
    parts: list[tuple[str, Wish | None]] = []
    named = ""
    pieces = _pieces(text.strip().rstrip(".!").lower())
    while pieces:
        readings = [_IT.sub(named.lower(), part) if named else part for part in pieces[0]]
        wishes = [_wish(words, scene, verbs) for words in readings]
        taken = next((at for at, wish in enumerate(wishes) if wish is not None), 0)
        words, wish = readings[taken], wishes[taken]
        named = wish.thing if wish is not None and wish.thing else named
        parts.append((words, wish))
        pieces = pieces[taken + 1 :]
    return parts


def _pieces(text: str) -> list[list[str]]:
    """What stands between commas and the like, each alone and with the one after it: `and` may be part of a name."""
    gaps = [(0, 0), *(found.span() for found in _SPLIT.finditer(text)), (len(text), len(text))]
    spans = [(begin, end) for (_, begin), (end, _) in pairwise(gaps) if begin < end]
    return [[text[begin:end] for _, end in spans[at : at + 2]] for at, (begin, _) in enumerate(spans)]


def read_goal(text: str, scene: HomeScene, verbs: Verbs = VERBS) -> Goal:
    """The goal with its wishes; without any where one of its parts cannot be read."""
    parts = wish_parts(text, scene, verbs)
    wishes = [wish for _, wish in parts if wish is not None]
    return Goal(text, tuple(_in_order(wishes))) if len(wishes) == len(parts) else Goal(text)


def unread_names(part: str, scene: HomeScene, verbs: Verbs = VERBS) -> tuple[Problem, ...]:
    """The names in a part that the scene does not have or has several of; none where more than that is wrong."""
    part = _plain(part)
    if found := _BRING.match(part):
        names, thing, where = Names(scene), _FROM.sub("", found[1]), found[3]
        problems = names.problems(thing)
        problems += () if names.room(where) else names.problems(where, or_room=True)
    else:
        found = _HOLD.match(part)
        problems = _problems(f"taking {found[1]}" if found else part, scene, verbs)
    return problems if all(map(_is_about_a_name, problems)) else ()


def _is_about_a_name(problem: Problem) -> bool:
    """Whether a name is wrong, and not the sentence: names have few words, and none that joins or denies."""
    is_name = 0 < len(problem.about.split()) <= LONGEST_NAME and not _NO_NAME.search(problem.about)
    return problem.code == "action.ambiguous" or (problem.code == "action.unknown_object" and is_name)


def _in_order(wishes: list[Wish]) -> Iterable[Wish]:
    """What a later wish undoes is asked for on the way only: `open the fridge, then close it`."""
    for number, wish in enumerate(wishes):
        undone = any(_undoes(later, wish) for later in wishes[number + 1 :])
        yield replace(wish, kind="did") if undone and wish.action is not None else wish


def _undoes(later: Wish, wish: Wish) -> bool:
    if wish.kind == "at":
        return later.kind != "did" or later.action is None or "base" in later.action.verb.needs
    kinds = ("open", "closed") if wish.kind in ("open", "closed") else ("lies", "in_room", "held")
    return wish.kind != "did" and later.kind in kinds and later.thing == wish.thing


def _plain(part: str) -> str:
    """A part without the words of courtesy and order before it."""
    while found := _POLITE.match(part):
        part = part[found.end() :]
    return part


def _wish(part: str, scene: HomeScene, verbs: Verbs) -> Wish | None:
    part = _plain(part)
    if found := _BRING.match(part):
        return _brought(_FROM.sub("", found[1]), found[2], found[3], scene, verbs)
    if found := _HOLD.match(part):
        action = _read(f"taking {found[1]}", scene, verbs)
        if action is not None:
            return Wish("held", str(action.thing), action=action)
    action = _read(part, scene, verbs)
    return None if action is None else _wish_of(action)


def _brought(thing: str, link: str, where: str, scene: HomeScene, verbs: Verbs) -> Wish | None:
    """A thing that is to lie on or in another, or in a room."""
    names = Names(scene)
    room = names.room(where)
    if room is not None and not names.problems(thing):
        return Wish("in_room", names.one(thing), room)
    action = _read(f"placing {thing} {'on' if link == 'to' else link} {where}", scene, verbs)
    return None if action is None else Wish("lies", str(action.thing), str(action.other), action.relation, action)


def _read(text: str, scene: HomeScene, verbs: Verbs) -> Action | None:
    try:
        return read_action(text, scene, verbs)
    except NotRead:
        return None


def _problems(text: str, scene: HomeScene, verbs: Verbs) -> tuple[Problem, ...]:
    try:
        read_action(text, scene, verbs)
    except NotRead as unread:
        return unread.problems
    return ()


def _wish_of(action: Action) -> Wish:
    if action.verb.effect in ("open", "close"):
        return Wish("open" if action.verb.effect == "open" else "closed", str(action.thing), action=action)
    if action.verb.aim == "spot" and (action.thing or action.room or action.point):
        return Wish("at", action.thing or "", action=action)
    return Wish("did", action.thing or "", action=action)


def judged(goal: Goal | None, going: Going, record: Record) -> bool | None:
    """Whether everything the goal asks for is so; None where nobody can tell."""
    if goal is None or not goal.wishes:
        return None
    return all(_holds(wish, going, record) for wish in goal.wishes)


def _holds(wish: Wish, going: Going, record: Record) -> bool:
    world = going.world
    if wish.kind == "lies":
        place = world.places[wish.thing]
        return place.support == wish.other and (place.relation == wish.relation or wish.relation == "on")
    if wish.kind == "in_room":
        here = world.position(wish.thing)
        return not world.places[world.on_floor(wish.thing)].hands and _is_in(wish.other, here, world)
    if wish.kind == "held":
        return bool(world.places[wish.thing].hands)
    if wish.kind in ("open", "closed"):
        return world.open.get(wish.thing) is (wish.kind == "open")
    assert wish.action is not None
    if wish.kind == "at":
        return _is_at(wish.action, world)
    return _key(wish.action) in record.did


def _is_at(action: Action, world: World) -> bool:
    if action.point is not None:
        return math.dist(world.at, action.point) <= 0.5
    if action.room is not None:
        return _is_in(action.room, world.at, world)
    away = world.solid(world.on_floor(str(action.thing))).distance(world.at)
    return abs(away - action.distance_m) <= 0.5 if action.distance_m is not None else away <= BESIDE_M


def _is_in(name: str, point: Point, world: World) -> bool:
    left, low, right, high = next(room.bounds for room in world.scene.rooms if room.name == name)
    return left <= point[0] <= right and low <= point[1] <= high
