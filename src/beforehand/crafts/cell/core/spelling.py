"""What a misspelt word can be: the one known word so near to it that nothing else could have been meant.

One letter of a long word may be wrong, left out or put in; in verbs and other words of the grammar two letters may
also have changed places. Words that turn a meaning round (not, or, if ...) are words too, so a misspelt "without" is
never read as something harmless.
"""

import re
from collections.abc import Iterable, Iterator

from beforehand.crafts.cell.core.lexicon import HARD, Lexicon
from beforehand.model.cell import Goal

LONG = 6
"""Letters a word must have for one of them to be wrong."""

OTHER_WORDS = frozenset(["attack", "charge", "chance", "remote", "mixture", "solder", "folder", "holder", "wielder"])
"""Words of their own that stand one letter beside one of ours."""


def corrected(word: str, lexicon: Lexicon) -> str | None:
    """The one known word this can be a misspelling of; a plural is its singular, an -ing form its verb."""
    if not word.isalpha() or word in OTHER_WORDS:
        return None
    return singular(word, lexicon) or _stem(word, lexicon.words) or _nearest(word, lexicon)


def singular(word: str, lexicon: Lexicon) -> str | None:
    ends = [word[: -len(end)] for end in ("es", "s") if word.endswith(end)]
    return next((bare for bare in ends if len(bare) > 2 and bare in lexicon.names), None)


def _stem(word: str, known: frozenset[str]) -> str | None:
    """The verb an -ing form belongs to."""
    if not word.endswith("ing"):
        return None
    bare = word[:-3]
    forms = [form for form in (bare, bare + "e", bare[:-1]) if len(form) > 2 and form in known and form not in HARD]
    return forms[0] if forms else None


def _nearest(word: str, lexicon: Lexicon) -> str | None:
    verbs = lexicon.grammar | {other for phrase in lexicon.routines for other in phrase}
    near = {other for other in verbs if len(other) > 3 and _swapped(word, other)}
    near |= {other for other in lexicon.words if len(other) >= LONG and _one_letter(word, other)}
    near |= {f"{verb}ing" for verb in verbs if len(verb) > 3 and _one_letter(word, f"{verb}ing")}
    near = {other for other in near if not _opposite(word, other)}
    found = near.pop() if len(near) == 1 else None
    return _stem(found, lexicon.words) or found if found else None


def _swapped(word: str, other: str) -> bool:
    """Whether two neighbouring letters have changed places."""
    if len(word) != len(other) or word == other:
        return False
    at = next(at for at in range(len(word)) if word[at] != other[at])
    return word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :] == other


def _one_letter(word: str, other: str) -> bool:
    """Whether one letter is wrong, left out or put in."""
    short, long = sorted((word, other), key=len)
    if len(long) - len(short) > 1 or word == other:
        return False
    at = next((at for at in range(len(short)) if short[at] != long[at]), len(short))
    return short[at + 1 :] == long[at + 1 :] if len(short) == len(long) else short[at:] == long[at + 1 :]


def _opposite(word: str, other: str) -> bool:
    """One is the other with a letter before it: a different word, not a slip of the hand."""
    return (word.endswith(other) or other.endswith(word)) and word[0] != other[0]


def spelled_otherwise(text: str, goals: Iterable[Goal]) -> Iterator[str]:
    """A note for every name that stands in a text in other letters or with other gaps than it is written."""
    for name in dict.fromkeys(name for goal in goals for name in (goal.position, goal.tool, goal.routine) if name):
        parts = re.split(r"[\s_-]+|(?<=[a-zA-Z])(?=\d)", name)
        pattern = r"[\s_-]*".join(re.escape(part) for part in parts if part)
        found = re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE)
        if found and name not in text:
            yield f"'{found[0]}' was read as '{name}'."
