"""`beforehand cell`: where the robot stands, what it holds, and what its simulator does wrong."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.known_names import scenes_of
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, line, print_json, print_out
from beforehand.crafts.cell.graph_commands import graph
from beforehand.crafts.cell.wire_commands import wire_commands

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings
    from beforehand.crafts.cell.cells import Cells

    InProcess = Callable[[Runtime, str], Awaitable[dict[str, Any]]]

Document = dict[str, Any]
BY = "command line"

COMMANDS = {
    "cell": "Robot cells: where the robot stands and what it holds.",
    "graph": "Cells kept in a graph database.",
    "robot": "Robots on the wire: simulated ones that speak a robot's protocol, and a look at a real one.",
}
cell = typer.Typer(help=COMMANDS["cell"], no_args_is_help=True)
robot = wire_commands(COMMANDS["robot"])
SceneArgument = Annotated[
    str,
    typer.Argument(metavar="SCENE", help="The cell's scene: its name, or a file.", autocompletion=scenes_of("cell")),
]


@cell.command()
def state(
    scene: SceneArgument, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None
) -> int:
    """Where the robot stands and what it holds, by the home's log; else as the scene begins."""
    from beforehand.cli.run_async import run_async

    _print(run_async(_state(settings_from(home=home, db=db), scene)), output)
    return DONE


@cell.command("set")
def set_state(
    scene: SceneArgument,
    position: Annotated[str | None, typer.Option("--position", metavar="P", help="Where the robot stands.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", metavar="T", help="What it holds, or none.")] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Say where the robot stands and what it holds, after it was moved by hand."""
    from beforehand.model.errors import BadInputError

    if position is None and tool is None:
        raise BadInputError("Give --position P, --tool T, or both.", code="usage")

    async def set_here(runtime: "Runtime", name: str) -> Document:
        cells = runtime.service(_cells())
        await cells.set_state(name, position, tool, by=BY)
        return await cells.document(name)

    given = {key: value for key, value in (("position", position), ("tool", tool)) if value is not None}
    _print(_perform(settings_from(home=home, db=db), scene, set_here, ("PATCH", "", given)), output)
    return DONE


@cell.command()
def fault(
    scene: SceneArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="fail, stall, power, tool_missing or verify.")],
    target: Annotated[
        str | None, typer.Option("--target", metavar="T", help="Only at this position or routine; else the next.")
    ] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Have the simulated controller go wrong at the next command that fits."""

    async def inject_here(runtime: "Runtime", where: str) -> Document:
        from beforehand.crafts.cell.cells import read_fault

        return await runtime.service(_cells()).inject(where, read_fault(name, target))

    body = {"fault": name} | ({} if target is None else {"target": target})
    given = _perform(settings_from(home=home, db=db), scene, inject_here, ("POST", "/faults", body))
    if output is Output.JSON:
        print_json(given)
    else:
        where = f" {given['target']}" if given.get("target") else " the next command that fits"
        print_out(f"{line(given['fault'])} will strike{where} in {given['scene']}.")
    return DONE


def _cells() -> "type[Cells]":
    from beforehand.crafts.cell.cells import Cells

    return Cells


async def _state(settings: "Settings", scene: str) -> Document:
    """Where a cell's robot stands and what it holds: by the home's log, else as its scene begins."""
    from beforehand.app.dry_run import open_dry_run
    from beforehand.app.scenes import saved_scene

    async with open_dry_run(settings, with_servers=False) as runtime:
        shown = await runtime.service(_cells()).document(await saved_scene(runtime, scene))
        del shown["active"]  # here nothing is live; whoever leads the home knows
        return shown


def _perform(settings: "Settings", scene: str, here: "InProcess", call: tuple[str, str, Document]) -> Document:
    """Done by the server that leads the home, else here; a scene nobody knows is refused before a home is made."""
    from beforehand.cli.backend import Call, open_backend
    from beforehand.cli.run_async import run_async

    async def do() -> Document:
        await _state(settings, scene)
        async with open_backend(settings, note="beforehand cell", with_servers=False) as backend:
            name = await backend.live_scene(scene)
            method, below, body = call
            path = f"/cells/{quote(name, safe='')}{below}"
            return dict(await backend.perform(lambda runtime: here(runtime, name), Call(method, path, body)))

    return run_async(do())


def _print(shown: Document, output: Output) -> None:
    if output is Output.JSON:
        print_json(shown)
        return
    held = "no tool" if shown["current_tool"] == "none" else shown["current_tool"]
    if shown["current_position"] is None:
        print_out(
            f"{shown['scene']}: the robot's position is not known. It holds {held}. {shown.get('says', '')}".strip()
        )
    else:
        print_out(f"{shown['scene']}: the robot stands at {shown['current_position']} and holds {held}.")


__all__ = ["COMMANDS", "cell", "graph", "robot"]
