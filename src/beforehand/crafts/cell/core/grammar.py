"""From a sentence to an intent, over the scene's own words, or a refusal that says what was understood.

Every word must be accounted for. Negation, alternatives, conditions, questions and anything unknown are refused, not
guessed at: a wrong plan costs more than a second sentence. Chips show piece by piece what was read as what.
"""

from dataclasses import dataclass

from beforehand.crafts.cell.core.lexicon import (
    HARD,
    LAST,
    NOUNS,
    POLITE,
    SMALL_TALK,
    THEN,
    Lexicon,
    Phrase,
    Token,
    corrected,
    lexicon,
    tokens,
)
from beforehand.crafts.cell.core.phrases import Mishap, Reader
from beforehand.model.cell import CellScene, Goal, Intent
from beforehand.model.reason import name_list

LONGEST_TEXT = 4_000
OPEN_ENDED = ("and", "then", "&", "+", "finally", "lastly", "next")
SIGNS = (",", ";", ".", "..", "...", "…", "!", "&", "+", ":")


@dataclass(frozen=True, slots=True)
class Chip:
    """A piece of the sentence and what it was read as."""

    text: str
    says: str
    goals: tuple[Goal, ...] = ()


@dataclass(frozen=True, slots=True)
class Understood:
    intent: Intent
    chips: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    understood: tuple[Chip, ...]
    words: tuple[str, ...]
    """The words that could not be accounted for, as they were written."""
    says: str
    try_next: str = ""


def parse(text: str, scene: CellScene) -> Understood | Refusal:
    """The intent of a sentence; a Refusal when any part of it is not certain."""
    return Grammar(scene).parse(text)


class Grammar:
    """A scene's grammar; build it once when many sentences are read."""

    def __init__(self, scene: CellScene) -> None:
        self.scene = scene
        self.lexicon: Lexicon = lexicon(scene)

    def parse(self, text: str) -> Understood | Refusal:
        if len(text) > LONGEST_TEXT:
            return Refusal((), (), f"The text is longer than {LONGEST_TEXT} characters.", "Say it in fewer words.")
        return _Sentence(self, text).read()


