"""The words a cell understands: a few verbs, small talk, and the scene's own names for places, tools and routines.

Text is cut into words and numbers, so that `Pos_1`, `pos 1` and `position one` are the same two tokens. A misspelt
word is read as the one word near enough to it; words that turn a meaning round (not, or, if ...) are words too, so a
misspelt "without" is never read as something harmless.
"""

import re
from dataclasses import dataclass, field

from beforehand.model.cell import ATTACH, RELEASE, CellScene

Phrase = tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[Phrase, ...]:
    return tuple(_words(phrase) for phrase in text.replace("\n", ";").split(";"))


NUMBERS = _words("zero one two three four five six seven eight nine ten eleven twelve")
ORDINALS = _words("zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")

HARD = frozenset(
    _words(
        """not no never dont don't doesnt doesn't cannot cant can't wont won't without except excluding unless until
        till while if when whenever whether or either neither nor otherwise else instead but however before after
        because only skip avoid ignore omit stop cancel abort undo wait pause maybe perhaps possibly probably should
        might may what where why how who which whose is are was were does did again twice thrice times half slowly
        quickly carefully unlike rather than any some few several most least between near opposite other others rest
        remaining it its them there that this those these"""
    )
)
"""Words that turn, bend or leave open what is meant: their presence alone is a reason to ask again."""

POLITE = _phrases("could you;would you;could you please;can you please;would you please;would you kindly")
"""A sentence that opens so asks for something, question mark or not."""

SMALL_TALK = POLITE + _phrases(
    """please;kindly;thanks;thank you;thanks a lot;hi;hello;hey;robot;now;ok;okay;also;too;as well
    i want you to;i want to;i'd like you to;i'd like to;i would like to;i would like you to;i need you to;i need to
    we need to;let's;let us;go ahead and;to begin
    to start with;to begin with;start by;begin by"""
)
THEN = _phrases(
    "then;and then;afterwards;and afterwards;after that;and after that;next;and next;subsequently;as well as;plus"
)
LAST = _phrases("finally;and finally;lastly;and lastly;at the end;in the end;last of all;then finally")

VERBS: dict[str, str] = {
    "move": "go to;go;move to;move;drive to;drive;head to;travel to;go back to;return to;come back to;come to;"
    "proceed to;move the robot to;drive the robot to;send the robot to;bring the robot to",
    "visit": "visit",
    "home": "go home;go back home;return home;come home;come back home;head home;drive home;move home;return to home;"
    "send the robot home;bring the robot home;drive the robot home;"
    "go to home;go to the home position;move to home;go to home position",
    "attach": "attach;pick up;grab;take;fetch;get;mount;equip;switch to;change to;swap to;change tool to;put on;"
    "change the tool to;switch tool to;switch the tool to;attach tool;tool attach;pick",
    "release": "release;put back;put away;return;detach;unmount;take off;remove;give back;bring back;tool release;"
    "release tool;hand back;put down",
    "put": "put",
    "put it back": "put it back;put it away;put it down",
    "run": "run;do;execute;perform;carry out;start",
}
NOUNS = ("pos", "spot", "place", "point", "location", "station")
PLURALS = {"positions": "pos", "position": "pos", "spots": "spot", "places": "place", "points": "point"}
PLURALS |= {"locations": "location", "stations": "station"}
ARTICLES = ("the", "a", "an", "my", "our")
PREPOSITIONS = ("at", "in", "on", "to", "of", "from")
GLUE = frozenset((*ARTICLES, *PREPOSITIONS)) | frozenset(
    _words(
        "and both all every each everywhere through up back away down off tool tools routine routines with using number"
    )
)

_WORD = re.compile(r"\d+(?:\.\d+)+|\d+(?:st|nd|rd|th)\b|\d+|[^\W\d_]+(?:['’][^\W\d_]+)*|\.\.+|[^\w\s]|_")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    """As it stands in the sentence."""
    word: str
    """As it is read: lower case, number words as digits, `position` as `pos`."""


@dataclass(slots=True)
class Lexicon:
    places: dict[Phrase, list[str]] = field(default_factory=dict)
    tools: dict[Phrase, list[str]] = field(default_factory=dict)
    routines: dict[Phrase, list[str]] = field(default_factory=dict)
    numbered: dict[int, list[str]] = field(default_factory=dict)
    """Positions by the number their name ends in."""
    home: str | None = None
    verbs: dict[Phrase, str] = field(default_factory=dict)
    longest: int = 1
    words: frozenset[str] = frozenset()


