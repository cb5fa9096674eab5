"""A graph database that is changed by others, was made by others, breaks off, goes silent or says no."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from beforehand.adapters.graph.address import GraphAddress, read_address
from beforehand.adapters.graph.bolt import BoltGraph
from beforehand.app.scenes import find_document
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.graphs import read_whole
from beforehand.model.cell import CellScene
from beforehand.model.errors import BadInputError, NotFoundError, UnavailableError

pytestmark = pytest.mark.needs("arcadedb")

STAR = read_cell(find_document("weld_star"))
COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""A whole Bolt message: COMMIT."""

OTHERS = """
CREATE (h:Position {name: 'Home'}), (s:Position {name: 'Safe'}), (p:Position {name: 'Pos_1', note: 'extra'}),
       (w:Position {name: 'Stand', x: 1, y: 2.5}),
       (r:Routine {name: 'tack_weld', required_tool: 'Welder'}), (a:Routine {name: 'tool_attach'}),
       (t:Tool {name: 'Welder'}),
       (h)-[:ONLY_ALLOWED_MOVE_TO]->(s), (s)-[:ONLY_ALLOWED_MOVE_TO]->(h), (p)-[:ONLY_ALLOWED_MOVE_TO]->(s),
       (s)-[:ONLY_ALLOWED_MOVE_TO]->(w), (s)-[:ONLY_ALLOWED_MOVE_TO]->(w),
       (r)-[:SUPPORTED_AT {stabilize: 1.5, verify: 'weld_quality_check'}]->(p),
       (a)-[:SUPPORTED_AT {stabilize: 1}]->(w),
       (t)-[:LOCATED_AT]->(w)
"""


@asynccontextmanager
async def opened(url: str, **options: Any) -> AsyncIterator[BoltGraph]:
    graph = BoltGraph(read_address(url), **options)
    try:
        yield graph
    finally:
        await graph.close()


# -- changed by others -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "MATCH (p:Position {name: 'Pos_1'}) SET p.x = 3.25",
        "MATCH (p:Position {name: 'Pos_1'}) REMOVE p.role",
        "MATCH (p:Position {name: 'Pos_4'}) DETACH DELETE p",
        "CREATE (:Position {scene: 'weld_star', name: 'New'})",
        "MATCH (:Position {name: 'Home'})-[m:ONLY_ALLOWED_MOVE_TO]->(:Position {name: 'Safe_Pos_2'}) DELETE m",
        "MATCH (:Position {name: 'Home'})-[m:ONLY_ALLOWED_MOVE_TO]->(:Position {name: 'Safe_Pos_2'}) SET m.cost = 2",
        "MATCH (:Position {name: 'Home'})-[m:ONLY_ALLOWED_MOVE_TO]->({name: 'Safe_Pos_2'}) SET m.one_way = true",
        "MATCH (a:Position {name: 'Pos_1'}), (b:Position {name: 'Pos_4'}) CREATE (a)-[:ONLY_ALLOWED_MOVE_TO]->(b)",
        "MATCH (r:Routine {name: 'tack_weld'}) SET r.required_tool = 'Camera'",
        "MATCH (:Routine {name: 'tack_weld'})-[s:SUPPORTED_AT]->(:Position {name: 'Pos_1'}) SET s.stabilize = 0",
        "MATCH (:Routine {name: 'tack_weld'})-[s:SUPPORTED_AT]->(:Position {name: 'Pos_1'}) REMOVE s.verify",
        "MATCH (:Tool {name: 'Welder'})-[l:LOCATED_AT]->() DELETE l",
    ],
)
async def test_a_change_somebody_makes_in_the_database_is_noticed_and_read(server: Any, change: str) -> None:
    async with opened(server.url()) as graph:
        await graph.write(STAR)
        before = await graph.fingerprint("weld_star")
        server.run(change)
        assert await graph.fingerprint("weld_star") != before
        assert await graph.read("weld_star") != STAR


