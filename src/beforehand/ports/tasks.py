"""Every task there is begins here: as a part of what its caller does, or watched, with an owner who answers for it.

A *part* is awaited or stopped by whoever began it, who hears what it raises. A *watched* task works beside everything
else: what ends it unexpectedly is logged and told to the nursery (`loop/nursery.py`), and one that is meant to last
begins again, after a back-off that is bounded. Foreign code may raise anything: SystemExit ends its task and no more.

A cancellation can get lost inside a library (on Python 3.11 `asyncio.wait_for` swallows one that comes in the very turn
in which what it waits for is done), so it is said again. Whoever closes something never waits for ever.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from beforehand.model.errors import BeforehandError, NotLeadingError
from beforehand.model.secrets import without_secrets
from beforehand.ports.log import Log

log = Log("beforehand.tasks")
T = TypeVar("T")
Work = Coroutine[Any, Any, None]

AGAIN_S = 10.0
"""How long a task may take to end in an orderly way before it is told again."""
TIMES = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
"""How long a task that broke off rests before it begins again: twice as long each time."""
LONGEST = 1_000
"""How many characters of what an error says are passed on."""
WELL_S = 60.0
"""After so long without a failure it counts as well again."""


class EndedError(BeforehandError):
    code = "task.ended"


@dataclass(frozen=True, slots=True)
class TaskOwner:
    """Who answers for a task, in words: for the decision that its failure opens."""

    id: str
    """Such as `run:r1`; what no craft owns begins with `server:`."""
    title: str
    """Such as `The run r1`."""
    about: Mapping[str, Any] = field(default_factory=dict)
    scene: str | None = None
    correlation_id: str = ""


SERVER = TaskOwner("server:tasks", "This server")
"""Who answers for what belongs to no single thing."""


@dataclass(slots=True, eq=False)
class Watched:
    """A task in the register."""

    name: str
    """What it does, as a noun: `the reports of the robots`."""
    owner: TaskOwner | None
    lasts: bool
    """Whether it begins again after a failure."""
    may_end: bool = False
    """Whether its end without a failure is nobody's trouble."""
    failures: int = 0
    """How often it broke off since it was last well."""
    error: str = ""
    decision: str = ""
    """The decision that tells a person of it."""
    task: "asyncio.Task[None] | None" = None

    @property
    def owner_id(self) -> str:
        return "" if self.owner is None else self.owner.id


class Watcher(Protocol):
    """Who hears of the failures of watched tasks."""

    def failed(self, watched: Watched) -> None: ...

    def well(self, watched: Watched) -> None: ...

    def note(self, owner: TaskOwner, name: str, error: Exception) -> None: ...


register: set[Watched] = set()
"""Every watched task of this process, whoever owns it."""
watchers: list[Watcher] = []
"""The last one hears of tasks that belong to none of them; without any, failures are only logged."""
_owner: ContextVar[TaskOwner | None] = ContextVar("task_owner", default=None)
_watcher: ContextVar[Watcher | None] = ContextVar("task_watcher", default=None)


def part(work: Awaitable[T], name: str | None = None) -> "asyncio.Task[T]":
    """Begin a part of what the caller does, who awaits it or stops it."""
    task = asyncio.create_task(_awaited(work), name=name)
    if asyncio.iscoroutine(work):  # stopped before it began, nobody else would close it
        task.add_done_callback(lambda _: work.close())
    return task


async def _awaited(work: Awaitable[T]) -> T:
    try:
        return await work
    except SystemExit as error:  # raised out of a task, it would end the loop with everything on it
        raise EndedError("Code of somebody else tried to end this whole process.") from error


def lasting(
    make: Callable[[], Work], name: str, owner: TaskOwner | None = None, *, may_end: bool = False
) -> "asyncio.Task[None]":
    """Have something work until it is stopped; whatever else ends it, it is told, and begins again.

    Without an owner it belongs to whoever owns the task that begins it. What `may_end` is over when it says so.
    """
    return watch(make, Watched(name, owner or _owner.get(), lasts=True, may_end=may_end))


