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
        self.refused: list[str] = []

    def take(self, pattern: str) -> re.Match[str] | None:
        """The first place that matches whole words, taken out."""
        found = re.search(rf"(?<![\w§-])(?:{pattern})(?![\w-])", self.text, re.IGNORECASE)
        if found is None:
            return None
        self.text = f"{self.text[: found.start()]}{TAKEN}{self.text[found.end() :]}"
        lowered = re.search(rf"(?<![\w§-])(?:{pattern})(?![\w-])", f" {found[0].lower()} ")
        return lowered or found

    def take_exactly(self, names: Iterable[str]) -> tuple[str, str] | None:
        """The first of the names, in any case, and the word before it."""
        wanted = sorted((name for name in names if name.strip() and TAKEN.strip() not in name), key=len, reverse=True)
        if not wanted:
            return None
        spelled = "|".join(re.escape(name) for name in wanted)
        found = re.search(rf"(?:\b([a-z]+)\s+)?(?<![\w-])({spelled})(?![\w-])", self.text, re.IGNORECASE)
        if found is None:
            return None
        self.text = f"{self.text[: found.start(2)]}{TAKEN}{self.text[found.end(2) :]}"
        return found[2], (found[1] or "").lower()

    def left_over(self, phrase: str) -> None:
        """A phrase that cannot be understood."""
        self.refused.append(phrase.strip())

    @property
    def rest(self) -> list[str]:
        """The words nobody took, fillers aside."""
        return [word for word in re.findall(r"[^\s§]+", self.text) if not _FILLER.fullmatch(word)]


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
