"""Where a command's work is done: in this process, or by the server that leads the home.

Both take the same questions and give the same documents, so that `run`, `inbox` and `template` need not care which.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings

Document = dict[str, Any]
SERVER = "server"
"""How a server that leads a home signs itself."""
STARTING_TRIES = 100
STARTING_PAUSE_S = 0.1


Local = Callable[["Runtime"], Awaitable[Any]]


class Call(NamedTuple):
    """A call of the HTTP API; the path is below `/api/v1`."""

    method: str
    path: str
    body: Any = None
    keyed: bool = True
    """False for a call that may be repeated without a key, and whose answer is not kept in the log."""


class Backend(Protocol):
    url: str | None
    """Where the server is; None when the work is done here."""

    async def take_plan(self, document: Any, *, scene: str | None, workspace: str) -> Document:
        """Hand a plan in; the answer is the plan with its id and version."""

    async def live_scene(self, name_or_file: str) -> str:
        """Make a scene live, saving it first where nobody knows it; its name."""

    async def perform(self, local: "Local", call: Call) -> Any:
        """Do what a craft's command asks for: `local` with the runtime in this process, or `call` at the server."""

    async def plan_from_template(self, name: str, parameters: Mapping[str, Any], *, workspace: str) -> Document: ...

    async def template(self, name: str) -> Document: ...

    async def save_template(self, name: str, document: Any) -> Document: ...

    async def start(self, plan_id: str, version: int) -> Document:
        """Approve that version and start it; the answer is the run."""

    async def resume(self, run_id: str) -> Document:
        """See to it that somebody works on the run; the answer is the run."""

    async def run(self, run_id: str) -> Document: ...

    async def decision(self, decision_id: str) -> Document: ...

    async def answer(self, decision_id: str, verb: str, *, value: Any, note: str, carry_on: bool = True) -> Document:
        """Answer a decision; `carry_on` false only writes it down where nobody works on the run."""

    async def answer_and_run(self, decision_id: str, verb: str, *, value: Any, note: str) -> Document:
        """Answer a review with a verb that sets a run going; the answer is the run."""

    def events(self, run_id: str) -> AsyncIterator[list[Document]]:
        """Everything that happened and happens to a run, in batches."""

    def frames(self) -> AsyncIterator[Document]:
        """Live frames, progress among them."""


@asynccontextmanager
async def open_backend(settings: "Settings", *, note: str, with_servers: bool = True) -> AsyncIterator[Backend]:
    """This process if it can lead the home, else the server that does; NotLeadingError when that is no server."""
    from beforehand.app.runtime import open_runtime
    from beforehand.cli.local_backend import LocalBackend
    from beforehand.model.errors import NotLeadingError

    async with AsyncExitStack() as stack:
        for tried in range(STARTING_TRIES):
            try:
                opening = open_runtime(settings, note=note, with_servers=with_servers, serves=False)
                runtime = await stack.enter_async_context(opening)
            except NotLeadingError as error:
                if error.extra.get("url"):
                    from beforehand.cli.remote_backend import RemoteBackend

                    yield await stack.enter_async_context(RemoteBackend(str(error.extra["url"]), settings))
                    return
                if error.extra.get("note") != SERVER or tried == STARTING_TRIES - 1:
                    raise
                await asyncio.sleep(STARTING_PAUSE_S)  # it is starting and will say where it listens
            else:
                yield LocalBackend(runtime)
                return


@asynccontextmanager
async def open_backend_to_ask(settings: "Settings", *, note: str) -> AsyncIterator[Backend]:
    """The same for what is only asked: of a home that is read-only a copy is asked, which is gone afterwards."""
    from beforehand.cli.screen import print_err
    from beforehand.model.errors import UnavailableError

    async with AsyncExitStack() as stack:
        try:
            backend = await stack.enter_async_context(open_backend(settings, note=note, with_servers=False))
        except UnavailableError as error:
            if error.code != "store.read_only":
                raise
            print_err("The home is read-only, so a copy of its log is asked, and nothing of this is kept.")
            copy = await stack.enter_async_context(_copied(settings))
            backend = await stack.enter_async_context(open_backend(copy, note=note, with_servers=False))
        yield backend


@asynccontextmanager
async def _copied(settings: "Settings") -> AsyncIterator["Settings"]:
    """The same settings over a copy of the log, for as long as it is wanted."""
    from beforehand.app.stores import copy_beside
    from beforehand.cli.logs import quiet_logs

    quiet_logs(level=logging.ERROR)  # that the copy is another generation of the log is of no interest
    with TemporaryDirectory(prefix="beforehand-") as folder:
        path = Path(folder) / "log.db"
        await copy_beside(settings.database, path)
        yield replace(settings, values={**settings.values, "db": str(path)})
