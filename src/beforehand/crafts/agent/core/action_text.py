"""An action in words: `sitting on bed1`, `standing on the right of table1 three meters away`, `dancing happily`.

The first word is the verb; what it is about is a thing, a room, the origin or a point of the scene. Every word has to
be accounted for: what cannot be read is refused with the nearest it could be.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from beforehand.crafts.agent.core.verbs import Verb, Verbs
from beforehand.crafts.agent.core.words import ORIGIN, HomeScene, Point, Relation, folded
from beforehand.model.reason import Problem, unknown

Side = Literal["right", "left", "front", "behind"]
SHORTEST_M, LONGEST_M = 0.0, 1_000.0

_COUNTED = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
NUMBERS = {word: float(number) for number, word in enumerate(_COUNTED)} | {
    "a": 1.0,
    "an": 1.0,
    "half a": 0.5,
    "half": 0.5,
    "one and a half": 1.5,
    "two and a half": 2.5,
    "a couple of": 2.0,
}
_NUMBER = "|".join(sorted(map(re.escape, NUMBERS), key=len, reverse=True)) + r"|\d+(?:[.,]\d+)?"
_DISTANCE = re.compile(
    rf"[\s,]*(?:at a distance of |from a distance of )?\b({_NUMBER})\s*(m|meters?|metres?|cm|centimeters?|centimetres?)"
    r"(?:\s+away)?(?:\s+from\s+it)?$"
)
_ARTICLES = re.compile(r"\b(?:the|a|an|my|your|its)\b\s*")
_MANNER = re.compile(
    r"\b(?:on the spot|in place|in circles|up and down|around|for joy|hands|hand|goodbye|hello|still|up|down|head"
    r"|with joy|with both hands|arms|over|there|here)\b"
)
_BEFORE: tuple[tuple[re.Pattern[str], Side | None], ...] = (
    (re.compile(r"^(?:(?:on|to|at) )?(right|left)(?: hand)?(?: side)? of (.+)$"), None),
    (re.compile(r"^in (front) of (.+)$"), "front"),
    (re.compile(r"^(behind|in back of) (.+)$"), "behind"),
)
_AFTER: tuple[tuple[re.Pattern[str], Side | None], ...] = (
    (re.compile(r"^(.+?),? (?:on|to|at|from) (right|left)(?: hand)?(?: side)?(?: of it)?$"), None),
    (re.compile(r"^(.+?),? (?:in (front) of it|from (front))$"), "front"),
    (re.compile(r"^(.+?),? (?:(behind) it|from (behind))$"), "behind"),
)
_NEAR = re.compile(r"^(?:next to|beside|near to|near|close to|by|at) (.+)$")
_POINT = re.compile(r"^\(?\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*\)?$")
_TAKEN = re.compile(r"^(.+?) (?:from|off|out of|from on|on|in) (?:top of )?(.+)$")
_PLACED = re.compile(r"^(.+?)(?: down)? (on top of|onto|on|into|inside|in|to) (.+)$")


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


class NotRead(Exception):  # noqa: N818 - a refusal on its way, not an error
    """The text is no action; `problems` says why, everything that applies."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(problem.says for problem in self.problems))


def read_action(text: str, scene: HomeScene, verbs: Verbs) -> Action:
    """The action a text means in a scene; NotRead where it means none, or more than one."""
    words = text.strip().rstrip(".!").split()
    if not words:
        raise NotRead([_problem("action.empty", "", "There is no action: say what to do, such as dancing.")])
    verb = verbs.by_form.get(words[0].lower())
    if verb is None:
        raise NotRead([_unknown_verb(words[0], verbs)])
    rest = " ".join(words[1:])
    if verb.free_text:
        return Action(verb, manner=rest)
    _refuse_two(rest, verbs)
    return _Reader(scene, verb, text).read(rest.lower())


def _refuse_two(rest: str, verbs: Verbs) -> None:
    found = re.search(r"\b(?:and|then|while)\s+(?:then\s+)?(\w+)", rest.lower())
    if found and found[1] in verbs.by_form:
        says = f"An action has one verb; start {verbs.by_form[found[1]].forms[0]} as an action of its own."
        raise NotRead([_problem("action.two_verbs", found[1], says)])


def _unknown_verb(word: str, verbs: Verbs) -> Problem:
    near = get_close_matches(word.lower(), list(verbs.by_form), n=3, cutoff=0.6)
    nearest = tuple(dict.fromkeys(verbs.by_form[form].forms[0] for form in near))
    offer = f"Nearest: {', '.join(nearest)}." if nearest else f"Known verbs: {', '.join(verbs.shown)}."
    return _problem("action.unknown_verb", word[:60], f"{word[:60]!r} is no verb of this body. {offer}", nearest)


def _problem(code: str, about: str, says: str, nearest: tuple[str, ...] = ()) -> Problem:
    return Problem(code=code, about=about, says=says, nearest=nearest)


