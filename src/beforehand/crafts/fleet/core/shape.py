"""Turns one part of a document into its word, with a plain sentence and a path for everything that is wrong with it.

What is wrong in a part is taken out and the part is read again without it: a worksite with an impossible occupancy
is still known by its name, so that the streams that name it are not blamed as well.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from beforehand.model.reason import Problem, unknown

ModelT = TypeVar("ModelT", bound=BaseModel)


class Problems:
    """The list that fills up while a document is read."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self.found)

    def add(
        self, code: str, path: str, says: str, *, about: str = "", try_next: str = "", nearest: Iterable[str] = ()
    ) -> None:
        at = f"{path}: " if path else ""
        self.found.append(
            Problem(
                code=code,
                about=about or path or "scene",
                says=at + says,
                try_next=try_next,
                path=path,
                nearest=tuple(nearest),
                fixable_by="user",
            )
        )

    def unknown_key(self, key: str, path: str, known: Iterable[str]) -> None:
        told = unknown("key", _short(key), known)
        where = f"{path}.{key}" if path else key
        self.add(
            "scene.unknown_key",
            where,
            told.says,
            about=_short(key),
            try_next="Correct the spelling or remove the key.",
            nearest=told.nearest,
        )

    def unknown_name(self, name: str, path: str, what: str, known: Iterable[str]) -> None:
        told = unknown(what, _short(name), known)
        self.add(
            "scene.unknown_name",
            path,
            told.says,
            about=_short(name),
            try_next=f"Use one of the names above or add the {what}.",
            nearest=told.nearest,
        )

    def in_order(self) -> tuple[Problem, ...]:
        """Unknown names first, then the rest as they stand in the file; nothing said twice."""
        first = {"scene.unknown_name", "scene.unknown_key", "scene.unknown_kind"}
        once = list(dict.fromkeys(self.found))
        return tuple(sorted(once, key=lambda problem: problem.code not in first))


def read_shape(model: type[ModelT], given: Any, path: str, problems: Problems) -> ModelT | None:
    """The word, read without its wrong parts, or with blanks where a needed part is wrong; None if it is no mapping.

    A word with blanks is only good for further checks, and there is a problem on the list, so that it goes no further.
    """
    if not isinstance(given, Mapping):
        problems.add("scene.not_a_mapping", path, "this must be a mapping of keys to values.")
        return None
    rest = _known_keys(model, given, path, problems)
    try:
        return model.model_validate(rest)
    except ValidationError as error:
        _report(model, error, path, problems)
        wrong = {str(item["loc"][0]) for item in error.errors() if item["loc"]}
        rest = {key: value for key, value in rest.items() if key not in wrong}
    try:
        return model.model_validate(rest)
    except ValidationError:
        return model.model_construct(**_with_blanks(model, rest))


def _with_blanks(model: type[BaseModel], rest: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        wire = field.alias or name
        if wire in rest:
            values[name] = rest[wire]
        elif field.is_required():
            values[name] = () if name.endswith("_group") else None
    return values


def is_text(text: str) -> bool:
    """Whether it can be written down: half a surrogate pair cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def check_plain(value: Any, path: str, problems: Problems, depth: int = 0) -> None:
    """What is passed on untouched must be plain data: text, finite numbers, true, false, null, lists, mappings."""
    if depth > 20:
        problems.add("scene.bad_value", path, "this is nested too deeply to be passed on to a robot.")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str) or not is_text(key):
                problems.add("scene.bad_value", path, f"the key {_short(key)} is not text.")
            else:
                check_plain(inner, f"{path}.{key}", problems, depth + 1)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            check_plain(inner, f"{path}[{number}]", problems, depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        problems.add("scene.bad_value", path, f"{value} is not a number that can be used.")
    elif not (value is None or isinstance(value, bool | int | float | str)) or (
        isinstance(value, str) and not is_text(value)
    ):
        problems.add("scene.bad_value", path, f"{_short(value)} is not plain text or a number; put it in quotes.")


def _known_keys(model: type[BaseModel], given: Mapping[Any, Any], path: str, problems: Problems) -> dict[str, Any]:
    """The given values under their wire names; both spellings are read, both at once is a problem."""
    wire = {name: field.alias or name for name, field in model.model_fields.items()}
    rest: dict[str, Any] = {}
    for key, value in given.items():
        name = wire.get(key, key) if isinstance(key, str) else key
        if name not in wire.values():
            problems.unknown_key(str(key), path, wire.values())
        elif name in rest:
            problems.add("scene.given_twice", f"{path}.{key}", f"{name} is given in both spellings; keep one.")
        else:
            rest[name] = value
    return rest


def _report(model: type[BaseModel], error: ValidationError, path: str, problems: Problems) -> None:
    """Adds a sentence for each thing pydantic found."""
    for item in error.errors(include_url=False):
        loc = item["loc"]
        if item["type"] == "extra_forbidden":
            problems.unknown_key(str(loc[-1]), _path(path, loc[:-1]), _keys_at(model, loc[:-1]))
        else:
            code = "scene.missing" if item["type"] == "missing" else "scene.bad_value"
            problems.add(code, _path(path, loc), _says(item))


def _keys_at(model: type[BaseModel], loc: tuple[Any, ...]) -> list[str]:
    for part in loc:
        field = next((f for name, f in model.model_fields.items() if part in (name, f.alias)), None)
        inner = field.annotation if field is not None else None
        if not (isinstance(inner, type) and issubclass(inner, BaseModel)):
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _path(path: str, loc: tuple[Any, ...]) -> str:
    for part in loc:
        path = f"{path}[{part}]" if isinstance(part, int) else f"{path}.{part}" if path else str(part)
    return path


def _says(item: Any) -> str:
    """A pydantic finding as a sentence."""
    kind, ctx, given = item["type"], item.get("ctx", {}), _short(item.get("input"))
    match kind:
        case "missing":
            return f"{item['loc'][-1]} is missing."
        case "literal_error":
            return f"{given} is not known here; use {ctx['expected']}."
        case "finite_number":
            return f"{given} is not a number that can be used."
        case "greater_than":
            return f"{given} is impossible: it must be greater than {ctx['gt']:g}."
        case "greater_than_equal":
            return f"{given} is impossible: it must be at least {ctx['ge']:g}."
        case "less_than":
            return f"{given} is impossible: it must be less than {ctx['lt']:g}."
        case "less_than_equal":
            return f"{given} is impossible: it must be at most {ctx['le']:g}."
        case "string_too_short":
            return "the name is empty."
        case "too_short":
            return "the list is empty; name at least one."
        case "too_long":
            return f"the list names {ctx['actual_length']}; name {ctx['max_length']} at most."
        case "float_type" | "int_type" | "int_from_float" | "int_parsing":
            shown = repr(item.get("input"))[:60]
            return f"{shown} is not a number." if kind == "float_type" else f"{shown} is not a whole number."
        case "string_type":
            return f"{given} is not text; put it in quotes if it is meant as a name."
        case "dict_type" | "model_type":
            return f"{given} cannot be used: this must be a mapping of keys to values."
        case "tuple_type":
            return f"{given} is not a list; write it in square brackets."
        case "bool_type":
            return f"{given} is neither true nor false."
        case _:
            text = str(item["msg"])
            return f"{given} cannot be used: {text[:1].lower()}{text[1:]}."


def _short(value: Any) -> str:
    """A value as it stands in a sentence, never longer than a line."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    text = value if isinstance(value, str) and value.isprintable() and value else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
