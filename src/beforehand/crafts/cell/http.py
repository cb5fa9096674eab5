"""Robot cells: where the robot stands and what it holds, set by a person, and what its simulator does wrong."""

from typing import Annotated

from fastapi import APIRouter

from beforehand.crafts.cell.cells import cells_of, read_fault
from beforehand.crafts.fleet.http.shapes import CellFaultBody, CellPatch, CellShape
from beforehand.model.errors import BadInputError
from beforehand.server.callers import CallerDep, RuntimeDep
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import gives, takes

router = APIRouter(prefix="/cells", tags=["cell"])


@router.get("", operation_id="listCells", responses=gives(list[CellShape]))
async def list_cells(runtime: RuntimeDep) -> Json:
    """Every cell the home knows, with its state."""
    return Json(await cells_of(runtime).listed())


@router.get("/{scene}", operation_id="getCell", responses=gives(CellShape))
async def get_cell(runtime: RuntimeDep, scene: str) -> Json:
    """Where the cell's robot stands and what it holds."""
    return Json(await cells_of(runtime).state_document(scene))


@router.patch("/{scene}", operation_id="setCell", openapi_extra=takes(CellPatch), responses=gives(CellShape))
async def set_cell(
    runtime: RuntimeDep, caller: CallerDep, scene: str, asked: Annotated[CellPatch, body(CellPatch)]
) -> Json:
    """Say where the robot stands and what it holds; not while a step moves it."""
    if asked.position is None and asked.tool is None:
        raise BadInputError("Say `position`, `tool`, or both.", code="cell.nothing_set")
    craft = cells_of(runtime)
    await craft.set_state(scene, asked.position, asked.tool, by=caller.name)
    return Json(await craft.state_document(scene))


@router.post(
    "/{scene}/faults",
    operation_id="injectCellFault",
    openapi_extra=takes(CellFaultBody),
    responses=gives(CellFaultBody),
)
async def inject(runtime: RuntimeDep, scene: str, asked: Annotated[CellFaultBody, body(CellFaultBody)]) -> Json:
    """Let the simulated controller go wrong: fail, stall, power, tool_missing or verify."""
    return Json(await cells_of(runtime).inject(scene, read_fault(asked.fault, asked.target)))