@dataclass(slots=True)
class _Reader:
    scene: HomeScene
    verb: Verb
    text: str

    def read(self, rest: str) -> Action:
        if self.verb.take or self.verb.place:
            return self._handling(_ARTICLES.sub("", rest).strip())
        rest, distance = _distance(rest)
        rest = _ARTICLES.sub("", rest).strip()
        if self.verb.aim == "none" or (self.verb.aim == "maybe" and not self._names_thing(rest)):
            return Action(self.verb, manner=self._manner(rest))
        if not rest or (self.verb.aim == "spot" and rest in ("still", "up", "here", "upright")):
            return self._without_target(rest)
        target, side = self._side(self._without_adverbs(rest))
        return self._aimed(target, side, distance)

    # -- at something ----------------------------------------------------------------------------------------------

    def _without_target(self, rest: str) -> Action:
        if self.verb.name == "stand":
            return Action(self.verb, manner=rest)
        kind = "place" if self.verb.aim == "spot" else "object"
        names = ", ".join(thing.name for thing in self.scene.objects[:3]) or "none"
        says = f"{self.verb.forms[0].capitalize()} needs a target: name an {kind} such as {names}."
        raise NotRead([_problem("action.no_target", self.verb.name, says)])

    def _side(self, rest: str) -> tuple[str, Side | None]:
        for pattern, side in _BEFORE:
            if found := pattern.match(rest):
                return found[found.lastindex or 1], side or _left_or_right(found[1])
        for pattern, side in _AFTER:
            if found := pattern.match(rest):
                return self._linked(found[1]), side or _left_or_right(found[2])
        if self.verb.aim == "spot" and (found := _NEAR.match(rest)):
            return found[1], None
        return self._linked(rest), None

    def _linked(self, rest: str) -> str:
        """The target without the word before it, such as `on`; verbs that need such a word want it."""
        for link in sorted(self.verb.links, key=len, reverse=True):
            if rest.startswith(f"{link} "):
                return rest[len(link) + 1 :].strip()
        return rest

    def _aimed(self, target: str, side: Side | None, distance: float | None) -> Action:
        if self.verb.aim == "spot" or self.verb.name == "look":
            if found := _POINT.match(target):
                return Action(self.verb, point=(float(found[1]), float(found[2])))
            if folded(target) == "origin":
                return Action(self.verb, point=ORIGIN)
            rooms = {folded(room.name): room.name for room in self.scene.rooms}
            if folded(target) in rooms and side is None:
                return Action(self.verb, room=rooms[folded(target)])
        if distance is not None and self.verb.aim != "spot":
            says = f"{self.verb.forms[0].capitalize()} happens at the thing itself, not {distance:g} m away."
            raise NotRead([_problem("action.distance", target, says)])
        return Action(self.verb, self._thing(target), side=side, distance_m=distance)

    def _handling(self, rest: str) -> Action:
        """Taking a thing from another, placing it on or in another."""
        for particle in ("up ", "down "):
            rest = rest.removeprefix(particle)
        if not rest:
            return self._without_target(rest)
        if self.verb.place:
            if not (found := _PLACED.match(rest)):
                says = f"{self.verb.forms[0].capitalize()} needs a place: placing cup1 on table1."
                raise NotRead([_problem("action.no_target", rest, says), *self._unknown_of(rest)])
            relation: Relation = "in" if found[2] in ("in", "into", "inside") else "on"
            thing, other = self._things(found[1], found[3])
            return Action(self.verb, thing, other, relation)
        whole = folded(rest) in {folded(thing.name) for thing in self.scene.objects}
        if not whole and (found := _TAKEN.match(rest)):
            thing, other = self._things(found[1], found[2])
            return Action(self.verb, thing, other)
        return Action(self.verb, self._thing(rest))

    def _unknown_of(self, name: str) -> tuple[Problem, ...]:
        try:
            self._thing(name)
        except NotRead as refused:
            return refused.problems
        return ()

    def _things(self, *names: str) -> tuple[str, ...]:
        """Every name resolved, or every problem there is."""
        problems = [problem for name in names for problem in self._unknown_of(name)]
        if problems:
            raise NotRead(problems)
        return tuple(self._thing(name) for name in names)

    def _thing(self, name: str) -> str:
        """The thing a name means: as it is called, or its kind where the scene has one of that kind only."""
        wanted = folded(name)
        exact = [thing.name for thing in self.scene.objects if folded(thing.name) == wanted]
        if exact:
            return exact[0]
        kind = [thing.name for thing in self.scene.objects if folded(thing.name).rstrip("0123456789") == wanted]
        if len(kind) == 1 and wanted:
            return kind[0]
        if len(kind) > 1:
            says = f"{name} is not one thing here: {', '.join(kind)}. Say which."
            raise NotRead([_problem("action.ambiguous", name, says, tuple(kind))])
        told = unknown("object", name, [thing.name for thing in self.scene.objects])
        raise NotRead([_problem("action.unknown_object", name[:80], told.says, told.nearest)])

    # -- on the spot -----------------------------------------------------------------------------------------------

    def _names_thing(self, rest: str) -> bool:
        """Whether words after a verb that needs no target name one all the same: `waving at door1`."""
        return any(rest.startswith(f"{link} ") for link in self.verb.links)

    def _without_adverbs(self, rest: str) -> str:
        names = {thing.name.lower() for thing in self.scene.objects}
        return " ".join(word for word in rest.split() if not (word.endswith("ly") and word not in names))

    def _manner(self, rest: str) -> str:
        left = _MANNER.sub("", rest)
        strange = [word for word in left.replace(",", " ").split() if not word.endswith("ly")]
        if strange:
            says = (
                f"{self.verb.forms[0].capitalize()} happens on the spot; {' '.join(strange)[:60]!r} cannot be read. "
                f"Nearest: {self.verb.forms[0]}."
            )
            raise NotRead([_problem("action.unreadable", self.text[:60], says, (self.verb.forms[0],))])
        return rest


def _left_or_right(word: str) -> Side:
    return "right" if word == "right" else "left"


def _distance(rest: str) -> tuple[str, float | None]:
    found = _DISTANCE.search(rest)
    if not found:
        return rest, None
    number = NUMBERS.get(found[1])
    metres = float(found[1].replace(",", ".")) if number is None else number
    return rest[: found.start()].strip(), metres / 100 if found[2].startswith("c") else metres
