"""`beforehand scene`: the example scenes, the ones the home knows, and checking a file."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED, print_problems
from beforehand.cli.known_names import scene_names
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, console, plain, print_json, print_out, print_table
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.ports.store import Store

app = typer.Typer(help="Scenes: what plans work in.", no_args_is_help=True)


@app.command("list")
def list_all(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """The scenes the home knows and the examples that come with the package."""
    from beforehand.app.examples import example_files, kind_of_example
    from beforehand.cli.read_home import read_home

    known = read_home(settings_from(home=home, db=db), lambda store: store.rows("scene"), [])
    rows = [{"name": row["name"], "kind": row["kind"], "active": row["active"], "from": "home"} for row in known]
    names = {row["name"] for row in rows}
    for name, path in example_files().items():
        if name not in names:
            rows.append({"name": name, "kind": kind_of_example(path), "active": False, "from": "examples"})
    if output is Output.JSON:
        print_json(rows)
    else:
        shown = [(row["name"], row["kind"], "active" if row["active"] else "", row["from"]) for row in rows]
        print_table(("scene", "kind", "", "from"), shown, nothing="There are no scenes.")
    return DONE


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
        import yaml

        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)
        console().print(plain(text), end="", soft_wrap=True)
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
