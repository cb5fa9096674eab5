"""Cells over OPC UA, over real TCP: cut lines, killed controllers, two clients, and servers that are none of ours.

What every controller promises is in test_cell_controller.py. The PLC has virtual time; the line between has none.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contract.conftest import Line
from tests.contract.plcs import opened, running_plc, share_standard_nodes

from beforehand.adapters.opcua.checkup import check_cell
from beforehand.adapters.opcua.client import OpcuaCell, open_opcua_cell
from beforehand.adapters.opcua.link import APPLICATION, LinkDownError
from beforehand.adapters.opcua.model import EXPIRED, KNOWN_ID, command_values
from beforehand.adapters.opcua.options import Access
from beforehand.adapters.opcua.plc import SimulatedPlc
from beforehand.adapters.opcua.trust import fingerprint
from beforehand.adapters.sim.cell_faults import CellFault
from beforehand.app.clock import WallClock
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.model.errors import Fault, InDoubtError
from beforehand.ports.cell import CellCommand, CellReport, ControllerRequest
from beforehand.testing import VirtualClock

pytestmark = pytest.mark.needs("asyncua")

STAR = read_cell(yaml.safe_load((Path(__file__).parents[2] / "scenes" / "weld_star.yaml").read_text()))
AT_HOME, THERE = CellReport("Home", "none"), CellReport("Safe_Pos_1", "none")
MOVE = CellCommand("k1", "move", "Safe_Pos_1", seconds=4)
NOBODY = "opc.tcp://127.0.0.1:9"


class Bench:
    """One PLC, a line to it that can be cut, and the controller that is tried."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = VirtualClock()
        self.plc: SimulatedPlc
        self.line: Line
        self.cell: OpcuaCell
        self.executed: list[str] = []

    async def power(self, keep: bool = True) -> None:
        """Switch the PLC on, at the place where it was."""
        port = self.line.target if hasattr(self, "line") else 0
        self.plc = SimulatedPlc(STAR, self.clock, keep=self.folder / "plc.json" if keep else None)
        self.plc.taken = self.executed
        await self.plc.start(port=port)

    async def begin(self, command: CellCommand = MOVE) -> "asyncio.Future[CellReport]":
        work = asyncio.ensure_future(self.cell.do(command, lambda percent: None))
        while command.key not in self.executed and not work.done():
            await asyncio.wait({work}, timeout=0.01)
        await self.clock.advance(1)
        return work

    async def reconnect(self) -> None:
        self.line = Line(self.line.target, self.line.port)
        await self.line.open()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    share_standard_nodes()
    await made.power()
    made.line = Line(int(made.plc.url.rpartition(":")[2]))
    await made.line.open()
    async with opened(STAR, f"opc.tcp://127.0.0.1:{made.line.port}", tmp_path / "sent.json") as open_cell:
        made.cell = await open_cell()
        yield made
        made.line.break_at = made.line.silent_at = made.line.lose_answer_to = None
    await made.line.close()
    await made.plc.stop()


async def test_a_plc_killed_in_a_move_that_kept_its_memory_says_that_it_happened(bench: Bench) -> None:
    work = await bench.begin()
    await bench.plc.stop()
    assert (await bench.cell.did("k1")).state == "running"
    assert "does not answer" in (await bench.cell.did("k1")).says
    await bench.clock.advance(10)
    await bench.power()
    assert await work == THERE
    assert bench.executed == ["k1"]


async def test_a_plc_killed_in_a_move_that_goes_on_with_it_is_waited_for(bench: Bench) -> None:
    work = await bench.begin()
    await bench.plc.stop()
    await bench.power()
    while (await bench.cell.did("k1")).says != "The controller is still working on it.":
        await asyncio.wait({work}, timeout=0.02)
    assert not work.done()
    await bench.clock.advance(10)
    assert await work == THERE
    assert bench.executed == ["k1"]


