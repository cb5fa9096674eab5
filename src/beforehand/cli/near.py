"""Which known word a misspelt one stands for, if any: a slip of the finger or two, or the beginning of a word.

A guess that is far off is worse than none, so short words must be nearer than long ones.
"""

from collections.abc import Iterable

MOST = 3
SHORTEST_BEGINNING = 3


def near_words(wanted: str, known: Iterable[str]) -> list[str]:
    """The known words as near as the nearest one, at most three; none where none is near."""
    word = _plain(wanted)
    slips = {name: slips_between(word, _plain(name)) for name in known}
    near = {name: count for name, count in slips.items() if _is_near(word, _plain(name), count)}
    if not near:
        begun = len(word) >= SHORTEST_BEGINNING
        return [name for name in slips if begun and _plain(name).startswith(word)][:MOST]
    return [name for name, count in near.items() if count == min(near.values())][:MOST]


def _plain(word: str) -> str:
    return word.lower().lstrip("-").replace("_", "-")[:40]


def _is_near(word: str, name: str, slips: int) -> bool:
    """Whoever slips twice still begins a word as it begins: `deploy` is no `replay`."""
    return slips <= _allowed(word, name) and (slips < 2 or word[:1] == name[:1])


def _allowed(word: str, name: str) -> int:
    """One slip in a short word, two in a longer one, three in a very long one; never half of it."""
    shorter = min(len(word), len(name))
    return 0 if shorter < 2 else 1 if shorter < 6 else 2 if shorter < 10 else 3


def slips_between(a: str, b: str) -> int:
    """How many letters were left out, put in, mistaken, or swapped with the next, at least."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, right in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
