"""From a sentence to an intent, over the scene's own words, or a refusal that says what was understood.

Every word must be accounted for. Negation, alternatives, conditions, questions and anything unknown are refused, not
guessed at: a wrong plan costs more than a second sentence. Chips show piece by piece what was read as what.
"""

from dataclasses import dataclass, replace

from beforehand.crafts.cell.core.clause_order import (
    BREAKS,
    Joint,
    Placed,
    comes_after,
    contradictions,
    dangling,
    split,
)
from beforehand.crafts.cell.core.lexicon import (
    ARTICLES,
    HARD,
    NAMEABLE,
    ORDER,
    POLITE,
    SMALL_TALK,
    Lexicon,
    Phrase,
    Token,
    is_number,
    lexicon,
    sentence_tokens,
    tokens,
)
from beforehand.crafts.cell.core.phrases import Reader
from beforehand.crafts.cell.core.place_lists import Mishap
from beforehand.crafts.cell.core.sites import GENERIC
from beforehand.crafts.cell.core.spelling import corrected, singular, spelled_otherwise
from beforehand.model.cell import CellScene, Goal, Intent
from beforehand.model.reason import name_list

LONGEST_TEXT = 4_000
SIGNS = (",", ";", ".", "..", "...", "…", "!", ":")
AND: tuple[Phrase, ...] = (("and",), ("&",), ("+",), ("plus",), ("as", "well", "as"))
SHORTENED = ("pos", "number", "no")
"""Words a full stop may follow without ending anything: `pos. 1`, `no. 2`."""


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
    notes: tuple[str, ...] = ()
    """What was corrected in the spelling, a sentence each."""