async def test_what_others_keep_beside_a_scene_is_neither_read_nor_touched(server: Any) -> None:
    server.run(
        "CREATE (:Invoice {scene: 'weld_star', name: 'Home'})-[:ABOUT]->(:Position {scene: 'yard', name: 'Gate'})"
    )
    async with opened(server.url()) as graph:
        await graph.write(STAR)
        server.run(
            "MATCH (a:Position {name: 'Home'}), (b:Position {name: 'Gate'}) CREATE (a)-[:ONLY_ALLOWED_MOVE_TO]->(b)"
        )
        server.run("MATCH (a:Position {name: 'Home'}) SET a.colour = 'red'")
        assert await graph.read("weld_star") == STAR
        assert await graph.names() == ("weld_star", "yard")
        await graph.write(STAR)
    assert server.run("MATCH (i:Invoice)-[:ABOUT]->(p) RETURN p.name AS name") == [{"name": "Gate"}]


async def test_values_of_the_wrong_kind_are_all_named(server: Any) -> None:
    async with opened(server.url()) as graph:
        await graph.write(STAR)
        server.run("MATCH (p:Position {name: 'Pos_1'}) SET p.x = 'left', p.role = 'sofa'")
        server.run("MATCH (p:Position {name: 'Pos_2'}) REMOVE p.name")
        server.run("MATCH (r:Routine {name: 'tack_weld'}) SET r.duration_s = true, r.words = 'weld'")
        server.run("MATCH (s:Scene) SET s.speed_mps = 'fast', s.controller = '{half'")
        with pytest.raises(BadInputError) as refused:
            await graph.read("weld_star")
    said = [problem.says for problem in refused.value.problems]
    assert "In the graph the position Pos_1 has a x of the wrong kind, 'left'." in said
    assert "In the graph the position Pos_1 has a role of the wrong kind, 'sofa'." in said
    assert "In the graph the position without a name has no name." in said
    assert "In the graph the scene has a speed_mps of the wrong kind, 'fast'." in said
    assert "In the graph the scene has a controller of the wrong kind, '{half'." in said
    assert {problem.path for problem in refused.value.problems} >= {"x", "role", "name", "duration_s", "words"}
    assert {problem.fixable_by for problem in refused.value.problems} == {"graph"}


async def test_a_scene_that_makes_no_sense_is_refused_with_what_to_mend_in_the_graph(server: Any) -> None:
    async with opened(server.url()) as graph:
        await graph.write(STAR)
        server.run("MATCH (r:Routine {name: 'tack_weld'}) SET r.required_tool = 'Hammer'")
        server.run("CREATE (:Position {scene: 'weld_star', name: 'Home'})")
        server.run("MATCH (:Position {name: 'Pos_1'})<-[m:ONLY_ALLOWED_MOVE_TO]-() SET m.cost = -1")
        with pytest.raises(BadInputError, match="weld_star in the graph has 3 problems") as refused:
            await read_whole(graph, "weld_star")
    assert {problem.fixable_by for problem in refused.value.problems} == {"graph"}


# -- made by others --------------------------------------------------------------------------------------------------


async def test_a_graph_that_names_no_scene_is_pulled_under_any_name(server: Any) -> None:
    server.run(OTHERS)
    async with opened(server.url(), any_name=True) as graph:
        _, scene = await read_whole(graph, "theirs")
    assert scene.wire() == {
        "kind": "cell",
        "name": "theirs",
        "positions": [{"name": "Home"}, {"name": "Pos_1"}, {"name": "Safe"}, {"name": "Stand", "x": 1, "y": 2.5}],
        "moves": [
            {"from": "Home", "to": "Safe"},
            {"from": "Pos_1", "to": "Safe"},
            {"from": "Safe", "to": "Home"},
            {"from": "Safe", "to": "Stand"},
        ],
        "tools": [{"name": "Welder", "stand": "Stand"}],
        "routines": [
            {
                "name": "tack_weld",
                "required_tool": "Welder",
                "words": [],
                "supported_at": [{"position": "Pos_1", "stabilize": 1.5, "verify": "weld_quality_check"}],
            },
            {"name": "tool_attach", "words": [], "supported_at": [{"position": "Stand", "stabilize": 1}]},
        ],
        "state": {"current_position": "Home", "current_tool": "none"},
    }


async def test_the_address_says_which_scene_unnamed_nodes_are(server: Any) -> None:
    server.run(OTHERS)
    async with opened(server.url(scene="theirs")) as graph:
        assert await graph.names() == ("theirs",)
        before = await graph.fingerprint("theirs")
        server.run("MATCH (:Tool)-[l:LOCATED_AT]->() DELETE l")
        assert await graph.fingerprint("theirs") != before
        await graph.write(STAR)
        assert await graph.names() == ("theirs", "weld_star")
        assert len((await graph.read("theirs")).positions) == 4