def lexicon(scene: CellScene) -> Lexicon:
    made = Lexicon()
    for place in scene.positions:
        phrase = tuple(token.word for token in tokens(place.name, whole=True))
        made.places.setdefault(phrase, []).append(place.name)
        if phrase and is_number(phrase[-1]):
            made.numbered.setdefault(int(phrase[-1]), []).append(place.name)
    for tool in scene.tools:
        made.tools.setdefault(tuple(token.word for token in tokens(tool.name, whole=True)), []).append(tool.name)
    for routine in scene.routines:
        if routine.name in (ATTACH, RELEASE):
            continue
        for spoken in dict.fromkeys((routine.name, *routine.words)):
            phrase = tuple(token.word for token in tokens(spoken, whole=True))
            if routine.name not in made.routines.setdefault(phrase, []):
                made.routines[phrase].append(routine.name)
    homes = [place.name for place in scene.positions if place.role == "home"]
    homes = homes or [place.name for place in scene.positions if place.name.lower() == "home"]
    made.home = homes[0] if len(homes) == 1 else None
    for kind, phrases in VERBS.items():
        for line in phrases.split(";"):
            made.verbs[tuple(PLURALS.get(word, word) for word in line.split())] = kind
    tables = (made.places, made.tools, made.routines, made.verbs)
    made.longest = max((len(phrase) for table in tables for phrase in table), default=1)
    known = {word for table in tables for phrase in table for word in phrase}
    known |= {word for phrase in (*SMALL_TALK, *THEN, *LAST) for word in phrase}
    made.words = frozenset(
        known | HARD | GLUE | {"home", "one"} | set(NOUNS) | set(PLURALS) | set(NUMBERS) | set(ORDINALS)
    )
    return made


def tokens(text: str, *, whole: bool = False) -> list[Token]:
    """Words, numbers and signs; a hyphen or underscore that only joins a name is dropped (all of them if `whole`)."""
    found: list[Token] = []
    for match in _WORD.finditer(text):
        piece = match.group()
        if (
            piece == "_"
            or (piece == "-" and (whole or _joins(text, match.start())))
            or (whole and not piece[0].isalnum())
        ):
            continue
        for part in _CAMEL.split(piece):
            found.append(Token(part, _read(part)))
    return found


def _joins(text: str, at: int) -> bool:
    """A hyphen between two letters, or a letter and a digit, with no space on either side."""
    left, right = text[at - 1 : at], text[at + 1 : at + 2]
    return left.isalnum() and right.isalnum() and not left.isdigit()


def is_number(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _read(word: str) -> str:
    low = word.lower().replace("’", "'")
    if is_number(low):
        return str(int(low)) if len(low) < 18 else f"{low}!"
    if is_number(low[:-2]) and low[-2:] in ("st", "nd", "rd", "th"):
        return f"#{int(low[:-2])}"
    if low in NUMBERS:
        return str(NUMBERS.index(low))
    if low == "…" or low.startswith(".."):
        return ".."
    return PLURALS.get(low, low)


def corrected(word: str, known: frozenset[str]) -> str | None:
    """The one known word this can be a misspelling of; the shorter it is, the less may be wrong with it."""
    allowed = 0 if len(word) < 4 else 1 if len(word) < 9 else 2
    if not word.isalpha() or not allowed:
        return None
    near: dict[int, list[str]] = {}
    for other in known:
        if abs(len(other) - len(word)) <= allowed and len(other) > 3:
            far = _distance(word, other)
            if far <= allowed and _slip(word, other) and not _opposite(word, other):
                near.setdefault(far, []).append(other)
    best = near[min(near)] if near else []
    return best[0] if len(best) == 1 else None


def _slip(word: str, other: str) -> bool:
    """Whether the hand can have slipped: another letter altogether is believed in long words only (paint, point)."""
    if sorted(word) == sorted(other) or len(word) >= 7:
        return True
    return len(word) > 4 and len(word) != len(other)


def _opposite(word: str, other: str) -> bool:
    """One is the other with a prefix, such as un-: a different word, not a slip of the hand."""
    return (word.endswith(other) or other.endswith(word)) and word[0] != other[0]


def _distance(a: str, b: str) -> int:
    """Letters put in, left out, changed, or swapped with their neighbour."""
    rows = [list(range(len(b) + 1))]
    for i, left in enumerate(a, 1):
        row = [i]
        for j, right in enumerate(b, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
