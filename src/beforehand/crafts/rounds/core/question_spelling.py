"""Words written with one slip: `yesteday`, `faild`, `robott`; and verbs as `he` has them: `drives`.

A word is read as another only where one letter is missing, too many or swapped with its neighbour, in long words also
where one is another, and where nothing else in the grammar is as near. What was read so is told.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from beforehand.crafts.rounds.core.question_parts import Knowledge
from beforehand.crafts.rounds.core.question_time import DAYS, MONTHS
from beforehand.crafts.rounds.core.question_words import Words, plural

_LONG = 8
"""From this length on another letter is a slip, too: `charged` and `changed` are two words."""
_WORDS = (
    *("yesterday", "today", "between", "average", "longest", "slowest", "fastest", "shortest", "fewest", "median"),
    *("percentage", "duration", "hour", "hours", "minutes", "week", "month", "morning", "afternoon", "which"),
    *("happened", "different", *DAYS, *MONTHS),
)


class Respelled(NamedTuple):
    text: str
    corrections: list[str]


def respelled(words: Words, known: Knowledge) -> Respelled | None:
    """The text with its slips mended; None where there is none that can only be one word."""
    meanings = dict(_meanings(known))
    text, corrections = words.whole, []
    for word in words.rest:
        meant = _meant(word.lower(), meanings) if word.isalpha() else ""
        if meant:
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", meant, text)
            corrections.append(f"{word} was read as {meant}.")
    return Respelled(text, corrections) if corrections else None


def _meant(word: str, meanings: Mapping[str, str]) -> str:
    if word in meanings:
        return ""
    if word.removesuffix("s") in meanings:
        return word.removesuffix("s")
    near = sorted((one for one in meanings if is_slip(word, one)), key=lambda one: (-len(one), one))
    return near[0] if len({meanings[one] for one in near}) == 1 else ""


def _meanings(known: Knowledge) -> Iterator[tuple[str, str]]:
    """The words of the grammar, those that mean the same with the same mark."""
    yield from ((word, word) for word in _WORDS)
    for index in known.indexes:
        for spoken in (*(noun.words for noun in index.nouns), *(one.words for one in index.fields)):
            yield from ((form, spoken[0]) for word in spoken for form in (word, plural(word)))
        for condition in index.conditions:
            yield from ((word, condition.words[0]) for word in condition.words)


def is_slip(word: str, meant: str) -> bool:
    """Whether a word differs from another by one slip of a hand."""
    if word[:1] != meant[:1]:
        return False
    if len(word) == len(meant):
        return _is_swapped(word, meant) or (len(meant) >= _LONG and sum(map(str.__ne__, word, meant)) == 1)
    short, long = sorted((word, meant), key=len)
    is_one = len(long) == len(short) + 1 and len(long) > 4
    return is_one and any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _is_swapped(word: str, meant: str) -> bool:
    return any(word[:at] + word[at : at + 2][::-1] + word[at + 2 :] == meant for at in range(1, len(word) - 1))
