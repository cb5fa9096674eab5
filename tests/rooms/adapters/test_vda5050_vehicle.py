"""The virtual VDA 5050 vehicle, without a broker."""

import json
from itertools import pairwise

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.roads import Roads
from beforehand.adapters.vda5050.options import VdaOptions
from beforehand.adapters.vda5050.vehicle import Vehicle
from beforehand.model.fleet import FleetScene

NODES = [{"id": name, "x": 10 * n, "y": 0} for n, name in enumerate("ABCD")]
EDGES = [{"from": a, "to": b} for a, b in ("AB", "BC", "CD")]
HALL = FleetScene.model_validate(
    {"name": "hall", "nodes": NODES, "edges": EDGES, "robots": [{"robotId": "RB-01", "nodeId": "A"}]}
)


def order(key: str, *nodes: str) -> bytes:
    stops = [{"nodeId": name, "sequenceId": 2 * at, "released": True, "actions": []} for at, name in enumerate(nodes)]
    edges = [
        {
            "edgeId": f"{a}{b}",
            "sequenceId": 2 * at + 1,
            "released": True,
            "startNodeId": a,
            "endNodeId": b,
            "actions": [],
        }
        for at, (a, b) in enumerate(pairwise(nodes))
    ]
    head = {
        "headerId": 1,
        "timestamp": "2026-01-01T00:00:00Z",
        "version": "2.0.0",
        "manufacturer": "a",
        "serialNumber": "1",
    }
    return json.dumps({**head, "orderId": key, "orderUpdateId": 0, "nodes": stops, "edges": edges}).encode()


def play(vehicle: Vehicle, until_ms: int) -> None:
    for said in vehicle.fleet.advance(until_ms):
        vehicle.follow(said, until_ms)


def test_what_the_forklift_said_before_an_order_does_not_end_it() -> None:
    vehicle = Vehicle("RB-01", VdaOptions("a", "1"), SimFleet(HALL, (), SimSettings()), Roads(HALL).at)
    play(vehicle, 1_000)
    vehicle.hear("order", order("one", "A", "B", "C", "D"), 1_000)
    play(vehicle, 3_000)
    vehicle.fleet.inject(FaultSpec(at_s=0.0, robot_id="RB-01", fault="cancelled_by_hand"), 3_000)
    play(vehicle, 30_000)
    assert not vehicle.is_active
    here = str(vehicle.seen.node_id) if vehicle.seen is not None else ""
    # Its process stood still meanwhile: what the forklift said of the cancelled order has not been read yet.
    vehicle.hear("order", order("two", here, "C", "D"), 90_000)
    play(vehicle, 90_100)
    assert vehicle.is_active
    play(vehicle, 200_000)
    assert (vehicle.order_id, vehicle.seen is not None and vehicle.seen.node_id) == ("two", "D")
