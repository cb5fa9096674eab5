"""What goes with a verb: the JSON schema of the value that an answer to a decision may or must bring.

A decision lists them beside its verbs. A schema that admits null says that the value may be left out. Where a schema
is an object of one property, its content may also be given bare: `{"targetId": "A1"}` or just `"A1"`.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.engine.tool_catalog import complaints_about
from beforehand.model.errors import BadInputError
from beforehand.ports.tool import ToolSpec

Schema = dict[str, Any]

ANSWER: Schema = {
    "type": ["string", "number", "boolean", "array", "object"],
    "description": "The answer, which becomes the step's value.",
}
HAPPENED: Schema = {"description": "What the step gave, where later steps use it; null when left out."}
INSERT: Schema = {
    "type": "object",
    "description": "The steps to put in, each with `id` and `tool`.",
    "properties": {
        "steps": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "tool": {"type": "string"}, "args": {"type": "object"}},
                "required": ["id", "tool"],
            },
        }
    },
    "required": ["steps"],
    "additionalProperties": False,
}


def retry_value(spec: ToolSpec | None) -> Schema:
    """Other arguments for a step, in the words of its tool."""
    args = {"type": "object"} if spec is None else dict(spec.input_schema)
    return one_of_its_own("args", args, "Other arguments for the step; its own when left out.")


def one_of_its_own(name: str, content: Schema, says: str) -> Schema:
    """A value that may be left out, with one property."""
    return {
        "type": ["object", "null"],
        "description": says,
        "properties": {name: content},
        "additionalProperties": False,
    }


def fitting(verb: str, schema: Mapping[str, Any] | None, value: Any) -> Any:
    """The value as the schema has it; BadInputError with a sentence where it does not fit.

    A verb without a schema takes whatever it is given, as those of older logs do.
    """
    if schema is None:
        return value
    value = _meant(schema, value)
    found = complaints_about(schema, value, filled_in=False, where="value")
    if not found:
        return value
    if value is None:
        says = f"The verb {verb!r} needs a `value`. {in_words(schema)}"
    else:
        says = f"This value does not fit {verb!r}: {'; '.join(f'{where} {what}' for where, what in found)}."
    raise BadInputError(says, code="decision.value")


def _meant(schema: Mapping[str, Any], value: Any) -> Any:
    """A value that was given bare, in its place."""
    properties = schema.get("properties") or {}
    if value is None or value == {} or len(properties) != 1:
        return value
    [name] = properties
    return value if isinstance(value, Mapping) and name in value else {name: value}


def in_words(schema: Mapping[str, Any]) -> str:
    """What a verb takes, for a person who reads it."""
    says = str(schema.get("description", "A value."))
    for name, content in (schema.get("properties") or {}).items():
        if choices := content.get("enum"):
            says += f" `{name}` is one of: {', '.join(map(str, choices))}."
        elif inner := content.get("properties"):
            says += f" `{name}` has: {', '.join(inner)}."
        else:
            says += f" It is given as `{name}`."
    return says
