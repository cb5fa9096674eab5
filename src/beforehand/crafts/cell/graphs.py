"""Cells kept in a graph database: pushing a scene there, pulling it back, and planning from it as it is now.

A scene is read once and searched here. Before it is used again the graph is asked for its fingerprint, and read anew
when that changed; so nobody plans on a map that somebody has since corrected.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from beforehand.app.settings import Settings
from beforehand.app.tls import trusting
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.model.cell import CellScene
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError
from beforehand.model.words import counted
from beforehand.ports.graph import CellGraph

if TYPE_CHECKING:
    from beforehand.adapters.graph.bolt import BoltGraph

READINGS = 3
"""How often a graph that changes while it is read is tried."""


def open_graph(settings: Settings, *, any_name: bool = False) -> "BoltGraph | None":
    """The graph database of the settings, or None; nothing is connected until it is asked."""
    if not settings["graph"]:
        return None
    from beforehand.adapters.graph.address import read_address
    from beforehand.adapters.graph.bolt import BoltGraph

    address = read_address(settings["graph"], user=settings["graph_user"], password=settings["graph_password"])
    return BoltGraph(address, any_name=any_name, trust=lambda: trusting(settings))


async def push_scene(settings: Settings, document: Any) -> tuple[CellScene, str]:
    """Keep a cell's scene in the graph, in one transaction; the scene, and where it is now."""
    kind = document.get("kind", "cell") if isinstance(document, Mapping) else "cell"
    if kind != "cell":
        raise BadInputError(
            f"Only scenes of kind cell go into a graph, and this one is of kind {kind}.", code="graph.kind"
        )
    scene = read_cell(document)
    async with _needed(settings) as graph:
        await graph.write(scene)
        return scene, graph.address.shown


async def pull_scene(settings: Settings, name: str) -> CellScene:
    """A scene out of the graph, checked like any other.

    A graph whose nodes belong to no scene, and which holds no other, answers to any name.
    """
    async with _needed(settings, any_name=True) as graph:
        return (await read_whole(graph, name))[1]


@asynccontextmanager
async def _needed(settings: Settings, *, any_name: bool = False) -> AsyncIterator["BoltGraph"]:
    graph = open_graph(settings, any_name=any_name)
    if graph is None:
        raise BadInputError(
            "No graph database is set.",
            code="graph.unset",
            hint="Set BEFOREHAND_GRAPH, or give --graph, such as bolt://127.0.0.1:7687/cells.",
        )
    try:
        yield graph
    finally:
        await graph.close()


async def read_whole(graph: CellGraph, name: str) -> tuple[str, CellScene]:
    """The scene and its fingerprint; read again when somebody changed it meanwhile, so that no half is old."""
    before = await graph.fingerprint(name)
    for _ in range(READINGS):
        scene = await graph.read(name)
        after = await graph.fingerprint(name)
        if before == after:
            return before, _checked(scene)
        before = after
    raise ConflictError(
        f"The scene {name} in the graph changes faster than it can be read.",
        code="graph.changing",
        hint="Try again when the changes are complete.",
    )


def _checked(scene: CellScene) -> CellScene:
    """The scene as if it came from a file: every problem is found, and each is one to mend in the graph."""
    try:
        return read_cell(scene.wire())
    except BadInputError as error:
        problems = [problem.model_copy(update={"fixable_by": "graph"}) for problem in error.problems]
        count = counted(len(problems), "problem")
        raise BadInputError(
            f"The scene {scene.name} in the graph has {count}.",
            code="graph.invalid",
            hint="Correct it in the graph database, or push the scene again.",
            problems=problems,
        ) from None


class GraphScenes:
    """The scenes of a graph as they are now, each read once per change; without a graph there are none."""

    def __init__(self, graph: CellGraph | None) -> None:
        self._graph = graph
        self._read: dict[str, tuple[str, CellScene]] = {}
        self._absent: set[str] = set()

    async def scene(self, name: str) -> CellScene | None:
        """The scene as the graph has it now; None when the graph does not have it."""
        if self._graph is None:
            return None
        try:
            known = self._read.get(name)
            if known is None or known[0] != await self._graph.fingerprint(name):
                known = self._read[name] = await read_whole(self._graph, name)
        except NotFoundError:
            self._read.pop(name, None)
            self._absent.add(name)
            return None
        self._absent.discard(name)
        return known[1]

    async def names(self) -> tuple[str, ...]:
        """The scenes the graph has."""
        return () if self._graph is None else await self._graph.names()

    def note(self, name: str) -> str | None:
        """What a plan should say when there is a graph and this scene, when last asked for, was not in it."""
        if name not in self._absent:
            return None
        return f"The graph database has no scene {name}, so this was planned from the saved scene."

    async def close(self) -> None:
        if self._graph is not None:
            await self._graph.close()
