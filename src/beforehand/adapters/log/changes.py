"""What many changes to the rows come to, so that each row is written once."""

from collections.abc import Iterable
from typing import Any

from beforehand.adapters.log.encoding import Change


def outcome(changes: Iterable[tuple[int, Change]]) -> tuple[list[tuple[Any, ...]], list[tuple[str, str]]]:
    """The rows that are left, each with the number that made it, and those to delete before they are written.

    A row keeps the number that first made it; deleted and made again it gets a new one.
    """
    left: dict[tuple[str, str], tuple[Any, ...]] = {}
    gone: set[tuple[str, str]] = set()
    for seq, change in changes:
        kind, id, _, _, body = change
        key = (kind, id)
        if body is None:
            left.pop(key, None)
            gone.add(key)
        else:
            first = left.get(key)
            left[key] = (*change, first[5] if first else seq)
    return list(left.values()), sorted(gone)
