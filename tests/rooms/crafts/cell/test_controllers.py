"""Controllers by the kind a scene names: the simulator, and a kind that a plug-in brings, live in a runtime."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.graph.memory import MemoryGraph
from beforehand.adapters.sim.cell import SimCell
from beforehand.adapters.sim.cell_faults import CellFault
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.runs import run_document, start_run
from beforehand.app.scenes import save_scene
from beforehand.crafts.cell import controllers
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.cell.controllers import open_controller, register_controller
from beforehand.crafts.cell.core.scene import CONTROLLER_KINDS, read_cell
from beforehand.crafts.cell.graphs import GraphScenes
from beforehand.model.errors import BadInputError, ConflictError, Fault, InDoubtError, RefusedError
from beforehand.model.machine import options_of
from beforehand.model.reason import Problem
from beforehand.ports.cell import CellReport, ControllerRequest
from beforehand.ports.plugin import PluginRegistry
from beforehand.testing import VirtualClock

WIRE = {"kind": "wire", "url": "wire://cell-1"}


def line(**changes: Any) -> dict[str, Any]:
    return {"kind": "cell", "name": "line", "positions": ["Home", "A"], "moves": [["Home", "A"]], **changes}


class WiredCell:
    """A controller that is not simulated, as far as anybody can tell."""

    def __init__(self, request: ControllerRequest) -> None:
        self.request = request
        self.closed = 0
        self._inner = SimCell(request.scene, request.clock)
        self.do, self.report, self.did, self.place = (
            self._inner.do,
            self._inner.report,
            self._inner.did,
            self._inner.place,
        )

    async def close(self) -> None:
        self.closed += 1


class Plugin:
    """A plug-in that brings one kind of controller, `wire`, and remembers those it made."""

    def __init__(self) -> None:
        self.made: list[WiredCell] = []

    def register(self, plugins: PluginRegistry) -> None:
        register_controller("wire", self.open, check=self.check)

    def open(self, request: ControllerRequest) -> WiredCell:
        self.made.append(WiredCell(request))
        return self.made[-1]

    def check(self, options: Mapping[str, Any]) -> Iterator[Problem]:
        if not isinstance(options.get("url"), str):
            yield Problem(code="wire.url", about="", says="url is missing.", path="url")


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Plugin:
    monkeypatch.setattr(CONTROLLER_KINDS, "_checks", dict(CONTROLLER_KINDS._checks))
    monkeypatch.setattr(controllers, "_FACTORIES", dict(controllers._FACTORIES))
    plugin = Plugin()
    plugin.register(PluginRegistry("wire"))
    return plugin


@pytest.mark.parametrize("said", [{}, {"controller": "sim"}, {"controller": {"kind": "sim"}}])
async def test_a_cell_is_simulated_unless_it_says_otherwise(tmp_path: Path, said: dict[str, Any]) -> None:
    scene = read_cell(line(**said))
    controller = open_controller(scene, clock=VirtualClock(), speed=1, keep_in=tmp_path)
    await controller.place("A", "none")
    assert (tmp_path / "cells" / "line.json").exists()
    again = open_controller(scene, clock=VirtualClock(), speed=1, keep_in=tmp_path)
    assert await again.report() == CellReport("A", "none")


def test_a_plug_ins_kind_is_known_and_its_check_judges_the_scene(plugin: Plugin, tmp_path: Path) -> None:
    assert CONTROLLER_KINDS.known() == ("opcua", "sim", "wire")
    scene = read_cell(line(controller=WIRE))
    assert read_cell(scene.wire()) == scene
    open_controller(scene, clock=VirtualClock(), speed=3, keep_in=tmp_path)
    request = plugin.made[0].request
    assert (options_of(request.scene.controller), request.speed) == ({"url": "wire://cell-1"}, 3)
    assert request.file == tmp_path / "cells" / "wire" / "line.json"
    with pytest.raises(BadInputError) as refused:
        read_cell(line(controller="wire"))
    assert [(problem.code, problem.path) for problem in refused.value.problems] == [("wire.url", "controller.url")]


def test_without_the_plug_in_its_kind_is_unknown() -> None:
    assert CONTROLLER_KINDS.known() == ("opcua", "sim")
    with pytest.raises(BadInputError, match=r"Unknown controller kind 'wire'\. Known controller kinds: opcua, sim\."):
        read_cell(line(controller=WIRE))


async def test_a_cell_on_a_plug_ins_controller_runs_and_cannot_be_told_to_fail(homestead: Any, plugin: Plugin) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        plan, _ = await create_plan(runtime, PlanInput(scene="line", text="go to A"))
        assert (await homestead.carried_out(runtime, plan))["status"] == "completed"
        [cell] = plugin.made
        assert (await cell.report()).position == "A"
        with pytest.raises(RefusedError, match="not simulated"):
            await runtime.service(Cells).inject("line", CellFault(fault="fail"))
        assert cell.closed == 0
    assert cell.closed == 1


async def test_a_cell_whose_controller_does_not_answer_is_live_and_asked_again(
    homestead: Any, plugin: Plugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its position is not known, nothing is sent, and what is asked of it is told why; then it answers."""

    async def silent(cell: WiredCell) -> CellReport:
        raise Fault("The controller does not answer.", transient=True, untouched=True)

    answering = WiredCell.__init__

    def dumb(cell: WiredCell, request: ControllerRequest) -> None:
        answering(cell, request)
        cell.report = lambda: silent(cell)

    monkeypatch.setattr(WiredCell, "__init__", dumb)
    async with homestead.open(line(controller=WIRE)) as runtime:
        cells = runtime.service(Cells)
        assert (await cells.document("line"))["current_position"] is None
        with pytest.raises(BadInputError, match="The controller does not answer"):
            await create_plan(runtime, PlanInput(scene="line", text="go to A"))
        [cell] = plugin.made
        cell.report = cell._inner.report
        plan, _ = await create_plan(runtime, PlanInput(scene="line", text="go to A"))
        assert (await homestead.carried_out(runtime, plan))["status"] == "completed"


