"""What the engine knows of the tools: their declarations, and whether arguments fit them.

Arguments are checked against the tool's JSON schema. While a plan is only validated, whatever holds a reference may
still become anything, so complaints about those places wait until the values are there.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from beforehand.engine.references import holds_reference
from beforehand.engine.schemas import path_of, sentence_of, validator_of
from beforehand.ports.tool import ToolSpec

_PLAIN_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_PLAIN_OBJECT = frozenset({"type", "properties", "required", "additionalProperties", "title", "description", "$schema"})
_PLAIN_BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "minLength": lambda value, bound: len(value) >= bound,
    "maxLength": lambda value, bound: len(value) <= bound,
    "minimum": lambda value, bound: value >= bound,
    "maximum": lambda value, bound: value <= bound,
}
_PLAIN_KEYS = frozenset({"type", "description", "title", "default", "examples", *_PLAIN_BOUNDS})
_MAX_COMPLAINTS = 20
_ABOUT_NAMES = ("required", "additionalProperties")
"""Complaints about which arguments there are, which no value that a reference may get can mend."""


class ToolCatalog:
    """The tools by name. Built anew when the set of tools changes."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._validators: dict[str, Any] = {}

    def names(self) -> list[str]:
        return sorted(self._specs)

    def get(self, name: str) -> ToolSpec | None:
        return self._specs.get(name)

    def specs(self) -> list[ToolSpec]:
        return [self._specs[name] for name in self.names()]

    def complaints(self, tool: str, args: Mapping[str, Any], *, filled_in: bool) -> list[tuple[str, str]]:
        """What is wrong with the arguments, as (path, sentence) pairs; `filled_in` when references are resolved."""
        schema = self._specs[tool].input_schema
        if _fits_plainly(schema, args):
            return []
        if tool not in self._validators:
            self._validators[tool] = validator_of(schema)
        return _complaints(self._validators[tool], dict(args), filled_in, "args")


def complaints_about(schema: Mapping[str, Any], value: Any, *, filled_in: bool, where: str) -> list[tuple[str, str]]:
    """The same for any value and schema; `where` is what the value is called."""
    return _complaints(validator_of(schema), value, filled_in, where)


def _complaints(validator: Any, value: Any, filled_in: bool, where: str) -> list[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    try:
        for error in validator.iter_errors(value):
            if filled_in or error.validator in _ABOUT_NAMES or not holds_reference(error.instance):
                found.add((path_of(error, where), sentence_of(error)))
            if len(found) >= _MAX_COMPLAINTS:
                break
    except Exception:  # a schema that is none itself: the tool has to look at its arguments alone
        return sorted(found)
    return sorted(found)


def _fits_plainly(schema: Mapping[str, Any], args: Mapping[str, Any]) -> bool:
    """A quick yes for flat objects of plain types, which most calls are; anything else is for the real validator."""
    if not _PLAIN_OBJECT.issuperset(schema):
        return False
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in args:
            return False
    for name, value in args.items():
        rule = properties.get(name)
        if not isinstance(rule, Mapping) or not _PLAIN_KEYS.issuperset(rule):
            return False
        kinds = _PLAIN_TYPES.get(rule["type"]) if isinstance(rule.get("type"), str) else None
        if kinds is None or type(value) not in kinds or not (len(rule) == 1 or _keeps_bounds(value, rule)):
            return False
    return True


def _keeps_bounds(value: Any, rule: Mapping[str, Any]) -> bool:
    if _PLAIN_BOUNDS.keys().isdisjoint(rule):
        return True
    try:
        return all(keeps(value, rule[name]) for name, keeps in _PLAIN_BOUNDS.items() if name in rule)
    except TypeError:  # a bound that is none for this type of value
        return False
