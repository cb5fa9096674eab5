"""Robot cells: where the robot stands and what it holds, set by a person, and what its simulator does wrong."""

from typing import Annotated, Any

from pydantic import Field

from beforehand.crafts.cell.cells import Cells, read_fault
from beforehand.model.errors import BadInputError
from beforehand.server.kit import (
    APIRouter,
    CallerDep,
    DoneWrite,
    HttpPart,
    Json,
    RuntimeDep,
    Shape,
    WireModel,
    answered_from,
    body,
    gives,
    takes,
)

Text = Annotated[str, Field(strict=True, max_length=1_000)]


class CellPatch(WireModel):
    """Where the robot stands and what it holds, as a person sees it; what is left out stays."""

    position: Text | None = None
    tool: Text | None = None


class CellFaultBody(WireModel):
    """What the simulated controller does wrong at the next command that fits."""

    fault: Annotated[str, Field(strict=True, max_length=100)]
    target: Text | None = None


class CellShape(Shape):
    scene: str
    current_position: Annotated[str | None, Field(alias="current_position")] = None
    current_tool: Annotated[str, Field(alias="current_tool")]
    says: str | None = None
    said_by: str | None = None
    active: bool


class CellFaultShape(Shape):
    scene: str
    fault: str
    target: str | None = None


router = APIRouter(prefix="/cells", tags=["cell"])


async def as_it_is(done: DoneWrite) -> Any:
    return await done.runtime.service(Cells).document(done.path["scene"])


async def as_injected(done: DoneWrite) -> Any:
    given = CellFaultBody.model_validate(await done.request.json())
    return {"scene": done.path["scene"], **read_fault(given.fault, given.target).wire()}


@router.get("", operation_id="listCells", responses=gives(list[CellShape]))
async def list_cells(runtime: RuntimeDep) -> Json:
    """Every cell the home knows, with its state."""
    return Json(await runtime.service(Cells).listed())


@router.get("/{scene}", operation_id="getCell", responses=gives(CellShape))
async def get_cell(runtime: RuntimeDep, scene: str) -> Json:
    """Where the cell's robot stands and what it holds."""
    return Json(await runtime.service(Cells).document(scene))


@router.patch("/{scene}", operation_id="setCell", openapi_extra=takes(CellPatch), responses=gives(CellShape))
@answered_from(as_it_is)
async def set_cell(
    runtime: RuntimeDep, caller: CallerDep, scene: str, asked: Annotated[CellPatch, body(CellPatch)]
) -> Json:
    """Say where the robot stands and what it holds; not while a step moves it."""
    if asked.position is None and asked.tool is None:
        raise BadInputError("Give `position`, `tool`, or both.", code="cell.nothing_set")
    craft = runtime.service(Cells)
    await craft.set_state(scene, asked.position, asked.tool, by=caller.name)
    return Json(await craft.document(scene))


@router.post(
    "/{scene}/faults",
    operation_id="injectCellFault",
    openapi_extra=takes(CellFaultBody),
    responses=gives(CellFaultShape),
)
@answered_from(as_injected)
async def inject(runtime: RuntimeDep, scene: str, asked: Annotated[CellFaultBody, body(CellFaultBody)]) -> Json:
    """Let the simulated controller go wrong: fail, stall, power, tool_missing or verify."""
    return Json(await runtime.service(Cells).inject(scene, read_fault(asked.fault, asked.target)))


HTTP = HttpPart(routers=(router,), requests=(CellPatch, CellFaultBody), state={"cells": CellShape})
