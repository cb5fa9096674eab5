"""`beforehand up`: the server, with its page and API."""

import math
import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.exits import DONE, Stopped, leave_at_once
from beforehand.cli.known_names import scene_names
from beforehand.cli.options import DbOption, HomeOption, settings_from
from beforehand.cli.screen import print_out
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.app.settings import Settings
    from beforehand.ports.store import Store


def up(
    scene: Annotated[
        list[str] | None,
        typer.Option(
            "--scene", metavar="NAME|FILE", help="A scene to load; may be given again.", autocompletion=scene_names
        ),
    ] = None,
    host: Annotated[str | None, typer.Option("--host", metavar="H", help="What to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="P", help="The port to listen on.")] = None,
    advertise: Annotated[
        str | None,
        typer.Option("--advertise", metavar="URL", help="Where other servers on the same database reach this one."),
    ] = None,
    home: HomeOption = None,
    db: DbOption = None,
    speed: Annotated[float | None, typer.Option("--speed", metavar="X", help="How fast simulated time passes.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> int:
    """Start the server; it continues every run the home knows.

    Without --scene it loads what the home knows. Ctrl-C stops it; runs under way can be continued later.
    Of several servers on one Postgres database one leads, and the others stand by.
    """
    from beforehand.app.logs import configure_logs
    from beforehand.cli.run_async import run_async
    from beforehand.server.serve import serve

    settings = settings_from(host=host, port=port, advertise=advertise, home=home, db=db, speed=speed)
    _refuse_odd_speed(settings["speed"])
    taken = _taken_up(settings)
    configure_logs()

    def ready(url: str) -> None:
        print_out(
            f"Beforehand is at {url}",
            _other_leader(settings) or taken,
            "Ctrl-C stops it; what is under way can be continued later.",
        )

    with suppress(Stopped):
        run_async(serve(settings, scenes=list(scene or []), open_browser=not no_open, ready=ready), log_level=None)
    print_out("Stopped. `beforehand up` continues what was under way.")
    if settings["engine"] == "temporal":
        leave_at_once(DONE)
    return DONE


def _refuse_odd_speed(speed: float) -> None:
    from beforehand.model.errors import BadInputError

    if not (math.isfinite(speed) and speed > 0):
        raise BadInputError(f"The speed must be a number above 0, not {speed:g}.", code="settings.speed")


def _other_leader(settings: "Settings") -> str:
    """Who leads where this server stands by; nothing where it leads itself."""
    from beforehand.app.stores import read_leader

    leader = read_leader(settings.database)
    if leader is None or not leader.alive or (leader.host, leader.pid) == (socket.gethostname(), os.getpid()):
        return ""
    where = f" at {leader.url}" if leader.url else ""
    return f"Process {leader.pid} on {leader.host} leads{where}; this server stands by."


def _taken_up(settings: "Settings") -> str:
    """What the home holds that a start goes on with."""
    from beforehand.cli.read_home import read_home
    from beforehand.model.errors import UnavailableError

    async def count(store: "Store") -> tuple[int, int]:
        return await store.count("run", open=True), await store.count("decision", open=True)

    try:
        runs, decisions = read_home(settings, count, (0, 0))
    except UnavailableError:  # whatever is wrong, taking the lead says so
        runs, decisions = 0, 0
    home = f"The home is {settings.home}"
    if not runs and not decisions:
        return f"{home}."
    return f"{home}; {counted(runs, 'run')} continued, {counted(decisions, 'decision')} waiting for a person."
