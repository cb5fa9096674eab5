"""Small words that many sentences need, written in one place."""

import re
from collections.abc import Mapping
from typing import Any

DEEPEST = 4


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 step`, `2 steps`; `plural` is for nouns that do not just take an s."""
    return f"1 {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"


def named(field: str) -> str:
    """The name of a field as people read it: `sizeBefore` is `size before`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", field).replace("_", " ").lower()


def in_words(value: Any, deepest: int = DEEPEST) -> str:
    """A value as people read it: no quotes, no braces; what lies very deep is left out."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "yes" if value else "no"
        case Mapping() | list() | tuple() if deepest == 0:
            return "…"
        case Mapping():
            inside = (f"{name}: {in_words(item, deepest - 1)}" for name, item in value.items())
            return ", ".join(inside) or "nothing"
        case list() | tuple():
            return ", ".join(in_words(item, deepest - 1) for item in value) or "nothing"
    return str(value)
