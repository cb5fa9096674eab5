"""What a loop has taken in and decided, until it is durable; and what is said to who waits for it in vain."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from beforehand.loop.asked import Asked
from beforehand.loop.log_outage import IN_DOUBT
from beforehand.model.errors import BugError, UnavailableError
from beforehand.model.event import Event, Verdict
from beforehand.ports.tracing import Span

InputT = TypeVar("InputT")
CommandT = TypeVar("CommandT")


@dataclass(slots=True, eq=False)
class Waiting(Generic[InputT, CommandT]):
    """An input, who waits for its verdict, the write that asked for it, and the span it was asked in."""

    given: InputT
    reply: "asyncio.Future[Verdict[CommandT]] | None" = None
    asked: Asked | None = None
    parent: Any = None
    patient: bool = True
    """Whether who waits goes on waiting while the log cannot be written."""


@dataclass(slots=True, eq=False)
class Turn(Generic[InputT, CommandT]):
    """What was decided together, until it is durable."""

    events: list[Event] = field(default_factory=list)
    commands: list[tuple[CommandT, Span | None]] = field(default_factory=list)
    replies: list[tuple[Waiting[InputT, CommandT], Verdict[CommandT]]] = field(default_factory=list)
    asked_for: list[tuple[Asked, Sequence[Event]]] = field(default_factory=list)
    is_late: bool = False
    """The log keeps it waiting, so that what it was decided for may be over."""


@dataclass(frozen=True, slots=True)
class Braked(Generic[CommandT]):
    """What a brake came to, and whether that is in the log yet."""

    verdict: Verdict[CommandT]
    is_recorded: bool


def fail(reply: "asyncio.Future[Any] | None", owner: str, error: Exception) -> None:
    """Whoever asked for what nobody can decide is told so."""
    if reply is not None and not reply.done():
        kind, _, name = owner.partition(":")
        says = f"The {kind} {name} stopped on an error in Beforehand itself ({type(error).__name__}: {error})."
        hint = "The inbox has a decision that starts it again from the log."
        reply.set_exception(BugError(says, hint=hint))


def refuse(waiting: Waiting[Any, Any], error: UnavailableError) -> None:
    if waiting.reply is not None and not waiting.reply.done():
        waiting.reply.set_exception(error)


def undecided(says: str) -> UnavailableError:
    """What is said of the one decision that the log let down."""
    return UnavailableError(
        f"The log could not be written just as this was decided. {says} Nothing moves because of it now.",
        code=IN_DOUBT,
        hint="It is done when the log can be written again. Hold what must not move until then.",
        extra={"retryAfterS": 2},
    )