async def test_a_plc_killed_in_a_move_that_forgot_it_leaves_it_to_a_person(bench: Bench) -> None:
    work = await bench.begin()
    await bench.plc.stop()
    await bench.power(keep=False)
    with pytest.raises(InDoubtError, match="forgotten its commands"):
        await work
    for _ in range(2):
        assert (await bench.cell.did("k1")).state == "unknown"
    assert bench.executed == ["k1"]


async def test_the_next_process_knows_too_that_the_plc_forgot(bench: Bench, tmp_path: Path) -> None:
    work = await bench.begin()
    work.cancel()
    await asyncio.wait({work})
    await bench.plc.stop()
    await bench.power(keep=False)
    async with opened(STAR, bench.plc.url, tmp_path / "sent.json") as open_cell:
        again = await open_cell()
        assert (await again.did("k1")).state == "unknown"
        assert (await again.did("k2")).state == "not_begun"


async def test_a_line_cut_in_a_move_is_connected_anew_and_nothing_is_sent_twice(bench: Bench) -> None:
    work = await bench.begin()
    await bench.line.close()
    await bench.clock.advance(10)
    await bench.reconnect()
    assert await work == THERE
    assert bench.executed == ["k1"]


async def test_an_answer_that_is_lost_is_asked_for(bench: Bench) -> None:
    bench.line.lose_answer_to = b"Safe_Pos_1"
    work = await bench.begin()
    await bench.clock.advance(10)
    assert await work == THERE
    assert bench.executed == ["k1"]


@pytest.mark.parametrize("how", ["break_at", "silent_at"])
async def test_a_command_that_never_arrives_is_not_begun_once_it_is_too_late(bench: Bench, how: str) -> None:
    assert await bench.cell.report() == AT_HOME
    setattr(bench.line, how, b"Safe_Pos_1")
    work = asyncio.ensure_future(bench.cell.do(MOVE, lambda percent: None))
    while (await bench.cell.did("k1")).says != "It may still be on its way to the controller.":
        await asyncio.wait({work}, timeout=0.02)
    assert not work.done()
    await bench.clock.advance(4)
    with pytest.raises(Fault) as late:
        await work
    assert late.value.untouched
    assert late.value.transient
    assert (await bench.cell.did("k1")).state == "not_begun"
    assert bench.executed == []


async def test_the_plc_takes_a_command_once_and_not_after_its_deadline(bench: Bench) -> None:
    link = bench.cell._link
    later = bench.clock.now_ms() + 1000

    async def execute(key: str, deadline: int) -> Any:
        return await link.execute("us", command_values(CellCommand(key, "move", "Safe_Pos_1"), deadline))

    assert await execute("k1", later) == [True, "", ""]
    await bench.clock.advance(1)
    taken, code, says = await execute("k1", later)
    assert (taken, code) == (False, KNOWN_ID)
    assert "not done again" in says
    assert (await execute("k2", bench.clock.now_ms() - 1))[:2] == [False, EXPIRED]
    assert bench.executed == ["k1"]


async def test_a_controller_that_another_has_is_refused_with_a_sentence(bench: Bench) -> None:
    work = await bench.begin()
    await bench.clock.advance(10)
    await work
    async with opened(STAR, bench.plc.url, None) as open_cell:
        other = await open_cell()
        assert await other.report() == THERE, "looking is free"
        with pytest.raises(Fault, match="is controlled by Beforehand ") as refused:
            await other.do(CellCommand("k2", "move", "Home", seconds=1), lambda percent: None)
        assert refused.value.untouched
        with pytest.raises(Fault, match="is controlled by"):
            await other.place("Home", "none")
        await bench.cell.close()
        await other.place("Home", "none")
        assert await other.report() == AT_HOME


