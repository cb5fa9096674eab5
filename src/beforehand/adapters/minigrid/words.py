"""Actions in words over what lies in a grid: `walking to the red ball`, `placing the blue key next to the box`.

The first word is the verb. Every word has to be accounted for; what cannot be read is refused with what it could be.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from beforehand.adapters.minigrid.grid import KINDS, Cell
from beforehand.model.reason import Problem, unknown
from beforehand.ports.body import folded

VerbName = Literal["walk", "look", "turn", "take", "place", "open", "close", "wait"]
Turn = Literal["", "left", "right", "around"]
FORMS: dict[VerbName, tuple[str, ...]] = {
    "walk": ("walking", "walk", "going", "go", "moving", "move", "heading", "head", "running", "run"),
    "look": ("looking", "look", "facing", "face", "watching", "watch"),
    "turn": ("turning", "turn"),
    "take": ("taking", "take", "picking", "pick", "grabbing", "grab", "fetching", "fetch"),
    "place": ("placing", "place", "putting", "put", "setting", "set", "dropping", "drop"),
    "open": ("opening", "open", "unlocking", "unlock"),
    "close": ("closing", "close", "shutting", "shut"),
    "wait": ("waiting", "wait", "resting", "rest", "thinking", "think"),
}
BY_FORM: dict[str, VerbName] = {form: verb for verb, forms in FORMS.items() for form in forms}
NEEDS: dict[VerbName, tuple[str, ...]] = {
    "walk": ("base",),
    "look": ("base",),
    "turn": ("base",),
    "take": ("base", "right hand"),
    "place": ("base", "right hand"),
    "open": ("base",),
    "close": ("base",),
    "wait": (),
}
"""What each verb keeps from others; there is no neck, so that looking takes the whole body."""
_LINKS = re.compile(r"^(?:(?:over |up |next |close )?(?:to|towards|toward)|at|up|down|beside|near)\s+")
_ARTICLES = re.compile(r"\b(?:the|a|an|my|your|that|this)\b\s*")
_POINT = re.compile(r"^\(?\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)?$")
_TURN = re.compile(r"^(?:to )?(left|right|around|round)$")
_BESIDE = re.compile(r"^(.+?)(?: down)? (?:right )?(?:next to|beside|near to|near|close to|by) (.+)$")
_SOMEWHERE = re.compile(r"^(.+?)(?: down)? (?:at|on|to|in) (\(?\s*\d{1,3}\s*,\s*\d{1,3}\s*\)?)$")
_DOWN = re.compile(r"^(?:down )?(.+?)(?: down)?(?: here)?(?: on (?:floor|ground))?$")
_ON = re.compile(r"^(.+?) (?:on top of|onto|on|into|inside|in) (.+)$")


@dataclass(frozen=True, slots=True)
class Action:
    verb: VerbName
    thing: str | None = None
    other: str | None = None
    """What something is placed beside."""
    point: Cell | None = None
    turn: Turn = ""


class NotRead(Exception):  # noqa: N818 - a refusal on its way, not an error
    """The text is no action; `problems` says why, everything that applies."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__(" ".join(problem.says for problem in problems))


def read_action(text: str, names: Iterable[str]) -> Action:
    """The action a text means among the things of these names; NotRead where it means none, or more than one."""
    words = text.strip().rstrip(".!").lower().split()
    if not words:
        raise NotRead(_problem("action.empty", "", "There is no action: say what to do, such as turning left."))
    verb = BY_FORM.get(words[0])
    if verb is None:
        raise NotRead(_unknown_verb(words[0]))
    rest = _ARTICLES.sub("", " ".join(words[1:])).strip()
    return _read(verb, rest, tuple(names))


def _read(verb: VerbName, rest: str, names: tuple[str, ...]) -> Action:
    if verb == "wait":
        if rest not in ("", "here", "still"):
            raise NotRead(_problem("action.unreadable", rest[:60], "Waiting is for nothing: say just waiting."))
        return Action(verb)
    if verb == "turn":
        found = _TURN.match(rest)
        if not found:
            raise NotRead(_problem("action.no_target", "turn", "Turning is left, right or around."))
        turns: dict[str, Turn] = {"left": "left", "right": "right"}
        return Action(verb, turn=turns.get(found[1], "around"))
    if not rest:
        such = ", ".join(names[:3]) or "none here"
        raise NotRead(_problem("action.no_target", verb, f"{_shown(verb)} needs an object such as {such}."))
    if verb == "place":
        return _placing(rest, names)
    target = _LINKS.sub("", rest)
    if verb == "walk" and (found := _POINT.match(target)):
        return Action(verb, point=(int(found[1]), int(found[2])))
    return Action(verb, _thing(target, names))


def _placing(rest: str, names: tuple[str, ...]) -> Action:
    rest = rest.removeprefix("down ")
    if found := _SOMEWHERE.match(rest):
        point = _POINT.match(found[2])
        assert point is not None
        return Action("place", _thing(found[1], names), point=(int(point[1]), int(point[2])))
    if found := _BESIDE.match(rest):
        thing, other = _things(names, found[1], found[2])
        return Action("place", thing, other)
    down = _DOWN.match(rest)
    name = down[1] if down else rest
    if (found := _ON.match(name)) and folded(name) not in {folded(known) for known in names}:
        _things(names, found[1], found[2])
        says = f"Nothing lies on or in another thing here. Nearest: placing {found[1]} next to {found[2]}."
        raise NotRead(_problem("action.no_place", found[2], says))
    return Action("place", _thing(name, names))


def _things(names: tuple[str, ...], *wanted: str) -> tuple[str, ...]:
    """Every name resolved, or every problem there is."""
    found: list[str] = []
    problems: list[Problem] = []
    for name in wanted:
        try:
            found.append(_thing(name, names))
        except NotRead as refused:
            problems += refused.problems
    if problems:
        raise NotRead(*problems)
    return tuple(found)


def _thing(wanted: str, names: tuple[str, ...]) -> str:
    """The thing a name means: as it is called, or its kind where there is one of that kind only."""
    name = folded(wanted)
    exact = [known for known in names if folded(known) == name]
    if exact:
        return exact[0]
    alike = [known for known in names if _is_kind(known, name)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        says = f"{wanted} is not one thing here: {', '.join(alike)}. Say which."
        raise NotRead(_problem("action.ambiguous", wanted[:60], says, tuple(alike)))
    told = unknown("object", wanted, names)
    raise NotRead(_problem("action.unknown_object", wanted[:80], told.says, told.nearest))


def _is_kind(known: str, wanted: str) -> bool:
    """Whether a name is of a kind: `red ball 2` is a `red ball` and a `ball`."""
    color, kind, *_ = known.split()
    return wanted in (kind, folded(color + kind)) and kind in KINDS


def _shown(verb: VerbName) -> str:
    return FORMS[verb][0].capitalize()


def _unknown_verb(word: str) -> Problem:
    told = unknown("verb", word, [forms[0] for forms in FORMS.values()])
    return _problem("action.unknown_verb", word[:60], told.says, told.nearest)


def _problem(code: str, about: str, says: str, nearest: tuple[str, ...] = ()) -> Problem:
    return Problem(code=code, about=about, says=says, nearest=nearest)
