"""What every cell controller promises, whichever robot is behind it. Each controller is one more way to make a `Rig`.

The cell is a line with a stand, A - B - C and a gripper that hangs at A:  the robot begins at A with empty hands.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.contract.plcs import opened, running_plc

from beforehand.adapters.sim.cell import SimCell
from beforehand.adapters.sim.cell_faults import CellFault, FaultName
from beforehand.model.cell import CellScene
from beforehand.model.errors import Fault, InDoubtError
from beforehand.ports.cell import OTHER_STATE, CellCommand, CellController, CellReport
from beforehand.testing import VirtualClock

SCENE = CellScene.model_validate(
    {
        "name": "line",
        "positions": [{"name": name} for name in "ABC"],
        "moves": [{"from": "A", "to": "B"}, {"from": "B", "to": "C"}],
        "tools": [{"name": "Gripper", "stand": "A"}],
        "routines": [{"name": "wipe", "supported_at": [{"position": "A"}]}],
        "state": {"current_position": "A", "current_tool": "none"},
    }
)
AT_A = CellReport("A", "none")


@dataclass
class Rig:
    controller: CellController
    restarted: Callable[[], Awaitable[CellController]]
    """The controller as a new process reaches it, after the one that used it died."""
    wait: Callable[[float], Awaitable[None]]
    """Let that many seconds pass."""
    break_next: Callable[[FaultName], None]
    """Have the next command go wrong: `fail` before anything moves, `power` half-way, `verify` when it is judged."""
    reached: Callable[[str, "asyncio.Future[CellReport]"], Awaitable[None]] | None = None
    """Wait until the command with this key has come to the controller, or is over; for those that are far away."""

    async def do(self, command: CellCommand, progress: Callable[[float], None] = lambda percent: None) -> CellReport:
        """Carry a command out while time passes."""
        work = await self._sent(command, progress)
        await self.wait(command.seconds + 1)
        return await work

    async def begin(self, command: CellCommand) -> "asyncio.Future[CellReport]":
        """Have a command half done."""
        work = await self._sent(command, lambda percent: None)
        await self.wait(command.seconds / 2)
        return work

    async def _sent(self, command: CellCommand, progress: Callable[[float], None]) -> "asyncio.Future[CellReport]":
        work = asyncio.ensure_future(self.controller.do(command, progress))
        if self.reached is not None:
            await self.reached(command.key, work)
        return work

    async def die(self, work: "asyncio.Future[CellReport]") -> None:
        """The process that waits for this command is no more; another reaches the controller."""
        work.cancel()
        with suppress(asyncio.CancelledError, Fault):
            await work
        self.controller = await self.restarted()


@asynccontextmanager
async def sim_in_memory(folder: Path) -> AsyncIterator[Rig]:
    clock = VirtualClock()
    cell = SimCell(SCENE, clock)

    async def restarted() -> CellController:
        return cell

    yield Rig(cell, restarted, clock.advance, lambda fault: cell.inject(CellFault(fault=fault)))


@asynccontextmanager
async def sim_on_file(folder: Path) -> AsyncIterator[Rig]:
    clock = VirtualClock()

    def make() -> SimCell:
        return SimCell(SCENE, clock, file=folder / "cell.json")

    async def restarted() -> CellController:
        return make()

    yield Rig(make(), restarted, clock.advance, lambda fault: make().inject(CellFault(fault=fault)))


@asynccontextmanager
async def over_opcua(folder: Path) -> AsyncIterator[Rig]:
    """Over real TCP: the simulated PLC has virtual time, the line between has none."""
    clock = VirtualClock()
    async with running_plc(SCENE, clock) as plc, opened(SCENE, plc.url, folder / "sent.json") as open_cell:

        async def restarted() -> CellController:
            return await open_cell()

        async def reached(key: str, work: "asyncio.Future[CellReport]") -> None:
            while key not in plc.taken and not work.done():
                await asyncio.wait({work}, timeout=0.01)

        async def wait(seconds: float) -> None:
            await clock.advance(seconds)
            await plc.publish()

        def break_next(fault: FaultName) -> None:
            plc.inject(CellFault(fault=fault))

        yield Rig(await open_cell(), restarted, wait, break_next, reached)


RIGS: dict[str, Callable[[Path], AbstractAsyncContextManager[Rig]]] = {
    "sim in memory": sim_in_memory,
    "sim on file": sim_on_file,
    "opcua": over_opcua,
}


@pytest.fixture(params=["sim in memory", "sim on file", pytest.param("opcua", marks=pytest.mark.needs("asyncua"))])
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    async with RIGS[request.param](tmp_path) as made:
        yield made


def move(key: str, target: str, seconds: float = 4, **more: Any) -> CellCommand:
    return CellCommand(key, "move", target, seconds=seconds, **more)


def routine(key: str, target: str, **more: Any) -> CellCommand:
    return CellCommand(key, "routine", target, **{"position": "A", "seconds": 4.0, **more})


async def test_a_command_is_carried_out_and_reported(rig: Rig) -> None:
    assert await rig.controller.report() == AT_A
    assert await rig.do(move("k1", "B")) == CellReport("B", "none")
    assert await rig.controller.report() == CellReport("B", "none")


async def test_tools_are_taken_on_and_put_down(rig: Rig) -> None:
    assert await rig.do(routine("k1", "tool_attach", tool="Gripper")) == CellReport("A", "Gripper")
    assert await rig.do(routine("k2", "wipe")) == CellReport("A", "Gripper")
    assert await rig.do(routine("k3", "tool_release", tool="Gripper")) == AT_A


@pytest.mark.parametrize("command", [move("k", "B"), routine("k", "wipe"), move("k", "B", seconds=0)])
async def test_progress_never_falls_and_ends_at_100(rig: Rig, command: CellCommand) -> None:
    seen: list[float] = []
    await rig.do(command, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 100
    assert all(0 <= percent <= 100 for percent in seen)
    assert len(seen) > 1 or command.seconds == 0


async def test_a_finished_key_is_answered_again_and_not_done_again(rig: Rig) -> None:
    await rig.do(move("k1", "B"))
    await rig.do(move("k2", "A"))
    assert await rig.do(move("k1", "B")) == AT_A
    assert await rig.controller.report() == AT_A
    rig.controller = await rig.restarted()
    assert await rig.do(move("k1", "B")) == AT_A
    assert await rig.controller.report() == AT_A


async def test_what_became_of_a_command(rig: Rig) -> None:
    assert (await rig.controller.did("k1")).state == "not_begun"
    work = await rig.begin(move("k1", "B"))
    assert (await rig.controller.did("k1")).state == "running"
    assert (await rig.controller.did("k2")).state == "not_begun"
    await rig.wait(4)
    await work
    assert (await rig.controller.did("k1")).state == "happened"


async def test_what_happened_is_told_as_it_was_right_after(rig: Rig) -> None:
    await rig.do(move("k1", "B"))
    await rig.do(move("k2", "C"))
    value = {"current_position": "B", "current_tool": "none"}
    assert (await rig.controller.did("k1")).value == value
    rig.controller = await rig.restarted()
    assert (await rig.controller.did("k1")).value == value


async def test_no_position_is_reported_while_the_robot_moves(rig: Rig) -> None:
    work = await rig.begin(move("k1", "B"))
    moving = await rig.controller.report()
    assert moving.position is None
    assert moving.says
    await rig.wait(4)
    assert await rig.controller.report() == await work == CellReport("B", "none")


async def test_the_position_is_reported_while_a_routine_runs(rig: Rig) -> None:
    work = await rig.begin(routine("k1", "wipe"))
    assert (await rig.controller.report()).position == "A"
    await rig.wait(4)
    assert await work == AT_A


@pytest.mark.parametrize(
    "command",
    [
        move("k", "C"),
        move("k", "A"),
        move("k", "Nowhere"),
        routine("k", "wipe", position="B"),
        routine("k", "tool_release", tool="Gripper"),
    ],
    ids=["no edge", "to itself", "unknown", "elsewhere", "not held"],
)
async def test_what_the_cell_does_not_allow_is_refused_and_changes_nothing(rig: Rig, command: CellCommand) -> None:
    with pytest.raises(Fault) as refused:
        await rig.do(command)
    assert refused.value.untouched
    assert refused.value.code
    assert refused.value.says.endswith(".")
    assert await rig.controller.report() == AT_A
    assert (await rig.controller.did("k")).state == "not_begun"
    assert await rig.do(move("k2", "B")) == CellReport("B", "none")


@pytest.mark.parametrize(
    "command",
    [
        move("k", "B", needs_position="C"),
        move("k", "B", needs_position="A", needs_tool="Gripper"),
        routine("k", "wipe", needs_position="B", needs_tool="none"),
        routine("k", "tool_attach", tool="Gripper", needs_position="A", needs_tool="Gripper"),
    ],
    ids=["elsewhere", "no tool", "routine elsewhere", "another tool"],
)
async def test_a_command_that_was_checked_for_another_state_is_refused_and_changes_nothing(
    rig: Rig, command: CellCommand
) -> None:
    with pytest.raises(Fault) as refused:
        await rig.do(command)
    assert (refused.value.code, refused.value.untouched) == (OTHER_STATE, True)
    assert await rig.controller.report() == AT_A
    assert (await rig.controller.did("k")).state == "not_begun"
    fits = routine("k2", "wipe", needs_position="A", needs_tool="none")
    assert await rig.do(fits) == AT_A


async def test_a_hand_in_the_middle_of_a_command_leaves_it_unknown(rig: Rig) -> None:
    work = await rig.begin(routine("k1", "wipe"))
    await rig.controller.place("C", "Gripper")
    await rig.wait(5)
    with pytest.raises(InDoubtError):
        await work
    assert (await rig.controller.did("k1")).state == "unknown"
    assert await rig.controller.report() == CellReport("C", "Gripper")


async def test_a_second_tool_is_refused(rig: Rig) -> None:
    await rig.do(routine("k1", "tool_attach", tool="Gripper"))
    with pytest.raises(Fault) as refused:
        await rig.do(routine("k2", "tool_attach", tool="Gripper"))
    assert refused.value.untouched
    assert await rig.controller.report() == CellReport("A", "Gripper")


@pytest.mark.parametrize("key", ["k1", "k2"])
async def test_whatever_comes_while_a_command_is_under_way_is_refused_and_disturbs_nothing(rig: Rig, key: str) -> None:
    work = await rig.begin(move("k1", "B"))
    with pytest.raises(Fault) as refused:
        await rig.controller.do(move(key, "B"), lambda percent: None)
    assert refused.value.untouched
    assert (await rig.controller.did("k1")).state == "running"
    await rig.wait(4)
    assert await work == CellReport("B", "none")


@pytest.mark.parametrize(
    ("command", "then"),
    [
        (move("k1", "B"), CellReport("B", "none")),
        (routine("k1", "tool_attach", tool="Gripper"), CellReport("A", "Gripper")),
    ],
    ids=["move", "routine"],
)
async def test_what_is_under_way_goes_on_when_the_process_dies(
    rig: Rig, command: CellCommand, then: CellReport
) -> None:
    await rig.die(await rig.begin(command))
    assert (await rig.controller.did("k1")).state == "running"
    assert await rig.controller.report() != then
    await rig.wait(4)
    assert await rig.controller.report() == then
    answer = await rig.controller.did("k1")
    assert (answer.state, answer.value) == (
        "happened",
        {"current_position": then.position, "current_tool": then.tool},
    )


async def test_closing_lets_go_and_stops_nothing(rig: Rig) -> None:
    work = await rig.begin(move("k1", "B"))
    await rig.controller.close()
    await rig.die(work)
    await rig.wait(4)
    assert await rig.controller.report() == CellReport("B", "none")


async def test_what_a_person_says_is_true_from_then_on(rig: Rig) -> None:
    await rig.controller.place("C", "Gripper")
    assert await rig.controller.report() == CellReport("C", "Gripper")
    rig.controller = await rig.restarted()
    assert await rig.do(move("k1", "B")) == CellReport("B", "Gripper")


async def test_a_fault_before_anything_moved_is_reported_and_changes_nothing(rig: Rig) -> None:
    rig.break_next("fail")
    with pytest.raises(Fault) as failed:
        await rig.do(move("k1", "B"))
    assert failed.value.untouched
    assert failed.value.says.endswith(".")
    assert await rig.controller.report() == AT_A
    assert (await rig.controller.did("k1")).state == "not_begun"
    assert await rig.do(move("k2", "B")) == CellReport("B", "none")


async def test_a_robot_lost_on_the_way_is_nowhere_until_a_person_says_where_it_stands(rig: Rig) -> None:
    rig.break_next("power")
    with pytest.raises(Fault) as lost:
        await rig.do(move("k1", "B"))
    assert not lost.value.untouched
    await rig.wait(60)
    rig.controller = await rig.restarted()
    answer = await rig.controller.did("k1")
    assert answer.state == "unknown"
    assert answer.says
    assert (await rig.controller.report()).position is None
    with pytest.raises(Fault) as refused:
        await rig.do(move("k2", "B"))
    assert refused.value.untouched
    await rig.controller.place("A", "none")
    assert await rig.do(move("k3", "B")) == CellReport("B", "none")


async def test_a_check_that_is_not_passed_is_a_fault_of_a_command_that_was_carried_out(rig: Rig) -> None:
    rig.break_next("verify")
    with pytest.raises(Fault) as failed:
        await rig.do(routine("k1", "wipe", verify="clean"))
    assert not failed.value.untouched
    assert await rig.controller.report() == AT_A
    assert (await rig.controller.did("k1")).state != "happened"
