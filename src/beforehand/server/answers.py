"""What a write with a key is answered when it was done before and a crash came before its answer was kept.

The log says that it was done and what came of it, so every call says once how its answer is read from there: the same
status, shape and ids, and the thing as it is now where nobody can tell how it was. What a crash left open of the write
is finished on the way. A call that changes nothing is made again instead.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Depends, Request, Response

from beforehand.app.runtime import Runtime
from beforehand.loop.asked import MARK, asked_here
from beforehand.model.event import Event
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter
from beforehand.server.responses import Json

CallT = TypeVar("CallT", bound=Callable[..., Any])
log = Log("beforehand.http")
DECLARED = "answered_from"
REPEATED = "changes_nothing"


@dataclass(frozen=True, slots=True)
class DoneWrite:
    """A write that was done: the event with its key, and the request that asks for it again."""

    event: Event
    request: Request

    @property
    def runtime(self) -> Runtime:
        runtime: Runtime = self.request.app.state.runtime
        return runtime

    @property
    def by(self) -> str:
        return str(self.request.state.caller.name)

    @property
    def path(self) -> Mapping[str, str]:
        return self.request.path_params

    def about(self, name: str) -> str:
        """An id of the event, such as `runId`."""
        return str(self.event.about[name])

    async def later(self, kind: str) -> Event | None:
        """The first event of a kind and of the same owner behind it, such as the review that came with a plan."""
        only = EventFilter(kinds=frozenset({kind}), owner=self.event.owner)
        found = await self.runtime.store.events(self.event.seq, 1, only)
        return found[0] if found else None


FromLog = Callable[[DoneWrite], Awaitable[Any]]
"""The answer to a write that was done: a document, answered with the status that the call declares, or a response."""


def answered_from(read: FromLog) -> Callable[[CallT], CallT]:
    """How a call's answer is read from the log, for a write whose answer was never kept."""

    def declare(call: CallT) -> CallT:
        setattr(call, DECLARED, read)
        return call

    return declare


def changes_nothing(call: CallT) -> CallT:
    """The call leaves nothing that a second one would double: with the same key it is simply made again."""
    setattr(call, REPEATED, True)
    return call


def is_declared(call: Callable[..., Any]) -> bool:
    return hasattr(call, DECLARED) or hasattr(call, REPEATED)


class AnsweredFromLog(Exception):  # noqa: N818  nothing went wrong: the call is not made, since this is its answer
    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


async def _answer(request: Request) -> None:
    asked = asked_here()
    if asked is None or asked.done is None:
        return
    call, status = request.scope["endpoint"], getattr(request.scope["route"], "status_code", None)
    if getattr(call, REPEATED, False):
        asked.renew()
        return
    log.info("a write that was done is answered from the log", path=request.url.path, seq=asked.done.seq)
    read = getattr(call, DECLARED, _as_its_event)
    told = await read(DoneWrite(asked.done, request))
    raise AnsweredFromLog(told if isinstance(told, Response) else Json(told, status or 200))


async def _as_its_event(done: DoneWrite) -> Any:
    """For calls of crafts that do not say it: the ids and the thing after the change, as the event has them."""
    ids = {name: value for name, value in done.event.about.items() if name not in MARK}
    return {**ids, **done.event.data}


async def tell(request: Request, answer: Exception) -> Response:
    assert isinstance(answer, AnsweredFromLog)
    return answer.answer


from_log = Depends(_answer)
"""Before every call: one that was done is answered, and not made."""
