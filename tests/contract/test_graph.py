"""What every store of a cell's graph promises, whichever it is."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from beforehand.adapters.graph.address import read_address
from beforehand.adapters.graph.bolt import BoltGraph
from beforehand.adapters.graph.memory import MemoryGraph
from beforehand.app.scenes import find_document
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.model.cell import CellScene
from beforehand.model.errors import NotFoundError
from beforehand.ports.graph import CellGraph

RICH: dict[str, Any] = {
    "kind": "cell",
    "name": "rich",
    "speed_mps": 0.25,
    "positions": [
        {"name": "Zed", "x": 1, "y": 1.0, "role": "home"},
        {"name": "é 'quoted\" \\ name", "x": -0.5, "y": 10**15},
        "😀",
        {"name": "a", "role": "safe"},
        {"name": "10", "role": "stand"},
        {"name": "9", "role": "work"},
    ],
    "moves": [
        ["Zed", "a"],
        {"from": "a", "to": "9", "cost": 0},
        {"from": "9", "to": "10", "cost": 0.1, "one_way": True},
        {"from": "10", "to": "9", "cost": 2.5, "one_way": True},
        ["😀", "é 'quoted\" \\ name"],
        ["é 'quoted\" \\ name", "a"],
    ],
    "tools": [{"name": "Torch", "stand": "10"}, {"name": "Lost"}],
    "routines": [
        {
            "name": "weld",
            "required_tool": "Torch",
            "words": ["weld", "join", "abut"],
            "duration_s": 4,
            "supported_at": [
                {"position": "9", "stabilize": 0, "verify": "check", "action_after": "move_safe"},
                {"position": "a", "stabilize": 1.5},
                "Zed",
            ],
        },
        {"name": "look", "required_tool": "none", "duration_s": 0.5, "supported_at": ["a"]},
        {"name": "tool_attach", "supported_at": [{"position": "10", "verify": "Torch"}]},
        {"name": "nowhere"},
    ],
    "state": {"current_position": "a", "current_tool": "Torch"},
}
BARE: dict[str, Any] = {"kind": "cell", "name": "bare", "positions": ["Only"]}
PLAIN: dict[str, Any] = {**BARE, "name": "plain", "controller": "sim"}


def cell(document: dict[str, Any], **changes: Any) -> CellScene:
    return read_cell({**document, **changes})


@pytest.fixture(params=["memory", pytest.param("bolt", marks=pytest.mark.needs("arcadedb"))])
async def graph(request: pytest.FixtureRequest) -> AsyncIterator[CellGraph]:
    if request.param == "memory":
        yield MemoryGraph()
        return
    store = BoltGraph(read_address(request.getfixturevalue("server").url()))
    yield store
    await store.close()


@pytest.mark.parametrize(
    "document",
    [RICH, BARE, PLAIN, "weld_star", "weld_corridor", "machine_tending", "body_line"],
    ids=lambda given: given if isinstance(given, str) else given["name"],
)
async def test_what_was_written_is_read_to_the_byte(graph: CellGraph, document: Any) -> None:
    scene = read_cell(find_document(document) if isinstance(document, str) else document)
    await graph.write(scene)
    read = await graph.read(scene.name)
    assert read == scene
    assert read.model_dump_json() == scene.model_dump_json()


async def test_a_controller_with_options_is_read_as_it_was_written(graph: CellGraph) -> None:
    controller = {"kind": "opcua", "url": "opc.tcp://127.0.0.1:4840", "nodes": {"run": "ns=2;i=3"}}
    scene = cell(BARE).model_copy(update={"controller": controller})
    await graph.write(scene)
    assert await graph.read("bare") == scene


async def test_numbers_keep_their_kind(graph: CellGraph) -> None:
    await graph.write(cell(RICH))
    zed, far, *_ = (await graph.read("rich")).positions
    assert [type(value) for value in (zed.x, zed.y, far.x, far.y)] == [int, float, float, int]


async def test_the_names_of_its_scenes_are_in_order(graph: CellGraph) -> None:
    assert await graph.names() == ()
    for name in ("b", "a", "B"):
        await graph.write(cell(BARE, name=name))
    assert await graph.names() == ("B", "a", "b")


async def test_a_name_nobody_knows_is_answered_with_those_there_are(graph: CellGraph) -> None:
    await graph.write(cell(BARE))
    for ask in (graph.read, graph.fingerprint):
        with pytest.raises(NotFoundError, match=r"Unknown scene 'bar' .*Known scenes: bare") as refused:
            await ask("bar")
        assert refused.value.nearest == ("bare",)


async def test_a_write_replaces_the_whole_scene_and_no_other(graph: CellGraph) -> None:
    other = cell(RICH, name="other")
    await graph.write(other)
    await graph.write(cell(RICH))
    before = await graph.fingerprint("other")
    smaller = cell(BARE, name="rich")
    await graph.write(smaller)
    assert await graph.read("rich") == smaller
    assert await graph.read("other") == other
    assert await graph.fingerprint("other") == before


async def test_the_fingerprint_of_the_same_scene_is_the_same(graph: CellGraph) -> None:
    await graph.write(cell(RICH))
    first = await graph.fingerprint("rich")
    assert await graph.fingerprint("rich") == first
    await graph.write(cell(BARE, name="rich"))
    assert await graph.fingerprint("rich") != first
    await graph.write(cell(RICH))
    assert await graph.fingerprint("rich") == first


def changed(path: str, value: Any) -> dict[str, Any]:
    """RICH with one value set, or taken out by None, or a list made longer by `+`."""
    import copy

    document: Any = copy.deepcopy(RICH)
    at = document
    *way, last = [int(word) if word.isdigit() else word for word in path.split(".")]
    for word in way:
        at = at[word]
    if last == "+":
        at.append(value)
    elif value is None:
        del at[last]
    else:
        at[last] = value
    return read_cell(document).wire()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("positions.+", "New"),
        ("positions.0.x", 1.5),
        ("positions.0.x", 1.0),
        ("positions.0.role", None),
        ("positions.3.role", "work"),
        ("moves.+", ["Zed", "9"]),
        ("moves.0", None),
        ("moves.1.cost", 0.5),
        ("moves.2.one_way", None),
        ("tools.0.stand", "9"),
        ("tools.0.stand", None),
        ("tools.+", {"name": "Saw", "stand": "a"}),
        ("routines.0.required_tool", "Lost"),
        ("routines.0.required_tool", None),
        ("routines.0.words", ["weld"]),
        ("routines.0.duration_s", 5),
        ("routines.0.supported_at.0.stabilize", None),
        ("routines.0.supported_at.1.stabilize", 1.25),
        ("routines.0.supported_at.0.verify", "other"),
        ("routines.0.supported_at.0.action_after", None),
        ("routines.0.supported_at.+", "😀"),
        ("routines.3", None),
        ("state.current_position", "Zed"),
        ("state.current_tool", "Lost"),
        ("speed_mps", 0.5),
        ("controller", "sim"),
    ],
)
async def test_the_fingerprint_notices_every_change(graph: CellGraph, path: str, value: Any) -> None:
    await graph.write(cell(RICH))
    before = await graph.fingerprint("rich")
    await graph.write(read_cell(changed(path, value)))
    assert await graph.fingerprint("rich") != before