def job(
    work: Work, name: str, owner: TaskOwner | None = None, *, watcher: Watcher | None = None
) -> "asyncio.Task[None]":
    """Have something work to its end; a failure is told, and it does not begin again."""
    task = watch(lambda: work, Watched(name, owner or _owner.get(), lasts=False, may_end=True), watcher)
    task.add_done_callback(lambda _: work.close())  # stopped before it began, nobody else would
    return task


def watch(make: Callable[[], Work], entry: Watched, watcher: Watcher | None = None) -> "asyncio.Task[None]":
    """Begin a task that is in the register until it ends."""
    watcher = watcher or _watcher.get()
    context = contextvars.copy_context()
    context.run(_owner.set, entry.owner)
    context.run(_watcher.set, watcher)
    task = asyncio.create_task(_worked(make, entry, watcher), name=entry.name, context=context)
    entry.task = task
    register.add(entry)
    task.add_done_callback(lambda _: register.discard(entry))
    return task


async def _worked(make: Callable[[], Work], entry: Watched, watcher: Watcher | None) -> None:
    while True:
        began = asyncio.get_running_loop().time()
        try:
            await make()
            if entry.may_end or _is_stopped():
                return
            raise EndedError("It ended, although nobody had stopped it.")
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise
        except NotLeadingError as error:  # another process does it now
            log.warning("a task ended: this process does not lead any more", task=entry.name, says=error.says)
            return
        except BaseException as error:
            if _is_stopped():  # what a task says that is told to end is nobody's trouble
                return
            worked_s = asyncio.get_running_loop().time() - began
            entry.failures = 1 if worked_s >= WELL_S else entry.failures + 1
            entry.error = told(error)
            log.error(
                "a task broke off", task=entry.name, owner=entry.owner_id, failures=entry.failures, exc_info=error
            )
            if (hears := watcher or next(reversed(watchers), None)) is not None:
                hears.failed(entry)
        if not entry.lasts:
            return
        await asyncio.sleep(pause_s(entry.failures))
        _look_later(entry, watcher)


def _is_stopped() -> bool:
    """Whether this task was told to end, and something on the way has lost that."""
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


def pause_s(failures: int) -> float:
    """How long to rest after so many failures in a row."""
    return min(FIRST_PAUSE_S * 2.0 ** min(failures - 1, 10), LONGEST_PAUSE_S)


def note(name: str, error: Exception, owner: TaskOwner | None = None) -> None:
    """Something of an owner failed, such as one message, and its task goes on without it: said once."""
    owner = owner or _owner.get() or SERVER
    if (hears := _watcher.get() or next(reversed(watchers), None)) is not None:
        hears.note(owner, name, error)
    else:
        log.error("something failed, and the rest goes on", what=name, owner=owner.id, exc_info=error)


def _look_later(entry: Watched, watcher: Watcher | None) -> None:
    """When it has worked for long enough, it is well again."""
    failures = entry.failures

    def look() -> None:
        if entry.failures == failures and entry.task is not None and not entry.task.done():
            entry.failures, entry.error = 0, ""
            if (hears := watcher or next(reversed(watchers), None)) is not None:
                hears.well(entry)

    asyncio.get_running_loop().call_later(WELL_S, look)


def told(error: BaseException) -> str:
    """What an error says, with its kind where it is a bug."""
    says = error.says if isinstance(error, BeforehandError) else f"{type(error).__name__}: {error}"
    return without_secrets(says[:LONGEST])


async def stop(tasks: "Iterable[asyncio.Future[Any]]", *, again_s: float | None = None) -> None:
    """Cancel tasks and wait until they have ended; one that never listens is left behind."""
    still = {task for task in tasks if not task.done()}
    for _ in range(TIMES):
        if not still:
            return
        for task in still:
            task.cancel()
        ended, still = await asyncio.wait(still, timeout=AGAIN_S if again_s is None else again_s)
        for task in ended:
            if not task.cancelled():
                task.exception()  # looked at: what a task says that is told to end is nobody's trouble
    for task in still:
        log.warning("a task did not end when it was told to", task=repr(task))
