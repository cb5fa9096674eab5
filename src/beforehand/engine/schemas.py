"""Values held to a JSON schema, and what does not fit told in few words."""

from collections.abc import Mapping
from typing import Any

from beforehand.model.reason import name_list, nearest_names
from beforehand.model.words import counted


def validator_of(schema: Mapping[str, Any]) -> Any:
    """What finds the misfits of any value; costs time to make, so keep it."""
    from jsonschema.validators import validator_for
    from referencing.jsonschema import EMPTY_REGISTRY  # else a `$ref` might be fetched from anywhere

    return validator_for(schema)(schema, registry=EMPTY_REGISTRY)


def misfits(schema: Mapping[str, Any], value: Any, name: str, most: int = 20) -> list[str]:
    """What is wrong with a value, a sentence each; `name` is what the value is called in them."""
    found: set[str] = set()  # several of a validator's errors may come to the same sentence
    for error in validator_of(schema).iter_errors(value):
        found.add(f"{path_of(error, name)} {sentence_of(error)}.")
        if len(found) >= most:
            break
    return sorted(found)


def path_of(error: Any, name: str) -> str:
    """Where in the value it is: `args.a[0].b`."""
    return name + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)


def sentence_of(error: Any) -> str:
    """A jsonschema error in few words; long values are not repeated."""
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return f"needs {', '.join(repr(name) for name in missing)}"
        case "additionalProperties":
            known = error.schema.get("properties", {})
            extra = sorted(str(name) for name in error.instance if name not in known)
            return f"does not take {', '.join(map(repr, extra))}; it takes {', '.join(sorted(known)) or 'nothing'}"
        case "type":
            wanted = error.validator_value
            return f"must be {wanted if isinstance(wanted, str) else ' or '.join(wanted)}, not {_kind(error.instance)}"
        case "enum" if isinstance(error.instance, str):
            choices = list(map(str, error.validator_value))
            near = name_list(nearest_names(error.instance[:80], choices))
            many = near if len(choices) <= 10 else f"{counted(len(choices), 'choice')} such as {near}"
            return f"must be one of {many}, not {error.instance[:80]!r}"
        case "maxItems" | "minItems":
            most = "at most" if error.validator == "maxItems" else "at least"
            return f"must have {most} {counted(error.validator_value, 'item')}, not {len(error.instance)}"
        case _:
            message: str = error.message
            return message if len(message) <= 200 else message[:197] + "…"


def _kind(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return "null" if value is None else names.get(type(value), type(value).__name__)
