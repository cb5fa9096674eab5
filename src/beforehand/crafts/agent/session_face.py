"""A session as the command line reaches it: in this process, or at the server that leads the home.

A command that steers keeps its session only while it lives: it says so to the server again and again, and it ends the
session where it is stopped itself. What becomes of a command that is killed is the next one's to see.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from beforehand.cli.backend import Backend, Call, Document, open_backend, open_backend_to_ask
from beforehand.cli.screen import print_err
from beforehand.crafts.agent.core.session_state import OF_THIS_PROCESS
from beforehand.crafts.agent.session_log import Asked
from beforehand.crafts.agent.session_verbs import end_session, take_session_over
from beforehand.crafts.agent.sessions import Sessions
from beforehand.crafts.agent.steering import options_of
from beforehand.model.errors import BeforehandError, ConflictError
from beforehand.ports.tasks import part, stop

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings

T = TypeVar("T")
BY = "command line"
LEASE_S = 30.0
"""How long a server keeps a session for a command that it hears nothing of."""
LEAVE_S = 10.0
"""How long a command that is stopped takes to end its session."""


@dataclass(slots=True)
class SessionFace:
    backend: Backend
    session_id: str
    turn: int = 0
    lease_s: float = LEASE_S
    lost: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Fails with the reason when somebody else steers by now, or the session is over."""

    async def say(self, command: str) -> Document:
        async def here(runtime: "Runtime") -> Document:
            return await runtime.service(Sessions).say(self.session_id, command, by=BY, turn=self.turn)

        body = {"command": command, "turn": self.turn}
        return dict(await self.backend.perform(here, self._call("POST", "/commands", body)))

    async def show(self) -> Document:
        async def here(runtime: "Runtime") -> Document:
            return await runtime.service(Sessions).show(self.session_id)

        return dict(await self.backend.perform(here, self._call("GET", "")))

    async def surroundings(self) -> str:
        async def here(runtime: "Runtime") -> Document:
            return await runtime.service(Sessions).surroundings(self.session_id)

        return str((await self.backend.perform(here, self._call("GET", "/surroundings")))["surroundings"])

    async def commands(self) -> list[Document]:
        async def here(runtime: "Runtime") -> list[Document]:
            from beforehand.crafts.agent.lanes import command_log

            return await command_log(runtime.service(Sessions), self.session_id)

        return list(await self.backend.perform(here, self._call("GET", "/commands")))

    async def end(self, note: str) -> Document:
        """End it unless somebody else has taken it over."""

        async def here(runtime: "Runtime") -> Document:
            return await end_session(runtime.service(Sessions), self.session_id, by=BY, note=note, turn=self.turn)

        return dict(await self.backend.perform(here, self._call("POST", "/end", {"note": note, "turn": self.turn})))

    async def unless_lost(self, work: Awaitable[T]) -> T:
        """What is waited for; a ConflictError as soon as this command steers no more."""
        waiting = part(work)
        either: list[asyncio.Future[Any]] = [waiting, self.lost]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                self.lost.result()
            return await waiting
        finally:
            waiting.cancel()

    async def keep(self) -> None:
        """Tell the server again and again that this command is there; one that does not answer is asked again."""
        while True:
            await asyncio.sleep(self.lease_s / 3)
            try:
                await self.backend.perform(_nothing, self._call("POST", "/renew", {"turn": self.turn}, keyed=False))
            except ConflictError as error:
                if not self.lost.done():
                    self.lost.set_exception(error)
                return
            except BeforehandError:
                continue

    async def leave(self) -> None:
        """This command is stopped: so is what its session has under way, and the body is given back."""
        try:
            async with asyncio.timeout(LEAVE_S):
                ended = await self.end("its command was stopped")
        except ConflictError:
            return  # it is over, or somebody else's
        except (BeforehandError, TimeoutError):
            with suppress(OSError):
                print_err(f"The session {self.session_id} could not be ended; the server ends it by itself soon.")
            return
        with suppress(OSError):  # the terminal may be gone
            print_err(ended_says(ended))

    def _call(self, method: str, below: str, body: Any = None, *, keyed: bool = True) -> Call:
        return Call(method, path_of(self.session_id, below), body, keyed)