async def test_what_became_of_a_step_stands_though_the_controller_is_gone_right_after(
    homestead: Any, plugin: Plugin
) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        plan, _ = await create_plan(runtime, PlanInput(scene="line", text="go to A"))
        [cell] = plugin.made

        async def lose(command: Any, progress: Any) -> CellReport:
            cell.report = gone
            raise InDoubtError("It was cut off.")

        async def gone() -> CellReport:
            raise Fault("The controller does not answer.", transient=True, untouched=True)

        cell.do = lose
        run = await start_run(runtime, plan.id, plan.version)
        await homestead.until(runtime, "stepUpdated", stepId="step_1", status="inDoubt")
        assert (await run_document(runtime, run["runId"]))["status"] == "waiting"


async def test_a_controller_is_let_go_when_another_takes_its_place(homestead: Any, plugin: Plugin) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        await save_scene(runtime, None, line(controller={**WIRE, "url": "wire://cell-2"}), activate=True)
        await save_scene(runtime, None, line(), activate=True)
        assert [cell.closed for cell in plugin.made] == [1, 1]
        assert isinstance(runtime.service(Cells).live["line"].controller, SimCell)


async def test_a_map_in_a_graph_that_names_no_controller_leaves_the_cell_its_own(
    homestead: Any, plugin: Plugin
) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        cells = runtime.service(Cells)
        cells.graph = GraphScenes(MemoryGraph([read_cell(line(positions=["Home", "A", "B"]))]))
        scene = await cells.scene("line")
        assert (len(scene.positions), scene.controller) == (3, WIRE)
        assert runtime.service(Cells).live["line"].controller is plugin.made[-1]


async def test_a_controller_that_is_gone_right_after_its_answer_is_believed_by_that_answer(
    homestead: Any, plugin: Plugin
) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        plan, _ = await create_plan(runtime, PlanInput(scene="line", text="go to A"))
        [cell] = plugin.made

        async def gone() -> CellReport:
            raise Fault("The controller does not answer.", transient=True, untouched=True)

        async def last(command: Any, progress: Any) -> CellReport:
            cell.report = gone
            return CellReport(command.target, "none")

        cell.do = last
        assert (await homestead.carried_out(runtime, plan))["status"] == "completed"
        assert (await runtime.service(Cells).state_of("line")).current_position == "A"


class WatchedCell(WiredCell):
    """A controller that says when it changes; a person's hand moves its robot."""

    def __init__(self, request: ControllerRequest) -> None:
        super().__init__(request)
        self.changed = asyncio.Event()
        self.breaks: Exception | None = None
        self.report = self._report

    async def _report(self) -> CellReport:
        if self.breaks is not None:
            raise self.breaks
        return await self._inner.report()

    async def change(self, seconds: float) -> None:
        await self.changed.wait()
        self.changed.clear()

    async def hand(self, position: str, tool: str = "none") -> None:
        await self._inner.place(position, tool)
        self.changed.set()


