"""The one loop: inputs in, one decision at a time, made durable, and only then carried out.

A loop belongs to one owner, such as a run or a session. What is decided together is appended together, so that many
decisions share one write; while the log cannot be written nothing they call for is carried out, and nobody's wish is
decided. It decides nothing itself: `decide` and `carry_out` come from the driver that uses it.

A *brake* does not need the log: where that does not take it at once it is decided all the same, what stops machines is
carried out, and its events follow those that were decided before it. Of what was decided before and moves something,
nothing is carried out afterwards: the driver has it decided anew (`put_off`).
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from beforehand.loop.asked import Asked, asked_here
from beforehand.loop.log_outage import STUCK_S, log_away
from beforehand.loop.turn import Braked, Turn, Waiting, fail, refuse, undecided
from beforehand.model.errors import ExpiredError, NotLeadingError, UnavailableError
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
BRAKE_S = 0.5
"""How long a brake waits for the log before it goes first."""

InputT = TypeVar("InputT")
CommandT = TypeVar("CommandT")
Snapshot = Callable[[], Mapping[str, Any]]
Condition = Callable[[], bool]


def nothing_stops(command: Any) -> bool:
    return False


def put_nothing_off(commands: Sequence[CommandT]) -> Iterable[CommandT]:
    return commands


def by_reasons(verdict: Verdict[Any]) -> bool:
    """Whether what was asked for was refused: events beside a refusal are not what was asked for."""
    return bool(verdict.reasons)


class Loop(Generic[InputT, CommandT]):
    """A mailbox and what happens to it.

    `decide` gives the verdict on one input and moves the driver's state on; `carry_out` starts a command and returns
    at once; `gone` is the error for whoever asks after the loop has ended; `snapshot` gives the state to keep, for
    owners that live long; `refused` says of a verdict whether the write that asked for it counts as not done.
    `stops` says which commands bring something to rest: those of a brake are handed to `stop` (`carry_out` if there is
    none), which asks nobody whether this process still leads. `put_off` gets commands that the log has kept waiting and
    gives those that are to be carried out all the same.
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
        stops: Callable[[CommandT], bool] = nothing_stops,
        stop: Callable[[CommandT], None] | None = None,
        put_off: Callable[[Sequence[CommandT]], Iterable[CommandT]] = put_nothing_off,
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
        self._stops = stops
        self._stop = stop or carry_out
        self._put_off = put_off
        self._mailbox: deque[Waiting[InputT, CommandT]] = deque()
        self._now: Turn[InputT, CommandT] | None = None
        """What is being written."""
        self._behind: deque[Turn[InputT, CommandT]] = deque()
        """Brakes that were decided before they could be written."""
        self._says = ""
        """Why the log cannot be written; empty while it can."""
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

    @property
    def is_held_up(self) -> bool:
        """Whether something was decided that the log does not take."""
        return bool(self._says)

    def put(self, given: InputT) -> None:
        """Hand in an input; it is decided in its turn."""
        self._mailbox.append(Waiting(given))
        self.wake()

    async def request(self, given: InputT, *, patient: bool = True) -> Verdict[CommandT]:
        """Hand in an input and return its verdict once that is durable; raises `gone` when the loop has ended.

        Who is not patient is refused while the log cannot be written, and nothing is decided.
        """
        if self._closed:
            raise self._gone()
        if not patient and self._says:
            raise log_away(self._says)
        waiting = self._waiting(given, patient)
        assert waiting.reply is not None
        self._mailbox.append(waiting)
        self.wake()
        return await waiting.reply

    def _waiting(self, given: InputT, patient: bool = True) -> Waiting[InputT, CommandT]:
        reply: asyncio.Future[Verdict[CommandT]] = asyncio.get_running_loop().create_future()
        return Waiting(given, reply, asked_here(), here(), patient)

    async def brake(self, given: InputT) -> Braked[CommandT]:
        """Hand in what stops something. It is durable before it is carried out where the log takes it at once; else it
        is carried out now, and its record follows. Raises as `request` does."""
        if self._closed:
            raise self._gone()
        waiting = self._waiting(given)
        assert waiting.reply is not None
        if not self._says and self._store.lead_left_s() > 0:
            self._mailbox.append(waiting)
            self.wake()
            await asyncio.wait([waiting.reply], timeout=BRAKE_S)
            if waiting.reply.done():
                return Braked(waiting.reply.result(), is_recorded=True)
        return Braked(self._brake_now(waiting), is_recorded=False)

    def _brake_now(self, waiting: Waiting[InputT, CommandT]) -> Verdict[CommandT]:
        """Decided and carried out before it is durable; nothing that was decided before may move anything after it."""
        self._refuse_impatient(self._says or "The log does not answer.")
        if self._now is not None:
            self._make_late(self._now)
            for replying, verdict in self._now.replies:
                if replying is waiting:
                    self._bring_to_rest(self._now)
                    return verdict
        if waiting in self._mailbox:
            self._mailbox.remove(waiting)
        try:
            with contained():
                turn = self._decided(deque([waiting]))
        except Exception as error:
            self.fail(error)
            assert waiting.reply is not None
            return waiting.reply.result()  # who asked is told of it
        if not turn.replies:
            assert waiting.reply is not None
            return waiting.reply.result()  # too late: it raises what was said of that
        self._bring_to_rest(turn)
        self._behind.append(turn)
        self.wake()
        return turn.replies[0][1]

    def _bring_to_rest(self, turn: Turn[InputT, CommandT]) -> None:
        stopping = [command for command, _ in turn.commands if self._stops(command)]
        turn.commands = [told for told in turn.commands if not self._stops(told[0])]
        self._make_late(turn)
        for command in stopping:
            self._stop(command)

    def _make_late(self, turn: Turn[InputT, CommandT]) -> None:
        """The log keeps it waiting: what it calls for is put off, as far as it may be over by then."""
        if not turn.is_late:
            turn.is_late = True
            going = list(self._put_off([command for command, _ in turn.commands]))
            turn.commands = [told for told in turn.commands if any(told[0] is command for command in going)]

    def put_behind(self, given: InputT) -> None:
        """Decide at once what follows from not being able to write; its events come behind what is stuck."""
        try:
            turn = self._decided(deque([Waiting(given)]))
        except Exception as error:
            self.fail(error)
            return
        turn.is_late = True
        self._behind.append(turn)
        self.wake()

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
        while not (ended() and not self._mailbox and not self._behind):
            if not self._mailbox and not self._behind and self._failure is None:
                self._idle = asyncio.get_running_loop().create_future()
                await self._idle
            if self._failure is not None:
                raise self._failure
            if self._mailbox or self._behind:
                with contained():  # what plug-ins bring is asked in there
                    await self._turn()

    async def close(self) -> None:
        """Take nothing more in, tell whoever waits, end what goes on beside, and keep the last snapshot."""
        self._closed = True
        replies: list[asyncio.Future[Any]] = [one.reply for one in self._mailbox if one.reply is not None]
        self._mailbox.clear()
        for waiting in [*replies, *(done for _, done in self._watchers)]:
            if not waiting.done():
                waiting.set_exception(self._gone())
        if self._behind:
            log.error("what was stopped is not in the log", owner=self.owner)
        await stop(self._beside)
        await self._save(at_least=1)

    async def _turn(self) -> None:
        """Everything that has come in so far: decided one by one, made durable together, then carried out.

        What was decided before it could be written goes first, in the order in which it was decided.
        """
        if self._behind:
            await self._finish(self._behind[0])
            self._behind.popleft()
            return
        taken, self._mailbox = self._mailbox, deque()
        try:
            await self._finish(self._decided(taken))
        except BaseException:
            self._mailbox.extendleft(reversed(taken))  # nobody is left waiting for an answer
            raise

    def _decided(self, taken: deque[Waiting[InputT, CommandT]]) -> Turn[InputT, CommandT]:
        turn: Turn[InputT, CommandT] = Turn()
        traced = is_tracing()
        for one in taken:
            asked = one.asked
            if asked is not None and not self._is_in_time(asked, one.reply):
                continue
            try:
                verdict, decision = self._traced(one.given, one.parent) if traced else (self._decide(one.given), None)
            except Exception as error:
                taken.remove(one)  # once is enough
                fail(one.reply, self.owner, error)
                raise
            marked: Sequence[Event] = verdict.events
            if asked is not None and not self._refused(verdict):
                marked = asked.marked(verdict.events)
                if marked is not verdict.events:
                    turn.asked_for.append((asked, marked))
            turn.events += marked
            turn.commands += [(command, decision) for command in verdict.commands]
            if one.reply is not None:
                turn.replies.append((one, verdict))
        return turn

    async def _finish(self, turn: Turn[InputT, CommandT]) -> None:
        """Make it durable, then do what it calls for and answer who waits."""
        if turn.events:
            self._now = turn
            try:
                await self._append(turn)
            finally:
                self._now = None
        for asked, marked in turn.asked_for:
            asked.note(marked)
        for command, decision in turn.commands:
            if decision is None:
                self._carry_out(command)
            else:
                with decision.inside():
                    self._carry_out(command)
        for waiting, verdict in turn.replies:
            if waiting.reply is not None and not waiting.reply.done():
                waiting.reply.set_result(verdict)

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
        except (ExpiredError, UnavailableError) as error:
            if reply is not None and not reply.done():
                reply.set_exception(error)
            return False
        return True

    async def _append(self, turn: Turn[InputT, CommandT]) -> None:
        """Durable, or not at all: while the store does not take them, nothing they call for is carried out."""
        watch = asyncio.get_running_loop().call_later(STUCK_S, self._hold_up, turn, "The log does not answer.")
        try:
            while True:
                try:
                    self.last_seq = (await self._store.append(turn.events))[-1].seq
                    break
                except UnavailableError as error:
                    log.error("the log cannot be written", owner=self.owner, error=error.says)
                    self._hold_up(turn, error.says)
                    await self._clock.sleep_until(self._clock.now_ms() + STORE_RETRY_MS)
        finally:
            watch.cancel()
            self._says = ""
        if self._watchers:
            self._tell_watchers()
        if self._snapshot is not None:
            self._since_snapshot += len(turn.events)
            await self._save(at_least=SNAPSHOT_EVERY)

    def _hold_up(self, turn: Turn[InputT, CommandT], says: str) -> None:
        """The log does not take what was decided: who is not patient is told so, whatever they asked for."""
        self._refuse_impatient(says)
        self._make_late(turn)
        for waiting, _ in turn.replies:
            if not waiting.patient:
                refuse(waiting, undecided(says))

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

    def _refuse_impatient(self, says: str) -> None:
        """From now on, until something is durable, nobody's wish is decided who does not wait for the log."""
        self._says = says
        for waiting in [one for one in self._mailbox if not one.patient]:
            self._mailbox.remove(waiting)
            refuse(waiting, log_away(says))
