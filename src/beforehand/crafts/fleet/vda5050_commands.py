"""`beforehand robot vda5050`: virtual vehicles on a broker, for scenes whose robots speak VDA 5050."""

from typing import Annotated

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.known_names import scenes_of
from beforehand.cli.options import DbOption, HomeOption, settings_from
from beforehand.cli.screen import print_out


def vda5050(
    scene: Annotated[
        str,
        typer.Option(
            "--scene", metavar="S", help="The fleet's scene: its name, or a file.", autocompletion=scenes_of("fleet")
        ),
    ],
    robot: Annotated[
        list[str] | None, typer.Option("--robot", metavar="R", help="Only this robot of the scene; may be given again.")
    ] = None,
    broker: Annotated[
        str | None, typer.Option("--broker", metavar="URL", help="The broker; without it the one the scene names.")
    ] = None,
    speed: Annotated[float, typer.Option("--speed", metavar="X", help="How fast simulated time passes.")] = 1.0,
    faults: Annotated[
        str | None, typer.Option("--faults", metavar="FILE", help="What goes wrong, with which robot and when.")
    ] = None,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Virtual forklifts that speak VDA 5050 over an MQTT broker, until Ctrl-C."""
    from beforehand.app.documents import read_file
    from beforehand.app.dry_run import scene_document
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.fleet.vda5050_robots import VehiclesAsked, made_vehicles
    from beforehand.model.errors import BadInputError

    if scene == "-" and faults == "-":
        raise BadInputError("The scene and the faults cannot both come from standard input.", code="usage")
    settings = settings_from(home=home, db=db)
    document = run_async(scene_document(settings, scene))
    script = None if faults is None else read_file(faults)
    asked = VehiclesAsked(document, tuple(robot or ()), broker, speed, script)
    vehicles = made_vehicles(asked, settings)
    run_async(vehicles.run(lambda robot_id: print_out(f"{robot_id} is online.")))
    return DONE
