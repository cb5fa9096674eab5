"""Halls with as many robots as a test asks for, all of them with far to go."""

from typing import Any

COLUMNS = 40
APART_M = 4.0


def hall(name: str, robots: int, *, filled: bool = True) -> dict[str, Any]:
    """A grid of ways with pallets on its left and room for them on its right; every robot gets one to carry."""
    rows = max(2, -(-robots // COLUMNS) + 1)
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    worksites: list[dict[str, Any]] = []
    for column in range(COLUMNS):
        for row in range(rows):
            here, x, y = f"N{column}_{row}", column * APART_M, row * APART_M
            nodes.append({"id": here, "x": x, "y": y})
            if column:
                edges.append({"from": f"N{column - 1}_{row}", "to": here})
            if row:
                edges.append({"from": f"N{column}_{row - 1}", "to": here})
            for side, up in (("A", 1.2), ("B", 2.4)):
                left = column < COLUMNS / 2
                place = f"{'IN' if left else 'OUT'}_{column:02}_{row:02}{side}"
                nodes.append({"id": f"AP_{place}", "x": x + 1.2, "y": y + up})
                edges.append({"from": here, "to": f"AP_{place}"})
                worksites.append(
                    {
                        "worksiteId": place,
                        "worksiteType": "buffer",
                        "groupId": "IN" if left else "OUT",
                        "entryNodeId": here,
                        "actionNodeId": f"AP_{place}",
                        "occupancy": "filled" if left and filled else "empty",
                    }
                )
    picks = [site["worksiteId"] for site in worksites if site["groupId"] == "IN"]
    drops = [site["worksiteId"] for site in worksites if site["groupId"] == "OUT"]
    params = {
        "pickGroup": picks,
        "dropGroup": drops,
        "pickPolicy": {"selection": "filled_only"},
        "dropPolicy": {"selection": "first_available_in_order"},
    }
    return {
        "kind": "fleet",
        "name": name,
        "nodes": nodes,
        "edges": edges,
        "worksites": worksites,
        "robots": [
            {"robotId": f"R-{number:04}", "nodeId": f"N{number % COLUMNS}_{number // COLUMNS}", "loadState": "empty"}
            for number in range(robots)
        ],
        "streams": [{"streamId": "across", "params": params}],
    }
