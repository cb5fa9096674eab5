"""`beforehand mcp`: standard output carries the protocol, so whatever else is said goes to standard error."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.exits import DONE, Stopped
from beforehand.cli.options import DbOption, HomeOption, WorkspaceOption, settings_from

if TYPE_CHECKING:
    from beforehand.cli.mcp.home_access import HomeAccess

HOST = "127.0.0.1"
PORT = 8710


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, at /mcp, instead of standard input.")] = False,
    host: Annotated[str | None, typer.Option("--host", metavar="H", help=f"With --http: {HOST} by default.")] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="P", help=f"With --http: {PORT} by default.")] = None,
    workspace: WorkspaceOption = None,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Serve MCP clients: they look, plan and hand in; a person approves.

    Over standard input and output unless --http is given. It asks the server of the home if one runs, else it reads
    the log. Nothing a client calls moves a machine or changes a file.
    """
    from beforehand.cli.logs import quiet_logs
    from beforehand.cli.mcp.home_access import HomeAccess
    from beforehand.model.errors import BadInputError

    if not http and (host is not None or port is not None):
        raise BadInputError("--host and --port say where to listen, so they need --http.", code="usage")
    access = HomeAccess(settings_from(workspace=workspace, home=home, db=db))
    quiet_logs()
    if http:
        with suppress(Stopped):
            _serve_http(access, host or HOST, PORT if port is None else port)
    else:
        _serve_stdio(access)
    return DONE


def _serve_stdio(access: "HomeAccess") -> None:
    """A thread that waits for the next line cannot be called off, so a signal ends the process as it stands."""
    from beforehand import __version__
    from beforehand.adapters.mcp.serving import serve_stdio
    from beforehand.app.crafts import load_crafts
    from beforehand.cli.mcp.offer import offer_of

    asyncio.run(serve_stdio(offer_of(load_crafts(), lambda request: access), __version__))


def _serve_http(access: "HomeAccess", host: str, port: int) -> None:
    from beforehand.cli.mcp.http import serve_http
    from beforehand.cli.run_async import run_async
    from beforehand.cli.screen import print_err

    def ready(url: str) -> None:
        print_err(f"MCP clients find Beforehand at {url}", "Ctrl-C stops it.")

    run_async(serve_http(access, host, port, ready))
