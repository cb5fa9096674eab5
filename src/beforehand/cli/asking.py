"""Asking the server of the home; for looking, the log it left does as well.

For commands about what only a server drives: what a person asks of it needs one.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from beforehand.cli.screen import print_err

if TYPE_CHECKING:
    from beforehand.app.settings import Settings
    from beforehand.ports.store import Leader, Store

    InLog = Callable[[Store], Awaitable[Any]]


def path_to(*parts: str, **query: str | None) -> str:
    """A path below `/api/v1`; what is not given is left out of the query."""
    from urllib.parse import quote, urlencode

    from beforehand.model.errors import BadInputError

    for part in parts:
        if part in ("", ".", "..") or "/" in part:
            raise BadInputError(f"{part!r} is not an id.", code="usage", hint="`list` shows the ids there are.")
    path = "".join(f"/{quote(part, safe='')}" for part in parts)
    asked = {key: value for key, value in query.items() if value}
    return f"{path}?{urlencode(asked)}" if asked else path


def look(settings: "Settings", path: str, in_log: "InLog", *, unknown: str) -> Any:
    """What the server answers, or where none runs what the log says; `unknown` is what nobody knows without a log."""
    from beforehand.cli.read_home import read_home
    from beforehand.cli.run import refuse_missing

    refuse_missing(settings, f"so {unknown}")
    leader = server_of(settings)
    if leader is not None:
        return _called(settings, leader, "GET", path)
    print_err("No server runs on this home, so this is how its log was left.")
    return read_home(settings, in_log, None, of_crafts=True)


def tell(
    settings: "Settings", method: str, path: str, body: Mapping[str, Any] | None = None, *, unknown: str, driven: str
) -> Any:
    """Have the server do what a person asks for."""
    from beforehand.cli.run import refuse_missing
    from beforehand.cli.running import command
    from beforehand.model.errors import RefusedError

    refuse_missing(settings, f"so {unknown}")
    leader = server_of(settings)
    if leader is None:
        raise RefusedError(
            f"No server runs on this home, so {driven}.",
            code="server.needed",
            hint=f"Start one first: {command(settings, 'up')}",
        )
    return _called(settings, leader, method, path, body)


def server_of(settings: "Settings") -> "Leader | None":
    """The server that leads the home; one that is just starting is waited for."""
    from time import sleep

    from beforehand.app.stores import read_leader
    from beforehand.cli.backend import SERVER, STARTING_PAUSE_S, STARTING_TRIES

    for _ in range(STARTING_TRIES):
        leader = read_leader(settings.database)
        if leader is None or not leader.alive or leader.url:
            return leader if leader is not None and leader.alive else None
        if leader.note != SERVER:
            return None  # a command that carries out one plan; it serves nobody
        sleep(STARTING_PAUSE_S)
    return None


def _called(settings: "Settings", leader: "Leader", method: str, path: str, body: Any = None) -> Any:
    from beforehand.cli.remote_backend import RemoteBackend
    from beforehand.cli.run_async import run_async

    async def call() -> Any:
        async with RemoteBackend(str(leader.url), settings) as server:
            return await server.call(method, path, body)

    return run_async(call())
