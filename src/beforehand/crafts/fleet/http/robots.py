"""Robots of the active fleets: where they are, why they stand still, and what a person asks of them."""

from typing import Annotated, Any

from beforehand.crafts.fleet.fleets import Fleets
from beforehand.crafts.fleet.http.shapes import Load, RobotFault, RobotFaultShape, RobotLinkShape, RobotShape, scene_of
from beforehand.crafts.fleet.verbs import ROBOT_VERBS
from beforehand.server.kit import (
    APIRouter,
    DoneWrite,
    Json,
    NoBody,
    ReasonShape,
    RuntimeDep,
    SceneQuery,
    answered_from,
    body,
    gives,
    takes,
)

router = APIRouter(prefix="/robots", tags=["fleet"])


async def as_it_is(done: DoneWrite) -> Any:
    return await done.runtime.service(Fleets).last_one("robots", done.path["robot_id"], scene_of(done))


async def as_injected(done: DoneWrite) -> Any:
    given = RobotFault.model_validate(await done.request.json())
    return done.runtime.service(Fleets).fault(done.path["robot_id"], given.wire(), scene_of(done))[1]


@router.get("", operation_id="listRobots", responses=gives(list[RobotShape]))
async def list_robots(runtime: RuntimeDep, scene: SceneQuery = None) -> Json:
    """The robots of all active fleets, or of one."""
    return Json(await runtime.service(Fleets).listed("robots", scene))


@router.get("/{robot_id}", operation_id="getRobot", responses=gives(RobotShape))
async def get_robot(runtime: RuntimeDep, robot_id: str, scene: SceneQuery = None) -> Json:
    return Json(await runtime.service(Fleets).one("robots", robot_id, scene))


@router.get("/{robot_id}/why", operation_id="whyRobot", responses=gives(list[ReasonShape]))
async def why_robot(runtime: RuntimeDep, robot_id: str, scene: SceneQuery = None) -> Json:
    """Why it does what it does, or nothing."""
    return Json([reason.wire() for reason in await runtime.service(Fleets).why(robot_id, scene, ("robots",))])


@router.get("/{robot_id}/link", operation_id="robotLink", responses=gives(RobotLinkShape))
async def robot_link(runtime: RuntimeDep, robot_id: str, scene: SceneQuery = None) -> Json:
    """What leads to it, whether it answers and since when, who has control of it, and what went wrong last."""
    return Json(await runtime.service(Fleets).link(robot_id, scene))


@router.post("/{robot_id}/set-load", operation_id="setLoad", openapi_extra=takes(Load), responses=gives(RobotShape))
@answered_from(as_it_is)
async def set_load(
    runtime: RuntimeDep, robot_id: str, asked: Annotated[Load, body(Load)], scene: SceneQuery = None
) -> Json:
    """Say what is on the fork, where no sensor does."""
    return Json(await runtime.service(Fleets).robot_verb(robot_id, "set-load", asked.load_state, scene))


@router.post(
    "/{robot_id}/faults",
    operation_id="injectRobotFault",
    openapi_extra=takes(RobotFault),
    responses=gives(RobotFaultShape),
)
@answered_from(as_injected)
async def inject(
    runtime: RuntimeDep, robot_id: str, asked: Annotated[RobotFault, body(RobotFault)], scene: SceneQuery = None
) -> Json:
    """Let something go wrong with a simulated robot."""
    return Json(runtime.service(Fleets).inject(robot_id, asked.wire(), scene))


def _add(verb: str, says: str) -> None:
    async def call(runtime: RuntimeDep, robot_id: str, _: NoBody, scene: SceneQuery = None) -> Any:
        return Json(await runtime.service(Fleets).robot_verb(robot_id, verb, None, scene))

    name = "robot" + "".join(part.capitalize() for part in verb.split("-"))
    router.add_api_route(
        f"/{{robot_id}}/{verb}",
        answered_from(as_it_is)(call),
        methods=["POST"],
        name=name,
        operation_id=name,
        description=says,
        responses=gives(RobotShape),
    )


for _verb, _says in ROBOT_VERBS.items():
    _add(_verb, _says)
