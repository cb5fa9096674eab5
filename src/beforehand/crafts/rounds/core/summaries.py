"""Outputs as the planner sees them: short scalars as they are, everything else as its shape and size.

The planner wires values and reads flags; it needs no payload, and a payload's words shall not steer it.
"""

import json
from collections.abc import Mapping
from typing import Any

from beforehand.model.reason import name_list
from beforehand.model.words import counted

SHORT = 160
MOST_FIELDS = 8


def summary_of(value: Any) -> str:
    match value:
        case None | bool() | int() | float():
            return json.dumps(value)
        case str():
            return (
                json.dumps(value, ensure_ascii=False)
                if len(value) <= SHORT
                else f"text, {counted(len(value), 'character')}"
            )
        case Mapping():
            return f"object, {counted(len(value), 'field')}{_names(value)}"
        case list() | tuple():
            return f"list, {counted(len(value), 'item')}{_of(value)}"
        case _:
            return type(value).__name__


def _names(value: Mapping[str, Any]) -> str:
    names = [str(name)[:40] for name in value][:MOST_FIELDS]
    more = ", …" if len(value) > MOST_FIELDS else ""
    return f": {name_list(names)}{more}" if names else ""


def _of(items: list[Any] | tuple[Any, ...]) -> str:
    """What the items are, where all are alike."""
    kinds = {_kind(item) for item in items}
    if kinds == {"object"}:
        return f", each an object{_names(items[0])}"
    return f", each {kinds.pop()}" if len(kinds) == 1 else ""


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case Mapping():
            return "object"
        case _:
            return "a list"


def summaries_of(outputs: Mapping[str, Any]) -> dict[str, str]:
    return {slot: summary_of(value) for slot, value in outputs.items()}
