"""The nursery: every task has an owner, and what ends one unexpectedly is asked about and stops nothing else.

A driver, one per owner, is started once and ends with its work; a bug stops it, and a person decides whether the thing
is taken up again from the log. A task that lasts begins again by itself (`ports/tasks.py`): a person hears of it
meanwhile, and the decision closes when it has worked for a while.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from beforehand.model.decision import Decision
from beforehand.model.errors import BeforehandError, BugError, NotLeadingError, UnavailableError, UnreadableError
from beforehand.model.event import Event, iso
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.store import Store
from beforehand.ports.tasks import SERVER, TaskOwner, Watched, part, stop, told, watch, watchers
from beforehand.ports.tracing import following

log = Log("beforehand.loop")
BUG = "bug"
"""The owner of a bug's decision is this and the owner of what stopped, such as `bug:run:r1`."""
TASK = "task"
"""Between the two where the thing goes on and only a task of it broke off, such as `bug:task:run:r1`."""
AGAIN_S = 1.0
"""How long to wait until the log is tried again."""
LONGEST_ID = 60


@dataclass(slots=True)
class Nursery:
    store: Store
    clock: Clock
    work: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    """The drivers, by their owners."""
    stopped: dict[str, str] = field(default_factory=dict)
    """The decisions about owners whose driver stopped on a bug, or could not be taken up."""
    _telling: set[asyncio.Task[None]] = field(default_factory=set)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _noted: set[tuple[str, str]] = field(default_factory=set)

    # -- drivers ---------------------------------------------------------------------------------------------------

    def start(
        self, owner: TaskOwner, driving: Coroutine[Any, Any, None], *, ended: Callable[[], None] = lambda: None
    ) -> "asyncio.Task[None]":
        """Have a driver work until it ends, is stopped, or meets a bug; `ended` is called in each case."""
        entry = Watched("the driver", owner, lasts=False, may_end=True)
        task = watch(lambda: self._driven(owner, driving, ended), entry, self)
        task.add_done_callback(lambda _: driving.close())  # stopped before it began, nobody else would
        self.work[owner.id] = task
        if owner.id in self.stopped:
            self._tell(self._withdraw(owner, self.stopped.pop(owner.id), "It was taken up again."))
        return task

    async def _driven(self, owner: TaskOwner, driving: Coroutine[Any, Any, None], ended: Callable[[], None]) -> None:
        try:
            with following(owner.correlation_id):
                await driving
        except (asyncio.CancelledError, NotLeadingError):  # stopped, or another process goes on with it
            raise
        except (Exception, SystemExit) as error:  # a bug stops this driver only, and a person hears of it
            log.error("a driver stopped on a bug", owner=owner.id, exc_info=error)
            await self.ask(owner, error)
        finally:
            if self.work.get(owner.id) is asyncio.current_task():
                del self.work[owner.id]
            ended()

    async def spare(self, owner: TaskOwner, work: Awaitable[Any]) -> bool:
        """Await what may fail for one thing alone: then a person is asked about it, and the others are spared."""
        try:
            await work
        except NotLeadingError:
            raise
        except (Exception, SystemExit) as error:
            if isinstance(error, UnavailableError) and not isinstance(error, UnreadableError):
                raise  # nothing works here now
            log.error("something could not be taken up", owner=owner.id, exc_info=error)
            await self.ask(owner, error)
            return False
        return True

    async def wait(self, owner: str, timeout_s: float | None = None) -> None:
        """Return when that owner's driver has ended, or after the time-out; at once where there is none."""
        if owner in self.work:
            await asyncio.wait([self.work[owner]], timeout=timeout_s)

    async def stop(self, *owners: str) -> None:
        """Stop the drivers of these owners; of all without any."""
        await stop([self.work[owner] for owner in owners or list(self.work) if owner in self.work])

    # -- every task ------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Hear from now on of the tasks that nobody else watches."""
        watchers.append(self)

    async def begin(self) -> None:
        """This process leads now: what an earlier one told of its tasks is over, and who stopped on a bug is known."""
        for row in await self.store.rows("decision", open=True):
            found = Decision.model_validate(row)
            kind, _, owner = found.owner.partition(":")
            if kind == BUG and owner.startswith(f"{TASK}:"):
                self._tell(self._withdraw(_owner_of(found, owner), found.id, "The server was started again."))
            elif kind == BUG:
                self.stopped[owner] = found.id

    async def close(self) -> None:
        if self in watchers:
            watchers.remove(self)
        await stop(self._telling)

    def failed(self, watched: Watched) -> None:
        """A watched task broke off: a person hears of it, once until it is well again."""
        if watched.decision:
            return
        watched.decision = "asked"
        self._tell(self._ask_about(watched))

    def note(self, owner: TaskOwner, name: str, error: Exception) -> None:
        """Something of an owner's failed, such as its picture, and it goes on without it: said once."""
        log.error("something failed, and the rest goes on", owner=owner.id, what=name, exc_info=error)
        if (owner.id, name) not in self._noted:
            self._noted.add((owner.id, name))
            self.failed(Watched(name, owner, lasts=False, may_end=True, error=told(error)))

    def well(self, watched: Watched) -> None:
        """It has worked for a while since it began again: the question about it is settled."""
        if watched.decision:
            self._tell(self._settle(watched))

    def _tell(self, telling: Coroutine[Any, Any, None]) -> None:
        task = part(telling, "telling of a failure")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _ask_about(self, watched: Watched) -> None:
        owner = watched.owner or SERVER
        asks = Question(
            f"{BUG}:{TASK}:{owner.id}",
            f"{owner.title}: {watched.name} broke off on an error",
            watched.error,
            {TASK: watched.name},
            ("leave",),
            {"leave": AGAIN_SAYS if watched.lasts else "It stays as it is."},
            "It is begun again by itself, at most once a minute." if watched.lasts else "It stays as it is.",
        )
        async with self._turn:
            try:
                watched.decision = await self._asked(owner, asks)
            except UnavailableError:
                watched.decision = ""  # with its next failure

    async def _settle(self, watched: Watched) -> None:
        async with self._turn:
            decision, watched.decision = watched.decision, ""
            await self._withdraw(watched.owner or SERVER, decision, "It has worked again for a while.")

    async def _withdraw(self, owner: TaskOwner, decision: str, why: str) -> None:
        try:
            row = await self.store.row("decision", decision)
            if row is not None and row["status"] == "open":
                found = Decision.model_validate(row)
                await self._append(found, owner, "decisionWithdrawn", status="withdrawn", why=why)
        except BeforehandError as error:  # it stays open: a person may close it
            log.warning("a decision could not be withdrawn", decision=decision, says=error.says)

    # -- asking ----------------------------------------------------------------------------------------------------

    async def ask(self, owner: TaskOwner, error: BaseException) -> None:
        """Ask a person about something that does not work now: whether it is taken up again from the log."""
        refused = isinstance(error, BeforehandError) and not isinstance(error, BugError)
        title = f"{owner.title} {'cannot go on' if refused else 'stopped on an error in Beforehand itself'}"
        asks = Question(f"{BUG}:{owner.id}", title, told(error))
        try:
            self.stopped[owner.id] = await self._asked(owner, asks)
        except UnavailableError:
            self._tell(self._ask_later(owner, asks))

    async def _ask_later(self, owner: TaskOwner, asks: "Question") -> None:
        """The log cannot be written now: it is asked about as soon as that is over, unless it works again by then."""
        while owner.id not in self.work:
            await asyncio.sleep(AGAIN_S)
            with suppress(UnavailableError):
                self.stopped[owner.id] = await self._asked(owner, asks)
                return

    async def _asked(self, owner: TaskOwner, asks: "Question") -> str:
        """The id of the decision, which is opened unless it is open already; empty where nobody is to be asked."""
        try:
            if (known := await self._open_one(asks)) is not None:
                return known
            decision = asks.decision(owner, await self.store.last_seq(), iso(self.clock.now_ms()))
            await self._append(decision, owner, "decisionOpened")
            return decision.id
        except NotLeadingError as error:
            log.warning("nobody is asked: this process does not lead", owner=owner.id, says=error.says)
        except UnavailableError as error:
            log.warning("nobody can be asked: the log cannot be written", owner=owner.id, says=error.says)
            raise
        except Exception as error:
            log.error("the bug could not be written to the log", owner=owner.id, exc_info=error)
        return ""

    async def _open_one(self, asks: "Question") -> str | None:
        for row in await self.store.rows("decision", open=True):
            if row["owner"] == asks.owner and row["title"] == asks.title:
                return str(row["id"])
        return None

    async def _append(self, decision: Decision, owner: TaskOwner, kind: str, **more: Any) -> None:
        event = Event(
            kind,
            {**owner.about, "decisionId": decision.id},
            {**decision.wire(), **more},
            self.clock.now_ms(),
            scene=owner.scene,
            correlation_id=owner.correlation_id,
            owner=decision.owner,
        )
        await self.store.append([event])