async def test_unnamed_nodes_are_never_taken_for_a_scene_by_chance(server: Any) -> None:
    server.run(OTHERS)
    async with opened(server.url()) as graph:
        assert await graph.names() == ()
        with pytest.raises(NotFoundError) as refused:
            await graph.read("theirs")
        assert "?scene=theirs" in refused.value.hint
        await graph.write(STAR)
    async with opened(server.url(), any_name=True) as graph:
        with pytest.raises(NotFoundError, match="Known scenes: weld_star"):
            await graph.read("theirs")


# -- faults ----------------------------------------------------------------------------------------------------------


def other_star() -> CellScene:
    document = STAR.wire()
    document["positions"].append({"name": "Extra"})
    return read_cell(document)


@pytest.mark.parametrize(
    "moment", [b"MERGE (s:Scene", b"DETACH DELETE", b"CREATE (n:Routine", b"r:SUPPORTED_AT", b"r:LOCATED_AT", COMMIT]
)
async def test_a_push_that_breaks_off_leaves_the_scene_as_it_was(server: Any, line: Any, moment: bytes) -> None:
    async with opened(server.url()) as direct, opened(server.url(port=line.port)) as graph:
        await graph.write(STAR)
        before = await direct.fingerprint("weld_star")
        line.break_at = moment
        with pytest.raises(UnavailableError, match="does not answer, or closed the connection") as refused:
            await graph.write(other_star())
        assert refused.value.code == "graph.gone"
        assert await direct.fingerprint("weld_star") == before
        assert await direct.read("weld_star") == STAR
        line.break_at = None
        await graph.write(other_star())
        assert await direct.read("weld_star") == other_star()


@pytest.mark.parametrize("moment", [b"DETACH DELETE", b"r:SUPPORTED_AT", COMMIT])
async def test_a_push_to_a_server_gone_silent_ends_and_leaves_the_scene(server: Any, line: Any, moment: bytes) -> None:
    async with opened(server.url()) as direct, opened(server.url(port=line.port), timeout_s=1.0) as graph:
        await graph.write(STAR)
        line.silent_at = moment
        with pytest.raises(UnavailableError, match="gave no answer within 1 s") as refused:
            await graph.write(other_star())
        assert refused.value.code == "graph.slow"
        await line.close()
        assert await direct.read("weld_star") == STAR


async def test_a_push_whose_last_answer_is_lost_says_that_it_may_have_arrived(server: Any, line: Any) -> None:
    async with opened(server.url()) as direct, opened(server.url(port=line.port)) as graph:
        await graph.write(STAR)
        line.lose_answer_to = COMMIT
        with pytest.raises(UnavailableError, match="may or may not have kept the scene; push it again"):
            await graph.write(other_star())
        assert await direct.read("weld_star") == other_star()


@pytest.mark.parametrize("moment", [b"ONLY_ALLOWED_MOVE_TO", b"LOCATED_AT"])
async def test_a_read_that_breaks_off_gives_nothing(server: Any, line: Any, moment: bytes) -> None:
    async with opened(server.url()) as direct, opened(server.url(port=line.port)) as graph:
        await direct.write(STAR)
        line.break_at = moment
        for ask in (graph.read, graph.fingerprint):
            with pytest.raises(UnavailableError, match="does not answer, or closed the connection"):
                await ask("weld_star")
        line.break_at = None
        assert await graph.read("weld_star") == STAR


async def test_a_server_that_was_stopped_and_started_is_simply_asked_again(server: Any, line: Any) -> None:
    async with opened(server.url(port=line.port)) as graph:
        await graph.write(STAR)
        await line.close()
        with pytest.raises(UnavailableError, match="does not answer"):
            await graph.read("weld_star")
        await line.open()
        assert await graph.read("weld_star") == STAR


async def test_a_restart_nobody_was_there_to_see_is_not_noticed(server: Any, line: Any) -> None:
    async with opened(server.url(port=line.port)) as graph:
        await graph.write(STAR)
        await line.close()
        await line.open()
        assert await graph.read("weld_star") == STAR


def wrong_password(address: GraphAddress) -> str:
    return f"bolt://root:not-{address.password}@{address.host}:{address.port}/cells"


