"""OPC UA servers of other makers: the model is there, and everything else is as they like it.

Another index for the namespace, numeric ids, neighbours, another order, narrower types; methods that not everybody may
call; servers that fall silent. And the look at a server before it is used.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.contract.conftest import Line
from tests.contract.plcs import opened, running_plc, share_standard_nodes
from tests.contract.test_opcua import AT_HOME, MOVE, STAR, THERE
from tests.contract.vda5050_rig import free_port

from beforehand.adapters.opcua.checkup import Checkup, check_cell
from beforehand.adapters.opcua.model import METHODS, NAMESPACES, read_reply
from beforehand.adapters.opcua.options import Access
from beforehand.app.clock import WallClock
from beforehand.app.crafts import load_crafts
from beforehand.app.inbox import list_decisions
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runs import start_run
from beforehand.app.runtime import open_runtime
from beforehand.app.scenes import save_scene
from beforehand.app.settings import load_settings
from beforehand.model.errors import Fault
from beforehand.model.event import Event
from beforehand.testing import MemoryStore

pytestmark = pytest.mark.needs("asyncua")


@dataclass
class ForeignPlc:
    """Written by somebody who read the documentation and nothing else: every command is done at once."""

    url: str = ""
    done: list[str] = field(default_factory=list)
    controlled_by: str = ""
    position: str = "Home"
    held: list[str] = field(default_factory=list)
    taciturn: bool = False
    """Says null where there is no text, and of what is done not where."""
    nodes: dict[str, Any] = field(default_factory=dict)
    server: Any = None

    async def start(self, leave_out: tuple[str, ...] = (), forbidden: tuple[str, ...] = (), **other: Any) -> None:
        from asyncua import Server, ua

        self.url = f"opc.tcp://127.0.0.1:{free_port()}/somewhere/else"
        self.server = Server()
        await self.server.init()
        self.server.set_endpoint(self.url)
        for name in ("urn:maker:di", "urn:maker:machinery"):
            at = await self.server.register_namespace(name)
            await self.server.nodes.objects.add_object(ua.NodeId(7001, at), f"{at}:Cell")
        at = await self.server.register_namespace(NAMESPACES[1])
        cell = await self.server.nodes.objects.add_object(ua.NodeId(9000, at), f"{at}:Cell")
        methods = {
            "Place": self._place, "Probe": self._probe, "Stop": self._nothing, "Execute": self._execute,
            "Release": self._nothing, "Heartbeat": self._heartbeat, "GoOn": self._go_on, "Hold": self._hold,
            "Reboot": self._nothing,
        }  # fmt: skip
        for number, (name, method) in enumerate(methods.items()):
            if name not in leave_out:
                given = self._denied if name in forbidden else method
                await cell.add_method(ua.NodeId(100 + number, at), f"{at}:{name}", given, [], [])
        state = await cell.add_object(ua.NodeId(9001, at), f"{at}:State")
        values = {
            "serialNumber": "X-1", "controlledBy": "", "memory": "m1", "progress": ua.Variant(0, ua.VariantType.Float),
            "error": "", "result": "", "commandId": "", "busy": False, "tool": "", "position": "Home",
            **other,
        }  # fmt: skip
        for number, (name, value) in enumerate(values.items()):
            if name not in leave_out:
                self.nodes[name] = await state.add_variable(ua.NodeId(500 - number, at), f"{at}:{name}", value)
        await self.server.start()

    async def _denied(self, parent: Any, *given: Any) -> Any:
        from asyncua import ua

        return ua.StatusCode(ua.StatusCodes.BadUserAccessDenied)

    async def _show(self, **values: Any) -> None:
        for name, value in values.items():
            await self.nodes[name].write_value(value)

    async def _heartbeat(self, parent: Any, client: Any) -> list[Any]:
        from asyncua import ua

        return [ua.Variant(True), client, ua.Variant(WallClock().now_ms(), ua.VariantType.Int64), ua.Variant("m1")]

    async def _execute(self, parent: Any, client: Any, *given: Any) -> list[Any]:
        from asyncua import ua

        self.done.append(given[0].Value)
        self.position = given[3].Value
        await self._show(position=self.position, commandId=given[0].Value, result="done")
        return [ua.Variant(True), ua.Variant(""), ua.Variant("")]

    async def _probe(self, parent: Any, asked: Any) -> list[Any]:
        from asyncua import ua

        known = asked.Value in self.done
        said = ["done" if known else "never", self.position if known else "", "", "", "m1"]
        if self.taciturn:
            said[1:4] = [None] * 3  # type: ignore[list-item]
        told = [ua.Variant(one, ua.VariantType.String) for one in said]
        return [*told, ua.Variant(WallClock().now_ms(), ua.VariantType.UInt64)]

    async def _place(self, parent: Any, *given: Any) -> list[Any]:
        from asyncua import ua

        return [ua.Variant(True), ua.Variant(""), ua.Variant("")]

    async def _nothing(self, parent: Any, *given: Any) -> list[Any]:
        return []

    async def _hold(self, parent: Any) -> list[Any]:
        self.held.append("Hold")
        return []

    async def _go_on(self, parent: Any, client: Any) -> list[Any]:
        self.held.append("GoOn")
        return await self._place(parent)


@asynccontextmanager
async def foreign(**more: Any) -> AsyncIterator[ForeignPlc]:
    share_standard_nodes()
    plc = ForeignPlc()
    await plc.start(**more)
    try:
        yield plc
    finally:
        await plc.server.stop()


async def looked_at(url: str) -> Checkup:
    return await check_cell(Access(url), {"kind": "opcua", "url": url}, WallClock().now_ms)


async def test_a_foreign_server_with_the_model_is_driven(tmp_path: Path) -> None:
    async with foreign() as plc, opened(STAR, plc.url, tmp_path / "sent.json") as open_cell:
        cell = await open_cell()
        assert await cell.report() == AT_HOME
        assert await cell.do(MOVE, lambda percent: None) == THERE
        assert plc.done == ["k1"]
        await cell.hold()
        await cell.go_on()
        assert plc.held == ["Hold", "GoOn"]
        found = await looked_at(plc.url)
        assert found.troubles == []
        assert set(found.wire()["nodes"].values()) == {"there"}
        assert found.wire()["position"] == "Safe_Pos_1"


async def test_text_that_is_null_is_empty_and_a_progress_that_is_no_number_is_none(tmp_path: Path) -> None:
    from asyncua import ua

    null, nan = ua.Variant(None, ua.VariantType.String), ua.Variant(float("nan"), ua.VariantType.Double)
    async with foreign(tool=null, error=null, result=null, commandId=null, controlledBy=null, progress=nan) as plc:
        plc.taciturn = True
        assert (await looked_at(plc.url)).troubles == []
        async with opened(STAR, plc.url, tmp_path / "sent.json") as open_cell:
            cell = await open_cell()
            assert await cell.report() == AT_HOME
            assert await cell.do(MOVE, lambda percent: None) == THERE
            answer = await cell.did("k1")
            assert (answer.state, answer.value) == ("happened", None), "it names no place"


def test_a_refusal_without_a_word_is_told_as_such() -> None:
    refused = read_reply("Execute", [False, None, None], "x")
    assert refused.says == "The controller refuses Execute and does not say why."
    with pytest.raises(Fault, match="Execute: says is not a String"):
        read_reply("Execute", [False, "", 5], "x")


async def test_a_method_that_may_not_be_called_is_told_and_nothing_moves(tmp_path: Path) -> None:
    async with foreign(forbidden=("Execute",)) as plc, opened(STAR, plc.url, tmp_path / "sent.json") as open_cell:
        cell = await open_cell()
        with pytest.raises(Fault, match="does not let us call Execute: BadUserAccessDenied") as refused:
            await cell.do(MOVE, lambda percent: None)
        assert refused.value.untouched
        assert plc.done == []


async def test_what_is_missing_or_of_another_type_is_seen_before_it_is_used() -> None:
    async with foreign(leave_out=("Probe", "memory", "Hold"), busy="no") as plc:
        found = await looked_at(plc.url)
        nodes = found.wire()["nodes"]
        assert (nodes["Cell.Probe"], nodes["Cell.State.memory"]) == ("missing", "missing")
        assert (nodes["Cell.Hold"], nodes["Cell.GoOn"]) == ("optional", "there")
        assert nodes["Cell.State.busy"] == "is a String, not a Boolean"
        assert found.troubles == [
            "Nodes of a cell's information model are missing: Cell.Probe, Cell.State.memory.",
            "Nodes are of another type: Cell.State.busy is a String, not a Boolean.",
        ]
        assert any("no Hold and GoOn" in note for note in found.notes)


async def test_the_look_at_a_server_changes_nothing_and_says_who_has_control(tmp_path: Path) -> None:
    async with running_plc(STAR) as plc:
        assert (await looked_at(plc.url)).wire()["controlledBy"] == ""
        async with opened(STAR, plc.url, tmp_path / "sent.json") as open_cell:
            await (await open_cell()).place("Pos_1", "Welder")
            found = await looked_at(plc.url)
            assert "has control of it" in found.troubles[0]
            assert (found.wire()["position"], found.wire()["tool"]) == ("Pos_1", "Welder")
        assert plc.taken == []
        await plc._server.nodes.namespace_array.write_value(["http://opcfoundation.org/UA/", "urn:somebody"])
        assert f"does not have the namespace {NAMESPACES[2]}" in (await looked_at(plc.url)).troubles[0]


async def test_something_that_is_no_server_is_told(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    found = await looked_at(f"opc.tcp://127.0.0.1:{port}")
    assert not found.speaks
    assert len(found.troubles) == 1
    server.close()


async def test_a_robot_that_can_is_held_in_the_middle_and_one_that_cannot_is_left_to_its_end(tmp_path: Path) -> None:
    for holds in (True, False):
        async with (
            running_plc(STAR, speed=20, holds=holds) as plc,
            opened(STAR, plc.url, tmp_path / f"{holds}.json") as open_cell,
        ):
            cell = await open_cell()
            assert not cell.can_hold, "nobody has asked it yet"
            moving = asyncio.ensure_future(cell.do(MOVE, lambda percent: None))
            while not plc.taken:
                await asyncio.wait({moving}, timeout=0.01)
            await cell.hold()
            assert cell.can_hold is holds
            if holds:
                await asyncio.wait({moving}, timeout=0.6)
                assert not moving.done(), "at this speed it would have come there long ago"
                await cell.go_on()
            assert await moving == THERE
            await cell.go_on()


async def test_a_hold_that_could_not_be_said_is_said_when_the_line_is_back_and_a_go_on_is_not(tmp_path: Path) -> None:
    async with foreign() as plc:
        line = Line(int(plc.url.split(":")[2].partition("/")[0]))
        await line.open()
        async with opened(STAR, f"opc.tcp://127.0.0.1:{line.port}", tmp_path / "sent.json") as open_cell:
            cell = await open_cell()
            assert await cell.report() == AT_HOME
            await line.close()
            with pytest.raises(Fault, match="does not answer"):
                await cell.hold()
            line = Line(line.target, line.port)
            await line.open()
            while not plc.held:
                await asyncio.sleep(0.05)
                await cell.did("k9")
            await line.close()
            with pytest.raises(Fault, match="does not answer"):
                await cell.go_on()
            line = Line(line.target, line.port)
            await line.open()
            assert await cell.report() == AT_HOME
            await asyncio.sleep(1.5)  # longer than from one sign of life to the next
            assert plc.held == ["Hold"]
        await line.close()


async def test_a_server_that_falls_silent_in_a_move_is_asked_about_and_nothing_is_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes what is sent and answers nothing, the line open. A person is asked; it speaks again, and it was done."""
    monkeypatch.setattr("beforehand.adapters.opcua.link.ANSWER_S", 1.0)
    monkeypatch.setattr("beforehand.adapters.opcua.link.CONNECT_S", 2.0)
    flags = {"home": str(tmp_path / "home"), "workspace": str(tmp_path), "speed": 60}
    store = MemoryStore(load_crafts().projection())

    async def until(kind: str, /, **data: Any) -> Event:
        while True:
            for event in store.log:
                if event.kind == kind and data.items() <= event.data.items():
                    return event
            await asyncio.sleep(0.02)

    async with running_plc(STAR, speed=2) as plc:
        line = Line(int(plc.url.rpartition(":")[2]))
        await line.open()
        scene = {**STAR.wire(), "controller": {"kind": "opcua", "url": f"opc.tcp://127.0.0.1:{line.port}"}}
        settings = load_settings(flags, {}, tmp_path / "none.toml")
        async with open_runtime(settings, store=store, with_servers=False) as runtime:
            await save_scene(runtime, None, scene, activate=True)
            plan, _ = await create_plan(runtime, PlanInput(scene="weld_star", text="go to Safe_Pos_1"))
            started = await start_run(runtime, plan.id, plan.version)
            await until("stepUpdated", stepId="step_1", status="running")
            while not plc.taken:
                await looked_at(plc.url)
            line.silent_at = b""
            asked = await until("decisionOpened", kind="silent")
            assert asked.data["about"]["stepId"] == "step_1"
            line.silent_at = None
            ended = await until("runFinished", runId=started["runId"])
            assert ended.data["status"] == "completed"
            assert [row for row in await list_decisions(runtime) if row["kind"] == "silent"] == []
        assert len(plc.taken) == 1
        await line.close()


def test_the_model_that_foreign_servers_follow_is_the_documented_one() -> None:
    documented = (Path(__file__).parents[2] / "docs" / "robots.md").read_text()
    assert all(f"`{name}`" in documented for name in (*METHODS, "Hold", "GoOn"))