async def _nothing(runtime: "Runtime") -> None:
    """In this process nobody needs to be told that it is there."""


def path_of(session_id: str, below: str = "") -> str:
    return f"/sessions/{quote(session_id, safe='')}{below}"


def ended_says(session: Document) -> str:
    """That a session has ended, and what was cancelled for that."""
    cancelled = f" Cancelled: {', '.join(session['cancelled'])}." if session["cancelled"] else ""
    return f"The session {session['sessionId']} has ended, and its body is free.{cancelled}"


@asynccontextmanager
async def open_session(
    settings: "Settings", scene: str, asked: "dict[str, Any]", lease_s: float = LEASE_S
) -> AsyncIterator[SessionFace]:
    """Start a session in a scene, given by its name or a file; one that waits for a person outlives the command."""
    from beforehand.app.dry_run import scene_document
    from beforehand.crafts.agent.playing import refuse_other_kinds

    refuse_other_kinds(await scene_document(settings, scene))  # before a home is made for it
    async with open_backend(settings, note="beforehand agent", with_servers=False) as backend:
        name = await backend.live_scene(scene)

        async def here(runtime: "Runtime") -> Document:
            steered_by = "model" if asked.get("model") else "policy" if asked.get("policy") else "person"
            wanted = Asked(
                name,
                asked.get("goal"),
                asked.get("instruction"),
                asked.get("model"),
                steered_by,  # type: ignore[arg-type]
                max_steps=asked.get("maxSteps"),
                by=BY,
                options=options_of(None, asked.get("pictures", True)),
                lease_s=OF_THIS_PROCESS,
            )
            return (await runtime.service(Sessions).start(wanted)).head()

        body = {"scene": name, "leaseS": lease_s, **{key: value for key, value in asked.items() if value is not None}}
        session = dict(await backend.perform(here, Call("POST", "/sessions", body)))
        if session.get("note"):
            print_err(session["note"])
        async with _kept(backend, session, lease_s) as face:
            yield face


@asynccontextmanager
async def taken_over(settings: "Settings", session_id: str, lease_s: float = LEASE_S) -> AsyncIterator[SessionFace]:
    """Take a session over and steer it from here."""
    async with open_backend(settings, note="beforehand agent", with_servers=False) as backend:

        async def here(runtime: "Runtime") -> Document:
            return await take_session_over(runtime.service(Sessions), session_id, by=BY, lease_s=OF_THIS_PROCESS)

        call = Call("POST", path_of(session_id, "/take-over"), {"leaseS": lease_s})
        session = dict(await backend.perform(here, call))
        if session["cancelled"]:
            print_err(f"Stopped: {', '.join(session['cancelled'])}.")
        async with _kept(backend, session, lease_s) as face:
            yield face


@asynccontextmanager
async def _kept(backend: Backend, session: Document, lease_s: float) -> AsyncIterator[SessionFace]:
    face = SessionFace(backend, str(session["sessionId"]), int(session.get("turn", 0)), lease_s)
    keeping = [] if backend.url is None else [part(face.keep())]
    try:
        yield face
    except BaseException:
        await face.leave()
        raise
    finally:
        await stop(keeping)
        if not face.lost.cancel():
            face.lost.exception()  # it is known by now


async def at_home(settings: "Settings", here: Callable[["Runtime"], Awaitable[Any]], call: Call) -> Any:
    """What the home's server answers, or this process where none runs; what a crash left behind is settled then."""
    note = "beforehand agent"
    asks = call.method == "GET"
    opening = (
        open_backend_to_ask(settings, note=note) if asks else open_backend(settings, note=note, with_servers=False)
    )
    async with opening as backend:
        return await backend.perform(here, call)
