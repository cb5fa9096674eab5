"""An action in words: `sitting on bed1`, `standing on the right of table1 three meters away`, `dancing happily`.

The first word is the verb; what it is about is a thing, a room, the origin or a point of the scene. Every word has to
be accounted for: what cannot be read is refused with the nearest it could be.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from beforehand.crafts.agent.core.distances import measured
from beforehand.crafts.agent.core.names import Names, NotRead, problem, without_articles
from beforehand.crafts.agent.core.verbs import Verb, Verbs
from beforehand.crafts.agent.core.words import ORIGIN, HomeScene, Point, Relation, folded
from beforehand.model.reason import Problem

Side = Literal["right", "left", "front", "behind"]
LONGEST_TEXT = 2_000
FURTHEST_M = 10_000.0
_MANNER = re.compile(
    r"\b(?:on the spot|in place|in circles|up and down|around|for joy|hands|hand|goodbye|hello|still|up|down|head"
    r"|with joy|with both hands|arms|over|there|here)\b"
)
_BEFORE: tuple[tuple[re.Pattern[str], Side | None], ...] = (
    (re.compile(r"^(?:(?:on|to|at) )?(right|left)(?: hand)?(?: side)? of (.+)$"), None),
    (re.compile(r"^(?:to )?in (front) of (.+)$"), "front"),
    (re.compile(r"^(?:to )?(behind|in back of) (.+)$"), "behind"),
)
_AFTER: tuple[tuple[re.Pattern[str], Side | None], ...] = (
    (re.compile(r"^(.+?),? (?:on|to|at|from) (right|left)(?: hand)?(?: side)?(?: of it)?$"), None),
    (re.compile(r"^(.+?),? (?:in (front) of it|from (front))$"), "front"),
    (re.compile(r"^(.+?),? (?:(behind) it|from (behind))$"), "behind"),
)
_NEAR = re.compile(r"^(?:next to|beside|near to|near|close to|by|at) (.+)$")
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_POINT = re.compile(rf"^(?:\(\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\)|{_NUMBER}\s*,\s*{_NUMBER})$")
_NOWHERE = {"still", "up", "down", "here", "there", "around", "upright", "away"}
_TWO = re.compile(r"\b(?:and|then|while)\s+(?:then\s+)?(\w+)")
_TAKEN = tuple(
    tuple(link.split())
    for link in ("from on top of", "from inside", "from on", "from", "off of", "off", "out of", "on", "in", "inside")
)
_PLACED: dict[tuple[str, ...], Relation] = {
    ("onto",): "on",
    ("on",): "on",
    ("upon",): "on",
    ("to",): "on",
    ("into",): "in",
    ("inside",): "in",
    ("in",): "in",
}


@dataclass(frozen=True, slots=True)
class Action:
    """An action that was read: what to do, with what, and where."""

    verb: Verb
    thing: str | None = None
    other: str | None = None
    """Where something is taken from or placed."""
    relation: Relation = "on"
    room: str | None = None
    point: Point | None = None
    side: Side | None = None
    distance_m: float | None = None
    manner: str = ""

    @property
    def where(self) -> str | None:
        """The thing at which it happens: where something is placed, else what it is about."""
        return self.other if self.verb.place and self.other else self.thing


class PartlyRead(NotRead):
    """The text is no action, and part of one: `action` has the verb, and the things that could be read."""

    def __init__(self, problems: Iterable[Problem], action: Action) -> None:
        super().__init__(problems)
        self.action = action


def read_action(text: str, scene: HomeScene, verbs: Verbs) -> Action:
    """The action a text means in a scene; NotRead where it means none, or more than one."""
    words = text[: LONGEST_TEXT + 1].strip().rstrip(".!").split()
    if not words:
        raise NotRead([problem("action.empty", "", "There is no action: say what to do, such as dancing.")])
    if len(text) > LONGEST_TEXT:
        says = f"An action has {LONGEST_TEXT} letters at most."
        raise NotRead([problem("action.too_long", text, says)])
    if any(unicodedata.category(letter) == "Cc" for word in words for letter in word):
        raise NotRead([problem("action.unreadable", "", "It contains control characters, which cannot be read.")])
    verb = verbs.by_form.get(words[0].lower())
    if verb is None:
        raise NotRead([_unknown_verb(words[0], verbs)])
    rest = " ".join(words[1:])
    try:
        if verb.free_text:
            return Action(verb, manner=_said(rest, verbs))
        return _Reader(Names(scene), verb, text).read(rest.lower())
    except NotRead as unread:
        part = unread.action if isinstance(unread, PartlyRead) else Action(verb)
        raise PartlyRead(_two_verbs(rest, verbs, spoken=verb.free_text) or unread.problems, part) from None


def _said(rest: str, verbs: Verbs) -> str:
    """What is said or sung; quotes keep it from being read as a second action."""
    two = [] if rest[:1] in "\"'“‘„«" and rest else _two_verbs(rest, verbs, spoken=True)
    if two:
        raise NotRead(two)
    return rest


def _two_verbs(rest: str, verbs: Verbs, *, spoken: bool = False) -> list[Problem]:
    """A second verb after `and`, `then` or `while`; in what is spoken only where it ends with -ing."""
    for found in _TWO.finditer(rest.lower()):
        verb = verbs.by_form.get(found[1])
        if verb is not None and (not spoken or found[1].endswith("ing")):
            says = f"An action has one verb; start {verb.forms[0]} as an action of its own."
            return [problem("action.two_verbs", found[1], says, (verb.forms[0],))]
    return []


def _unknown_verb(word: str, verbs: Verbs) -> Problem:
    near = get_close_matches(word[:40].lower(), list(verbs.by_form), n=3, cutoff=0.6)
    nearest = tuple(dict.fromkeys(verbs.by_form[form].forms[0] for form in near))
    offer = f"Nearest: {', '.join(nearest)}." if nearest else f"Known verbs: {', '.join(verbs.shown)}."
    return problem("action.unknown_verb", word, f"{word[:60]!r} is not a verb of this body. {offer}", nearest)


@dataclass(slots=True)
class _Reader:
    names: Names
    verb: Verb
    text: str

    def read(self, rest: str) -> Action:
        rest = rest.replace("on top of ", "on ")
        if self.verb.take or self.verb.place:
            return self._handling(without_articles(self._without_adverbs(rest)))
        if self.verb.aim == "none" or (self.verb.aim == "maybe" and not self._names_thing(rest)):
            return Action(self.verb, manner=self._manner(rest))
        found = measured(self._without_adverbs(rest))
        rest = without_articles(found.rest)
        if rest in _NOWHERE or not rest:
            return self._without_target(rest)
        target, side = self._side(rest)
        return self._aimed(target, side, found.distance_m)

    # -- at something ----------------------------------------------------------------------------------------------

    def _without_target(self, rest: str) -> Action:
        if self.verb.name == "stand":
            return Action(self.verb, manner=rest)
        kind = "a place" if self.verb.aim == "spot" else "an object"
        names = self.names.made_for(self.verb.affords)
        says = f"{self.verb.forms[0].capitalize()} needs a target: name {kind} such as {names}."
        raise NotRead([problem("action.no_target", self.verb.name, says)])

    def _side(self, rest: str) -> tuple[str, Side | None]:
        if self.names.is_exact(self._linked(rest)):
            return self._linked(rest), None
        for pattern, side in _BEFORE:
            if found := pattern.match(rest) or pattern.match(self._linked(rest)):
                return found[found.lastindex or 1], side or _left_or_right(found[1])
        for pattern, side in _AFTER:
            if found := pattern.match(rest):
                return self._linked(found[1]), side or _left_or_right(found[2])
        if self.verb.aim == "spot" and (found := _NEAR.match(rest)):
            return found[1], None
        return self._linked(rest), None

    def _linked(self, rest: str) -> str:
        """The target without the word before it, such as `on`."""
        for link in sorted(self.verb.links, key=len, reverse=True):
            if rest.startswith(f"{link} "):
                return rest[len(link) + 1 :].strip()
        return rest

    def _aimed(self, target: str, side: Side | None, distance: float | None) -> Action:
        spot = self._spot(target)
        if spot is not None and (side is not None or distance is not None):
            raise NotRead(
                [problem("action.no_sides", target, f"{target[:60]!r} is not a thing with sides to stand at.")]
            )
        if spot is not None:
            return spot
        problems = list(self.names.problems(target, or_room=self._goes_anywhere))
        shown = self.verb.forms[0].capitalize()
        if distance is not None and self.verb.aim != "spot":
            says = f"{shown} happens at the thing itself, not {distance:g} m away."
            problems.append(problem("action.distance", target, says))
        if side is not None and self.verb.name == "look":
            problems.append(problem("action.no_sides", target, f"{shown} goes to a thing, not to a side of it."))
        if problems:
            raise PartlyRead(problems, Action(self.verb, self._known(target)))
        return Action(self.verb, self.names.one(target), side=side, distance_m=distance)

    def _known(self, text: str) -> str | None:
        """The one thing that a text means, if it does."""
        return None if self.names.problems(text) else self.names.one(text)

    @property
    def _goes_anywhere(self) -> bool:
        return self.verb.aim == "spot" or self.verb.name == "look"

    def _spot(self, target: str) -> Action | None:
        """A point, the origin or a room, for verbs that go or look there."""
        if not self._goes_anywhere:
            return None
        if found := _POINT.match(target):
            x, y = (float(number) for number in found.groups() if number is not None)
            if max(abs(x), abs(y)) > FURTHEST_M:
                raise NotRead([problem("action.too_far", target, f"{target[:60]!r} is further than {FURTHEST_M:g} m.")])
            return Action(self.verb, point=(x, y))
        if folded(target) == "origin":
            return Action(self.verb, point=ORIGIN)
        room = self.names.room(target)
        return None if room is None else Action(self.verb, room=room)

    # -- with the hands --------------------------------------------------------------------------------------------

    def _handling(self, rest: str) -> Action:
        """Taking a thing from another, placing it on or in another."""
        words = rest.split()
        whole = self._handled(words)
        if not whole:
            return self._without_target(rest)
        if self.verb.take and self.names.is_exact(whole):
            return Action(self.verb, self.names.one(whole))
        splits = list(self._splits(words))
        read = {
            Action(self.verb, self.names.one(thing), self.names.one(other), relation)
            for thing, other, relation in splits
            if not self.names.problems(thing) and not self.names.problems(other)
        }
        if len(read) == 1:
            return read.pop()
        if read:
            raise NotRead([self._two_readings(read)])
        if self.verb.take and not self.names.problems(whole):
            return Action(self.verb, self.names.one(whole))
        raise self._unhandled(whole, splits)

    def _splits(self, words: list[str]) -> Iterator[tuple[str, str, Relation]]:
        """Every way to read the words as a thing, a word between, and another thing; quotes keep names together."""
        links = dict(_PLACED) if self.verb.place else dict.fromkeys(_TAKEN, "on")
        for at in range(1, len(words) - 1):
            for link, relation in links.items():
                after = at + len(link)
                quoted = " ".join(words[:at]).count('"') % 2
                if tuple(words[at:after]) == link and after < len(words) and not quoted:
                    yield self._handled(words[:at]), " ".join(words[after:]), "in" if relation == "in" else "on"

    def _handled(self, words: list[str]) -> str:
        """A thing without the particles of `picking it up` and `putting it down`."""
        if words and words[0] in ("up", "down"):
            words = words[1:]
        if len(words) > 1 and words[-1] in ("up", "down"):
            words = words[:-1]
        return " ".join(words)

    def _two_readings(self, read: set[Action]) -> Problem:
        shown = sorted(f'{self.verb.forms[0]} "{one.thing}" {one.relation} "{one.other}"' for one in read)
        says = f"This can be read in two ways: {', '.join(shown)}. Say which."
        return problem("action.ambiguous", self.text, says, tuple(shown))

    def _unhandled(self, whole: str, splits: list[tuple[str, str, Relation]]) -> PartlyRead:
        """What is wrong with the reading that comes nearest."""
        if not splits:
            says = f"{self.verb.forms[0].capitalize()} needs a place: name one such as {self.names.made_for('place')}."
            placeless = [problem("action.no_target", whole, says)] if self.verb.place else []
            return PartlyRead([*self.names.problems(whole), *placeless], Action(self.verb, self._known(whole)))
        told = [
            PartlyRead(
                [*self.names.problems(thing), *self.names.problems(other)],
                Action(self.verb, self._known(thing), self._known(other), relation),
            )
            for thing, other, relation in splits
        ]
        return min(told, key=lambda unread: len(unread.problems))

    # -- on the spot -----------------------------------------------------------------------------------------------

    def _names_thing(self, rest: str) -> bool:
        """Whether words after a verb that needs no target name one all the same: `waving at door1`."""
        return any(self._without_adverbs(rest).startswith(f"{link} ") for link in self.verb.links)

    def _without_adverbs(self, rest: str) -> str:
        return " ".join(word for word in rest.split() if word in self.names.words or not word.endswith("ly"))

    def _manner(self, rest: str) -> str:
        left = without_articles(_MANNER.sub("", rest))
        strange = [word for word in left.replace(",", " ").split() if not word.endswith("ly")]
        if strange:
            says = (
                f"{self.verb.forms[0].capitalize()} happens on the spot; {' '.join(strange)[:60]!r} cannot be read. "
                f"Nearest: {self.verb.forms[0]}."
            )
            raise NotRead([problem("action.unreadable", self.text, says, (self.verb.forms[0],))])
        return rest


def _left_or_right(word: str) -> Side:
    return "right" if word == "right" else "left"
