"""Options that several commands share, spelled once."""

from typing import Annotated, Any

import typer

from beforehand.cli.known_names import scene_names
from beforehand.cli.screen import Output

OutputOption = Annotated[Output, typer.Option("--output", "-o", help="A table for people or JSON for programs.")]
HomeOption = Annotated[
    str | None, typer.Option("--home", metavar="DIR", help="Where the log is kept; ./.beforehand by default.")
]
DbOption = Annotated[str | None, typer.Option("--db", metavar="URL", help="The store; a file in the home by default.")]
WorkspaceOption = Annotated[
    str | None, typer.Option("--workspace", metavar="DIR", help="The folder file tools stay inside; here by default.")
]
SceneOption = Annotated[
    str | None,
    typer.Option("--scene", metavar="NAME|FILE", help="The scene the plan is for.", autocompletion=scene_names),
]
PositionOption = Annotated[
    str | None, typer.Option("--position", metavar="P", help="Where the machine stands at the start.")
]
ToolOption = Annotated[str | None, typer.Option("--tool", metavar="T", help="The tool it holds at the start, or none.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Approve every step that asks for approval.")]
PlanArgument = Annotated[
    str, typer.Argument(metavar="PLAN", help="A plan's file, YAML or JSON; - reads standard input.")
]


def hand_down(context: typer.Context) -> None:
    """Options given before the command of a group count for that command: `runs -o json list`."""
    given = {
        name: value
        for name, value in context.params.items()
        if str(getattr(context.get_parameter_source(name), "name", "")) == "COMMANDLINE"
    }
    context.default_map = {str(context.invoked_subcommand): given}


def settings_from(**flags: Any) -> Any:
    """The settings with these flags on top; see `beforehand.app.settings`."""
    from beforehand.app.settings import load_settings
    from beforehand.cli.screen import print_err

    settings = load_settings({name: value for name, value in flags.items() if value is not None})
    for warning in settings.warnings:
        print_err(warning)
    return settings