async def test_what_is_stopped_in_the_middle_is_told_as_it_is(bench: Bench) -> None:
    await bench.cell.place("Pos_1", "Welder")
    weld = CellCommand("k1", "routine", "tack_weld", position="Pos_1", stabilize=1.5, verify="ok", seconds=8)
    work = await bench.begin(weld)
    await bench.cell.stop("nothing that runs")
    assert (await bench.cell.did("k1")).state == "running"
    await bench.cell.stop("k1")
    with pytest.raises(Fault, match="stopped in the middle") as stopped:
        await work
    assert not stopped.value.untouched
    command = {name: await node.read_value() for name, node in bench.plc._nodes.items() if name.startswith("Command.")}
    assert command["Command.stabilize"] == 1.5
    assert command["Command.verify"] == "ok"
    assert command["Command.actionAfter"] == ""


async def test_a_state_that_does_not_fit_is_refused_before_anything_is_sent(bench: Bench) -> None:
    await bench.cell.place("Pos_1", "none")
    with pytest.raises(Fault, match="No move leads from Pos_1") as refused:
        await bench.cell.do(CellCommand("k1", "move", "Home", seconds=1), lambda percent: None)
    assert refused.value.untouched
    weld = CellCommand("k2", "routine", "tack_weld", position="Pos_1", seconds=1)
    with pytest.raises(Fault, match="needs Welder; the robot holds none"):
        await bench.cell.do(weld, lambda percent: None)
    await bench.plc._nodes["State.position"].write_value("Elsewhere")
    report = await bench.cell.report()
    assert report.position is None
    assert "'Elsewhere', which is not in the scene" in report.says
    assert bench.executed == []


async def test_a_controller_that_does_not_answer_is_said_to_and_asked_again() -> None:
    async with opened(STAR, NOBODY, None) as open_cell:
        cell = await open_cell()
        with pytest.raises(LinkDownError, match="does not answer") as down:
            await cell.do(MOVE, lambda percent: None)
        assert down.value.transient
        assert down.value.untouched
        assert (await cell.did("k1")).state == "running"


async def test_what_is_missing_or_of_another_type_is_named(bench: Bench) -> None:
    from asyncua import ua

    busy = bench.plc._nodes["State.busy"].nodeid
    bench.plc._server.set_attribute_value_callback(busy, lambda node, attribute: ua.DataValue(ua.Variant("no")))
    with pytest.raises(Fault, match=r"Cell\.State\.busy is not a Boolean \(str\)") as wrong:
        await bench.cell.do(MOVE, lambda percent: None)
    assert wrong.value.untouched
    await bench.plc._server.delete_nodes([bench.plc._nodes["State.tool"], bench.plc._nodes["State.memory"]])
    async with opened(STAR, bench.plc.url, None) as open_cell:
        with pytest.raises(Fault, match=r"Cell\.State\.tool, Cell\.State\.memory missing"):
            await (await open_cell()).report()
    assert bench.executed == []


async def test_a_server_that_is_no_cell_is_told_so(bench: Bench) -> None:
    await bench.plc._server.nodes.namespace_array.write_value(["http://opcfoundation.org/UA/", "urn:somebody"])
    with pytest.raises(Fault, match="it has no namespace urn:beforehand:cell:2 or urn:beforehand:cell:1"):
        await bench.cell.report()


async def test_a_password_is_given_by_reference(tmp_path: Path) -> None:
    from asyncua.crypto.permission_rules import User, UserRole

    class Users:
        def get_user(self, iserver: Any, username: Any = None, password: Any = None, certificate: Any = None) -> Any:
            return User(UserRole.User) if (username, password) == ("line1", "sesame") else None

    async with running_plc(STAR, users=Users()) as plc:
        for secret, may in (("sesame", True), ("wrong", False)):
            options = {"kind": "opcua", "url": plc.url, "user": "line1", "password": "secret:CELL"}
            scene = STAR.model_copy(update={"controller": options})

            def filled(value: Any, secret: str = secret) -> Any:
                return {**value, "password": secret}

            cell = open_opcua_cell(ControllerRequest(scene, WallClock(), with_secrets=filled))
            try:
                if may:
                    assert await cell.report() == AT_HOME
                else:
                    with pytest.raises(Fault, match="refuses") as refused:
                        await cell.report()
                    assert "wrong" not in refused.value.says
            finally:
                await cell.close()


