"""A graph is read once per change, never half, and never mistaken for something it is not."""

import sys
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.graph.address import read_address
from beforehand.adapters.graph.memory import MemoryGraph
from beforehand.app.dry_run import scene_document
from beforehand.app.settings import KNOWN, Settings, load_settings
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.graphs import GraphScenes, open_graph, pull_scene, push_scene, read_whole
from beforehand.model.cell import CellScene, Routine, Support
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError, UnavailableError


def cell(*positions: str, name: str = "cell") -> CellScene:
    return read_cell({"kind": "cell", "name": name, "positions": list(positions)})


def settings(tmp_path: Path, **flags: str) -> Settings:
    return load_settings(flags, {}, tmp_path / "none")


class Watched(MemoryGraph):
    """A graph that counts its readings and can be changed between any two questions."""

    def __init__(self, *scenes: CellScene) -> None:
        super().__init__(scenes)
        self.readings = 0
        self.meanwhile: list[CellScene] = []

    async def read(self, name: str) -> CellScene:
        self.readings += 1
        return await super().read(name)

    async def fingerprint(self, name: str) -> str:
        seen = await MemoryGraph(self._scenes.values()).fingerprint(name)
        if self.meanwhile:
            await self.write(self.meanwhile.pop(0))
        return seen


async def test_an_unchanged_graph_is_read_once() -> None:
    graph = Watched(cell("A"))
    scenes = GraphScenes(graph)
    first = await scenes.scene("cell")
    assert await scenes.scene("cell") is first
    assert graph.readings == 1


async def test_a_changed_graph_is_read_again_before_it_is_used() -> None:
    graph = Watched(cell("A"))
    scenes = GraphScenes(graph)
    await scenes.scene("cell")
    await graph.write(cell("A", "B"))
    assert await scenes.scene("cell") == cell("A", "B")
    assert graph.readings == 2


async def test_a_scene_changed_while_it_is_read_is_read_again() -> None:
    graph = Watched(cell("A"))
    graph.meanwhile = [cell("A", "B"), cell("A", "B", "C")]
    scenes = GraphScenes(graph)
    assert await scenes.scene("cell") == cell("A", "B", "C")
    readings = graph.readings
    assert await scenes.scene("cell") == cell("A", "B", "C")
    assert graph.readings == readings


async def test_a_graph_that_never_rests_is_given_up() -> None:
    graph = Watched(cell("A"))
    graph.meanwhile = [cell("A", f"B{at}") for at in range(20)]
    with pytest.raises(ConflictError, match="changes faster than it can be read"):
        await read_whole(graph, "cell")


async def test_a_scene_the_graph_has_not_is_none_and_worth_a_note() -> None:
    graph = Watched(cell("A"))
    scenes = GraphScenes(graph)
    assert await scenes.scene("other") is None
    assert "no scene other" in str(scenes.note("other"))
    await graph.write(cell("A", name="other"))
    assert await scenes.scene("other") == cell("A", name="other")
    assert scenes.note("other") is None


async def test_without_a_graph_there_is_nothing_and_nothing_to_say() -> None:
    scenes = GraphScenes(None)
    assert await scenes.scene("cell") is None
    assert scenes.note("cell") is None
    await scenes.close()


async def test_a_scene_that_cannot_be_used_says_so_each_time() -> None:
    broken = cell("A").model_copy(update={"positions": (*cell("A").positions, *cell("A").positions)})
    scenes = GraphScenes(Watched(broken))
    for _ in range(2):
        with pytest.raises(BadInputError, match="in the graph has 1 problem") as refused:
            await scenes.scene("cell")
        assert [problem.fixable_by for problem in refused.value.problems] == ["graph"]


async def test_pushing_and_pulling_need_a_graph(tmp_path: Path) -> None:
    for call in (push_scene(settings(tmp_path), cell("A").wire()), pull_scene(settings(tmp_path), "cell")):
        with pytest.raises(BadInputError, match="No graph database is set") as refused:
            await call
        assert "BEFOREHAND_GRAPH" in refused.value.hint


async def test_only_cells_are_pushed(tmp_path: Path) -> None:
    here = settings(tmp_path, graph="bolt://127.0.0.1:1")
    with pytest.raises(BadInputError, match="Only scenes of kind cell go into a graph"):
        await push_scene(here, {"kind": "fleet", "name": "hall"})
    with pytest.raises(BadInputError) as refused:
        await push_scene(here, {"kind": "cell", "name": "x", "positions": ["A", "A"]})
    assert refused.value.problems


async def test_a_scene_nobody_has_is_still_unknown_without_a_graph(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="Unknown scene 'nix'"):
        await scene_document(settings(tmp_path), "nix")


async def test_without_the_driver_one_learns_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "neo4j", None)
    with pytest.raises(UnavailableError, match="driver for graph databases is not installed") as refused:
        await pull_scene(settings(tmp_path, graph="bolt://127.0.0.1:1"), "cell")
    assert "pip install 'neo4j>=6'" in refused.value.hint


# -- addresses -------------------------------------------------------------------------------------------------------


def test_an_address_holds_everything_or_borrows_user_and_password() -> None:
    whole = read_address("neo4j+s://ann:p%40ss%3A@db.example:7999/cells?scene=star", user="x", password="y")
    assert (whole.url, whole.shown) == ("neo4j+s://db.example:7999", "db.example:7999/cells")
    assert (whole.user, whole.password, whole.database, whole.unnamed) == ("ann", "p@ss:", "cells", "star")
    plain = read_address("bolt://[::1]", user="x", password="y")
    assert (plain.url, plain.user, plain.password, plain.database) == ("bolt://[::1]:7687", "x", "y", None)


def test_an_address_never_shows_its_password() -> None:
    address = read_address("bolt://ann:hush@host/cells")
    assert "hush" not in repr(address) + address.shown + address.url


@pytest.mark.parametrize(
    "text",
    ["http://host", "host:7687", "bolt://", "bolt://host:port", "bolt://h/a/b", "bolt://h?x=hush", "bolt://[::1"],
)
def test_an_address_that_cannot_be_one_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="The graph's address is not usable") as refused:
        open_graph(settings(tmp_path, graph=text))
    assert "hush" not in refused.value.says


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("bolt://ann:hush@host/cells", "bolt://ann:(hidden)@host/cells"),
        ("bolt://ann:hu/sh@x@host", "bolt://ann:(hidden)@host"),
        ("bolt://host:7687/cells", "bolt://host:7687/cells"),
        (None, None),
    ],
)
def test_a_password_inside_an_address_stays_off_the_screen(value: Any, shown: Any) -> None:
    (graph,) = [setting for setting in KNOWN if setting.name == "graph"]
    assert graph.shown(value) == shown


async def test_what_cannot_follow_in_a_graph_is_a_problem_to_mend_there() -> None:
    scene = cell("A")
    wipe = Routine(name="wipe", supported_at=(Support(position="A", action_after="wipe"),))
    with pytest.raises(BadInputError) as caught:
        await read_whole(MemoryGraph([scene.model_copy(update={"routines": (wipe,)})]), "cell")
    (problem,) = caught.value.problems
    assert (caught.value.code, problem.code, problem.fixable_by) == ("graph.invalid", "scene.action_after", "graph")
    assert "wipe -> wipe" in problem.says
