"""`beforehand template`: plans kept for reuse, with typed parameters."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.known_names import template_names
from beforehand.cli.options import (
    DbOption,
    HomeOption,
    OutputOption,
    PlanArgument,
    WorkspaceOption,
    YesOption,
    settings_from,
)
from beforehand.cli.screen import Output, line, print_json, print_out, print_table

if TYPE_CHECKING:
    from beforehand.app.settings import Settings
    from beforehand.cli.backend import Backend, Document

app = typer.Typer(help="Plans kept for reuse, with typed parameters.", no_args_is_help=True)


@app.command("list")
def list_all(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """The templates there are, with their parameters."""
    from beforehand.cli.read_home import read_home

    templates = read_home(settings_from(home=home, db=db), lambda store: store.rows("template"), [])
    if output is Output.JSON:
        print_json(templates)
    else:
        rows = [(item["name"], _parameters(item), line(item.get("description", ""))) for item in templates]
        print_table(("name", "parameters", "what"), rows, nothing="There are no templates yet.")
    return DONE


def _parameters(template: dict[str, Any]) -> str:
    def one(name: str, spec: dict[str, Any]) -> str:
        default = f" = {spec['default']}" if spec.get("default") is not None else ""
        return f"{name}: {spec['type']}{default}"

    return ", ".join(one(name, spec) for name, spec in template.get("parameters", {}).items())


@app.command()
def save(
    plan: PlanArgument,
    name: Annotated[
        str | None, typer.Option("--name", help="Its name; the document's `name`, or the file's, by default.")
    ] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Keep a plan as a template.

    `parameters` beside its steps are typed, and used in the steps as $params.name.
    """
    from beforehand.app.documents import read_file
    from beforehand.cli.backend import open_backend
    from beforehand.cli.run_async import run_async

    settings = settings_from(home=home, db=db)
    document = read_file(plan)
    kept_as = name or _name_of(plan, document)

    async def keep() -> "Document":
        async with open_backend(settings, note="beforehand template") as backend:
            return await backend.save_template(kept_as, document)

    template = run_async(keep())
    if output is Output.JSON:
        print_json(template)
    else:
        print_out(
            f"Kept as {template['name']}. Run it with: beforehand template run {template['name']}{_usage(template)}"
        )
    return DONE


def _usage(template: dict[str, Any]) -> str:
    return "".join(f" {name}=…" for name in template.get("parameters", {}))


def _name_of(path: str, document: Any) -> str:
    """A name for a template nobody named: its own if that is a word, else the file's."""
    from beforehand.model.errors import BadInputError

    own = document.get("name") if isinstance(document, dict) else None
    if isinstance(own, str) and own and " " not in own.strip():
        return own
    if path == "-":
        raise BadInputError("A template from standard input needs a name.", hint="Give one with --name NAME.")
    return Path(path).stem


@app.command()
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The template's name.", autocompletion=template_names)],
    parameters: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Parameters, read as the type they have.")
    ] = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Fill a template in and carry the plan out, as `beforehand run` does."""
    from beforehand.cli.run import refuse_missing, started
    from beforehand.cli.running import carry_out

    settings = settings_from(workspace=workspace, home=home, db=db)
    pairs = _pairs(parameters or [])
    refuse_missing(settings, f"so the template {name!r} is unknown")

    async def begin(backend: "Backend") -> "Document":
        plan = await _planned(backend, settings, name, pairs)
        return await started(backend, plan)

    return carry_out(settings, begin, output=output, yes=yes)


async def _planned(backend: "Backend", settings: "Settings", name: str, pairs: dict[str, str]) -> "Document":
    from beforehand.engine.template import parameter_from_text
    from beforehand.model.plan import ParameterSpec

    specs = (await backend.template(name)).get("parameters", {})
    typed = {
        key: parameter_from_text(text, ParameterSpec.model_validate(specs[key])) if key in specs else text
        for key, text in pairs.items()
    }
    return await backend.plan_from_template(name, typed, workspace=str(settings.workspace))


def _pairs(given: list[str]) -> dict[str, str]:
    from beforehand.model.errors import BadInputError

    wrong = [word for word in given if not word.partition("=")[1] or not word.partition("=")[0]]
    if wrong:
        raise BadInputError(f"Parameters are written key=value, not {', '.join(map(repr, wrong))}.", code="usage")
    return {key: value for key, _, value in (word.partition("=") for word in given)}
