"""The words a cell understands: a few verbs, small talk, and the scene's own names for places, tools and routines.

Text is cut into words and numbers, so that `Pos_1`, `pos 1` and `position one` are the same two tokens. What a
misspelt word can be is `spelling.py`'s to say.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from beforehand.crafts.cell.core.sites import GENERIC, Site, is_label
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
        """not no never none nothing dont don't doesnt doesn't cannot cant can't wont won't isn't without except
        excluding unless until till while if when whenever whether or either neither nor otherwise else instead but
        however before after because only skip avoid ignore omit stop cancel abort undo wait pause hold halt forget
        leave delete maybe perhaps possibly probably should might may what where why how who which whose is are was
        were does did again twice thrice times half slowly quickly carefully unlike rather than any some few several
        most least between near opposite other others rest remaining it its them there that this those these via
        here actually anyway sorry oops meanwhile reverse"""
    )
)
"""Words that turn, bend or leave open what is meant: their presence alone is a reason to ask again."""

NAMEABLE = frozenset(_words("wait pause stop hold halt rest remaining other others near opposite between before after"))
"""Those of the hard words that a cell may use as the name of a place or a routine."""

POLITE = _phrases("could you;would you;can you;will you;could u;can u;would u;would you mind")
"""A sentence that opens so asks for something, question mark or not."""

SMALL_TALK = POLITE + _phrases(
    """please;pls;plz;plse;kindly;thanks;thank you;thank u;thanks a lot;many thanks;thx;hi;hello;hey;robot;dear robot
    good morning;sir;ok;okay;ok then;also;too;as well;as well as;plus
    i want you to;i want to;i'd like you to;i'd like to;i would like to;i would like you to;i need you to;i need to
    we need to;we want to;you must;you have to;you can;let's;let us;go ahead and"""
)
FIRST = _phrases(
    """first;firstly;first of all;at first;to begin;to start;to start with;to begin with;start by;begin by;start with
    begin with;initially"""
)
THEN = _phrases(
    """then;afterwards;afterward;after that;after this;next;subsequently;later;later on;thereafter;when done
    when finished;once done;once finished;when you are done;when that is done;once that is done"""
)
LAST = _phrases("finally;lastly;last;at last;at the end;in the end;last of all;at the very end;as the last step")
NOW = _phrases("now;right now;immediately;at once")
ORDER: dict[str, tuple[Phrase, ...]] = {"first": FIRST, "then": THEN, "last": LAST, "now": NOW}
"""Words that say when a clause is to be done."""

VERBS: dict[str, str] = {
    "move": "go to;goto;go;move to;move;drive to;drive;head to;travel to;go back to;return to;come back to;come to;"
    "proceed to;move the robot to;drive the robot to;send the robot to;bring the robot to;move robot to;"
    "drive robot to;send robot to;bring robot to;go at;go in;move at;drive at;move back to;drive back to",
    "visit": "visit",
    "home": "go home;go back home;return home;come home;come back home;head home;drive home;move home;return to home;"
    "back home;back to home;move back home;drive back home;"
    "send the robot home;bring the robot home;drive the robot home;send robot home;bring robot home;"
    "go to home;go to the home position;move to home;go to home position",
    "attach": "attach;pick up;grab;take;fetch;get;mount;equip;switch to;change to;swap to;change tool to;put on;"
    "change the tool to;switch tool to;switch the tool to;attach tool;tool attach;pick",
    "release": "release;put back;put away;return;detach;unmount;take off;remove;give back;bring back;tool release;"
    "release tool;hand back;put down",
    "put": "put;bring;give;hand",
    "put it back": "put it back;put it away;put it down",
    "run": "run;do;execute;perform;carry out;start;make",
    "same": "do the same;do same;do the same thing;the same;same;same thing;the same thing;repeat",
}
READ_AS = {"positions": "pos", "position": "pos", "spots": "spot", "places": "place", "points": "point"}
READ_AS |= {
    "secondly": "second",
    "thirdly": "third",
    "fourthly": "fourth",
    "locations": "location",
    "nr": "number",
    "no.": "number",
    "#": "number",
    "@": "at",
}
TOOL_ROUTINES: tuple[Phrase, ...] = (("tool", "attach"), ("tool", "release"))
"""The routines that are verbs of their own."""

WHOLE_KIND = ("all", "every", "each", "both")
"""Words that ask for every position of a kind."""

