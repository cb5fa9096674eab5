"""Spans: what took how long, and what belongs to what. Without a tracer, which is the default, nobody keeps them.

Like the lines of the log they are left where something happens, without being handed a tracer. They carry names, ids
and numbers, never texts: what was asked, answered, read or written stays where it is.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Literal, Protocol

from beforehand.ports.log import this_request

Kind = Literal["internal", "server", "client"]
Value = str | int | float | bool | None
Attributes = Mapping[str, Value]
"""What is None is left out."""
CORRELATION_ID = "beforehand.correlation_id"
_followed: ContextVar[str] = ContextVar("followed_correlation_id", default="")


class Span(Protocol):
    def note(self, attributes: Attributes) -> None:
        """Add what has turned out."""

    def rename(self, name: str) -> None: ...

    def fail(self, code: str) -> None:
        """It went wrong; `code` is a name for how, such as `model.timeout`."""

    def inside(self) -> AbstractContextManager[None]:
        """What begins in here, tasks too, belongs to this span, ended or not."""


class Tracer(Protocol):
    def span(
        self, name: str, kind: Kind, attributes: Attributes, *, parent: Any = None, start_ns: int | None = None
    ) -> AbstractContextManager[Span]:
        """A span from now, or from an earlier moment, until the end of the context; an exception makes it a failure."""

    def here(self) -> Any:
        """The present place, to be a parent later."""


class NoSpan:
    """What is noted on it is forgotten."""

    def note(self, attributes: Attributes) -> None: ...

    def rename(self, name: str) -> None: ...

    def fail(self, code: str) -> None: ...

    def inside(self) -> AbstractContextManager[None]:
        return _INSIDE_NOTHING


_INSIDE_NOTHING = nullcontext()
NO_SPAN = NoSpan()
_NOTHING_KEPT: AbstractContextManager[Span] = nullcontext(NO_SPAN)
_tracer: Tracer | None = None


def set_tracer(tracer: Tracer | None) -> None:
    """Have spans kept from now on, or no longer; for whoever begins a process."""
    global _tracer
    _tracer = tracer


def is_tracing() -> bool:
    return _tracer is not None


def here() -> Any:
    """The present place, to be the parent of a span elsewhere; None where nobody keeps spans."""
    return None if _tracer is None else _tracer.here()


def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: Kind = "internal",
    parent: Any = None,
    start_ns: int | None = None,
) -> AbstractContextManager[Span]:
    """Something that takes a while; inside the context it is the parent of whatever else is noted."""
    if _tracer is None:
        return _NOTHING_KEPT
    told = {CORRELATION_ID: correlation_id() or None, **(attributes or {})}
    return _tracer.span(name, kind, told, parent=parent, start_ns=start_ns)


def correlation_id() -> str:
    """Of what is being driven, else of the request that is being answered."""
    return _followed.get() or this_request.get()


@contextmanager
def following(correlation_id: str) -> Iterator[None]:
    """What happens inside belongs to something with this id, whoever asked for it last."""
    before = _followed.set(correlation_id or _followed.get())
    try:
        yield
    finally:
        _followed.reset(before)
