"""What a fake model server does with one request, and how it shows what it was asked."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Form = Literal["tool", "text"]


@dataclass(frozen=True, slots=True)
class Seen:
    """One request, as the server read it."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case; the key, if any, is in `authorization` or `x-api-key`."""
    body: Mapping[str, Any]
    system: str
    messages: tuple[tuple[str, str], ...]
    """Role and text of each message, oldest first; the system's is not among them."""
    images: tuple[bytes, ...]
    """All pictures of the request, decoded, in order."""

    @property
    def last(self) -> str:
        """The text of the newest message."""
        return self.messages[-1][1]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request. The functions below make them."""

    text: str = ""
    data: Any = None
    form: Form = "tool"
    arguments: str | None = None
    """The very text of a tool call's arguments, readable or not."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    declines: bool = False
    cut_off: bool = False
    raw: bytes | None = None
    """The body as it is, in place of an answer."""
    dies: bool = False
    waits: asyncio.Event | None = None
    fails: bool = False
    """A stream says in the middle that it cannot go on."""
    pieces: int = 1
    """How many pieces a stream brings the answer in."""
    after: int | None = None
    """How many of them come before it waits, dies, fails or declines; None is before the first, or halfway."""


Script = Callable[[Seen], Reply]


def says(text: str, *, cut_off: bool = False) -> Reply:
    """Plain text; `cut_off` where there was no room for more."""
    return Reply(text, cut_off=cut_off)


def gives(data: Any, form: Form = "tool") -> Reply:
    """A structured answer: as a tool call, or as JSON in the text."""
    return Reply(data=data, form=form)


def calls_with(arguments: str) -> Reply:
    """A tool call whose arguments are this very text, such as JSON that ends too early."""
    return Reply(arguments=arguments)


def turned_away(status: int = 429, retry_after: float | None = 0) -> Reply:
    """Not let in: 429, 503, 529; or never: 400, 401, 403, 404, 500."""
    return Reply(status=status, headers={} if retry_after is None else {"Retry-After": str(retry_after)})


def declines(text: str = "I cannot help with that.") -> Reply:
    """The model itself refuses."""
    return Reply(text, declines=True)


def garbles(raw: bytes = b"<html>502</html>", kind: str = "text/html") -> Reply:
    """Something that is no answer at all, with status 200."""
    return Reply(raw=raw, headers={"Content-Type": kind})


def dies(text: str = "start(") -> Reply:
    """The connection ends in the middle of the answer."""
    return Reply(text, dies=True)


def stalls(until: asyncio.Event | None = None, reply: Reply | None = None) -> Reply:
    """No answer before the event is set; without one, never."""
    return replace(reply or says("late"), waits=until or asyncio.Event())


def in_pieces(reply: Reply, pieces: int = 4, after: int | None = None) -> Reply:
    """The reply, streamed in so many pieces; what is odd about it happens `after` that many."""
    return replace(reply, pieces=pieces, after=after)


def breaks_off(reply: Reply) -> Reply:
    """A stream that says in the middle that the provider cannot go on."""
    return replace(reply, fails=True)
