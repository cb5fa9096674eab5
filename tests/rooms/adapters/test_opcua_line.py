"""A cell and its simulated PLC over OPC UA in memory: the line, the look before it is used, and what a PLC keeps to."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import beforehand.crafts.cell.controllers  # noqa: F401  it brings the kinds of controllers
from beforehand.adapters.opcua import link as link_module
from beforehand.adapters.opcua import plc as plc_module
from beforehand.adapters.opcua.checkup import Checkup, check_cell
from beforehand.adapters.opcua.client import OpcuaCell, open_opcua_cell
from beforehand.adapters.opcua.link import Link, LinkDownError
from beforehand.adapters.opcua.model import command_values
from beforehand.adapters.opcua.options import Access
from beforehand.adapters.opcua.plc import SimulatedPlc
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.model.errors import Fault
from beforehand.ports.cell import CellCommand, CellReport, ControllerRequest
from beforehand.testing import VirtualClock

from .opcua_in_memory import Network, Node, Server, ua

pytestmark = pytest.mark.needs("asyncua")
URL = "opc.tcp://127.0.0.1:4840"
MOVE = CellCommand("r1/a/1", "move", "A", seconds=2)


def scene() -> Any:
    moves = [["Home", "A"], ["A", "B"]]
    controller = {"kind": "opcua", "url": URL, "user": "line1", "password": "secret:X"}
    return read_cell(
        {"kind": "cell", "name": "line", "positions": ["Home", "A", "B"], "moves": moves, "controller": controller}
    )


class Site:
    def __init__(self, network: Network) -> None:
        self.network, self.clock = network, VirtualClock()
        self.plc = SimulatedPlc(scene(), self.clock)
        self.link = Link(lambda: Access(URL), URL, self._beat)
        self.beats = 0

    async def _beat(self) -> None:
        self.beats += 1

    @property
    def server(self) -> Server:
        return self.network.servers[URL]

    @property
    def cell_node(self) -> Node:
        return self.server.nodes.objects.children["2:Cell"]

    def controller(self) -> OpcuaCell:
        fill = {"secret:X": "sesame"}
        filled = lambda options: {key: fill.get(value, value) for key, value in options.items()}  # noqa: E731
        return open_opcua_cell(ControllerRequest(scene(), self.clock, with_secrets=filled))

    async def execute(self, key: str, client: str = "us", deadline: int | None = None) -> list[Any]:
        command = CellCommand(key, "move", "A", seconds=2)
        due = self.clock.now_ms() + 3_000 if deadline is None else deadline
        return await self.link.execute(client, command_values(command, due))

    async def look(self) -> Checkup:
        return await check_cell(Access(URL), {}, self.clock.now_ms)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    made = Network()
    for module in (link_module, plc_module):
        monkeypatch.setattr(module, "library", lambda: made)
    return made


@pytest.fixture
async def site(network: Network) -> AsyncIterator[Site]:
    made = Site(network)
    await made.plc.start(port=4840)
    yield made
    await made.link.close()
    await made.plc.stop()


# -- the PLC


async def test_one_client_has_control_until_it_gives_it_back_or_falls_silent(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [asyncio.get_running_loop().time()]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])

    async def beat(client: str) -> tuple[bool, str]:
        granted, holder, at_ms, _ = await site.link.call("Heartbeat", client)
        assert at_ms == site.clock.now_ms()
        return granted, holder

    assert await beat("") == (False, ""), "who has no name cannot have control"
    assert await beat("us") == (True, "us")
    assert await beat("them") == (False, "us")
    await site.link.call("Release", "them")
    assert await beat("them") == (False, "us"), "nobody gives away what another has"
    await site.link.call("Release", "us")
    assert await beat("them") == (True, "them")
    now[0] += 4.9
    assert await beat("us") == (False, "them")
    now[0] += 0.2
    assert await beat("us") == (True, "us")


async def test_a_command_is_taken_once_in_time_and_only_from_who_has_control(site: Site) -> None:
    assert (await site.execute("late", deadline=site.clock.now_ms() - 1))[:2] == [False, "command.expired"]
    assert (await site.execute("k1"))[0]
    assert (await site.execute("k1"))[:2] == [False, "cell.known_id"]
    assert (await site.execute("k2", client="them"))[:2] == [False, "cell.control"]
    assert (await site.execute("k2"))[0] is False, "it is at another"
    assert site.plc.taken == ["k1"]
    state = await site.link.state()
    assert (state.busy, state.command_id, state.position, state.controlled_by) == (True, "k1", "", "us")
    await site.clock.advance(3)
    await site.plc.publish()
    state = await site.link.state()
    assert (state.busy, state.result, state.position, state.progress) == (False, "done", "A", 100.0)
    status, place, *_ = await site.link.call("Probe", "k1")
    assert (status, place) == ("done", "A")
    assert (await site.link.call("Probe", "never"))[0] == "never"


async def test_what_makes_no_sense_is_refused_and_does_not_become_the_last_command(site: Site) -> None:
    wrong = command_values(MOVE, site.clock.now_ms() + 3_000)
    wrong["kind"] = "dance"
    assert (await site.link.execute("us", wrong))[:2] == [False, "cell.command"]
    nowhere = command_values(CellCommand("k9", "move", "B"), site.clock.now_ms() + 3_000)
    assert (await site.link.execute("us", nowhere))[:2] == [False, "cell.no_edge"]
    assert (await site.link.state()).command_id == ""


async def test_a_person_may_say_where_it_is_with_control(site: Site) -> None:
    assert (await site.link.call("Place", "us", "B", "none"))[0]
    assert (await site.link.state()).position == "B"
    assert (await site.link.call("Place", "us", "Mars", "none"))[:2] == [False, "cell.unknown_position"]
    assert (await site.link.call("Place", "them", "A", "none"))[:2] == [False, "cell.control"]
    assert (await site.link.call("GoOn", "them"))[:2] == [False, "cell.control"]


async def test_a_plc_that_keeps_its_memory_knows_its_commands_after_a_restart(network: Network, tmp_path: Path) -> None:
    memories = []
    for keep in (tmp_path / "plc.json", tmp_path / "plc.json", None):
        site = Site(network)
        site.plc = SimulatedPlc(scene(), site.clock, keep=keep)
        await site.plc.start(port=4840)
        known = (await site.link.call("Probe", "k1"))[0]
        memories.append((known, (await site.link.state()).memory))
        if known == "never" and keep is not None:
            await site.execute("k1")
            await site.clock.advance(3)
        await site.link.close()
        await site.plc.stop()
    assert [known for known, _ in memories] == ["never", "done", "never"]
    assert memories[0][1] == memories[1][1] != memories[2][1]


# -- the line


async def test_a_command_is_carried_out_held_in_the_middle_and_reported(site: Site) -> None:
    controller, seen = site.controller(), []
    assert await controller.report() == CellReport("Home", "none")
    doing = asyncio.ensure_future(controller.do(MOVE, seen.append))
    while not site.plc.taken:  # noqa: ASYNC110  nobody tells when it has gone out
        await asyncio.sleep(0.001)
    await controller.hold()
    await site.clock.advance(10)
    assert not doing.done()
    await controller.go_on()
    await site.clock.advance(3)
    await site.plc.publish()
    assert (await doing).position == "A"
    assert seen[-1] == 100
    assert site.network.clients[0].password == "sesame"
    await controller.close()
    assert not any(client.is_connected for client in site.network.clients)


async def test_a_controller_that_is_not_there_is_tried_less_and_less_often(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])
    link = Link(lambda: Access(URL), URL, lambda: asyncio.sleep(0))
    tried = []
    for wait_s in (0.0, 0.05, 0.06, 0.15, 0.06, 1.0):
        now[0] += wait_s
        with pytest.raises(LinkDownError, match="nothing listens on this port") as down:
            await link.state()
        assert (down.value.code, down.value.transient, down.value.untouched) == ("cell.link", True, True)
        tried.append(len(network.clients))
    assert tried == [1, 1, 2, 2, 3, 4]
    await link.close()
    with pytest.raises(LinkDownError, match="let go"):
        await link.state()


async def test_an_answer_that_does_not_come_ends_the_session_and_the_next_question_makes_another(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await site.link.state()
    monkeypatch.setattr(link_module, "ANSWER_S", 0.01)
    site.network.clients[0].is_silent = True
    with pytest.raises(LinkDownError, match=r"within 0\.01 s"):
        await site.link.state()
    monkeypatch.setattr(link_module, "ANSWER_S", 4.0)
    assert (await site.link.state()).position == "Home"
    assert len(site.network.clients) == 2


@pytest.mark.parametrize("error", ["BadSessionIdInvalid", "BadConnectionClosed", "BadTimeout"])
async def test_an_error_about_the_line_is_no_answer_of_the_controller(site: Site, error: str) -> None:
    await site.link.state()
    site.network.clients[0].fails = getattr(ua().uaerrors, error)()
    with pytest.raises(LinkDownError):
        await site.link.state()
    assert (await site.link.state()).position == "Home"


async def test_a_refusal_is_told_with_what_to_do_and_the_line_stays(site: Site) -> None:
    await site.link.state()
    client = site.network.clients[0]
    client.fails = ua().uaerrors.BadUserAccessDenied()
    with pytest.raises(Fault, match="does not let us call Heartbeat") as refused:
        await site.link.call("Heartbeat", "us")
    assert (refused.value.code, refused.value.untouched) == ("cell.refused", True)
    client.fails = ua().uaerrors.BadInvalidArgument()
    with pytest.raises(Fault, match="asked to read its state it answers") as wrong:
        await site.link.state()
    assert wrong.value.code == "cell.model"
    client.fails = None
    await site.link.state()
    assert len(site.network.clients) == 1


async def test_a_server_without_the_model_is_told_with_all_that_is_missing(site: Site) -> None:
    del site.cell_node.children["2:Probe"], site.cell_node.children["2:Hold"]
    del site.cell_node.children["2:State"].children["2:tool"]
    with pytest.raises(Fault, match=r"Cell\.Probe, Cell\.State\.tool missing") as refused:
        await site.link.state()
    assert refused.value.code == "cell.model"
    site.server.namespaces.remove("urn:beforehand:cell:2")
    other = Link(lambda: Access(URL), URL, lambda: asyncio.sleep(0))
    with pytest.raises(Fault, match="it has no namespace urn:beforehand:cell:2 or urn:beforehand:cell:1"):
        await other.state()


async def test_a_change_of_the_state_wakes_who_waits(site: Site) -> None:
    await site.link.state()
    assert site.link.can_hold
    waiting = asyncio.ensure_future(site.link.change(3_600))
    await asyncio.sleep(0)
    await site.link.call("Place", "us", "B", "none")
    await waiting


# -- the look before it is used


async def test_a_look_at_a_cell_that_can_be_used(site: Site) -> None:
    site.server.now = datetime.fromtimestamp(site.clock.now_ms() / 1000, UTC)
    found = await site.look()
    shown = found.wire()
    assert (shown["speaks"], shown["server"], shown["security"]) == (
        "opcua",
        {"product": "PLC", "version": "7"},
        ["None"],
    )
    assert (shown["position"], shown["tool"], shown["busy"], shown["error"]) == ("Home", "none", False, None)
    assert (shown["clockOffsetMs"], len(shown["roundTripsMs"])) == (0, 5)
    assert set(shown["nodes"].values()) == {"there"}
    assert len(shown["nodes"]) == 17
    assert found.troubles == []
    assert found.notes == ["It offers no signed and encrypted line: whoever is in its network can command it."]
    assert site.plc.taken == []


async def test_a_look_tells_who_has_control_and_that_it_is_busy(site: Site) -> None:
    await site.execute("k1")
    site.server.now = datetime.fromtimestamp(site.clock.now_ms() / 1000 - 5).astimezone(UTC).replace(tzinfo=None)
    found = await site.look()
    told = " ".join(found.troubles)
    assert "us has control of it" in told
    assert "It is at k1 now." in told
    assert "does not say where the robot stands" in told
    assert found.clock_offset_ms == -5_000
    assert "-5.0 s off" in found.notes[0]


async def test_a_look_names_every_node_that_does_not_fit(site: Site) -> None:
    cell = site.cell_node
    cell.children["2:Probe"].children["0:InputArguments"].value.Value = [1, 2]
    cell.children["2:Stop"].children["0:OutputArguments"].value.Value = [1]
    cell.children["2:Place"].method = None
    del cell.children["2:Hold"], cell.children["2:GoOn"], cell.children["2:Release"]
    state = cell.children["2:State"]
    await state.children["2:busy"].write_value(ua().Variant(1.0, ua().VariantType.Double))
    state.children["2:error"].value = None
    found = await site.look()
    wrong = {path.removeprefix("Cell."): how for path, how in found.nodes.items() if how != "there"}
    assert wrong == {
        "Probe": "takes 2 values, not 1 (id)",
        "Stop": "answers 1 value, not 0 (none)",
        "Place": "is a Variable, not a Method",
        "Hold": "optional",
        "GoOn": "optional",
        "Release": "missing",
        "State.busy": "is a Double, not a Boolean",
        "State.error": "cannot be read",
    }
    assert any("are missing: Cell.Release." in said for said in found.troubles)
    assert any("of another type" in said and "Cell.Probe takes 2 values" in said for said in found.troubles)
    assert any("no Hold and GoOn" in note for note in found.notes)


async def test_a_look_tells_what_is_no_cell_and_what_is_not_there(site: Site) -> None:
    site.server.namespaces.remove("urn:beforehand:cell:2")
    assert (await site.look()).troubles == [
        "It does not have the namespace urn:beforehand:cell:2 or urn:beforehand:cell:1, so there is no cell to be found."  # noqa: E501
    ]
    del site.network.servers[URL]
    found = await site.look()
    assert (found.speaks, found.wire()["speaks"]) == (False, None)
    assert found.troubles == [f"{URL} cannot be reached: nothing listens on this port."]