class _Sentence:
    def __init__(self, grammar: Grammar, text: str) -> None:
        self.grammar = grammar
        self.chips: list[Chip] = []
        self.goals: list[Goal] = []
        self.trouble: list[str] = []
        self.reasons: list[str] = []
        cut = [token for token in tokens(text) if token.text not in "\"'“”‘’«»`"]
        self.tokens = _asked_for([self._spelled(token) for token in cut])
        self.reader = Reader(self.tokens, grammar.lexicon, grammar.scene)
        self.at = 0
        self.joined_by = "start"
        """What stands before the clause: start, nothing, and, comma, then or last."""

    def _spelled(self, token: Token) -> Token:
        known = self.grammar.lexicon.words
        if token.word in known or not token.word.isalpha():
            return token
        if token.word.endswith("ing") and (stem := _stem(token.word, known)):
            return Token(token.text, stem)
        word = corrected(token.word, known)
        if word is None:
            return token
        if word not in HARD:
            self.chips.append(Chip(token.text, f"read as {word}"))
        return Token(token.text, _plain(word))

    def read(self) -> Understood | Refusal:
        hard = [token.text for token in self.tokens if token.word in HARD and not self._harmless(token)]
        if any(token.text == "?" for token in self.tokens):
            hard.append("?")
        while self._clause():
            pass
        words = tuple(dict.fromkeys(hard + self.trouble))
        if words or self.reasons or not self.goals:
            return self._refusal(words, hard)
        return Understood(Intent(steps=tuple(self.goals)), tuple(self.chips))

    def _harmless(self, token: Token) -> bool:
        """`that` in "after that", and the like: hard words inside a phrase that is known as a whole."""
        at = next(at for at, other in enumerate(self.tokens) if other is token)
        for phrase in (*THEN, *LAST, *SMALL_TALK, *self.grammar.lexicon.verbs):
            for start in range(max(0, at - len(phrase) + 1), at + 1):
                inside = tuple(other.word for other in self.tokens[start : start + len(phrase)])
                if inside == phrase and start <= at:
                    return True
        return False

    def _clause(self) -> bool:
        """Read up to the next clause; False at the end."""
        self._pass_joints()
        if self.at >= len(self.tokens):
            self._close()
            return False
        start = self.at
        try:
            end, goals, says = self.reader.clause(start, self.goals, self.joined_by)
        except Mishap as mishap:
            self._give_up(start, mishap)
            return True
        after = tuple(range(1, len(self.goals) + 1)) if self.joined_by == "last" else ()
        goals = [goal.model_copy(update={"after": after}) for goal in goals] if after else goals
        self.goals += goals
        self.chips.append(Chip(self._text(start, end), says, tuple(goals)))
        self.at, self.joined_by = end, "nothing"
        return True

    def _close(self) -> None:
        """The end of the sentence: nothing may be left open, and what was put "at the end" stays there."""
        if self.tokens and self.tokens[-1].word in OPEN_ENDED and self.goals:
            self.reasons.append(f"The sentence stops after '{self.tokens[-1].text}'.")
        elif self.goals and (self.joined_by == "last" or self._ends_at_home()):
            size = len(next(chip.goals for chip in reversed(self.chips) if chip.goals))
            others = tuple(range(1, len(self.goals) - size + 1))
            self.goals[-size:] = [goal.model_copy(update={"after": others}) for goal in self.goals[-size:]]

    def _ends_at_home(self) -> bool:
        """Who says "go home" last means that the robot shall end there, in whatever order the rest is done."""
        home = self.grammar.lexicon.home
        return len(self.goals) > 1 and self.goals[-1] == Goal(action="move", position=home)

    def _pass_joints(self) -> None:
        """Signs, joining words and small talk between clauses."""
        while self.at < len(self.tokens):
            if many := self._match(LAST):
                self._last(many)
            elif many := self._match(THEN):
                self._joint("then", many)
            elif many := self._match(SMALL_TALK):
                self.at += many
            elif self.tokens[self.at].word in ("and", "&", "+"):
                self._joint("and", 1)
            elif self.tokens[self.at].text in SIGNS:
                self._joint("comma", 1)
            elif self.tokens[self.at].word == "first" and not self.goals and not self._counts():
                self.at += 1
            else:
                return

    def _last(self, many: int) -> None:
        """`weld 1 at the end, then ...` puts last what stands first, and is not read."""
        trails = self.joined_by == "nothing" and self.tokens[self.at].word in ("at", "in")
        beyond = [token.text for token in self.tokens[self.at + many :] if token.text not in SIGNS]
        if trails and beyond:
            self.trouble.append(" ".join(token.text for token in self.tokens[self.at : self.at + many]))
        self._joint("last", many)

    def _counts(self) -> bool:
        """`first` before a noun is a number, elsewhere it only opens the sentence."""
        following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else Token("", "")
        return following.word in NOUNS or following.text == "one"

    def _joint(self, kind: str, many: int) -> None:
        rank = ("start", "nothing", "comma", "and", "then", "last")
        if self.joined_by == "start" and kind in ("and", "then"):
            self.trouble.append(self.tokens[self.at].text)
        self.joined_by = max(self.joined_by, kind, key=rank.index) if self.joined_by != "start" else "start"
        self.at += many

    def _match(self, phrases: tuple[Phrase, ...]) -> int:
        fits = [len(phrase) for phrase in phrases if self.reader.words[self.at : self.at + len(phrase)] == phrase]
        return max(fits, default=0)

    def _give_up(self, start: int, mishap: Mishap) -> None:
        """Note what was not understood and go on behind the next sign or joining word."""
        stop = max(mishap.at, start + 1)
        while stop < len(self.tokens) and not self._starts_afresh(stop):
            stop += 1
        if mishap.says:
            self.reasons.append(mishap.says)
        else:
            lost = [token.text for token in self.tokens[mishap.at : stop]]
            self.trouble += lost or [token.text for token in self.tokens[start:stop]]
        self.at, self.joined_by = stop, "nothing"

    def _starts_afresh(self, at: int) -> bool:
        return self.tokens[at].text in SIGNS or self.tokens[at].word in ("then", "and", "finally", "afterwards")

    def _text(self, start: int, end: int) -> str:
        return " ".join(token.text for token in self.tokens[start:end])

    def _refusal(self, words: tuple[str, ...], hard: list[str]) -> Refusal:
        parts = []
        if hard:
            parts.append(f"{_quoted(hard)} can change or leave open what is meant, so nothing was planned.")
        unknown = [word for word in words if word not in hard]
        if unknown:
            verb = "was" if len(set(unknown)) == 1 else "were"
            parts.append(f"{_quoted(unknown)} {verb} not understood, so nothing was planned.")
        parts += dict.fromkeys(self.reasons)
        if not parts:
            parts.append("The text names nothing to do.")
        done = [chip.says for chip in self.chips if chip.goals]
        parts.append(f"Understood: {name_list(done)}." if done else "Nothing else was understood.")
        return Refusal(tuple(self.chips), words, " ".join(parts), self._hint())

    def _hint(self) -> str:
        routines = sorted({spoken for names in self.grammar.lexicon.routines.values() for spoken in names})
        return (
            "Say what to do in plain clauses, such as "
            f"'{routines[0].replace('_', ' ') if routines else 'go'} at position 1, then go home'."
        )


def _asked_for(sentence: list[Token]) -> list[Token]:
    """Without the question mark that ends a polite request: "could you please weld position 1?"."""
    words = tuple(token.word for token in sentence)
    opening = next((at for at, word in enumerate(words) if (word,) not in SMALL_TALK and word not in SIGNS), 0)
    polite = any(words[opening : opening + len(phrase)] == phrase for phrase in POLITE)
    return sentence[:-1] if polite and words[-1:] == ("?",) else sentence


def _quoted(words: list[str]) -> str:
    return ", ".join(f"'{word}'" for word in dict.fromkeys(words))


def _stem(word: str, known: frozenset[str]) -> str | None:
    """The verb an -ing form belongs to."""
    bare = word[:-3]
    forms = [form for form in (bare, bare + "e", bare[:-1]) if len(form) > 2 and form in known and form not in HARD]
    return forms[0] if forms else None


def _plain(word: str) -> str:
    token = tokens(word)
    return token[0].word if len(token) == 1 else word