@dataclass(frozen=True, slots=True)
class Refusal:
    understood: tuple[Chip, ...]
    words: tuple[str, ...]
    """The words that could not be accounted for, as they were written."""
    says: str
    try_next: str = ""
    unknown: tuple[str, ...] = ()
    """Positions that were asked for and that the cell does not have."""


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
        self.lexicon = grammar.lexicon
        self.source = text
        self.chips: list[Chip] = []
        self.goals: list[Goal] = []
        self.clauses: list[Placed] = []
        self.trouble: list[str] = []
        self.reasons: list[str] = []
        self.unknown: list[str] = []
        self.notes: list[str] = []
        cut = [token for token in sentence_tokens(text, self.lexicon) if token.text not in "\"'“”‘’«»`"]
        self.tokens = _asked_for([word for token in _shortened(cut) for word in self._spelled(token)])
        self.reader = Reader(self.tokens, grammar.lexicon, grammar.scene)
        self.at = 0

    def _spelled(self, token: Token) -> list[Token]:
        """The word as it is read; a name written as one word comes apart."""
        if token.word in self.lexicon.words or not token.word.isalpha():
            return [token]
        if apart := self.lexicon.joined.get(token.word):
            self.notes.append(f"'{token.text}' was read as '{' '.join(apart)}'.")
            return [Token(token.text, word) for word in apart]
        word = corrected(token.word, self.lexicon)
        if word is None:
            return [token]
        plural = word == singular(token.word, self.lexicon) and word in self.lexicon.kinds
        if word not in HARD and not plural and not token.word.endswith("ing"):
            self.chips.append(Chip(token.text, f"read as {word}"))
            self.notes.append(f"'{token.text}' was read as '{word}'.")
        return [Token(token.text, _plain(word))]

    def read(self) -> Understood | Refusal:
        hard = [token.text for at, token in enumerate(self.tokens) if token.word in HARD and not self._harmless(at)]
        if any(token.text == "?" for token in self.tokens):
            hard.append("?")
        while self._clause():
            pass
        if not (self.trouble or self.reasons):
            self._weigh_order()
        words = tuple(dict.fromkeys(hard + self.trouble))
        if words or self.reasons or not self.goals:
            return self._refusal(words, hard)
        bound = zip(self.goals, comes_after(self.clauses), strict=True)
        steps = tuple(goal.model_copy(update={"after": after}) for goal, after in bound)
        return Understood(Intent(steps=steps), tuple(self.chips), tuple(dict.fromkeys(self.notes)))

    def _weigh_order(self) -> None:
        repeated = [joint.text for clause in self.clauses if self._repeats(clause) for joint in clause.trail]
        for word in [*contradictions(self.clauses), *repeated]:
            self.trouble.append(word)
            says = f"'{word}' does not fit the order in which the steps are named: name them as they are to be done."
            self.reasons.append(says)

    def _repeats(self, clause: Placed) -> bool:
        """`weld 1 and 2, 1 last` does not weld 1 twice: it turns the order round."""
        return any(self.goals[at] in self.goals[:at] for at in range(clause.first - 1, clause.last))

    def _harmless(self, at: int) -> bool:
        """`that` in "after that", and the like: hard words inside a phrase that is known as a whole."""
        known = (*SMALL_TALK, *(one for phrases in ORDER.values() for one in phrases), *self.lexicon.verbs)
        if self._inside(at, known):
            return True
        names = (*self.lexicon.places, *self.lexicon.tools, *self.lexicon.routines)
        if self.tokens[at].word not in NAMEABLE or not self._inside(at, names):
            return False
        return self._inside(at, [name for name in names if len(name) > 1]) or self._names_it(at)

    def _inside(self, at: int, phrases: Phrase | tuple[Phrase, ...] | list[Phrase]) -> bool:
        words = self.reader.words
        return any(
            words[start : start + len(phrase)] == phrase
            for phrase in phrases
            for start in range(max(0, at - len(phrase) + 1), at + 1)
        )

    def _names_it(self, at: int) -> bool:
        """Whether a hard word by itself is a name here: `go to rest`, `the rest position`, `Rest` as it is written."""
        before, behind = self.reader.word(at - 1) if at else "", self.reader.word(at + 1)
        if behind in GENERIC or (self.tokens[at].word,) in self.lexicon.routines:
            return True
        written = self.tokens[at].text in {site.name for site in self.lexicon.sites}
        return before == "to" or (written and before not in ARTICLES)

    def _clause(self) -> bool:
        """Read up to the next clause; False at the end."""
        joints = self._joints()
        closing = self.at >= len(self.tokens)
        trail, lead = split(joints, opening=not self.clauses, closing=closing)
        if self.clauses:
            self.clauses[-1] = replace(self.clauses[-1], trail=trail)
        if closing:
            self._close(joints, lead)
            return False
        joined = self._joined(joints, lead)
        start = self.at
        try:
            end, goals, says = self.reader.clause(start, self.goals, joined)
        except Mishap as mishap:
            self._give_up(start, mishap)
            return True
        bare = bool(self.clauses) and not any(joint.kind in BREAKS for joint in joints)
        self.clauses.append(Placed(len(self.goals) + 1, len(self.goals) + len(goals), lead, joined, bare))
        self.goals += goals
        self.chips.append(Chip(self._text(start, end), says, tuple(goals)))
        self.notes += spelled_otherwise(self.source, goals)
        self.at = end
        return True

    def _joined(self, joints: list[Joint], lead: tuple[Joint, ...]) -> str:
        if not self.clauses:
            given_up = self.trouble or self.reasons
            if not given_up and any(joint.kind in ("and", "then") for joint in joints):
                self.trouble.append(joints[0].text)
            return "start"
        if any(joint.kind not in ("sign", "and", "first") for joint in lead):
            return "then"
        kinds = {joint.kind for joint in joints}
        return "sign" if "sign" in kinds else "and" if "and" in kinds else "nothing"

    def _close(self, joints: list[Joint], lead: tuple[Joint, ...]) -> None:
        """The end of the sentence: nothing may be left open."""
        word = dangling(joints) if self.goals else ""
        if word:
            self.reasons.append(f"The sentence stops after '{word}'.")
        elif self.clauses and lead:
            self.clauses[-1] = replace(self.clauses[-1], trail=(*self.clauses[-1].trail, *lead))

    def _joints(self) -> list[Joint]:
        """Signs, joining words, words of order; small talk between clauses is passed over."""
        found: list[Joint] = []
        while self.at < len(self.tokens):
            joint, many = self._joint()
            if joint is not None:
                found.append(joint)
            if not many:
                break
            self.at += many
        return found

    def _joint(self) -> tuple[Joint | None, int]:
        token = self.tokens[self.at]
        counted = self._counted()
        if counted:
            return Joint("count", token.text, int(counted[0])), counted[1]
        if self.reader.order_word(self.at):
            many, kind = max((self._match(phrases), kind) for kind, phrases in ORDER.items())
            self._refuse_if_a_name(self.at, self.at + many)
            return Joint(kind, self._text(self.at, self.at + many)), many
        if many := self._match(AND):
            return Joint("and", token.text), many
        if token.text in SIGNS:
            return Joint("sign", token.text), 1
        return None, self._match(SMALL_TALK)

    def _refuse_if_a_name(self, start: int, end: int) -> None:
        """`go to Pos_1, Next and go home` in a cell with a position called Next."""
        if named := self.lexicon.places.get(self.reader.words[start:end]):
            self.reasons.append(f"It is not clear whether '{self._text(start, end)}' says when, or is {named[0]}.")

    def _counted(self) -> tuple[int, int] | None:
        """`2.` or `second` before a clause: its number, and how many words say it."""
        at = self.at
        fresh = not self.clauses or self.tokens[at - 1].text in SIGNS or self.reader.item_number(0)
        if fresh and (many := self.reader.item_number(at)):
            return int(self.reader.words[at]), many
        number = self.reader.ordinal_number(at)
        many = 2 if self.reader.word(at + 1) == "," else 1
        return (number, many) if fresh and number > 1 and self.reader.opens(at + many) else None

    def _match(self, phrases: tuple[Phrase, ...]) -> int:
        fits = [len(phrase) for phrase in phrases if self.reader.words[self.at : self.at + len(phrase)] == phrase]
        return max(fits, default=0)

    def _give_up(self, start: int, mishap: Mishap) -> None:
        """Note what was not understood and go on behind the next sign or joining word."""
        stop = max(mishap.at, start + 1)
        while stop < len(self.tokens) and not self._starts_afresh(stop):
            stop += 1
        if mishap.unknown:
            self.unknown.append(mishap.unknown)
        if mishap.says:
            self.reasons.append(mishap.says)
        else:
            lost = [token.text for token in self.tokens[mishap.at : stop]]
            self.trouble += lost or [token.text for token in self.tokens[start:stop]]
        self.at = stop

    def _starts_afresh(self, at: int) -> bool:
        return self.tokens[at].text in SIGNS or self.tokens[at].word in ("then", "and", "finally", "afterwards")

    def _text(self, start: int, end: int) -> str:
        return " ".join(token.text for token in self.tokens[start:end])

    def _refusal(self, words: tuple[str, ...], hard: list[str]) -> Refusal:
        parts = []
        if hard:
            parts.append(f"{_quoted(hard)} can change or leave open what is meant, so nothing was planned.")
        told = " ".join(self.reasons)
        unknown = [word for word in words if word not in hard and f"'{word}'" not in told]
        if unknown:
            verb = "was" if len(set(unknown)) == 1 else "were"
            parts.append(f"{_quoted(unknown)} {verb} not understood, so nothing was planned.")
        parts += dict.fromkeys(self.reasons)
        if not parts:
            parts.append("The text names nothing to do.")
        done = [chip.says for chip in self.chips if chip.goals]
        parts.append(f"Understood: {name_list(done)}." if done else "Nothing else was understood.")
        return Refusal(tuple(self.chips), words, " ".join(parts), self._hint(), tuple(dict.fromkeys(self.unknown)))

    def _hint(self) -> str:
        routines = sorted({spoken for names in self.lexicon.routines.values() for spoken in names})
        return (
            "Say what to do in plain clauses, such as "
            f"'{routines[0].replace('_', ' ') if routines else 'go'} at position 1, then go home'."
        )


