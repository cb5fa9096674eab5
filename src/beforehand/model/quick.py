"""Frozen records that are quick to make.

A frozen dataclass puts every field of a new record in its place through `object.__setattr__`, which costs more than
all the rest of making it. Where records are made by the thousand, each value goes straight into its slot instead; they
are no less frozen for it.
"""

from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

KindT = TypeVar("KindT")


def quick(kind: type[KindT]) -> type[KindT]:
    """Decorates a dataclass with `frozen=True, slots=True`, all of whose fields are given or have a default."""
    of_kind: Any = kind
    assert not hasattr(kind, "__post_init__"), kind
    init = _initialiser(kind, fields(of_kind))
    init.__qualname__, init.__doc__ = f"{kind.__qualname__}.__init__", kind.__init__.__doc__
    of_kind.__init__ = init
    return kind


def _initialiser(kind: type[Any], every: tuple[Field[Any], ...]) -> Any:
    """Written out in full, as `dataclass` writes its own."""
    space: dict[str, Any] = {f"put_{one.name}": getattr(kind, one.name).__set__ for one in every}
    space |= {f"make_{one.name}": one.default_factory for one in every} | {"MISSING": MISSING}
    space |= {f"default_{one.name}": one.default for one in every}
    takes = ", ".join(["self", *map(_parameter, every)])
    exec(f"def __init__({takes}):\n{''.join(map(_put, every)) or ' pass'}", space)
    return space["__init__"]


def _parameter(one: Field[Any]) -> str:
    if one.default is not MISSING:
        return f"{one.name}=default_{one.name}"
    return one.name if one.default_factory is MISSING else f"{one.name}=MISSING"


def _put(one: Field[Any]) -> str:
    value = one.name
    if one.default_factory is not MISSING:
        value = f"make_{one.name}() if {one.name} is MISSING else {one.name}"
    return f" put_{one.name}(self, {value})\n"