def _owner_of(decision: Decision, owner: str) -> TaskOwner:
    about = {name: value for name, value in decision.about.items() if name != "scene"}
    return TaskOwner(owner, decision.title, about, decision.about.get("scene"))


AGAIN_SAYS = "It goes on being begun again by itself, at most once a minute; nobody asks about this failure any more."
TAKE_UP = {"restart": "It is started again from the log.", "leave": "It stays as it is."}


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked about something that broke off."""

    owner: str
    title: str
    error: str
    evidence: dict[str, Any] = field(default_factory=dict)
    verbs: tuple[str, ...] = tuple(TAKE_UP)
    effects: dict[str, str] = field(default_factory=lambda: dict(TAKE_UP))
    if_unanswered: str = "It stays stopped."

    def decision(self, owner: TaskOwner, seq: int, now: str) -> Decision:
        name = owner.id.partition(":")[2][:LONGEST_ID]
        return Decision(
            id=f"{name}-{TASK if TASK in self.evidence else BUG}-{seq}",
            kind=BUG,
            owner=self.owner,
            title=self.title,
            about={**owner.about, **({"scene": owner.scene} if owner.scene else {})},
            evidence={"error": self.error, "afterSeq": seq, **self.evidence},
            verbs=self.verbs,
            effects=self.effects,
            if_unanswered=self.if_unanswered,
            asked_by="beforehand",
            opened_at=now,
        )
