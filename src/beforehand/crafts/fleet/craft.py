"""Fleets: streams of pallets become tasks for forklifts. Everything the craft brings, in one place."""

from typing import Any

from beforehand.app.craft import Craft, FileForm, Holds, Owner, Parts, Planner, PlanRequest, Scenes, Wanted
from beforehand.app.runtime import Runtime
from beforehand.app.scene_files import documents
from beforehand.crafts.fleet.core.files import FORKS, RECOGNITION, check_fork_profile, check_recognition_file
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import ENDED
from beforehand.crafts.fleet.core.warnings import warnings
from beforehand.crafts.fleet.fleets import KIND, Fleets, machines_of
from beforehand.crafts.fleet.judging import judge_of
from beforehand.crafts.fleet.plans import PLANNER, make_transport_plan
from beforehand.crafts.fleet.searchable import SEARCHABLE
from beforehand.crafts.fleet.sentences import SENTENCES
from beforehand.crafts.fleet.tools import fleet_tools
from beforehand.crafts.fleet.wanted import read_wanted
from beforehand.loop.rows import row_in_scene
from beforehand.model.plan import Plan
from beforehand.ports.private_files import PrivateFiles

_task = row_in_scene("task", "taskId", lambda data: data["status"] not in ENDED)


def open_fleets(runtime: Runtime) -> Parts:
    fleets = Fleets(runtime)

    async def plan(request: PlanRequest, correlation_id: str) -> Plan:
        """Transport on request: words or an intent become steps of an ordinary plan."""
        return make_transport_plan(await fleets.scene(request.scene), request)

    async def read(request: PlanRequest) -> Wanted:
        return read_wanted(await fleets.scene(request.scene), request)

    return Parts(
        service=fleets,
        scenes=_scenes(fleets, runtime.files),
        planner=Planner(PLANNER, plan, read),
        judge=judge_of(fleets),
        holds=Holds(KIND, fleets.moving, fleets.hold, fleets.let_go),
        tools=fleet_tools(fleets),
        owners={KIND: Owner(fleets.answer, fleets.host.take_up)},
        close=fleets.host.close,
    )


def _scenes(fleets: Fleets, files: PrivateFiles) -> Scenes:
    return Scenes(
        KIND,
        check=lambda document: read_fleet(document, documents(files)).wire(),
        warnings=lambda document: warnings(read_fleet(document)),
        activate=fleets.activate,
        deactivate=fleets.deactivate,
        machines=lambda document: machines_of(read_fleet(document)),
        live_machines=fleets.live_machines,
        state=fleets.state,
        state_at=fleets.state_at,
        held_state=fleets.held_state,
        lists=("robots", "worksites", "streams", "tasks", "fleets"),
    )


def _http() -> Any:
    from beforehand.crafts.fleet.http import HTTP

    return HTTP


def _importers() -> Any:
    from beforehand.crafts.fleet.importing import IMPORTERS

    return IMPORTERS


CRAFT = Craft(
    "fleet",
    open=open_fleets,
    rows={
        "taskCreated": _task,
        "taskUpdated": _task,
        "worksiteUpdated": row_in_scene("worksite", "worksiteId"),
        "robotUpdated": row_in_scene("robot", "robotId"),
        "streamUpdated": row_in_scene("stream", "streamId"),
    },
    ends=("task",),
    sentences=SENTENCES,
    searchable=SEARCHABLE,
    http=_http,
    importers=_importers,
    file_forms=(
        FileForm(RECOGNITION, ".plt", "recognition file", lambda given: check_recognition_file(given).found),
        FileForm(FORKS, ".json", "fork profile", lambda given: check_fork_profile(given).found),
    ),
)
