"""Calls into code that is not ours, such as plug-ins: whatever goes wrong in it stays there, told in one sentence.

Such code may raise anything, `SystemExit` too, which would end the whole process, and it may never come back. What is
called here can be waited for with a limit: a plain function of somebody else's runs in a thread of its own, which is
left behind when it is too late. Not covered: a plug-in that blocks the loop later, in a method that is called there,
one that ends the process without an exception (`os._exit`), and one that crashes it.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from beforehand.model.errors import BeforehandError, ForeignError
from beforehand.model.secrets import without_secrets
from beforehand.ports.tasks import part

T = TypeVar("T")
START_S = 10.0
"""How long something of somebody else's may take to load, to open or to start."""
LONGEST = 1_000
"""How many characters of what somebody else's error says are passed on."""
PROBLEMS = 3
"""How many problems of a document are told in a sentence about something else."""
_OURS = "beforehand."


@contextmanager
def contained() -> Iterator[None]:
    """What would end the whole process is an error like any other; Ctrl-C and cancellations go through.

    A task passes `SystemExit` on to the loop, and so ends it: what runs in a task of its own needs this inside of it.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise ForeignError(_sentence(error)) from error


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """The same, and any error that is none of our tree becomes one that says `what` went wrong, and how."""
    try:
        with contained():
            yield
    except BeforehandError as error:
        if type(error) is ForeignError and not error.hint:
            raise _told(what, error) from error
        raise
    except Exception as error:
        raise _told(what, error) from error


async def contain(work: Awaitable[T]) -> T:
    """Wait for work of somebody else's inside `contained`: for what becomes a task of its own."""
    with contained():
        return await work


def is_ours(call: Any) -> bool:
    """Whether a function comes with this package; one that does not say where it is from does not."""
    return str(getattr(call, "__module__", "")).startswith(_OURS)


async def made(call: Callable[[], T], *, ours: bool, within_s: float | None = None) -> T:
    """The value of a plain function, such as a factory: of somebody else's in a thread, and only waited for so long.

    One that needs the running loop is called again on it, where nothing can limit it.
    """
    if ours:
        with contained():
            return call()
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    side = _Aside(call, _waker(done))
    limit_s = START_S if within_s is None else within_s
    await asyncio.wait([done], timeout=limit_s)
    with contained():
        if not side.ended:
            raise _too_slow(limit_s)
        if isinstance(side.error, RuntimeError) and "no running event loop" in str(side.error):
            return call()
        return side.outcome()


def loaded(call: Callable[[], T], *, ours: bool = False, within_s: float | None = None) -> T:
    """The same for whoever has no loop to wait on, or stands still meanwhile."""
    if ours:
        with contained():
            return call()
    ended = threading.Event()
    side = _Aside(call, ended.set)
    limit_s = START_S if within_s is None else within_s
    ended.wait(limit_s)
    with contained():
        if not side.ended:
            raise _too_slow(limit_s)
        return side.outcome()


async def started(work: Awaitable[T], *, ours: bool, within_s: float | None = None) -> T:
    """The outcome of work that is to start something; of somebody else's only waited for so long, then cancelled."""
    if ours:
        with contained():
            return await work
    limit_s = START_S if within_s is None else within_s
    task = part(contain(work))
    try:
        await asyncio.wait([task], timeout=limit_s)
    finally:
        in_time = task.done()
        task.cancel()  # nothing where it has ended; one that does not listen is left behind
    with contained():
        if not in_time:
            raise _too_slow(limit_s)
        if task.cancelled():
            raise ForeignError("It was cancelled, and not by us.")
        return task.result()


def why(error: BaseException) -> str:
    """What went wrong, in sentences: an error of our tree says so itself, by its problems where it has some."""
    if isinstance(error, BeforehandError):
        told = [problem.says for problem in error.problems[:PROBLEMS]]
        more = len(error.problems) - len(told)
        says = " ".join(told or [error.says]) + (f" (And {more} more.)" if more else "")
        return without_secrets(says[:LONGEST])
    return _sentence(error)


class _Aside(Generic[T]):
    """A function in a thread that the end of the process does not wait for, and what came of it."""

    def __init__(self, call: Callable[[], T], ending: Callable[[], None]) -> None:
        self.ended = False
        self.error: BaseException | None = None
        self._value: list[T] = []
        self._call, self._ending = call, ending
        threading.Thread(target=self._run, name="foreign", daemon=True).start()

    def _run(self) -> None:
        try:
            self._value.append(self._call())
        except BaseException as error:  # in this thread nothing that is raised is meant for us
            self.error = error
        self.ended = True
        self._ending()

    def outcome(self) -> T:
        if self.error is None:
            return self._value[0]
        if isinstance(self.error, Exception):
            raise self.error
        raise ForeignError(_sentence(self.error)) from self.error


def _waker(done: "asyncio.Future[None]") -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def wake() -> None:
        try:
            loop.call_soon_threadsafe(lambda: None if done.done() else done.set_result(None))
        except RuntimeError:  # too late even for that: the loop is closed
            return

    return wake


def _sentence(error: BaseException) -> str:
    text = without_secrets(str(error)[:LONGEST])
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SystemExit):
        return f"It tried to end the whole process ({said})."
    return said if said.endswith((".", "!", "?")) else f"{said}."


def _told(what: str, error: BaseException) -> ForeignError:
    hint = "Correct the plug-in that brings it, or uninstall it, then start again."
    return ForeignError(f"{what} failed: {why(error)}", hint=hint)


def _too_slow(limit_s: float) -> ForeignError:
    return ForeignError(f"It did not start within {limit_s:g} s.")
