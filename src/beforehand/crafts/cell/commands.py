"""`beforehand cell`: where a cell's robot stands and what it holds, and what its simulator does wrong."""

from typing import Annotated, Any

import typer

from beforehand.cli.backend import Backend, Document
from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, line, print_json, print_out

app = typer.Typer(help="Robot cells: where the robot stands and what it holds.", no_args_is_help=True)
SceneArgument = Annotated[str, typer.Argument(metavar="SCENE", help="The cell's scene: its name, or a file.")]


@app.command()
def state(
    scene: SceneArgument, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None
) -> int:
    """Where the robot stands and what it holds, by the home's log; else as the scene begins."""
    from beforehand.app.dry_run import cell_state
    from beforehand.cli.run_async import run_async

    _print(run_async(cell_state(settings_from(home=home, db=db), scene)), output)
    return DONE


@app.command("set")
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
        raise BadInputError("Say --position P, --tool T, or both.", code="usage")

    async def give(backend: Backend) -> Document:
        return await backend.set_cell(scene, position, tool)

    _print(_at_the_desk(settings_from(home=home, db=db), scene, give), output)
    return DONE


@app.command()
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

    async def give(backend: Backend) -> Document:
        return await backend.cell_fault(scene, name, target)

    given = _at_the_desk(settings_from(home=home, db=db), scene, give)
    if output is Output.JSON:
        print_json(given)
    else:
        where = f" {given['target']}" if given.get("target") else " the next command that fits"
        print_out(f"{line(given['fault'])} will strike{where} in {given['scene']}.")
    return DONE


def _at_the_desk(settings: Any, scene: str, give: Any) -> Document:
    """Done by the server that leads the home, else here; a scene nobody knows is refused before a home is made."""
    from beforehand.app.dry_run import cell_state
    from beforehand.cli.backend import open_backend
    from beforehand.cli.run_async import run_async

    async def do() -> Document:
        await cell_state(settings, scene)
        async with open_backend(settings, note="beforehand cell", with_servers=False) as backend:
            return dict(await give(backend))

    return run_async(do())


def _print(shown: Document, output: Output) -> None:
    if output is Output.JSON:
        print_json(shown)
        return
    held = "no tool" if shown["current_tool"] == "none" else shown["current_tool"]
    if shown["current_position"] is None:
        print_out(
            f"{shown['scene']}: nobody knows where the robot stands. It holds {held}. {shown.get('says', '')}".strip()
        )
    else:
        print_out(f"{shown['scene']}: the robot stands at {shown['current_position']} and holds {held}.")
