"""A write that somebody asks for: done once by its key, and not at all after its deadline.

Both are looked at where the write is decided: when its first events are appended, or when a driver takes it out of its
mailbox. The key travels in the `about` of the first of those events, so that what was done and that it was done become
durable together. What a verb only prepares with (`preparing`) goes without the key: a crash after it leaves the write
undone, and asking again does all of it.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, cast

from beforehand.loop.log_outage import LogOutage, log_away
from beforehand.model.errors import ExpiredError, NotLeadingError, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.clock import Clock
from beforehand.ports.store import Store

MARK = ("requestId", "requestHash")
"""What the first event of a write says about it."""


def never() -> bool:
    return False


@dataclass(slots=True)
class Asked:
    """One write: its key and what it asks for, each as a hash, and when it is too late for it."""

    request_id: str = ""
    content: str = ""
    deadline_ms: int | None = None
    decided: bool = False
    kept: bool = False
    """Whether its events are in the log."""
    at: int | None = None
    """When the first of them happened, in ms since 1970."""
    preparing: bool = False
    """Whether what is appended now only prepares for it."""
    again: bool = False
    """Whether it is done anew, although something of it is in the log."""
    done: Event | None = None
    """The event with its key, where it was done before and its answer was not kept: it is answered from the log."""
    is_withdrawn: Callable[[], bool] = never
    """Whether its caller was told by now that it is not done."""
    task: "asyncio.Task[Any] | None" = field(default_factory=asyncio.current_task)

    def decide(self, now_ms: int) -> None:
        """It is being decided now; ExpiredError when that is too late, UnavailableError where that was told already."""
        if not self.decided and self.is_withdrawn():
            raise log_away("The log does not answer.")
        if not self.decided and self.deadline_ms is not None and now_ms > self.deadline_ms:
            raise ExpiredError(
                f"This is {now_ms - self.deadline_ms} ms past its deadline, so it was not done.",
                hint="Ask again if it is still wanted.",
                extra={"now": now_ms},
            )
        self.decided = True

    def decide_by(self, now_ms: int) -> None:
        """Too late already when it comes in; whether it still is in time is looked at again when it is decided."""
        self.decide(now_ms)
        self.decided = False

    def marked(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events with the key in the first of them; the very same ones where it is not to be there."""
        if not self.request_id or self.kept or self.preparing or not events:
            return events
        about = {**events[0].about, **dict(zip(MARK, (self.request_id, self.content), strict=True))}
        return [replace(events[0], about=about), *events[1:]]

    def note(self, marked: Sequence[Event]) -> None:
        """Events with the key have become durable."""
        self.kept, self.at = True, marked[0].ts

    def renew(self) -> None:
        """It is done anew, although the log has it."""
        self.kept, self.at, self.done, self.again = False, None, None, True


_asked: ContextVar[Asked | None] = ContextVar("asked", default=None)


@contextmanager
def asking(asked: Asked) -> Iterator[None]:
    """What is decided inside, in this very task, was asked for by this write."""
    before = _asked.set(asked)
    try:
        yield
    finally:
        _asked.reset(before)


def asked_here() -> Asked | None:
    """The write that is being answered in this task; what it has set going beside goes on for itself."""
    asked = _asked.get()
    return asked if asked is not None and asked.task is asyncio.current_task() else None


def key_here() -> str:
    """What a machine may know the write by that is being answered, so as to do nothing twice; empty without a key."""
    asked = asked_here()
    return "" if asked is None else asked.request_id


@contextmanager
def preparing() -> Iterator[None]:
    """What is appended inside, in this very task, only prepares for the write: without it the write is not done.

    It must be harmless to do it twice, and what refuses the write afterwards need not take it back.
    """
    asked = asked_here()
    if asked is None:
        yield
        return
    before, asked.preparing = asked.preparing, True
    try:
        yield
    finally:
        asked.preparing = before


class AskedStore:
    """A store whose appends look at the write that asked for them; everything else is the store's own.

    What is still to be recorded (`outage`) is written before what comes later; whether writing works is noted there.
    """

    def __init__(self, store: Store, clock: Clock, outage: LogOutage | None = None) -> None:
        self._store = store
        self._clock = clock
        self._outage = outage or LogOutage(clock.now_ms)
        self._outage.begin(self._written)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def lead_left_s(self) -> float:
        """Nothing that moves is told to a machine while nobody could write it down."""
        return 0.0 if self._outage.is_on else self._store.lead_left_s()

    async def append(self, events: Sequence[Event]) -> Sequence[Event]:
        asked = asked_here()
        if asked is None or not events:
            return await self._written(events)
        asked.decide(self._clock.now_ms())
        marked = asked.marked(events)
        done = await self._written(marked)
        if marked is not events:
            asked.note(marked)
        return done

    async def _written(self, events: Sequence[Event]) -> Sequence[Event]:
        outage = self._outage
        before = outage.take()
        if not before and not events:
            return await self._store.append(events)
        late = [event for earlier, _ in before for event in earlier]
        try:
            with outage.watching():
                done = await self._store.append([*late, *events] if late else events)
        except NotLeadingError:
            raise
        except BaseException as error:
            outage.put_back(before)
            if isinstance(error, UnavailableError):
                outage.failed(error.says)
            raise
        outage.worked()
        for _, written in before:
            written()
        return done[len(late) :] if late else done


def asked_store(store: Store, clock: Clock, outage: LogOutage | None = None) -> Store:
    return cast(Store, AskedStore(store, clock, outage))
