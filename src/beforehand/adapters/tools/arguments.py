"""What the built-in tools share about arguments: strict schemas, and arguments a preview cannot know yet."""

from collections.abc import Iterator, Mapping
from typing import Any

from beforehand.ports.tool import Unknown

PATH = {
    "type": "string",
    "minLength": 1,
    "description": "A path inside the workspace, relative to it, such as notes/today.txt.",
}


def strict(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """An object that has all of these properties and no others."""
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


def unknowns(value: Any) -> Iterator[Unknown]:
    """Every value in the arguments that a preview cannot know."""
    if isinstance(value, Unknown):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from unknowns(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from unknowns(inner)


def dependence(value: Any) -> str:
    """What a value depends on, for a sentence; '' when it is known."""
    return " and ".join(dict.fromkeys(unknown.says for unknown in unknowns(value)))