ARTICLES = ("the", "a", "an", "my", "our")
PREPOSITIONS = ("at", "in", "on", "to", "of", "from")
GLUE = frozenset((*ARTICLES, *PREPOSITIONS)) | frozenset(
    _words(
        "and both all every each everywhere through up back away down off tool tools routine routines with using number"
        " for"
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
    glued: bool = field(default=False, compare=False)
    """Written in one piece with the word before it, as the 2 of `Pos_1_2`."""


@dataclass(slots=True)
class Lexicon:
    places: dict[Phrase, list[str]] = field(default_factory=dict)
    tools: dict[Phrase, list[str]] = field(default_factory=dict)
    routines: dict[Phrase, list[str]] = field(default_factory=dict)
    verbs: dict[Phrase, str] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    """The positions, each with the words and the number or letter of its name."""
    kit: list[Site] = field(default_factory=list)
    """The tools, in the same way."""
    kinds: frozenset[str] = frozenset()
    """Words that name a kind of position: of names, of roles, and those that fit any."""
    home: str | None = None
    longest: int = 1
    names: frozenset[str] = frozenset()
    """Words of the scene's own names."""
    joined: dict[str, Phrase] = field(default_factory=dict)
    """Names of several words, written as one."""
    exact: re.Pattern[str] | None = None
    """Names that are certain only where they stand as the scene writes them: each is then one word by itself."""
    grammar: frozenset[str] = frozenset()
    """All other words that are understood, or understood to be refused."""

    @property
    def words(self) -> frozenset[str]:
        return self.names | self.grammar


def lexicon(scene: CellScene) -> Lexicon:
    made = Lexicon()
    for place in scene.positions:
        made.places.setdefault(spoken(place.name), []).append(place.name)
        made.sites.append(Site(place.name, spoken(place.name), place.role or ""))
    for tool in scene.tools:
        made.tools.setdefault(spoken(tool.name), []).append(tool.name)
        made.kit.append(Site(tool.name, spoken(tool.name)))
    for routine in scene.routines:
        if routine.name in (ATTACH, RELEASE):
            continue
        for word in dict.fromkeys((routine.name, *routine.words)):
            named = made.routines.setdefault(spoken(word), [])
            if routine.name not in named:
                named.append(routine.name)
    homes = [place.name for place in scene.positions if place.role == "home"]
    homes = homes or [place.name for place in scene.positions if place.name.lower() == "home"]
    made.home = homes[0] if len(homes) == 1 else None
    for kind, phrases in VERBS.items():
        for line in phrases.split(";"):
            made.verbs[tuple(READ_AS.get(word, word) for word in line.split())] = kind
    return _with_words(made)


def _with_words(made: Lexicon) -> Lexicon:
    tables = (made.places, made.tools, made.routines, made.verbs)
    made.longest = max((len(phrase) for table in tables for phrase in table), default=1)
    busy = {word for table in (made.routines, made.verbs) for phrase in table for word in phrase if word != "home"}
    kinds = {word for site in made.sites for word in (*site.family, site.role) if word}
    made.kinds = frozenset({word for word in kinds - busy - HARD if not is_label(word)} | set(GENERIC))
    made.names = frozenset(word for table in tables[:3] for phrase in table for word in phrase) | made.kinds
    made.joined = {"".join(phrase): phrase for table in tables[:3] for phrase in table if len(phrase) > 1}
    talk = (*SMALL_TALK, *FIRST, *THEN, *LAST, *NOW, *made.verbs)
    made.grammar = frozenset(word for phrase in talk for word in phrase)
    made.grammar |= HARD | GLUE | {"home", "one"} | set(GENERIC) | set(READ_AS) | set(NUMBERS) | set(ORDINALS)
    return _with_exact_names(made)


def _with_exact_names(made: Lexicon) -> Lexicon:
    words, openings = made.words, {*made.routines, *made.verbs}
    found: set[str] = set()
    for table in (made.places, made.tools):
        doubtful = [names for phrase, names in table.items() if _needs_its_letters(phrase, names, words, openings)]
        exact = [name for names in doubtful for name in names if name not in made.grammar]
        table.update({(exactly(name),): [name] for name in exact})
        found.update(exact)
    if found:
        longest_first = sorted(found, key=lambda name: (-len(name), name))
        made.exact = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    return made


def _needs_its_letters(phrase: Phrase, names: list[str], words: Container[str], openings: Container[Phrase]) -> bool:
    """Whether words alone could be another name, be no name but a verb or a word that bends it, or lose a sign."""
    if len(names) > 1 or tuple(token.word for token in tokens(names[0], known=words)) != phrase:
        return True
    verb = any(phrase[:many] in openings for many in range(1, len(phrase)))
    return verb or phrase[0] in GLUE or (len(phrase) > 1 and not HARD.isdisjoint(phrase))


def exactly(name: str) -> str:
    """The one word that a name as the scene writes it is read as; no other text is read so."""
    return f"={name}"


def spoken(name: str) -> Phrase:
    """A name as the words somebody would say."""
    return tuple(token.word for token in tokens(name, whole=True))


def apart_from_names(text: str, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """The text in pairs: what stands before a name that is written exactly, and that name; the last has none."""
    at = 0
    for match in lexicon.exact.finditer(text) if lexicon.exact else ():
        yield text[at : match.start()], match.group()
        at = match.end()
    yield text[at:], ""


def sentence_tokens(text: str, lexicon: Lexicon) -> list[Token]:
    """The tokens of a sentence about this cell."""
    found: list[Token] = []
    for before, name in apart_from_names(text, lexicon):
        found += tokens(before, known=lexicon.words) + ([Token(name, exactly(name))] if name else [])
    return found


def tokens(text: str, *, whole: bool = False, known: Container[str] = ()) -> list[Token]:
    """Words, numbers and signs; what only joins a name (hyphen, underscore) is dropped, all of it if `whole`.

    A word with capitals inside comes apart (`DockA`), unless it is one of those `known`, only oddly written (`wELD`).
    """
    found: list[Token] = []
    for match in _WORD.finditer(text):
        piece = match.group()
        glued = text[match.start() - 1 : match.start()] in ("_", "-")
        if (
            piece == "_"
            or (piece == "-" and (whole or _joins(text, match.start())))
            or (piece == "." and _numbers(text, match.start()))
            or (whole and not piece[0].isalnum())
        ):
            continue
        for part in [piece] if piece.lower() in known else _CAMEL.split(piece):
            found.append(Token(part, _read(part), glued))
    return found


def _joins(text: str, at: int) -> bool:
    """A hyphen between two words, or a word and a digit, with no space on either side; `a-c` is from a to c."""
    left, right = text[at - 1 : at], text[at + 1 : at + 2]
    letters = not text[max(at - 2, 0) : max(at - 1, 0)].isalnum() and not text[at + 2 : at + 3].isalnum()
    return left.isalnum() and right.isalnum() and not left.isdigit() and not (letters and right.isalpha())


def _numbers(text: str, at: int) -> bool:
    """A full stop between a word and its number, with no space on either side: `cell.3`."""
    return text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isdigit()


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
    return READ_AS.get(low, low)
