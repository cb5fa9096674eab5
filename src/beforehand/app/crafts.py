"""Which crafts the house has: one for every kind of scene."""

from beforehand.app.runtime import Runtime
from beforehand.crafts.cell.cells import CellCraft
from beforehand.crafts.cell.graphs import GraphScenes, open_graph
from beforehand.crafts.fleet.fleets import FleetCraft


def register_crafts(runtime: Runtime) -> None:
    """Put every craft in its place; their scenes are made live afterwards."""
    cells = CellCraft(runtime, GraphScenes(open_graph(runtime.settings)))
    runtime.crafts[cells.kind] = cells
    runtime.extensions.cells.record = cells.record
    fleets = FleetCraft(runtime)
    runtime.crafts[fleets.kind] = fleets
    runtime.extensions.fleets.room = fleets
