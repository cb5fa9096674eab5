"""`beforehand up`: the server, with its page and API."""

from typing import Annotated

import typer

from beforehand.cli.options import DbOption, HomeOption, settings_from


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
    settings = settings_from(host=host, port=port, home=home, db=db, speed=speed)
    from beforehand.server.serve import serve

    code = serve(settings, scenes=list(scene or []), open_browser=not no_open)
    return code if isinstance(code, int) else 0
