"""`beforehand up`: the server, with its page and API."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, settings_from
from beforehand.cli.screen import tell

if TYPE_CHECKING:
    from beforehand.app.house import House
    from beforehand.app.settings import Settings


def up(
    scene: Annotated[
        list[str] | None, typer.Option("--scene", metavar="NAME|FILE", help="A scene to load; may be given again.")
    ] = None,
    host: Annotated[str | None, typer.Option("--host", metavar="H", help="What to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", metavar="P", help="The port to listen on.")] = None,
    home: HomeOption = None,
    db: DbOption = None,
    speed: Annotated[float | None, typer.Option("--speed", metavar="X", help="How fast simulated time passes.")] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> int:
    """Start the server; it takes up every run the home knows.

    Without --scene it loads what the home knows. Ctrl-C stops it; runs under way can be taken up again.
    """
    from beforehand.app.logs import configure_logs
    from beforehand.server.serve import serve

    settings = settings_from(host=host, port=port, home=home, db=db, speed=speed)
    taken = _taken_up(settings)
    configure_logs()

    def ready(url: str) -> None:
        tell(f"Beforehand is at {url}", taken, "Ctrl-C stops it; what is under way can be taken up again.")

    asyncio.run(serve(settings, scenes=list(scene or []), open_browser=not no_open, ready=ready))
    tell("Stopped. `beforehand up` takes up what was under way.")
    return DONE


def _taken_up(settings: "Settings") -> str:
    """What the home holds that a start goes on with."""
    from beforehand.app.inbox import list_decisions
    from beforehand.app.runs import list_runs
    from beforehand.cli.looking import look

    async def count(house: "House") -> tuple[int, int]:
        return len(await list_runs(house, open=True)), len(await list_decisions(house))

    runs, decisions = look(settings, count, (0, 0))
    if not runs and not decisions:
        return f"The home is {settings.home}."
    return f"The home is {settings.home}; {runs} runs are taken up, {decisions} decisions wait for a person."