def no_password(address: GraphAddress) -> str:
    return f"bolt://{address.host}:{address.port}/cells"


def wrong_database(address: GraphAddress) -> str:
    return f"bolt://root:{address.password}@{address.host}:{address.port}/nothing_here"


def wrong_encryption(address: GraphAddress) -> str:
    return f"bolt+s://root:{address.password}@{address.host}:{address.port}/cells"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (wrong_password, "refuses the user name or the password"),
        (no_password, "refuses the user name or the password"),
        (wrong_database, "has no database 'nothing_here'"),
        (wrong_encryption, "does not answer, or closed the connection"),
    ],
)
async def test_a_server_that_says_no(server: Any, wrong: Callable[[GraphAddress], str], says: str) -> None:
    url = wrong(read_address(server.url()))
    async with opened(url) as graph:
        for call in (graph.read("weld_star"), graph.write(STAR), graph.names()):
            with pytest.raises(UnavailableError, match=says) as refused:
                await call
            assert refused.value.hint
            assert server.password not in refused.value.says + refused.value.hint
    assert server.run("MATCH (n) RETURN count(n) AS nodes") == [{"nodes": 0}]


@pytest.mark.parametrize(
    ("greeting", "code"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "graph.not_bolt"),
        (b"SSH-2.0-something\r\n", "graph.not_bolt"),
        (b"", "graph.gone"),
        (None, "graph.slow"),
    ],
)
async def test_something_that_is_no_bolt_server(greeting: bytes | None, code: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            if greeting is not None:
                writer.write(greeting)
                await writer.drain()
            else:
                await reader.read()
        writer.close()

    stranger = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = stranger.sockets[0].getsockname()[1]
    async with opened(f"bolt://127.0.0.1:{port}", timeout_s=1.0) as graph:
        with pytest.raises(UnavailableError) as refused:
            await graph.names()
        assert refused.value.code == code
    stranger.close()


@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
async def test_pushes_at_the_same_time_leave_one_whole_scene(server: Any, first: bool) -> None:
    scenes = [STAR, other_star()]
    async with opened(server.url()) as graph:
        if not first:
            await graph.write(STAR)
        results = await asyncio.gather(*(graph.write(scene) for scene in scenes * 2), return_exceptions=True)
        assert {getattr(result, "code", None) for result in results} <= {None, "graph.busy"}
        assert None in results
        assert (await read_whole(graph, "weld_star"))[1] in scenes
    assert server.run("MATCH (s:Scene) RETURN count(s) AS scenes") == [{"scenes": 1}]


@pytest.mark.parametrize("moment", [b"DETACH DELETE", b"CREATE (n:Routine", b"r:LOCATED_AT"])
async def test_a_push_that_another_one_overtakes_begins_again(server: Any, line: Any, moment: bytes) -> None:
    """Wherever it stood when the other one was kept, although the node of the scene says the same in both."""
    async with opened(server.url()) as direct, opened(server.url(port=line.port)) as graph:
        await direct.write(STAR)
        line.hold_at = moment
        late = asyncio.create_task(graph.write(other_star()))
        await line.held.wait()
        await direct.write(STAR)
        line.let_go.set()
        await late
        assert bytes(line.asked).count(b"MERGE (s:Scene") == 2
        assert (await read_whole(direct, "weld_star"))[1] == other_star()


async def test_no_push_begins_before_names_of_scenes_are_unique(server: Any, line: Any) -> None:
    server.run("DROP CONSTRAINT beforehand_scene IF EXISTS")
    async with opened(server.url()) as direct, opened(server.url(port=line.port)) as graph:
        line.hold_at = b"CREATE CONSTRAINT"
        pushes = asyncio.gather(graph.write(STAR), graph.write(other_star()))
        await line.held.wait()
        await direct.write(STAR.model_copy(update={"name": "elsewhere"}))
        assert b"MERGE (s:Scene" not in line.asked
        line.let_go.set()
        await pushes
        assert (await read_whole(direct, "weld_star"))[1] in [STAR, other_star()]


async def test_pushes_of_different_scenes_at_the_same_time_all_arrive(server: Any) -> None:
    scenes = [STAR.model_copy(update={"name": f"star_{at}"}) for at in range(4)]
    async with opened(server.url()) as graph:
        await asyncio.gather(*map(graph.write, scenes))
        assert [await graph.read(scene.name) for scene in scenes] == scenes
