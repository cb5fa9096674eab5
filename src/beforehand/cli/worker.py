"""`beforehand worker`: call tools for runs on Temporal, on whichever machine has them."""

from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.exits import DONE, Stopped, leave_at_once
from beforehand.cli.options import HomeOption, WorkspaceOption, settings_from
from beforehand.cli.screen import print_err, print_out
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.app.tool_worker import Working


def worker(
    tools: Annotated[
        str | None, typer.Option("--tools", metavar="A,B", help="Only these tools, with commas between them.")
    ] = None,
    temporal: Annotated[
        str | None, typer.Option("--temporal", metavar="HOST:PORT", help="The Temporal server to work for.")
    ] = None,
    workspace: WorkspaceOption = None,
    home: HomeOption = None,
) -> int:
    """Call tools for the runs of an installation on Temporal, until it is stopped.

    It has the built-in tools, those of its plug-ins and of its MCP servers, and is asked for these only. Calls under
    way are given half a minute when it is stopped; what has not ended then is taken up by another worker.
    """
    from beforehand.app.tool_worker import work_until_stopped
    from beforehand.cli.run_async import run_async

    settings = settings_from(temporal=temporal, workspace=workspace, home=home)
    only = [name.strip() for name in (tools or "").split(",") if name.strip()]
    try:
        run_async(work_until_stopped(settings, only, _ready))
    except Stopped:
        print_out("Stopped.")
        leave_at_once(DONE)
    return DONE


def _ready(working: "Working") -> None:
    print_err(*working.missing)
    having = f"{counted(len(working.tools), 'tool')}: {', '.join(working.tools)}"
    print_out(f"Working for Temporal at {working.server} with {having}.", "Ctrl-C stops it.")
