"""Questions to what has happened: documents made from the log, asked in the words of the Elasticsearch query DSL.

An index is declared in code: its fields with their types, and how events become its documents. So a field or a clause
that nobody declared is an error with the nearest names, never an answer of zero hits. Fields, nouns and conditions also
carry the words that people use for them, from which questions in plain language are understood.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.event import Event

FieldType = Literal["keyword", "text", "long", "double", "boolean", "date"]
SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
"""What clients are told of how the index is kept: in one piece."""
Document = Mapping[str, Any]
"""A flat document: values by the names of fields, dates in ms since 1970."""
Lookup = Callable[[str], Document | None]
"""The document of an id as it stands, or None."""
Fold = Callable[[Event, Lookup], Iterable[tuple[str, Document]]]
"""What an event makes of an index's documents: those that change, each whole and with its id."""


class ByKind:
    """A fold that looks at events of some kinds only; who knows it need not show it any others."""

    __slots__ = ("makers",)

    def __init__(self, makers: Mapping[str, Fold]) -> None:
        self.makers = makers

    def __call__(self, event: Event, look: Lookup) -> Iterable[tuple[str, Document]]:
        maker = self.makers.get(event.kind)
        return () if maker is None else maker(event, look)


class SearchError(BadInputError):
    """The query itself is wrong: an unknown field, clause or value; nothing was looked for."""

    code = "search.query"


class SearchTimeError(UnavailableError):
    """The answer would have taken too long, so it was broken off."""

    code = "search.too_long"


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: FieldType
    says: str
    words: tuple[str, ...] = ()
    """What people call it, in the singular: `robot`; questions group by it under these."""
    names: str = ""
    """The kind of names it holds, such as `robot`: a name in a question is looked for among those that are there."""
    link: str = ""
    """The word before a name that means this field and no other of the same kind: `from`, `to`."""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Noun:
    """What people call the documents of an index, or some of them."""

    words: tuple[str, ...]
    terms: Mapping[str, Any] = field(default_factory=dict)
    time: str = ""
    """The date that time phrases mean for these, where it is not the index's own."""
    split_by: str = ""
    """A field that must be narrowed too, or the same thing would be counted several times: pallets are picked and
    dropped."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A word that narrows an index: `failed`. It may bring the time it happened at and what it is measured by."""

    words: tuple[str, ...]
    terms: Mapping[str, Any] = field(default_factory=dict)
    time: str = ""
    measure: str = ""
    alone: bool = False
    """Whether it names its index without a noun: in `which robot waited longest` there is none."""


@dataclass(frozen=True, slots=True)
class Index:
    name: str
    says: str
    fields: tuple[Field, ...]
    fold: Fold = field(repr=False)
    time: str
    """The date that time phrases mean unless a condition says otherwise."""
    nouns: tuple[Noun, ...] = ()
    conditions: tuple[Condition, ...] = ()
    measure: str = ""
    """What `how long` means."""
    present: Mapping[str, Any] = field(default_factory=dict)
    """What is so of that which goes on right now, by field; None where the field is not there yet."""
    shown: tuple[str, ...] = ()
    """The fields that lists show first."""
    sped: tuple[tuple[str, ...], ...] = ()
    """Fields that are often asked for together; the embedded adapter keeps an order of documents by them."""
    listed: tuple[str, ...] = ()
    """Fields with names that questions may mean; the embedded adapter keeps a list of the values of each."""
    grows: bool = False
    """Whether documents are only added, each with its time, and never changed: they can be counted as they come."""

    def field(self, name: str) -> Field | None:
        return next((one for one in self.fields if one.name == name), None)


@dataclass(frozen=True, slots=True)
class Searchable:
    """What a craft brings to search."""

    indexes: tuple[Index, ...] = ()
    event_fields: tuple[Field, ...] = ()
    """Fields of its events, such as `about.robotId`, for the index `events`."""
    event_nouns: tuple[Noun, ...] = ()
    moments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Kinds of events by the word that names their last moment: since the last `hold`."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Kinds of names of which there are ever more, so that none is looked up: a name is known by the word before it
    and, where one is given here, by a pattern that its ids have."""


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    source: Mapping[str, Any] | None
    sort: tuple[Any, ...] = ()

    def wire(self, index: str) -> dict[str, Any]:
        """The hit as Elasticsearch answers it."""
        told: dict[str, Any] = {"_index": index, "_id": self.id, "_score": None if self.sort else 1.0}
        if self.source is not None:
            told["_source"] = self.source
        return told | ({"sort": list(self.sort)} if self.sort else {})


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: in all, a page of it, and what it comes to."""

    total: int
    hits: tuple[Hit, ...] = ()
    aggregations: Mapping[str, Any] = field(default_factory=dict)
    """In the form that Elasticsearch answers them."""
    took_ms: int = 0

    def wire(self, index: str) -> dict[str, Any]:
        """The whole answer as Elasticsearch gives it."""
        hits = {
            "total": {"value": self.total, "relation": "eq"},
            "max_score": 1.0 if self.hits and not self.hits[0].sort else None,
            "hits": [one.wire(index) for one in self.hits],
        }
        told = {"took": self.took_ms, "timed_out": False, "_shards": dict(SHARDS), "hits": hits}
        return told | ({"aggregations": self.aggregations} if self.aggregations else {})


class Search(Protocol):
    async def fields(self, index: str) -> Sequence[Field]:
        """The fields of an index; NotFoundError, with the names there are, where it is none."""

    async def names(self) -> Sequence[str]:
        """The indexes there are."""

    async def values(self, index: str, fields: Sequence[str], most: int) -> Mapping[str, Sequence[str]]:
        """The values that each of these fields, which the index has listed, has had; some of them where they are more
        than `most`."""

    async def check(self, index: str, body: Mapping[str, Any]) -> None:
        """Raise SearchError where the body is wrong or asks for what is not there; nothing is looked for."""

    async def search(self, index: str, body: Mapping[str, Any]) -> Found:
        """What a body of the query DSL finds. Raises SearchError, or SearchTimeError after its time is up."""

    async def keep_up(self) -> None:
        """Prepare for questions that will come, until cancelled, without getting in anybody's way; returns at once
        where there is nothing to prepare."""

    async def close(self) -> None:
        """Let go of files and connections."""
