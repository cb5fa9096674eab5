"""Small words that many sentences need, written in one place."""

import re
from collections.abc import Mapping
from typing import Any

DEEPEST = 4
_VALUES = {
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a number that can be used",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number that can be used",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than": "less than {lt:g}",
    "less_than_equal": "{le:g} or less",
    "literal_error": "{expected}",
    "enum": "{expected}",
}
"""What a value has to be, by the name that pydantic has for what is wrong with it."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 step`, `2 steps`; `plural` is for nouns that do not just take an s."""
    return f"1 {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"


def wanted_value(kind: str, limits: Mapping[str, Any]) -> str | None:
    """What a value has to be, in plain words, for a finding of pydantic's; None where there are none for it."""
    words = _VALUES.get(kind)
    return words and words.format(**limits)


def in_bytes(size: int) -> str:
    """`512 B`, `3.4 MB`: a size as people read it, in steps of a thousand."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= step:
            return f"{size / step:.1f} {unit}"
    return f"{size} B"


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
        case _:
            return str(value)


def duration(ms: int) -> str:
    """A length of time in its two biggest units: `1 h`, `2 min 5 s`, `30 days`."""
    seconds = round(ms / 1000)
    parts = [
        (seconds // 86_400, "day" if seconds // 86_400 == 1 else "days"),
        (seconds // 3_600 % 24, "h"),
        (seconds // 60 % 60, "min"),
        (seconds % 60, "s"),
    ]
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    named = [f"{count} {unit}" for count, unit in parts[first : first + 2] if count]
    return " ".join(named) or "0 s"
