"""Robot cells: an intent becomes moves and routines over a graph of allowed moves. Everything the craft brings."""

from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.app.craft import Craft, Holds, Parts, Planner, PlanRequest, Scenes, Wanted
from beforehand.app.runtime import Runtime
from beforehand.app.settings import Settings
from beforehand.crafts.cell.cells import KIND, STATE_CHANGED, STATE_ROW, Cells, machines_of
from beforehand.crafts.cell.core.ascii_map import draw_preview
from beforehand.crafts.cell.core.scene import read_cell, warnings
from beforehand.crafts.cell.graphs import GraphScenes, open_graph
from beforehand.crafts.cell.judging import judge_of
from beforehand.crafts.cell.plans import PLANNER
from beforehand.crafts.cell.sentences import SENTENCES
from beforehand.crafts.cell.step_lists import documents_of, step_list
from beforehand.crafts.cell.tools import cell_tools
from beforehand.model.event import Event
from beforehand.model.finding import Finding
from beforehand.model.plan import Plan
from beforehand.ports.store import Row, Store


def open_cells(runtime: Runtime) -> Parts:
    cells = Cells(runtime, GraphScenes(open_graph(runtime.settings)))
    return Parts(
        service=cells,
        scenes=_scenes(cells),
        planner=_planner(cells),
        documents=documents_of(cells),
        judge=judge_of(cells),
        holds=Holds(KIND, cells.moving, cells.hold, cells.let_go),
        tools=cell_tools(cells),
        close=cells.close,
    )


def _scenes(cells: Cells) -> Scenes:
    async def find(name: str) -> Any:
        scene = await cells.graph.scene(name)
        return None if scene is None else scene.wire()

    return Scenes(
        KIND,
        check=lambda document: read_cell(document).wire(),
        warnings=lambda document: warnings(read_cell(document)),
        activate=cells.activate,
        deactivate=cells.deactivate,
        machines=lambda document: machines_of(read_cell(document)),
        live_machines=cells.live_machines,
        state=cells.state,
        state_at=cells.state_at,
        held_state=cells.held_state,
        replays=(STATE_CHANGED,),
        lists=("cells",),
        find=find,
        kept_elsewhere=cells.graph.names,
        draw=lambda document, preview: draw_preview(read_cell(document), preview),
    )


def _planner(cells: Cells) -> Planner:
    async def plan(request: PlanRequest, correlation_id: str) -> Plan:
        from beforehand.crafts.cell.model_reader import plan_from_words

        scene = await cells.scene(request.scene)
        options: Mapping[str, Any] = request.options
        state = await cells.state_from(request.scene, options.get("position"), options.get("tool"))
        made = await plan_from_words(cells.runtime, scene, state, request, correlation_id)
        note = cells.graph.note(request.scene)
        return made if note is None else made.model_copy(update={"notes": (*made.notes, note)})

    async def read(request: PlanRequest) -> Wanted:
        from beforehand.crafts.cell.model_reader import wanted_from_words

        scene = await cells.scene(request.scene)
        state = await cells.state_from(request.scene, request.options.get("position"), request.options.get("tool"))
        return await wanted_from_words(cells.runtime, scene, state, request)

    return Planner(PLANNER, plan, read, asks_model=True, step_list=step_list)


def _state_row(event: Event) -> list[Row]:
    return [Row(STATE_ROW, str(event.scene), event.data)]


def _http() -> Any:
    from beforehand.crafts.cell.http import HTTP

    return HTTP


async def _findings(settings: Settings, store: Store) -> Sequence[Finding]:
    from beforehand.crafts.cell.controller_findings import controller_findings

    return await controller_findings(settings, store)


CRAFT = Craft(
    "cell",
    open=open_cells,
    rows={STATE_CHANGED: _state_row},
    remembers=(STATE_ROW,),
    sentences=SENTENCES,
    http=_http,
    findings=_findings,
)