@pytest.fixture
def watched(plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> Plugin:
    def opened(request: ControllerRequest) -> WatchedCell:
        plugin.made.append(WatchedCell(request))
        return plugin.made[-1]  # type: ignore[return-value]

    register_controller("wire", opened, check=plugin.check)
    return plugin


async def shown(cells: Cells, **wanted: Any) -> dict[str, Any]:
    """The cell's document once it shows this."""
    async with asyncio.timeout(20):
        while True:
            document = await cells.document("line")
            if wanted.items() <= document.items():
                return document
            await asyncio.sleep(0)


async def test_a_hand_shows_as_soon_as_the_controller_notices_and_a_start_that_no_longer_fits_is_refused(
    homestead: Any, watched: Plugin
) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        cells = runtime.service(Cells)
        [cell] = watched.made
        plan, _ = await create_plan(runtime, PlanInput(scene="line", text="go to A"))
        await cell.hand("A")  # type: ignore[attr-defined]
        await shown(cells, current_position="A")
        with pytest.raises(ConflictError) as refused:
            await start_run(runtime, plan.id, plan.version)
        assert refused.value.code == "plan.drift"
        assert refused.value.extra["difference"]["now"]["current_position"] == "A"


async def test_a_start_looks_itself_where_nobody_has_noticed_yet(homestead: Any, watched: Plugin) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        plan, _ = await create_plan(runtime, PlanInput(scene="line", text="go to A"))
        await watched.made[0].place("A", "none")
        with pytest.raises(ConflictError) as refused:
            await start_run(runtime, plan.id, plan.version)
        assert refused.value.code == "plan.drift"
        assert homestead.events("runStarted") == []


@pytest.mark.parametrize("trouble", [Fault("The controller does not answer.", untouched=True), ValueError("A bug.")])
async def test_a_controller_that_goes_wrong_is_said_to_and_followed_on(
    homestead: Any, watched: Plugin, trouble: Exception
) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        cells = runtime.service(Cells)
        cell: Any = watched.made[0]
        await shown(cells, current_position="Home")
        cell.breaks = trouble
        cell.changed.set()
        if isinstance(trouble, Fault):
            document = await shown(cells, says=trouble.says)
            assert document["current_position"] == "Home", "what it last said"
        await homestead.clock.settle()
        cell.breaks = None
        await cell.hand("A")
        assert "says" not in await shown(cells, current_position="A")


async def test_where_a_robot_of_ours_is_between_is_not_written_down_and_its_end_belongs_to_its_run(
    homestead: Any, watched: Plugin
) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        cell: Any = watched.made[0]
        plan, _ = await create_plan(runtime, PlanInput(scene="line", text="go to A"))
        run = await start_run(runtime, plan.id, plan.version)
        await homestead.until(runtime, "stepUpdated", stepId="step_1", status="running")
        assert (await cell.report()).position is None
        cell.changed.set()
        await homestead.until(runtime, "runFinished", runId=run["runId"])
        cell.changed.set()
        await homestead.clock.settle()
        written = [(e.data["current_position"], e.correlation_id) for e in homestead.events("cellStateChanged")]
        assert [place for place, _ in written] == ["Home", "A"]
        assert written[1][1] == homestead.events("runStarted")[0].correlation_id


async def test_a_look_that_was_overtaken_by_a_step_s_own_writes_nothing(homestead: Any, watched: Plugin) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        cells = runtime.service(Cells)
        cell: Any = watched.made[0]
        let = asyncio.Event()

        async def slow() -> CellReport:
            await let.wait()
            return CellReport("Home", "none")

        await homestead.clock.settle()
        cell.report = slow
        cell.changed.set()
        await homestead.clock.settle()
        await cells.record("line", CellReport("A", "none"), "of a run")
        cell.report = cell._report
        await cell._inner.place("A", "none")
        let.set()
        await homestead.clock.settle()
        assert [e.data["current_position"] for e in homestead.events("cellStateChanged")] == ["Home", "A"]


async def test_a_look_that_loses_its_cancellation_is_the_last(homestead: Any, watched: Plugin) -> None:
    """As some libraries do; nobody waits until it is told again."""
    async with homestead.open(line(controller=WIRE)) as runtime:
        cells = runtime.service(Cells)
        cell: Any = watched.made[0]
        await shown(cells, current_position="Home")
        looks = []

        async def deaf() -> CellReport:
            looks.append("look")
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            raise Fault("The connection was cut.", untouched=True)

        cell.report = deaf
        cell.changed.set()
        await homestead.clock.settle()

        async def at_once(seconds: float) -> None: ...

        cell.change = at_once
        async with asyncio.timeout(5):
            await cells.deactivate("line")
        assert looks == ["look"]


async def test_a_cell_that_is_let_go_is_not_followed_any_more(homestead: Any, watched: Plugin) -> None:
    async with homestead.open(line(controller=WIRE)) as runtime:
        cells = runtime.service(Cells)
        [cell] = watched.made
        await shown(cells, current_position="Home")
        await cells.deactivate("line")
        await cell.hand("A")  # type: ignore[attr-defined]
        await homestead.clock.settle()
        assert (await cells.document("line"))["current_position"] == "Home"
