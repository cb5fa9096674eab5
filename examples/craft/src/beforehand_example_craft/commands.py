"""`beforehand greenhouse`. `COMMANDS` is read as text, so that `--help` lists it without importing anything of this."""

from typing import Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, print_json, print_out, print_table

COMMANDS = {"greenhouse": "Greenhouses: what the tank holds and what each bed got."}
greenhouse = typer.Typer(help=COMMANDS["greenhouse"], no_args_is_help=True)


@greenhouse.command()
def state(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="The greenhouse: its name, or a file.")],
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """What the tank holds and what each bed got, by the home's log; else as the scene begins."""
    from beforehand.cli.run_async import run_async

    shown = run_async(_shown(settings_from(home=home, db=db), scene))
    if output is Output.JSON:
        print_json(shown)
    else:
        rows = [(bed["number"], bed["plants"], f"{bed['wateredL']:g}") for bed in shown["beds"]]
        print_table(("bed", "plants", "litres"), rows)
        print_out(f"The tank of {shown['scene']} holds {shown['tankL']:g} l.")
    return DONE


async def _shown(settings: Any, scene: str) -> dict[str, Any]:
    """Looked up in a dry run, which reads the home and writes nothing."""
    from beforehand.app.dry_run import open_dry_run
    from beforehand.app.scenes import saved_scene
    from beforehand_example_craft.greenhouses import Greenhouses

    async with open_dry_run(settings, with_servers=False) as runtime:
        return await runtime.service(Greenhouses).document(await saved_scene(runtime, scene))
