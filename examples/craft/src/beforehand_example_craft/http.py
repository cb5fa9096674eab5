"""The call `GET /greenhouses/{scene}`, and the shape of the list that greenhouses add to `GET /state`."""

from beforehand.server.kit import APIRouter, HttpPart, Json, RuntimeDep, Shape, gives
from beforehand_example_craft.greenhouses import Greenhouses


class BedShape(Shape):
    number: int
    plants: str
    watered_l: float


class GreenhouseShape(Shape):
    scene: str
    tank_l: float
    low_l: float
    beds: list[BedShape]


router = APIRouter(prefix="/greenhouses", tags=["greenhouse"])


@router.get("/{scene}", operation_id="getGreenhouse", responses=gives(GreenhouseShape))
async def get_greenhouse(runtime: RuntimeDep, scene: str) -> Json:
    """What the tank holds and what each bed got."""
    return Json(await runtime.service(Greenhouses).document(scene))


HTTP = HttpPart(routers=(router,), state={"greenhouses": GreenhouseShape})
