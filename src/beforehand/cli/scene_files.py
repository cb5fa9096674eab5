"""`beforehand scene file`: the files that scenes name and the home keeps."""

from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, print_json, print_out, print_table

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime

app = typer.Typer(help="Files that scenes name and the home keeps.", no_args_is_help=True)


@app.command("list")
def list_all(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """The files the home keeps, each with its size and its hash."""
    from beforehand.app.kept_files import files_of
    from beforehand.app.scene_files import list_files

    found = list_files(files_of(settings_from(home=home, db=db)))
    if output is Output.JSON:
        print_json(found)
    else:
        rows = [(one["name"], one["form"], one["bytes"], one["sha256"][:12], one["savedAt"]) for one in found]
        print_table(("file", "what", "bytes", "sha256", "saved"), rows, nothing="The home keeps no files for scenes.")
    return DONE


@app.command()
def add(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file on this machine; - reads standard input.")],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="What scenes call it, FOLDER/NAME; by its file's name by default."),
    ] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Keep a file, or its next version, after a check of its name, its size and its form."""
    from beforehand.app.documents import read_file
    from beforehand.app.scene_files import check_file, save_file
    from beforehand.cli.backend import Call, open_backend
    from beforehand.cli.run_async import run_async

    settings = settings_from(home=home, db=db)
    document = read_file(file)
    called = name or _called(file)
    check_file(called, document)

    async def here(runtime: "Runtime") -> Any:
        return await save_file(runtime, called, document)

    async def save() -> Any:
        async with open_backend(settings, note="keeping a file", with_servers=False) as backend:
            return await backend.perform(here, Call("PUT", f"/files/{called}", document))

    saved = run_async(save())
    if output is Output.JSON:
        print_json(saved)
    else:
        print_out(f"The {saved['form']} {saved['name']} is kept ({saved['sha256'][:12]}).")
    return DONE


def _called(file: str) -> str:
    """A file is called by its name in the folder that files of its suffix are in; one not known so needs --name."""
    from beforehand.app.scene_files import forms
    from beforehand.model.errors import BadInputError

    path = PurePath(file)
    fitting = [form for form in forms() if path.name.endswith(form.suffix)]
    form = next((form for form in fitting if form.folder == path.parent.name), None)
    form = form or (fitting[0] if len(fitting) == 1 else None)
    if form is None or file == "-":
        suffixes = ", ".join(f"{form.folder}/NAME{form.suffix}" for form in forms())
        raise BadInputError(
            f"{path.name} does not say what scenes call it.", code="usage", hint=f"Add --name: {suffixes}."
        )
    return f"{form.folder}/{path.name}"
