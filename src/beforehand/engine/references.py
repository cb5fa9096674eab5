"""References: how a step's arguments use what earlier steps gave.

An argument that is exactly `$step_1` becomes that step's value, type kept; `$step_1.a.b[0]` a part of it;
`${step_1.a}` inside a longer string is put in as text; `$$` is a literal `$`. Any other dollar is just a dollar, unless
it begins what can only be a reference gone wrong, such as `$list[-1]` or `${list`: that is a problem of the plan.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from beforehand.model.reason import name_list, nearest_names
from beforehand.model.words import counted
from beforehand.ports.tool import Unknown

_PARTS = r"(?:\.[^.\[\]${}\s]+|\[\d{1,9}\])*"
_WHOLE = re.compile(rf"\$(?:(\w[\w-]*)({_PARTS})|\{{(\w[\w-]*)({_PARTS})\}})")
_INSIDE = re.compile(rf"\$\$|\$\{{(\w[\w-]*)({_PARTS})\}}")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Reference:
    step: str
    parts: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return "$" + self.step + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in self.parts)


class MissingPartError(Exception):
    """A reference names a part that is not there; `says` tells what was."""

    def __init__(self, says: str) -> None:
        super().__init__(says)
        self.says = says


def _reference(step: str, parts: str) -> Reference:
    return Reference(step, tuple(int(i) if i else key for key, i in _PART.findall(parts)))


def parse_reference(text: str) -> Reference | None:
    """The reference that `text` is as a whole, `$step_1.a[0]`, else None."""
    if text[:1] != "$":
        return None
    return _parse_short(text) if len(text) <= 100 else _parse(text)


def _parse(text: str) -> Reference | None:
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    if match[1] is not None:
        return _reference(match[1], match[2])
    return _reference(match[3], match[4])


_parse_short = lru_cache(maxsize=50_000)(_parse)
"""A plan's references are looked at when it is validated, laid out and run."""


def references_in(value: Any) -> list[Reference]:
    """Every reference in an argument, however deep it lies."""
    found: list[Reference] = []
    stack = [value] if value else []
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if "$" in item:
                found += _references_in_text(item)
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
    return found


def _references_in_text(text: str) -> list[Reference]:
    whole = parse_reference(text)
    if whole is not None:
        return [whole]
    return [_reference(match[1], match[2]) for match in _INSIDE.finditer(text) if match[1] is not None]


_GONE_WRONG = re.compile(r"\$(?:\$|\{([^{}]*)(\}?))")


def broken_references(value: Any) -> list[str]:
    """Texts in an argument that look like a reference and cannot be read as one."""
    found: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if "$" in item and parse_reference(item) is None:
                found += _broken_in_text(item)
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)
    return found


def _broken_in_text(text: str) -> list[str]:
    if _ODD_WHOLE.fullmatch(text):
        return [text]
    odd = (match for match in _GONE_WRONG.finditer(text) if match[1] is not None)
    return [match[0] for match in odd if _INSIDE.fullmatch(match[0]) is None and _is_meant(match[1], bool(match[2]))]


def _is_meant(inside: str, closed: bool) -> bool:
    """Whether what stands after `${` names a step: a name, and then the end or a part of it."""
    return bool((_BEGINS if closed else _NAME).match(inside))


_ODD_WHOLE = re.compile(r"\$\w[\w-]*(?:\.[\w-]+|\[\d+\])*(?:\[[^\]\s]*\]?|\.)(?:\.[\w-]+|\[[^\]\s]*\])*")
"""A whole argument that begins like a reference and ends in a part that is none: `$list[-1]`, `$list[x]`, `$list[`."""
_BEGINS = re.compile(r"\w[\w-]*(?:[.\[]|$)")
_NAME = re.compile(r"\w")


def holds_reference(value: Any) -> bool:
    return bool(references_in(value))


def fill(value: Any, look_up: Callable[[Reference], Any]) -> Any:
    """The argument with every reference filled in; `look_up` may raise MissingPartError."""
    if isinstance(value, str):
        return _fill_text(value, look_up) if "$" in value else value
    if isinstance(value, dict):
        return {key: fill(item, look_up) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, look_up) for item in value]
    return value


def _fill_text(text: str, look_up: Callable[[Reference], Any]) -> Any:
    whole = parse_reference(text)
    if whole is not None:
        return look_up(whole)

    def put_in(match: re.Match[str]) -> str:
        if match[1] is None:
            return "$"
        return as_text(look_up(_reference(match[1], match[2])))

    return _INSIDE.sub(put_in, text)


def rewrite(text: str, replace: Callable[[Reference], str | None]) -> str:
    """The text with some of its `${…}` replaced and the rest, `$$` included, left as written."""

    def put_in(match: re.Match[str]) -> str:
        put = None if match[1] is None else replace(_reference(match[1], match[2]))
        return match[0] if put is None else put

    return _INSIDE.sub(put_in, text)


def as_text(value: Any) -> str:
    """A value inside a longer string: strings as they are, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def part_of(value: Any, reference: Reference) -> Any:
    """The referenced part of a step's value; MissingPartError says what was there instead."""
    if isinstance(value, Unknown):
        return value
    seen = Reference(reference.step)
    for part in reference.parts:
        value = _one_part(value, part, reference, seen)
        seen = Reference(seen.step, (*seen.parts, part))
    return value


def _one_part(value: Any, part: str | int, reference: Reference, seen: Reference) -> Any:
    if isinstance(part, str) and isinstance(value, dict):
        if part in value:
            return value[part]
        there = name_list(nearest_names(part, map(str, value)))
        raise MissingPartError(f"{reference} is not there: {seen} has no {part!r}; it has {there}.")
    if isinstance(part, int) and isinstance(value, list | tuple):
        if part < len(value):
            return value[part]
        raise MissingPartError(f"{reference} is not there: {seen} is a list of {len(value)}.")
    raise MissingPartError(f"{reference} is not there: {seen} is {describe(value)}.")


def describe(value: Any) -> str:
    """What a value is, in a few words, for a sentence about it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"text of {counted(len(value), 'character')}"
        case dict():
            return f"an object with {name_list(sorted(map(str, value))[:10])}"
        case list() | tuple():
            return f"a list of {len(value)}"
        case _:
            return f"a {type(value).__name__}"
