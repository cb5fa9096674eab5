"""From a file, in process or from a graph database: the same plan to the byte, and always of the map as it is."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fork_server import run_forked

from beforehand.adapters.graph.address import read_address
from beforehand.adapters.graph.bolt import BoltGraph
from beforehand.adapters.graph.memory import MemoryGraph
from beforehand.app.craft import PlanRequest
from beforehand.app.intake import PlanInput, take_in
from beforehand.app.plans import create_plan
from beforehand.app.runs import start_run
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import find_document, save_scene
from beforehand.app.settings import load_settings
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.graphs import push_scene, read_whole
from beforehand.crafts.cell.plans import make_cell_plan
from beforehand.model.cell import CellScene
from beforehand.model.errors import BadInputError, BeforehandError, UnavailableError
from beforehand.model.plan import Plan
from beforehand.ports.graph import CellGraph

pytestmark = pytest.mark.needs("arcadedb")

WELD = PlanInput(scene="weld_star", text="weld position 1 and 2")
CLOSE = "MATCH ({name: 'Home'})-[m:ONLY_ALLOWED_MOVE_TO]->({name: 'Safe_Pos_2'}) DELETE m"


@asynccontextmanager
async def living(folder: Path, url: str | None) -> AsyncIterator[Runtime]:
    """A runtime with weld_star live in it, whose cells may be kept in a graph."""
    here = load_settings({"home": str(folder / "home"), "graph": url}, {}, folder / "none")
    async with open_runtime(here, with_servers=False) as runtime:
        await save_scene(runtime, None, find_document("weld_star"), activate=True)
        yield runtime


def moves(plan: Plan) -> list[str]:
    return [step.description for step in plan.steps]


# -- the same plan ---------------------------------------------------------------------------------------------------

NAMES = ["A", "B", "a", "a1", "a10", "a2", "É", "Z_9", "ß", "😀"]


@st.composite
def cells(draw: st.DrawFn) -> CellScene:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=3, max_size=8, unique=True))
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    costs = st.sampled_from([1, 1, 1.0, 2, 0, 0.1, 0.2, 0.3, 1e-9])
    drawn = draw(st.lists(st.sampled_from(pairs), min_size=2, max_size=16, unique=True))
    supports = st.fixed_dictionaries(
        {"position": st.sampled_from(names)},
        optional={
            "stabilize": st.sampled_from([0, 1, 1.5]),
            "verify": st.just("check"),
            "action_after": st.sampled_from(["blow_off", "move_safe"]),
        },
    )
    routines = [
        {
            "name": name,
            "required_tool": draw(st.sampled_from([None, "none", "Saw"])),
            "supported_at": draw(st.lists(supports, max_size=3, unique_by=lambda one: one["position"])),
        }
        for name in ("cut", "look", "tool_attach", "tool_release")
    ]
    roles = st.sampled_from([None, "safe", "work", "stand"])
    return read_cell(
        {
            "kind": "cell",
            "name": "random",
            "positions": [{"name": name, "role": draw(roles)} for name in names],
            "moves": [{"from": a, "to": b, "cost": draw(costs), "one_way": draw(st.booleans())} for a, b in drawn],
            "tools": [{"name": "Saw", "stand": draw(st.sampled_from(names))}],
            "routines": [*routines, {"name": "blow_off", "supported_at": names}],
            "state": {"current_position": draw(st.sampled_from(names))},
        }
    )


def outcome(scene: CellScene, goals: list[dict[str, Any]]) -> str:
    """The plan as JSON, or every problem with it."""
    assert scene.state
    try:
        plan = make_cell_plan(scene, scene.state, PlanRequest(scene.name, intent={"goal": "sequence", "steps": goals}))
    except BeforehandError as error:
        return json.dumps([error.says, [problem.wire() for problem in error.problems]])
    return plan.model_dump_json()


async def kept_and_read(graph: CellGraph, scene: CellScene) -> CellScene:
    try:
        await graph.write(scene)
        return (await read_whole(graph, scene.name))[1]
    finally:
        await graph.close()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(scene=cells(), data=st.data())
def test_every_store_gives_the_same_plan_to_the_byte(arcadedb: Any, scene: CellScene, data: st.DataObject) -> None:
    places = st.sampled_from([place.name for place in scene.positions])
    goals = data.draw(
        st.lists(
            st.one_of(
                st.fixed_dictionaries({"action": st.just("move"), "position": places}),
                st.fixed_dictionaries({"action": st.just("routine"), "routine": st.sampled_from(["cut", "look"])}),
                st.just({"action": "attach_tool", "tool": "Saw"}),
            ),
            min_size=1,
            max_size=4,
        )
    )
    bolt = asyncio.run(kept_and_read(BoltGraph(read_address(arcadedb.url())), scene))
    memory = asyncio.run(kept_and_read(MemoryGraph(), scene))
    assert bolt == scene
    assert outcome(bolt, goals) == outcome(memory, goals) == outcome(scene, goals)


@pytest.mark.parametrize("order", ["given", "free"])
async def test_a_runtime_plans_the_same_from_the_graph_as_from_its_own_scene(
    server: Any, tmp_path: Path, order: str
) -> None:
    request = PlanInput(scene="weld_star", text="weld position 2, 1 and 3", options={"order": order})
    found = []
    for folder, url in (("file", None), ("graph", server.url())):
        async with living(tmp_path / folder, url) as runtime:
            if url is not None:
                await push_scene(runtime.settings, find_document("weld_star"))
            found.append((await take_in(runtime, request)).plan)
    assert found[0].model_dump_json() == found[1].model_dump_json()


def test_the_command_line_prints_the_same_bytes(server: Any, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}
    with_graph = clean | {
        "BEFOREHAND_GRAPH": f"bolt://127.0.0.1:{server.port}/{server.database}",
        "BEFOREHAND_GRAPH_USER": "root",
        "BEFOREHAND_GRAPH_PASSWORD": server.password,
    }

    def run(*words: str, env: dict[str, str], code: int = 0) -> subprocess.CompletedProcess[bytes]:
        done = run_forked(words, cwd=tmp_path, env=env, timeout=60)
        assert done.returncode == code, done.stderr.decode()
        return done

    said = run("graph", "push", "weld_star", env=with_graph).stdout.decode()
    assert f"weld_star is in the graph at 127.0.0.1:{server.port}/cells: 12 positions, 11 moves" in said
    pulled = run("graph", "pull", "weld_star", "-o", "json", env=with_graph).stdout
    assert json.loads(pulled) == read_cell(find_document("weld_star")).wire()
    (tmp_path / "pulled.yaml").write_bytes(run("graph", "pull", "weld_star", env=with_graph).stdout)
    assert run("graph", "push", "pulled.yaml", env=with_graph).stdout.decode() == said
    for output in ("json", "steps"):
        words = ("plan", "weld position 1 and 2", "--scene", "weld_star", "-o", output)
        assert run(*words, env=with_graph).stdout == run(*words, env=clean).stdout
    refused = run("graph", "pull", "weld_star", env=with_graph | {"BEFOREHAND_GRAPH_PASSWORD": "wrong-one"}, code=1)
    assert refused.stdout == b""
    assert b"refuses the user name or the password" in refused.stderr
    assert b"wrong-one" not in refused.stderr
    assert b"Traceback" not in refused.stderr


# -- of the map as it is ---------------------------------------------------------------------------------------------


async def test_the_next_plan_goes_round_a_move_that_was_taken_out(server: Any, tmp_path: Path) -> None:
    async with living(tmp_path, server.url()) as runtime:
        await push_scene(runtime.settings, find_document("weld_star"))
        intent = {"goal": "sequence", "steps": [{"action": "move", "position": "Pos_2"}]}
        goal = PlanInput(scene="weld_star", intent=intent)
        assert moves((await take_in(runtime, goal)).plan) == ["Move to Safe_Pos_2", "Move to Pos_2"]
        server.run(CLOSE)
        with pytest.raises(BadInputError, match="Pos_2"):
            await take_in(runtime, goal)
        server.run(
            "MATCH (a:Position {name: 'Safe_Pos_1'}), (b:Position {name: 'Safe_Pos_2'})"
            " CREATE (a)-[:ONLY_ALLOWED_MOVE_TO]->(b)"
        )
        assert moves((await take_in(runtime, goal)).plan) == [
            "Move to Safe_Pos_1",
            "Move to Safe_Pos_2",
            "Move to Pos_2",
        ]


async def test_a_plan_whose_move_was_taken_out_since_does_not_start(server: Any, tmp_path: Path) -> None:
    async with living(tmp_path, server.url()) as runtime:
        await push_scene(runtime.settings, find_document("weld_star"))
        plan, _ = await create_plan(runtime, WELD)
        server.run(CLOSE)
        with pytest.raises(BadInputError) as refused:
            await start_run(runtime, plan.id, plan.version)
        assert any("Safe_Pos_2" in problem.says for problem in refused.value.problems)
        assert await runtime.store.rows("run") == []


async def test_with_the_graph_gone_nothing_is_planned_or_started(server: Any, line: Any, tmp_path: Path) -> None:
    async with living(tmp_path, server.url(port=line.port)) as runtime:
        await push_scene(runtime.settings, find_document("weld_star"))
        plan, _ = await create_plan(runtime, WELD)
        before = await runtime.store.last_seq()
        await line.close()
        for call in (create_plan(runtime, WELD), start_run(runtime, plan.id, plan.version)):
            with pytest.raises(UnavailableError, match="does not answer"):
                await call
        assert await runtime.store.last_seq() == before
        await line.open()
        assert moves((await create_plan(runtime, WELD))[0]) == moves(plan)


async def test_a_live_cell_follows_the_graph(server: Any, tmp_path: Path) -> None:
    async with living(tmp_path, server.url()) as runtime:
        await push_scene(runtime.settings, find_document("weld_star"))
        server.run(
            "MATCH (a:Position {name: 'Home'})"
            " CREATE (a)-[:ONLY_ALLOWED_MOVE_TO]->(:Position {scene: 'weld_star', name: 'Bench'})"
        )
        await take_in(runtime, WELD)
        assert "Bench" in [place.name for place in runtime.service(Cells).live["weld_star"].scene.positions]


async def test_a_cell_the_graph_has_not_is_planned_from_its_scene_and_says_so(server: Any, tmp_path: Path) -> None:
    async with living(tmp_path, server.url()) as runtime:
        plan = (await take_in(runtime, WELD)).plan
        assert len(plan.steps) == 12
        assert plan.notes[-1].startswith("The graph database has no scene weld_star")
