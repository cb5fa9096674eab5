"""A session as the command line reaches it: in this process, or at the server that leads the home."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from beforehand.cli.backend import Backend, Call, Document, open_backend
from beforehand.crafts.agent.sessions import Asked, Sessions
from beforehand.crafts.agent.steering import options_of

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings

BY = "command line"


@dataclass(frozen=True, slots=True)
class SessionFace:
    backend: Backend
    session_id: str

    async def say(self, command: str) -> Document:
        async def here(runtime: "Runtime") -> Document:
            return await runtime.service(Sessions).say(self.session_id, command, by=BY)

        return dict(await self.backend.perform(here, self._call("POST", "/commands", {"command": command})))

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

    def _call(self, method: str, below: str, body: Any = None) -> Call:
        return Call(method, f"/sessions/{quote(self.session_id, safe='')}{below}", body)


@asynccontextmanager
async def open_session(settings: "Settings", scene: str, asked: "dict[str, Any]") -> AsyncIterator[SessionFace]:
    """Start a session in a scene, given by its name or a file; it stays in the log when the command ends."""
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
            )
            return (await runtime.service(Sessions).start(wanted)).head()

        body = {"scene": name, **{key: value for key, value in asked.items() if value is not None}}
        session = dict(await backend.perform(here, Call("POST", "/sessions", body)))
        yield SessionFace(backend, str(session["sessionId"]))
