"""What a session is to achieve, read from its goal, and whether it has been: judged from the world, not from `end()`.

A goal is one or more plain wishes: bring a thing somewhere, hold it, be somewhere, sit, open, or do something for a
while. A goal that cannot be read is not judged; nothing is guessed.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from beforehand.crafts.agent.core.action_text import Action, NotRead, read_action
from beforehand.crafts.agent.core.stages import Going
from beforehand.crafts.agent.core.verbs import VERBS, Verbs
from beforehand.crafts.agent.core.words import HomeScene, Relation
from beforehand.crafts.agent.core.world import World
from beforehand.ports.body import Change

WishKind = Literal["lies", "held", "at", "did", "open", "closed"]
_BRING = re.compile(
    r"^(?:bring|carry|put|place|move|get|set|deliver|return|take)\s+(.+?)\s+(?:back\s+)?"
    r"(onto|on top of|on|into|inside|in|to)\s+(.+)$"
)
_HOLD = re.compile(r"^(?:hold|take|fetch|grab|pick up|get|bring me|bring)\s+(.+?)(?:\s+(?:from|off|out of)\s+.+)?$")
_POLITE = re.compile(r"^(?:please|now|then|finally|first|can you|could you|i want you to|you should)\s+")
_SPLIT = re.compile(r"\s*(?:[.;]|,?\s+and then\s+|,?\s+then\s+|,\s*and\s+|,|\s+and\s+)\s*")
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


def wish_texts(text: str) -> list[str]:
    """The wishes in a text, as they stand there, one after another."""
    return [part for part in _SPLIT.split(text.strip().rstrip(".!").lower()) if part]


def read_goal(text: str, scene: HomeScene, verbs: Verbs = VERBS) -> Goal:
    """The goal with its wishes; without any where one of its parts cannot be read."""
    parts = wish_texts(text)
    wishes = [_wish(part, scene, verbs) for part in parts]
    return Goal(text, tuple(wish for wish in wishes if wish)) if all(wishes) else Goal(text)


def _wish(part: str, scene: HomeScene, verbs: Verbs) -> Wish | None:
    while found := _POLITE.match(part):
        part = part[found.end() :]
    if found := _BRING.match(part):
        action = _read(f"placing {found[1]} {'on' if found[2] == 'to' else found[2]} {found[3]}", scene, verbs)
        if action is not None:
            return Wish("lies", str(action.thing), str(action.other), action.relation)
    if found := _HOLD.match(part):
        action = _read(f"taking {found[1]}", scene, verbs)
        if action is not None:
            return Wish("held", str(action.thing))
    action = _read(part, scene, verbs)
    return None if action is None else _wish_of(action)


def _read(text: str, scene: HomeScene, verbs: Verbs) -> Action | None:
    try:
        return read_action(text, scene, verbs)
    except NotRead:
        return None


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
        left, low, right, high = next(room.bounds for room in world.scene.rooms if room.name == action.room)
        return left <= world.at[0] <= right and low <= world.at[1] <= high
    away = world.solid(world.on_floor(str(action.thing))).distance(world.at)
    return abs(away - action.distance_m) <= 0.5 if action.distance_m is not None else away <= BESIDE_M
