"""`beforehand robot opcua`: a simulated controller of a cell on the wire, to try a scene with before a real one."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.known_names import scenes_of
from beforehand.cli.options import DbOption, HomeOption, settings_from
from beforehand.cli.screen import print_out

if TYPE_CHECKING:
    from beforehand.adapters.opcua.plc import SimulatedPlc
    from beforehand.adapters.sim.cell_faults import CellFault


def wire_commands(says: str) -> typer.Typer:
    """What cells add to the group of robots on the wire."""
    group = typer.Typer(help=says, no_args_is_help=True)
    group.command("opcua")(opcua)
    return group


def opcua(
    scene: Annotated[
        str,
        typer.Option(
            "--scene", metavar="S", help="The cell's scene: its name, or a file.", autocompletion=scenes_of("cell")
        ),
    ],
    port: Annotated[int, typer.Option("--port", metavar="P", min=0, max=65535, help="0 takes a free one.")] = 4840,
    host: Annotated[str, typer.Option("--host", metavar="H", help="The address to listen on.")] = "127.0.0.1",
    speed: Annotated[float, typer.Option("--speed", metavar="X", help="How fast simulated time passes.")] = 1.0,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="FILE", help="Remember commands there over a restart; else they are forgotten."),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", metavar="NAME[:TARGET]", help="Go wrong once, as `cell fault` says; may be repeated."),
    ] = None,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """A simulated PLC for a cell over OPC UA, until Ctrl-C. Prints the controller to put into a scene."""
    from beforehand.adapters.opcua.plc import SimulatedPlc
    from beforehand.app.clock import WallClock
    from beforehand.app.dry_run import scene_document
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.cell.core.scene import read_cell
    from beforehand.model.errors import BadInputError

    if not speed > 0:
        raise BadInputError("--speed must be more than 0.", code="usage")
    cell = read_cell(run_async(scene_document(settings_from(home=home, db=db), scene)))
    faults = [_fault(one) for one in fault or ()]
    plc = SimulatedPlc(cell, WallClock(), speed=speed, keep=None if keep is None else Path(keep))
    run_async(_serve(plc, host, port, faults))
    return DONE


def _fault(given: str) -> "CellFault":
    from beforehand.crafts.cell.cells import read_fault

    name, _, target = given.partition(":")
    return read_fault(name, target or None)


async def _serve(plc: "SimulatedPlc", host: str, port: int, faults: "Sequence[CellFault]") -> None:
    for one in faults:
        plc.inject(one)
    await plc.start(host, port)
    try:
        print_out("Put this controller into the scene; Ctrl-C ends it.", f"controller: {_entry(plc.url)}")
        await asyncio.Event().wait()
    finally:
        await plc.stop()


def _entry(url: str) -> Any:
    return f'{{kind: opcua, url: "{url}"}}'
