"""A text that words are taken out of until none is left.

Everything that means something is taken by the rule that understands it. What nobody took and what is no mere filler
makes a question that was not understood, and such a question is refused.
"""

import re
from collections.abc import Iterable

TAKEN = "§"
_FILLER = re.compile(
    r"a|an|the|of|in|at|on|by|for|did|do|does|was|were|is|are|have|has|had|been|be|there|that|this|which|what|who|we|me|"
    r"us|please|our|all|any|their|its|it|so|then|i|want|to|know|tell|can|could|you|would|like|about|see|them|those|"
    r"these|and|with|during|get|got|happen|happened|take|make|made|my|give|show",
    re.IGNORECASE,
)


class Words:
    def __init__(self, text: str) -> None:
        plain = re.sub(r"[?!,;\"“”]|[.:](?=\s|$)", " ", text.replace("’", "'"))
        self.text = f" {' '.join(plain.split())} "
        self.whole = self.text
        """The text before anything was taken."""
        self.refused: list[str] = []

    def take(self, pattern: str) -> re.Match[str] | None:
        """The first place that matches whole words, taken out."""
        found = re.search(rf"(?<![\w§-])(?:{pattern})(?![\w-])", self.text, re.IGNORECASE)
        if found is None:
            return None
        self.text = f"{self.text[: found.start()]}{TAKEN}{self.text[found.end() :]}"
        lowered = re.search(rf"(?<![\w§-])(?:{pattern})(?![\w-])", f" {found[0].lower()} ")
        return lowered or found

    def take_exactly(self, names: Iterable[str], kinds: str) -> tuple[str, list[str]] | None:
        """The first of the names, in any case, and the two words before it. `kinds` is a pattern of their kinds.

        A name that is a filler, too, is one only if it is written as itself, and a number is one only behind a word
        that says so: `a task in the last 10 hours` is about neither A nor IN nor 10.
        """
        wanted = sorted((name for name in names if name.strip() and TAKEN.strip() not in name), key=len, reverse=True)
        if not wanted:
            return None
        spelled = "|".join(re.escape(name) for name in wanted)
        for found in re.finditer(rf"(?<![\w-])({spelled})(?![\w-])", self.text, re.IGNORECASE):
            before = self.text[: found.start()].lower().split()[-2:]
            as_itself = found[0] in wanted and not found[0].islower() and not self.whole.isupper()
            if _is_name(found[0], as_itself, " ".join(before), self.text[found.end() :], kinds):
                self.text = f"{self.text[: found.start()]}{TAKEN}{self.text[found.end() :]}"
                return found[0], before
        return None

    def left_over(self, phrase: str) -> None:
        """A phrase that cannot be understood."""
        self.refused.append(phrase.strip())

    @property
    def rest(self) -> list[str]:
        """The words nobody took, fillers aside."""
        return [word for word in re.findall(r"[^\s§]+", self.text) if not _FILLER.fullmatch(word)]


def _is_name(said: str, as_itself: bool, before: str, after: str, kinds: str) -> bool:
    told = re.search(rf"(?:^|\s)(?:{kinds})$", before) is not None
    linked = re.search(r"(?:^|\s)(?:from|to|at)$", before) is not None
    if said.isdigit():
        return told or linked or re.search(rf"{TAKEN}(?:\s+(?:and|or))?$", before) is not None
    is_article = re.match(rf"\s+(?:{kinds})(?!\w)", after, re.IGNORECASE) is not None
    return told or as_itself or _FILLER.fullmatch(said) is None or (linked and not is_article)


def forms(word: str) -> str:
    """A pattern for a noun in the singular and the plural."""
    spelled = re.escape(word).replace(r"\ ", r"\s+")
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return rf"{spelled[:-1]}(?:y|ies)"
    return rf"{spelled}(?:es)?" if word.endswith(("s", "x", "ch", "sh")) else rf"{spelled}s?"


def plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word}s"
