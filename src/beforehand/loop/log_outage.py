"""Since when the log cannot be written, and what is written as soon as it can be again.

Whoever appends says here whether that worked. While it does not, nothing that moves is accepted; a brake is carried out
all the same, says with `note_unrecorded` that its record is missing, and hands the record in here. What is handed in
is written before anything that is decided later, by whoever appends next. It is lost with the process.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from beforehand.model.errors import NotLeadingError, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.log import Log
from beforehand.ports.tasks import job, part, stop

log = Log("beforehand.log")

CODE, IN_DOUBT = "log.away", "log.in_doubt"
AGAIN_S = 1.0
FRESH_S = 3.0
"""For how long one failed write says that the next one would fail as well; drivers try again every second."""
STUCK_S = 3.0
"""A write that takes so long is as good as failed, whatever the store says of it."""
RECORD_S = 0.5
"""How long a brake waits for its own record."""
MOST_TO_FOLLOW = 10_000
MOVES_AGAIN = "Nothing that moves is accepted until then; hold, pause, cancel and stop work."
HINT = "Free some space or start the database again; `beforehand doctor` says what is wrong."

Append = Callable[[Sequence[Event]], Any]
Following = tuple[list[Event], Callable[[], None]]
"""Events that are still to be written, and whom to tell when they are."""


def _nobody() -> None: ...


class LogOutage:
    """One for everything that appends to a log in this process."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._append: Append | None = None
        self._failed_at = float("-inf")
        self._stuck = 0
        self._following: deque[Following] = deque()
        self._work: set[asyncio.Task[Any]] = set()
        self._follower: asyncio.Task[None] | None = None
        self.since_ms: int | None = None
        """Since when it cannot be written; None while it can."""
        self.says = ""

    def begin(self, append: Append) -> None:
        """`append` is how what follows is written."""
        self._append = append

    @property
    def is_on(self) -> bool:
        """Whether the log could not be written a moment ago."""
        return self._stuck > 0 or time.monotonic() - self._failed_at < FRESH_S

    def failed(self, says: str) -> None:
        """A write was refused."""
        self._failed_at = time.monotonic()
        self._since_now(says)

    def worked(self) -> None:
        """A write is durable."""
        if self.since_ms is not None:
            log.warning("the log can be written again", sinceMs=self.since_ms)
            self._failed_at, self.since_ms, self.says = float("-inf"), None, ""

    def _since_now(self, says: str) -> None:
        self.says = says
        if self.since_ms is None:
            self.since_ms = self._now_ms()
            log.error("the log cannot be written", says=says)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """A write is under way inside; one that takes too long counts as an outage until it ends."""
        is_stuck = False

        def note() -> None:
            nonlocal is_stuck
            is_stuck = True
            self._stuck += 1
            self._since_now("The log does not answer.")

        watch = asyncio.get_running_loop().call_later(STUCK_S, note)
        try:
            yield
        finally:
            watch.cancel()
            self._stuck -= is_stuck

    def refusal(self) -> UnavailableError:
        """What is told to whoever asks for something that moves."""
        return log_away(self.says or "This server is not sure that it still leads.", self.since_ms)

    # -- what follows --------------------------------------------------------------------------------------------

    async def record(self, events: Sequence[Event], written: Callable[[], None] = _nobody) -> bool:
        """Have events written now or as soon as that is possible; whether they are durable already."""
        if self.is_on:
            self.follow(events, written)
            return False
        writing = part(self._recorded(events, written), "recording what was done")
        self._work.add(writing)
        writing.add_done_callback(self._work.discard)
        done, _ = await asyncio.wait([writing], timeout=RECORD_S)
        return bool(done) and writing.result()

    async def _recorded(self, events: Sequence[Event], written: Callable[[], None]) -> bool:
        assert self._append is not None, "begun before"
        try:
            await self._append(events)
        except NotLeadingError as error:
            log.warning("what was done cannot be recorded: another server leads", says=error.says)
            return False
        except UnavailableError:
            self.follow(events, written)
            return False
        written()
        return True

    def follow(self, events: Sequence[Event], written: Callable[[], None] = _nobody) -> None:
        """Have events written when that is possible again."""
        if len(self._following) >= MOST_TO_FOLLOW:
            log.error("too much waits for the log; an event will be missing", kinds=[event.kind for event in events])
            return
        self._following.append((list(events), written))
        if self._follower is None or self._follower.done():
            self._follower = job(self._write_what_follows(), "the record of what was done without the log")

    def take(self) -> list[Following]:
        """What is to be written before anything else; who takes it writes it, or puts it back."""
        taken, self._following = list(self._following), deque()
        return taken

    def put_back(self, taken: Sequence[Following]) -> None:
        self._following.extendleft(reversed(taken))

    async def _write_what_follows(self) -> None:
        """Nobody else may have anything to write."""
        assert self._append is not None, "begun before"
        while self._following:
            try:
                await self._append(())
            except NotLeadingError as error:
                log.warning("what was done cannot be recorded: another server leads", says=error.says)
                return
            except UnavailableError:
                await asyncio.sleep(AGAIN_S)

    async def close(self) -> None:
        if self._following:
            log.error("the log could not be written in time; what was held is not in it", events=len(self._following))
        await stop([*self._work, *([self._follower] if self._follower is not None else [])])


def log_away(says: str, since_ms: int | None = None) -> UnavailableError:
    extra = {"retryAfterS": 2} | ({} if since_ms is None else {"sinceMs": since_ms})
    return UnavailableError(
        f"The log cannot be written, so this was not done. {says} {MOVES_AGAIN}".replace("  ", " "),
        code=CODE,
        hint=HINT,
        extra=extra,
    )


_unrecorded: ContextVar[list[str] | None] = ContextVar("unrecorded", default=None)


@contextmanager
def noting_unrecorded() -> Iterator[list[str]]:
    """What was done inside, here and in tasks begun here, and is not in the log yet: a sentence each."""
    said: list[str] = []
    before = _unrecorded.set(said)
    try:
        yield said
    finally:
        _unrecorded.reset(before)


def note_unrecorded(what: str) -> None:
    """Say of what was done that it is not in the log yet."""
    said = _unrecorded.get()
    sentence = f"{what} This is not in the log yet; it is written when the log can be written again."
    if said is not None and sentence not in said:
        said.append(sentence)


def unrecorded_here() -> list[str]:
    """What was said so far to be done and not in the log."""
    return _unrecorded.get() or []
