"""Reading the parts of a body: what a clause may hold, which fields there are, and what is wrong, told."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from beforehand.model.reason import unknown
from beforehand.ports.search import Field, FieldType, SearchError

NUMBERS: tuple[FieldType, ...] = ("long", "double", "date")
LARGEST = 2**63 - 1


class Sql(NamedTuple):
    """A piece of SQL and the values its marks stand for."""

    text: str
    values: tuple[Any, ...] = ()


class Columns:
    """The fields of one index as columns; a name nobody declared is refused with the nearest."""

    def __init__(self, index: str, fields: Iterable[Field]) -> None:
        self.index = index
        self.fields = {field.name: field for field in fields}

    def field(self, name: Any) -> Field:
        found = self.fields.get(name) if isinstance(name, str) else None
        if found is None:
            raise unknown_name("field", name, self.fields, inside=f"the index {self.index}")
        return found

    def ordered(self, name: Any, what: str) -> Field:
        """A field whose values can be compared and counted."""
        found = self.field(name)
        if found.type == "text":
            raise SearchError(
                f"{what} does not work on {found.name}, which is text; it takes a field of another type.",
                code="search.text_field",
            )
        return found

    def number(self, name: Any, what: str) -> Field:
        found = self.field(name)
        if found.type not in NUMBERS:
            raise SearchError(
                f"{what} needs a number or a date, and {found.name} is a {found.type}.", code="search.not_a_number"
            )
        return found


def column(name: str) -> str:
    """A field's column; only declared names come here."""
    return '"' + name.replace('"', '""') + '"'


def unknown_name(kind: str, name: Any, known: Iterable[str], *, inside: str = "", plural: str = "") -> SearchError:
    told = unknown(kind, name, known, inside=inside, plural=plural)
    return SearchError(told.says, code=f"search.unknown_{kind.split()[0]}", nearest=told.nearest)


def an_object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SearchError(f"{what} is an object.", code="search.shape")
    return value


def only(given: Any, what: str, known: Collection[str]) -> Mapping[str, Any]:
    """An object with no other entries than the known ones."""
    found = an_object(given, what)
    for name in found:
        if name not in known:
            raise unknown_name("entry", name, known, inside=what, plural="entries")
    return found


def one_entry(given: Any, what: str) -> tuple[str, Any]:
    """The one name and what stands under it."""
    found = an_object(given, what)
    if len(found) != 1:
        raise SearchError(f"{what} holds exactly one entry, not {len(found)}.", code="search.shape")
    return next(iter(found.items()))


def a_list(given: Any, what: str, most: int = 1_000) -> list[Any]:
    found = given if isinstance(given, list | tuple) else [given]
    if len(found) > most:
        raise SearchError(f"{what} takes at most {most} values, not {len(found)}.", code="search.too_many")
    return list(found)


def whole(given: Any, what: str, most: int, least: int = 0) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise SearchError(f"{what} is a whole number from {least} to {most}, not {given!r}.", code="search.number")
    return given
