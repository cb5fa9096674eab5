"""`beforehand scene`: the example scenes, the ones the home knows, checking a file, and importing a map."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED, print_problems
from beforehand.cli.known_names import scene_names
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.scene_files import app as files
from beforehand.cli.screen import Output, console, plain, print_err, print_json, print_out, print_table
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.ports.store import Store

app = typer.Typer(help="Scenes: what plans work in.", no_args_is_help=True)
app.add_typer(files, name="file")
_SHOWN = ("name", "kind", "active", "live", "reason")


@app.command("list")
def list_all(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """The scenes the home knows and the examples that come with the package."""
    from beforehand.app.examples import example_files, kind_of_example
    from beforehand.cli.read_home import read_home

    known = read_home(settings_from(home=home, db=db), _known, [])
    rows = [{**{name: row[name] for name in _SHOWN if name in row}, "from": "home"} for row in known]
    names = {row["name"] for row in rows}
    for name, path in example_files().items():
        if name not in names:
            rows.append(
                {"name": name, "kind": kind_of_example(path), "active": False, "live": False, "from": "examples"}
            )
    if output is Output.JSON:
        print_json(rows)
    else:
        shown = [(row["name"], row["kind"], _stands(row), row["from"]) for row in rows]
        print_table(("scene", "kind", "", "from"), shown, nothing="There are no scenes.")
        print_err(*(row["reason"]["says"] for row in rows if "reason" in row))
    return DONE


def _stands(row: dict[str, Any]) -> str:
    if row["active"]:
        return "active" if row["live"] else "active, not live"
    return ""


async def _known(store: "Store") -> list[dict[str, Any]]:
    from beforehand.app.not_live import all_with_live

    return await all_with_live(store, await store.rows("scene"))


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A scene's name, or its file.", autocompletion=scene_names)
    ],
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """A scene's document: as the home has it, else as the example or the file does."""
    from beforehand.app.examples import find_document
    from beforehand.cli.read_home import read_home

    async def known(store: "Store") -> Any:
        row = await store.row("scene", name)
        return None if row is None else row["document"]

    document = read_home(settings_from(home=home, db=db), known, None)
    if document is None:
        document = find_document(name)
    if output is Output.JSON:
        print_json(document)
    else:
        console().print(plain(_as_yaml(document)), end="", soft_wrap=True)
    return DONE


@app.command()
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A scene's file or name; - reads standard input.")],
    output: OutputOption = Output.TABLE,
) -> int:
    """Every problem of a scene, with its place in the file, and what is odd about it."""
    from beforehand.app.dry_run import check_scene_document
    from beforehand.app.examples import find_document
    from beforehand.cli.run_async import run_async

    found = run_async(check_scene_document(settings_from(), find_document(file)))
    problems, odd = found["problems"], found["warnings"]
    if output is Output.JSON:
        name = found["name"] if found["ok"] else None
        print_json({"valid": found["ok"], "name": name, "problems": problems, "warnings": odd})
    elif found["ok"]:
        print_out(f"The scene {found['name']} is valid.")
    if odd:
        print_problems(odd, head="Worth a look:")
    if problems:
        print_problems(problems, head=f"The scene has {counted(len(problems), 'problem')}:")
        return FAILED
    return DONE


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The map's file; - reads standard input.")],
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", metavar="KIND", help="The kind of map, where it is not recognised; a wrong one lists the kinds."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Where to write the scene, instead of the screen."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="The scene's name; the map's own by default.")] = None,
    starts: Annotated[
        str | None,
        typer.Option("--starts", metavar="FILE", help="A second file of the map: who starts where."),
    ] = None,
) -> int:
    """Make a scene of another system's map, and say what could not be carried over."""
    from beforehand.app.importing import import_file

    found = import_file(file, kind=kind, name=name, starts=starts)
    text = _as_yaml(found.document)
    if out is None:
        console().print(plain(text), end="", soft_wrap=True)
    else:
        _write(out, text)
        print_out(f"The scene {found.document['name']} is in {out}{': ' if found.says else ''}{found.says}.")
    if found.notes:
        print_err(f"Not carried over as it was, {counted(len(found.notes), 'note')}:")
        print_err(*(f"  {note.path + ': ' if note.path else ''}{note.says}" for note in found.notes))
    return DONE


def _as_yaml(document: Any) -> str:
    import yaml

    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)
    return text


def _write(path: str, text: str) -> None:
    from pathlib import Path

    from beforehand.model.errors import BadInputError

    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"{path} cannot be written: {error.strerror}.", code="file.unwritable") from None