async def certificate_in(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate as DER and its key: ours for the name `us`, else a server's."""
    from asyncua.crypto.cert_gen import setup_self_signed_certificate
    from cryptography.x509.oid import ExtendedKeyUsageOID

    made, key = folder / f"{name}.der", folder / f"{name}.pem"
    uri, use = "urn:freeopcua:python:server", ExtendedKeyUsageOID.SERVER_AUTH
    if name == "us":
        uri, use = APPLICATION, ExtendedKeyUsageOID.CLIENT_AUTH
    await setup_self_signed_certificate(key, made, uri, "localhost", [use], {"commonName": name})
    return made, key


async def test_a_line_is_signed_and_encrypted_with_certificates(tmp_path: Path) -> None:
    theirs = await certificate_in(tmp_path, "plc")
    ours, key = await certificate_in(tmp_path, "us")
    async with running_plc(STAR, secured=theirs) as plc:
        async with opened(STAR, plc.url, None, certificate=str(ours), private_key=str(key)) as open_cell:
            assert await (await open_cell()).report() == AT_HOME
        async with opened(STAR, plc.url, None) as open_cell:
            with pytest.raises(Fault):
                await (await open_cell()).report()


async def test_only_the_server_whose_certificate_was_given_is_believed(tmp_path: Path) -> None:
    theirs, others = await certificate_in(tmp_path, "plc"), await certificate_in(tmp_path, "other")
    ours, key = await certificate_in(tmp_path, "us")
    shown = fingerprint(theirs[0].read_bytes())
    both = tmp_path / "both.pem"
    both.write_text("".join(ssl.DER_cert_to_PEM_cert(one[0].read_bytes()) for one in (others, theirs)))
    nothing = tmp_path / "nothing.der"
    nothing.write_bytes(b"no certificate")
    access = {"certificate": str(ours), "private_key": str(key)}
    async with running_plc(STAR, secured=theirs) as plc:
        for believed in (str(theirs[0]), str(both), shown, shown.upper().replace("SHA256:", "sha256:")):
            async with opened(STAR, plc.url, None, **access, server_certificate=believed) as open_cell:
                assert await (await open_cell()).report() == AT_HOME
        camel = {"certificate": str(ours), "privateKey": str(key), "serverCertificate": shown}
        async with opened(STAR, plc.url, None, **camel) as open_cell:
            assert await (await open_cell()).report() == AT_HOME
        for believed, why in (
            (str(others[0]), f"its fingerprint is {shown}"),
            (fingerprint(others[0].read_bytes()), f"its fingerprint is {shown}"),
            (str(nothing), "holds no certificate"),
            (str(tmp_path / "gone.pem"), "cannot be read"),
        ):
            async with opened(STAR, plc.url, None, **access, server_certificate=believed) as open_cell:
                with pytest.raises(Fault, match=why) as refused:
                    await (await open_cell()).report()
                assert refused.value.code == "cell.certificate"
        found = await check_cell(Access(plc.url, **access), {"kind": "opcua", "url": plc.url}, WallClock().now_ms)
        assert (found.certificate, found.entry["server_certificate"], found.troubles) == (shown, shown, [])
        strange = Access(plc.url, **access, server_certificate=str(others[0]))
        found = await check_cell(strange, {"kind": "opcua", "url": plc.url}, WallClock().now_ms)
        assert [shown in trouble for trouble in found.troubles] == [True]


async def test_a_plc_that_lost_the_robot_on_the_way_leaves_the_move_to_a_person(bench: Bench) -> None:
    bench.plc.inject(CellFault(fault="power"))
    work = await bench.begin()
    await bench.clock.advance(10)
    with pytest.raises(InDoubtError, match="Power was lost"):
        await work
    assert (await bench.cell.did("k1")).state == "unknown"
    assert bench.executed == ["k1"]
