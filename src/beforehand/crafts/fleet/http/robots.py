"""Robots of the active fleets: where they are, why they stand still, and what a person asks of them."""

from typing import Annotated, Any

from fastapi import APIRouter

from beforehand.crafts.fleet.fleets import fleets_of
from beforehand.crafts.fleet.http.shapes import Load, RobotFault, RobotShape, SceneQuery
from beforehand.server.callers import RuntimeDep
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import Nothing, ReasonShape, gives, takes

router = APIRouter(prefix="/robots", tags=["fleet"])
VERBS = {
    "hold": "Stop the robot where it is; it does nothing until it is released.",
    "release": "Let a held robot go on.",
    "park": "Send the robot to its park place.",
    "charge": "Send the robot to a charger.",
    "out-of-service": "Give the robot no more work.",
    "in-service": "Give the robot work again.",
}


@router.get("", operation_id="listRobots", responses=gives(list[RobotShape]))
async def list_robots(runtime: RuntimeDep, scene: SceneQuery = None) -> Json:
    """The robots of all active fleets, or of one."""
    return Json(fleets_of(runtime).listed("robots", scene))


@router.get("/{robot_id}", operation_id="getRobot", responses=gives(RobotShape))
async def get_robot(runtime: RuntimeDep, robot_id: str, scene: SceneQuery = None) -> Json:
    return Json(fleets_of(runtime).one("robots", robot_id, scene))


@router.get("/{robot_id}/why", operation_id="whyRobot", responses=gives(list[ReasonShape]))
async def why_robot(runtime: RuntimeDep, robot_id: str, scene: SceneQuery = None) -> Json:
    """Why it does what it does, or nothing."""
    return Json([reason.wire() for reason in fleets_of(runtime).why(robot_id, scene, ("robots",))])


@router.post("/{robot_id}/set-load", operation_id="setLoad", openapi_extra=takes(Load), responses=gives(RobotShape))
async def set_load(
    runtime: RuntimeDep, robot_id: str, asked: Annotated[Load, body(Load)], scene: SceneQuery = None
) -> Json:
    """Say what is on the fork, where no sensor does."""
    return Json(await fleets_of(runtime).robot_verb(robot_id, "set-load", asked.load_state, scene))


@router.post(
    "/{robot_id}/faults", operation_id="injectRobotFault", openapi_extra=takes(RobotFault), responses=gives(RobotFault)
)
async def inject(
    runtime: RuntimeDep, robot_id: str, asked: Annotated[RobotFault, body(RobotFault)], scene: SceneQuery = None
) -> Json:
    """Let something go wrong with a simulated robot."""
    return Json(fleets_of(runtime).inject(robot_id, asked.wire(), scene))


def _verb(verb: str, says: str) -> None:
    async def call(
        runtime: RuntimeDep,
        robot_id: str,
        _: Annotated[Nothing, body(Nothing, optional=True)],
        scene: SceneQuery = None,
    ) -> Any:
        return Json(await fleets_of(runtime).robot_verb(robot_id, verb, None, scene))

    name = "".join(part.capitalize() for part in verb.split("-"))
    router.add_api_route(
        f"/{{robot_id}}/{verb}",
        call,
        methods=["POST"],
        name=f"robot{name}",
        operation_id=f"robot{name}",
        description=says,
        responses=gives(RobotShape),
    )


for _name, _says in VERBS.items():
    _verb(_name, _says)