def _shortened(cut: list[Token]) -> list[Token]:
    """Without the full stop of `pos. 1`; the `no` of `no. 1` is then a number."""
    kept: list[Token] = []
    for at, token in enumerate(cut):
        following = cut[at + 1] if at + 1 < len(cut) else Token("", "")
        before = kept[-1].word if kept else ""
        if token.text == "." and before in SHORTENED and is_number(following.word):
            kept[-1] = Token(kept[-1].text, "number" if before == "no" else before)
        else:
            kept.append(token)
    return kept


def _asked_for(sentence: list[Token]) -> list[Token]:
    """Without the question mark that ends a polite request: "could you please weld position 1?"."""
    words = tuple(token.word for token in sentence)
    at = 0
    while at < len(words):
        if any(words[at : at + len(phrase)] == phrase for phrase in POLITE):
            return sentence[:-1] if words[-1:] == ("?",) else sentence
        many = max((len(one) for one in SMALL_TALK if words[at : at + len(one)] == one), default=0)
        if not many and words[at] not in SIGNS:
            break
        at += many or 1
    return sentence


def _quoted(words: list[str]) -> str:
    return ", ".join(f"'{word}'" for word in dict.fromkeys(words))


def _plain(word: str) -> str:
    token = tokens(word)
    return token[0].word if len(token) == 1 else word
