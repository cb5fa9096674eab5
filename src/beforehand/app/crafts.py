"""Which crafts the house has: one for every kind of scene."""

from beforehand.app.cells import CellCraft
from beforehand.app.fleets import FleetCraft
from beforehand.app.graphs import GraphScenes, open_graph
from beforehand.app.house import House


def register_crafts(house: House) -> None:
    """Put every craft in its place; their scenes are made live afterwards."""
    cells = CellCraft(house, GraphScenes(open_graph(house.settings)))
    house.crafts[cells.kind] = cells
    house.shed.cells.record = cells.record
    fleets = FleetCraft(house)
    house.crafts[fleets.kind] = fleets
    house.shed.fleets.room = fleets
