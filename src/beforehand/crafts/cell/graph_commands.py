"""`beforehand graph`: a cell's scene into a graph database such as Neo4j, and out of it."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.known_names import scenes_of
from beforehand.cli.options import DbOption, HomeOption, settings_from
from beforehand.cli.screen import print_json, print_out

if TYPE_CHECKING:
    from beforehand.ports.store import Store

graph = typer.Typer(help="Cells kept in a graph database.", no_args_is_help=True)

GraphOption = Annotated[
    str | None, typer.Option("--graph", metavar="URL", help="The database; BEFOREHAND_GRAPH by default.")
]


class Form(StrEnum):
    YAML = "yaml"
    JSON = "json"


@graph.callback()
def about() -> None:
    """Cells kept in a graph database such as Neo4j, at BEFOREHAND_GRAPH."""


@graph.command()
def push(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE|FILE",
            help="A scene the home knows, an example, or a file.",
            autocompletion=scenes_of("cell"),
        ),
    ],
    url: GraphOption = None,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Put a cell's scene into the graph, in place of what stood there under its name."""
    from beforehand.app.examples import find_document
    from beforehand.cli.read_home import read_home
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.cell.graphs import push_scene

    async def known(store: "Store") -> Any:
        row = await store.row("scene", scene)
        return None if row is None else row["document"]

    settings = settings_from(home=home, db=db, graph=url)
    document = read_home(settings, known, None)
    pushed, where = run_async(push_scene(settings, find_document(scene) if document is None else document))
    held = (
        ("position", pushed.positions),
        ("move", pushed.moves),
        ("tool", pushed.tools),
        ("routine", pushed.routines),
    )
    counts = ", ".join(f"{len(things)} {noun}{'' if len(things) == 1 else 's'}" for noun, things in held)
    print_out(f"{pushed.name} is in the graph at {where}: {counts}.")
    return DONE


@graph.command()
def pull(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The scene's name in the graph.")],
    output: Annotated[Form, typer.Option("--output", "-o", help="How the scene is written.")] = Form.YAML,
    url: GraphOption = None,
) -> int:
    """Write a scene out of the graph as a scene file; a graph that names no scenes takes the name given here."""
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.cell.graphs import pull_scene

    document = run_async(pull_scene(settings_from(graph=url), name)).wire()
    if output is Form.JSON:
        print_json(document)
    else:
        print_out(_yaml(document).rstrip("\n"))
    return DONE


def _yaml(document: Any) -> str:
    import yaml

    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)
    return text
