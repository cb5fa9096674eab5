"""Whole fleets: held and let go, and why things in them stand still."""

from typing import Any

from beforehand.crafts.fleet.fleets import Fleets
from beforehand.crafts.fleet.http.shapes import HeldShape
from beforehand.crafts.fleet.verbs import FLEET_VERBS
from beforehand.server.kit import (
    APIRouter,
    DoneWrite,
    Json,
    NoBody,
    ReasonShape,
    RuntimeDep,
    SceneQuery,
    answered_from,
    gives,
)

router = APIRouter(prefix="/fleet", tags=["fleet"])


async def as_it_is(done: DoneWrite) -> Any:
    return await done.runtime.service(Fleets).last_hold(done.path["scene"])


@router.get("/why", operation_id="whyFleet", responses=gives(list[ReasonShape]))
async def why(runtime: RuntimeDep, name: str | None = None, scene: SceneQuery = None) -> Json:
    """Why a robot, task or stream does what it does; without a name, everything that stands still and why."""
    return Json([reason.wire() for reason in await runtime.service(Fleets).why(name or None, scene)])


def _add(verb: str, says: str) -> None:
    async def call(runtime: RuntimeDep, scene: str, _: NoBody) -> Any:
        return Json(await runtime.service(Fleets).fleet_verb(scene, verb))

    router.add_api_route(
        f"/{{scene}}/{verb}",
        answered_from(as_it_is)(call),
        methods=["POST"],
        name=f"{verb}Fleet",
        operation_id=f"{verb}Fleet",
        description=says,
        responses=gives(HeldShape),
    )


for _verb, _says in FLEET_VERBS.items():
    _add(_verb, _says)
