"""Names in a sentence that the cell does not have: a position, a tool or a routine nobody knows here.

A sentence the grammar refuses can be unclear, or clear and about something that does not exist. The second is the
speaker's to mend and comes with the names there are. Only clauses whose shape says what is meant are judged: "go to X",
"attach X", "run X at Pos_1", "X at Pos_1". Where a word turns or bends the meaning, nothing is judged at all.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from beforehand.crafts.cell.core.grammar import Refusal
from beforehand.crafts.cell.core.lexicon import (
    ARTICLES,
    HARD,
    NOUNS,
    Lexicon,
    Phrase,
    Token,
    is_number,
    lexicon,
    tokens,
)
from beforehand.model.cell import ATTACH, RELEASE, CellScene
from beforehand.model.reason import Problem, unknown

_PIECE = re.compile(r"[\w'’-]+|[^\w\s]")
_JOINTS = frozenset(["and", "then", "afterwards", "finally", "lastly", "next", "also", "subsequently", *"&+,;.!:"])
_TALK = frozenset(["please", "kindly", "now", "ok", "okay", "robot", "hi", "hello", "hey"])
_TAILS = frozenset(["back", "away", "down", "off", "on", "up", "tool", "place", "position", "routine"])
_AT = ("at", "in", "on", "to")
_NUMBERED = re.compile(r"There is no position (\d+) in this cell")
LONGEST_NAME = 4

WrittenWord = tuple[str, Token]
"""A piece of the sentence as it was written, and one of the words it is read as."""


def unknown_names_in(text: str, scene: CellScene, refusal: Refusal) -> list[Problem]:
    """A problem for every name the cell does not have; none where the sentence is not clear enough to say so."""
    if any(word.lower() in HARD or word == "?" for word in refusal.words):
        return []
    found = [_problem(scene, "position", number, f"Pos_{number}") for number in _NUMBERED.findall(refusal.says)]
    known = lexicon(scene)
    for clause in _clauses(text):
        found += _Clause(scene, known, clause).unknown_names()
    return list({(one.code, one.about): one for one in found}.values())


def _clauses(text: str) -> list[list[WrittenWord]]:
    clauses: list[list[WrittenWord]] = [[]]
    for piece in _PIECE.findall(text):
        if piece.lower() in _JOINTS:
            clauses.append([])
        elif piece.lower() not in _TALK:
            clauses[-1] += [(piece, token) for token in tokens(piece)]
    return [clause for clause in clauses if clause]


class _Clause:
    def __init__(self, scene: CellScene, known: Lexicon, words: list[WrittenWord]) -> None:
        self.scene, self.known, self.written = scene, known, words
        self.words = tuple(token.word for _, token in words)

    def unknown_names(self) -> list[Problem]:
        verb, end = self._longest(self.known.verbs, 0)
        routine, after = self._longest(self.known.routines, 0)
        if routine and after >= end:
            return self._place(after)
        match verb:
            case "move" | "visit":
                return self._place(end)
            case "attach" | "release" | "put":
                return self._tool(end)
            case "run":
                return self._routine(self._past(end, (*ARTICLES, "routine")))
            case None:
                return self._routine(0)
        return []

    def _place(self, at: int) -> list[Problem]:
        at = self._past(at, (*_AT, *ARTICLES, "from"))
        if at >= len(self.words) or self._is_place(at):
            return []
        return self._name("position", at, len(self.words))

    def _tool(self, at: int) -> list[Problem]:
        at, end = self._past(at, ARTICLES), len(self.words)
        while end > at and self.words[end - 1] in _TAILS:
            end -= 1
        if at >= end or self._longest(self.known.tools, at)[0] is not None:
            return []
        return self._name("tool", at, end)

    def _routine(self, at: int) -> list[Problem]:
        """`X at Pos_1`: judged only where a known place closes the clause."""
        if self._longest(self.known.routines, at)[0] is not None:
            return []
        for end in range(at + 1, len(self.words)):
            place = self._past(end, (*_AT, *ARTICLES))
            if self._is_place(place):
                return self._name("routine", at, end)
        return []

    def _name(self, kind: str, at: int, end: int) -> list[Problem]:
        name = " ".join(dict.fromkeys(piece for piece, _ in self.written[at:end]))
        if not name or end - at > LONGEST_NAME or is_number(name) or self._bare_noun(at):
            return []
        return [_problem(self.scene, kind, name, name)]

    def _bare_noun(self, at: int) -> bool:
        """`position` by itself names nothing; `Station_X` does."""
        piece, token = self.written[at]
        return token.word in NOUNS and piece == token.text

    def _is_place(self, at: int) -> bool:
        """Whether a place is named from here on, as far as its first word goes."""
        if at >= len(self.words):
            return False
        following = self.words[at + 1] if at + 1 < len(self.words) else ""
        numbered = is_number(self.words[at]) or (self.words[at] in NOUNS and is_number(following))
        return numbered or self._longest(self.known.places, at)[0] is not None

    def _past(self, at: int, words: Iterable[str]) -> int:
        skipped = tuple(words)
        while at < len(self.words) and self.words[at] in skipped:
            at += 1
        return at

    def _longest(self, table: Mapping[Phrase, Any], at: int) -> tuple[Any, int]:
        for many in range(min(self.known.longest, len(self.words) - at), 0, -1):
            found = table.get(self.words[at : at + many])
            if found is not None:
                return found, at + many
        return None, at


def _problem(scene: CellScene, kind: str, name: str, wanted: str) -> Problem:
    names = _names(scene, kind)
    told = unknown(kind, name, names, inside=scene.name, like=wanted)
    return Problem(
        code=f"cell.unknown_{kind}", about=name[:80], says=told.says, nearest=told.nearest, fixable_by="user"
    )


def _names(scene: CellScene, kind: str) -> list[str]:
    if kind == "position":
        return [place.name for place in scene.positions]
    if kind == "tool":
        return [tool.name for tool in scene.tools]
    return [routine.name for routine in scene.routines if routine.name not in (ATTACH, RELEASE)]
