"""The one loop: inputs in, one decision at a time, made durable, and only then carried out.

A loop belongs to one owner, such as a run or a session. What is decided together is appended together, so that many
decisions share one write; while the log cannot be written nothing they call for is carried out. It decides nothing
itself: `decide` and `carry_out` come from the driver that uses it.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Generic, TypeVar

from beforehand.loop.asked import Asked, asked_here
from beforehand.model.errors import BugError, ExpiredError, NotLeadingError, UnavailableError
from beforehand.model.event import Event, Verdict
from beforehand.ports.clock import Clock
from beforehand.ports.foreign import contained
from beforehand.ports.log import Log
from beforehand.ports.store import Store
from beforehand.ports.tasks import part, stop
from beforehand.ports.tracing import Span, Value, here, is_tracing, span

log = Log("beforehand.loop")

STORE_RETRY_MS = 1_000
SNAPSHOT_EVERY = 2_000

InputT = TypeVar("InputT")
CommandT = TypeVar("CommandT")
Snapshot = Callable[[], Mapping[str, Any]]
Condition = Callable[[], bool]
Waiting = tuple[InputT, "asyncio.Future[Verdict[CommandT]] | None", Asked | None, Any]
"""An input, who waits for its verdict, the write that asked for it, and the span it was asked in."""


def _fail(reply: "asyncio.Future[Any] | None", owner: str, error: Exception) -> None:
    """Whoever asked for what nobody can decide is told so."""
    if reply is not None and not reply.done():
        kind, _, name = owner.partition(":")
        says = f"The {kind} {name} stopped on an error in Beforehand itself ({type(error).__name__}: {error})."
        hint = "The inbox has a decision that starts it again from the log."
        reply.set_exception(BugError(says, hint=hint))


def by_reasons(verdict: Verdict[Any]) -> bool:
    """Whether what was asked for was refused: events beside a refusal are not what was asked for."""
    return bool(verdict.reasons)


class Loop(Generic[InputT, CommandT]):
    """A mailbox and what happens to it.

    `decide` gives the verdict on one input and moves the driver's state on; `carry_out` starts a command and returns
    at once; `gone` is the error for whoever asks after the loop has ended; `snapshot` gives the state to keep, for
    owners that live long; `refused` says of a verdict whether the write that asked for it counts as not done.
    """

    def __init__(
        self,
        owner: str,
        store: Store,
        clock: Clock,
        *,
        decide: Callable[[InputT], Verdict[CommandT]],
        carry_out: Callable[[CommandT], None],
        gone: Callable[[], UnavailableError],
        snapshot: Snapshot | None = None,
        refused: Callable[[Verdict[Any]], bool] = by_reasons,
    ) -> None:
        self.owner = owner
        self.last_seq = 0
        self._store = store
        self._clock = clock
        self._decide = decide
        self._carry_out = carry_out
        self._gone = gone
        self._snapshot = snapshot
        self._refused = refused
        self._mailbox: deque[Waiting[InputT, CommandT]] = deque()
        self._watchers: list[tuple[Condition, asyncio.Future[None]]] = []
        self._beside: set[asyncio.Task[None]] = set()
        self._idle: asyncio.Future[None] | None = None
        self._since_snapshot = 0
        self._closed = False
        self._failure: BaseException | None = None

    # -- from outside --------------------------------------------------------------------------------------------

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits to be decided."""
        return not self._mailbox

    def put(self, given: InputT) -> None:
        """Hand in an input; it is decided in its turn."""
        self._mailbox.append((given, None, None, None))
        self.wake()

    async def request(self, given: InputT) -> Verdict[CommandT]:
        """Hand in an input and return its verdict once that is durable; raises `gone` when the loop has ended."""
        if self._closed:
            raise self._gone()
        reply: asyncio.Future[Verdict[CommandT]] = asyncio.get_running_loop().create_future()
        self._mailbox.append((given, reply, asked_here(), here()))
        self.wake()
        return await reply

    async def wait_until(self, holds: Condition) -> None:
        """Return once the condition holds; it is looked at whenever something was made durable."""
        if holds():
            return
        if self._closed:
            raise self._gone()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watchers.append((holds, done))
        await done

    def wake(self) -> None:
        """Have the loop look at its mailbox, and at whether it has ended."""
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something happen beside the decisions; it is ended with the loop, and a bug in it ends the loop."""
        task = part(work)
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        self.answer_for(task)

    def answer_for(self, task: "asyncio.Task[None]") -> None:
        """A bug in this task ends the loop, whose owner then says so: nothing that hangs on it waits for ever."""
        task.add_done_callback(self._hear)

    def _hear(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """End the loop with this error; only the first one counts."""
        if not self._closed:
            self._failure = self._failure or error
            self.wake()

    # -- working -------------------------------------------------------------------------------------------------

    async def run(self, ended: Condition) -> None:
        """Work until `ended` holds and nothing waits in the mailbox."""
        while not (ended() and not self._mailbox):
            if not self._mailbox and self._failure is None:
                self._idle = asyncio.get_running_loop().create_future()
                await self._idle
            if self._failure is not None:
                raise self._failure
            if self._mailbox:
                with contained():  # what plug-ins bring is asked in there
                    await self._turn()

    async def close(self) -> None:
        """Take nothing more in, tell whoever waits, end what goes on beside, and keep the last snapshot."""
        self._closed = True
        replies: list[asyncio.Future[Any]] = [reply for _, reply, _, _ in self._mailbox if reply is not None]
        self._mailbox.clear()
        for waiting in [*replies, *(done for _, done in self._watchers)]:
            if not waiting.done():
                waiting.set_exception(self._gone())
        await stop(self._beside)
        await self._save(at_least=1)

    async def _turn(self) -> None:
        """Everything that has come in so far: decided one by one, made durable together, then carried out."""
        events: list[Event] = []
        commands: list[tuple[CommandT, Span | None]] = []
        replies: list[tuple[asyncio.Future[Verdict[CommandT]], Verdict[CommandT]]] = []
        asked_for: list[tuple[Asked, Sequence[Event]]] = []
        taken, self._mailbox = self._mailbox, deque()
        traced = is_tracing()
        try:
            for given, reply, asked, parent in taken:
                if asked is not None and not self._is_in_time(asked, reply):
                    continue
                try:
                    verdict, decision = self._traced(given, parent) if traced else (self._decide(given), None)
                except Exception as error:
                    taken.remove((given, reply, asked, parent))  # once is enough
                    _fail(reply, self.owner, error)
                    raise
                marked: Sequence[Event] = verdict.events
                if asked is not None and not self._refused(verdict):
                    marked = asked.marked(verdict.events)
                    if marked is not verdict.events:
                        asked_for.append((asked, marked))
                events += marked
                commands += [(command, decision) for command in verdict.commands]
                if reply is not None:
                    replies.append((reply, verdict))
            if events:
                await self._append(events)
        except BaseException:
            self._mailbox.extendleft(reversed(taken))  # nobody is left waiting for an answer
            raise
        for asked, marked in asked_for:
            asked.note(marked)
        for command, decision in commands:
            if decision is None:
                self._carry_out(command)
            else:
                with decision.inside():
                    self._carry_out(command)
        for reply, verdict in replies:
            if not reply.done():
                reply.set_result(verdict)

    def _traced(self, given: InputT, parent: Any) -> tuple[Verdict[CommandT], Span | None]:
        """The verdict, and the span of the decision where it came to something or somebody asked for it."""
        began = time.time_ns()
        verdict = self._decide(given)
        if not (verdict.commands or parent is not None):
            return verdict, None
        about: dict[str, Value] = {
            "beforehand.owner": self.owner,
            "beforehand.input": type(given).__name__,
            "beforehand.events": len(verdict.events),
            "beforehand.commands": len(verdict.commands),
        }
        with span(f"decide {type(given).__name__}", about, parent=parent, start_ns=began) as decision:
            return verdict, decision

    def _is_in_time(self, asked: Asked, reply: "asyncio.Future[Verdict[CommandT]] | None") -> bool:
        """Whether it is not too late for a write; whoever asked for one that comes too late is told so."""
        try:
            asked.decide(self._clock.now_ms())
        except ExpiredError as error:
            if reply is not None and not reply.done():
                reply.set_exception(error)
            return False
        return True

    async def _append(self, events: Sequence[Event]) -> None:
        """Durable, or not at all: while the store does not take them, nothing they call for is carried out."""
        while True:
            try:
                self.last_seq = (await self._store.append(events))[-1].seq
                break
            except UnavailableError as error:
                log.error("the log cannot be written", owner=self.owner, error=error.says)
                await self._clock.sleep_until(self._clock.now_ms() + STORE_RETRY_MS)
        if self._watchers:
            self._tell_watchers()
        if self._snapshot is not None:
            self._since_snapshot += len(events)
            await self._save(at_least=SNAPSHOT_EVERY)

    def _tell_watchers(self) -> None:
        still = []
        for holds, done in self._watchers:
            if not done.done() and holds():
                done.set_result(None)
            elif not done.done():
                still.append((holds, done))
        self._watchers = still

    async def _save(self, *, at_least: int) -> None:
        if self._snapshot is None or self._since_snapshot < at_least:
            return
        try:
            await self._store.save_snapshot(self.owner, self.last_seq, self._snapshot())
            self._since_snapshot = 0
        except (UnavailableError, NotLeadingError) as error:  # only a cache: the log has everything
            log.warning("a snapshot could not be kept", owner=self.owner, says=error.says)
