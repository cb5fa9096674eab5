"""`beforehand robot robokit`: simulated forklifts on the wire."""

from typing import Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.known_names import scenes_of
from beforehand.cli.options import DbOption, HomeOption, settings_from
from beforehand.cli.screen import print_out
from beforehand.crafts.fleet.check_commands import check


def wire_commands(says: str) -> typer.Typer:
    """The command group, with its help."""
    robot = typer.Typer(help=says, no_args_is_help=True)
    robot.command("robokit")(robokit)
    robot.command("check")(check)
    return robot


def robokit(
    scene: Annotated[
        str,
        typer.Option(
            "--scene", metavar="S", help="The fleet's scene: its name, or a file.", autocompletion=scenes_of("fleet")
        ),
    ],
    robot: Annotated[
        list[str] | None, typer.Option("--robot", metavar="R", help="Only this robot of the scene; may be given again.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="P", help="The first robot's status port; the others follow in blocks of ten."),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="H", help="The address to listen on.")] = "127.0.0.1",
    speed: Annotated[float, typer.Option("--speed", metavar="X", help="How fast simulated time passes.")] = 1.0,
    faults: Annotated[
        str | None, typer.Option("--faults", metavar="FILE", help="What goes wrong, with which robot and when.")
    ] = None,
    header: Annotated[
        int | None, typer.Option("--header", metavar="1|2", help="Understand only this version of the frame header.")
    ] = None,
    held_by: Annotated[
        str, typer.Option("--held-by", metavar="NAME", help="Somebody who has control of the robots at first.")
    ] = "",
    single_orders: Annotated[
        bool, typer.Option("--single-orders", help="Refuse orders that drive and lift in one.")
    ] = False,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Simulated forklifts that speak Robokit over TCP, until Ctrl-C. Prints the links to put into a scene."""
    from beforehand.adapters.robokit.robot import Manners
    from beforehand.app.documents import read_file
    from beforehand.app.dry_run import scene_document
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.fleet.wire_robots import RobotsAsked, serve_robots
    from beforehand.model.errors import BadInputError

    if header not in (None, 1, 2):
        raise BadInputError(f"--header takes 1 or 2, not {header}.", code="usage")
    if scene == "-" and faults == "-":
        raise BadInputError("The scene and the faults cannot both come from standard input.", code="usage")
    document = run_async(scene_document(settings_from(home=home, db=db), scene))
    manners = Manners(versions=(1, 2) if header is None else (header,), composite=not single_orders)
    script = None if faults is None else read_file(faults)
    asked = RobotsAsked(document, tuple(robot or ()), host, port, speed, script, manners, held_by)
    run_async(serve_robots(asked, _show_links))
    return DONE


def _show_links(entries: dict[str, dict[str, Any]]) -> None:
    import json

    print_out("Put these links into the scene; Ctrl-C ends the robots.")
    for robot_id, link in entries.items():
        print_out(f"  - {{robotId: {robot_id}, link: {json.dumps(link)}}}")
