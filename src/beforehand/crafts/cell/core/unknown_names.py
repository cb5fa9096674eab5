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
    TOOL_ROUTINES,
    Lexicon,
    Phrase,
    Token,
    apart_from_names,
    is_number,
    lexicon,
    sentence_tokens,
    tokens,
)
from beforehand.crafts.cell.core.sites import GENERIC
from beforehand.crafts.cell.core.spelling import corrected, singular
from beforehand.model.cell import ATTACH, RELEASE, CellScene
from beforehand.model.reason import Problem, unknown

_PIECE = re.compile(r"[\w'’-]+(?:\.\d[\w-]*)*|[^\w\s]")
_JOINTS = frozenset(["and", "then", "afterwards", "finally", "lastly", "next", "also", "subsequently", *"&+,;.!:"])
_TALK = frozenset(["please", "kindly", "now", "ok", "okay", "robot", "hi", "hello", "hey"])
_TAILS = frozenset(["back", "away", "down", "off", "on", "up", "tool", "place", "position", "routine"])
_AT = ("at", "in", "on", "to")
_FILLERS = frozenset(["so", "well", "just", "still", "even", "already", "um", "uh", "oh", "yes", "i", "mean"])
_FILLERS |= {"everything", "anything", "something", "everyone", "anyone", "someone", "anywhere", "somewhere"}
LONGEST_NAME = 4

WrittenWord = tuple[str, Token]
"""A piece of the sentence as it was written, and one of the words it is read as."""


def unknown_names_in(text: str, scene: CellScene, refusal: Refusal) -> list[Problem]:
    """A problem for every name the cell does not have; none where the sentence is not clear enough to say so."""
    known = lexicon(scene)
    if any(word == "?" or word.lower() in HARD or corrected(word.lower(), known) in HARD for word in refusal.words):
        return []
    found = [_problem(scene, "position", name, f"Pos_{name}" if is_number(name) else name) for name in refusal.unknown]
    for clause in _clauses(text, known):
        found += _Clause(scene, known, clause).unknown_names()
    return list({(one.code, one.about): one for one in found}.values())


def _clauses(text: str, known: Lexicon) -> list[list[WrittenWord]]:
    clauses: list[list[WrittenWord]] = [[]]
    words = known.words
    for before, name in apart_from_names(text, known):
        for piece in _PIECE.findall(before):
            if piece.lower() in _JOINTS:
                clauses.append([])
            elif piece.lower() not in _TALK:
                clauses[-1] += [(piece, token) for token in tokens(piece, known=words)]
        clauses[-1] += [(name, token) for token in sentence_tokens(name, known)]
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
            case _:
                return []

    def _place(self, at: int) -> list[Problem]:
        at = self._past(at, (*_AT, *ARTICLES, "from"))
        if at >= len(self.words) or self._is_place(at) or self._is_kind(at):
            return []
        return self._name("position", at, len(self.words))

    def _tool(self, at: int) -> list[Problem]:
        at, end = self._past(at, ARTICLES), len(self.words)
        while end > at and self.words[end - 1] in _TAILS:
            end -= 1
        own = {word for tool in self.known.kit for word in tool.family}
        if at >= end or self.words[at] in own or self._longest(self.known.tools, at)[0] is not None:
            return []
        return self._name("tool", at, end)

    def _routine(self, at: int) -> list[Problem]:
        """`X at Pos_1`: judged only where a known place closes the clause."""
        if self._longest(self.known.routines, at)[0] is not None or self._is_place(at):
            return []
        if self.words[at : at + 2] in TOOL_ROUTINES:
            return []
        for end in range(at + 1, len(self.words)):
            place = self._past(end, (*_AT, *ARTICLES))
            if self._is_place(place):
                return self._name("routine", at, end)
        return []

    def _name(self, kind: str, at: int, end: int) -> list[Problem]:
        name = " ".join(dict.fromkeys(piece for piece, _ in self.written[at:end]))
        if not name[:1].isalpha() or end - at > LONGEST_NAME or is_number(name) or self._no_name(at, end):
            return []
        return [_problem(self.scene, kind, name, name)]

    def _no_name(self, at: int, end: int) -> bool:
        """Words nobody would call a thing: `position` by itself, "actually", or a verb among them."""
        piece, token = self.written[at]
        bare = token.word in GENERIC and piece == token.text
        busy = (self.known.grammar - self.known.kinds) | {word for phrase in self.known.routines for word in phrase}
        said = [part.text for piece, part in self.written[at:end] if piece == part.text]
        read = {corrected(word.lower(), self.known) or word.lower() for word in said}
        odd = any(word.endswith("ly") or not word[0].isalnum() for word in read)
        return bare or odd or bool(read & (busy | _FILLERS)) or sum(map(is_number, read)) > 1

    def _is_kind(self, at: int) -> bool:
        """A kind of place by itself, or the letter of one: known, only not which; `Station_X` in one word is a name."""
        piece, token = self.written[at]
        labels = {site.label for site in self.known.sites}
        word = singular(token.word, self.known) or token.word
        return piece == token.text and word in (self.known.kinds - set(GENERIC)) | labels

    def _is_place(self, at: int) -> bool:
        """Whether a place is named from here on, as far as its first word goes."""
        if at >= len(self.words):
            return False
        following = self.words[at + 1] if at + 1 < len(self.words) else ""
        numbered = is_number(self.words[at]) or (self.words[at] in self.known.kinds and is_number(following))
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
