"""VDMA LIF layouts (1.0): nodes, one-way edges with what each vehicle type may do there, stations.

Metres, as in a scene. A station becomes a worksite at the first of its nodes
that is on the map; the actions that vehicles may do there
say of which kind. LIF knows types of vehicles and no vehicles, so the robots are left to add.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from beforehand.app.craft import Imported, Source
from beforehand.crafts.fleet.importing.draft import Draft, number
from beforehand.model.errors import BadInputError
from beforehand.model.reason import name_list

KINDS = {"pick": "pickup", "drop": "dropoff", "startcharging": "charger", "charge": "charger", "park": "park"}
"""By the names of actions in lower case."""

NODE = ("nodeId", "nodePosition", "vehicleTypeNodeProperties")
ACTION = ("actionType", "requirementType", "blockingType")
EDGE = ("edgeId", "startNodeId", "endNodeId", "vehicleTypeEdgeProperties")
LIMITS = ("vehicleOrientation", "orientationType", "rotationAllowed", "loadRestriction")
EDGE_OF_TYPE = ("vehicleTypeId", "maxSpeed", "actions", "trajectory", *LIMITS)
STATION = ("stationId", "interactionNodeIds", "stationHeight")


def is_lif(source: Source) -> bool:
    return isinstance(source.document, Mapping) and isinstance(source.document.get("layouts"), list)


def read_lif(source: Source) -> Imported:
    if not is_lif(source):
        raise BadInputError(f"{source.file} is not a LIF layout: it has no list of layouts.", code="import.not_lif")
    document = source.document
    meta = document.get("metaInformation") if isinstance(document.get("metaInformation"), Mapping) else {}
    draft = Draft(source.name or str(meta.get("projectIdentification") or "").strip() or source.stem)
    version = str(meta.get("lifVersion", ""))
    if not version.startswith(("0.", "1.")):
        draft.note("metaInformation.lifVersion", f"The version is {version[:40] or 'not given'}; it is read as 1.0.")
    layouts = list(_each(document, "layouts"))
    if len(layouts) > 1:
        draft.note("layouts[1]", "There are several layouts; a scene is one floor, so their coordinates may overlap.")
    actions = _nodes(layouts, draft)
    _edges(layouts, draft)
    _stations(layouts, actions, draft)
    return draft.done("lif")


def _each(document: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    items = document.get(key)
    for at, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, Mapping):
            yield f"{key}[{at}]", item


def _within(layouts: list[tuple[str, Mapping[str, Any]]], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path, layout in layouts:
        for at, item in _each(layout, key):
            yield f"{path}.{at}", item


def _nodes(layouts: list[tuple[str, Mapping[str, Any]]], draft: Draft) -> dict[str, list[str]]:
    """Adds the nodes; what vehicles may do at each."""
    actions: dict[str, list[str]] = {}
    types: dict[str, str] = {}
    for path, node in _within(layouts, "nodes"):
        name = str(node.get("nodeId", ""))
        spot = node.get("nodePosition")
        x, y = (spot.get("x"), spot.get("y")) if isinstance(spot, Mapping) else (None, None)
        draft.add_node(name, x, y, path)
        draft.tally_left(node, NODE, "a node", path)
        for at, allowed in _each(node, "vehicleTypeNodeProperties"):
            types.setdefault(str(allowed.get("vehicleTypeId", "")), f"{path}.{at}")
            if allowed.get("theta") is not None:
                draft.tally("The orientation of a vehicle at a node is not carried over", f"{path}.{at}.theta")
            for to, action in _each(allowed, "actions"):
                actions.setdefault(name, []).append(str(action.get("actionType", "")))
                draft.tally_left(action, ACTION, "an action", f"{path}.{at}.{to}")
    if len(types) > 1:
        draft.note(
            next(iter(types.values())), f"Every robot may use every node; LIF tells apart {name_list(sorted(types))}."
        )
    return actions


def _edges(layouts: list[tuple[str, Mapping[str, Any]]], draft: Draft) -> None:
    for path, edge in _within(layouts, "edges"):
        start, end = str(edge.get("startNodeId", "")), str(edge.get("endNodeId", ""))
        allowed = list(_each(edge, "vehicleTypeEdgeProperties"))
        if not allowed:
            draft.tally("No type of vehicle is named for an edge; every robot may use it", path)
        draft.add_way(start, end, _length(allowed), path)
        draft.tally_left(edge, EDGE, "an edge", path)
        for at, one in allowed:
            if one.get("maxSpeed") is not None:
                draft.tally(
                    "The speed limit of an edge is not carried over: robots drive at their own", f"{path}.{at}.maxSpeed"
                )
            if any(one.get(key) is not None for key in LIMITS):
                draft.tally("Orientation, rotation and load limits of an edge are not carried over", f"{path}.{at}")
            if one.get("actions"):
                draft.tally("Actions along an edge are not carried over", f"{path}.{at}.actions")
            draft.tally_left(one, EDGE_OF_TYPE, "an edge", f"{path}.{at}")


def _length(allowed: list[tuple[str, Mapping[str, Any]]]) -> float | None:
    """Along the control points of the first trajectory, which is never shorter than the curve itself."""
    for _, one in allowed:
        trajectory = one.get("trajectory")
        corners = list(_each(trajectory, "controlPoints")) if isinstance(trajectory, Mapping) else []
        spots = [(number(corner.get("x")), number(corner.get("y"))) for _, corner in corners]
        plain = [(x, y) for x, y in spots if x is not None and y is not None]
        if len(plain) == len(spots) > 1:
            return sum(math.dist(one, other) for one, other in pairwise(plain))
    return None


def _stations(layouts: list[tuple[str, Mapping[str, Any]]], actions: Mapping[str, list[str]], draft: Draft) -> None:
    for path, station in _within(layouts, "stations"):
        name = str(station.get("stationId", ""))
        draft.tally_left(station, STATION, "a station", path)
        given = station.get("interactionNodeIds")
        nodes = [str(node) for node in given if isinstance(node, str | int)] if isinstance(given, list) else []
        if not nodes:
            draft.note(path, f"The station {name[:80]} has no interaction node, so it is left out.")
            continue
        there = next((node for node in nodes if node in draft.nodes), nodes[0])
        if len(nodes) > 1:
            draft.note(
                f"{path}.interactionNodeIds",
                f"{name} can be reached at {name_list(nodes)}; robots are sent to {there}.",
            )
        kind = _kind([action for node in nodes for action in actions.get(node, ())])
        if kind is None:
            draft.note(path, f"No action says what {name} is for; it is a buffer now. Look at its worksiteType.")
        draft.add_site(name, kind or "buffer", there, path)
        if station.get("stationHeight") is not None:
            draft.note(
                f"{path}.stationHeight", f"The height of {name} is not carried over; set pickParams or dropParams."
            )


def _kind(actions: list[str]) -> str | None:
    kinds = {KINDS[action] for action in map(str.lower, actions) if action in KINDS}
    if "charger" in kinds:
        return "charger"
    if {"pickup", "dropoff"} <= kinds:
        return "buffer"
    return next((kind for kind in ("pickup", "dropoff", "park") if kind in kinds), None)
