"""SEER maps (.smap): points with a class, curves from point to point, bins where pallets stand.

Metres, x to the right and y up, as in a scene. Each curve leads one way; its length is that of the curve. Action points
become buffers, named by their bin where they have one; charge points chargers; park points park places.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from beforehand.app.craft import Imported, Source
from beforehand.crafts.fleet.importing.draft import Draft, bezier_m, number
from beforehand.model.errors import BadInputError

KINDS = {"ActionPoint": "buffer", "ChargePoint": "charger", "ParkPoint": "park"}
POINTS = ("LocationMark", *KINDS)
FORK_KEYS = ("start_height", "end_height", "recognize", "recfile", "rec_height")
LEFT_OUT = {
    "advancedAreaList": "Areas (forbidden, slow, …) are not carried over",
    "advancedLineList": "Lines (virtual walls, features) are not carried over",
    "normalPosList": "The laser's map is not carried over",
    "rssiPosList": "The reflectors are not carried over",
    "patrolRouteList": "Patrol routes are not carried over",
    "normalLineList": "Walls are not carried over",
    "reflectorPosList": "The reflectors are not carried over",
    "tagPosList": "Tags on the floor are not carried over",
    "externalDeviceList": "Devices (doors, lifts, …) are not carried over",
}
POINT = ("className", "instanceName", "pos", "dir", "ignoreDir", "property")
CURVE = ("className", "instanceName", "startPos", "endPos", "controlPos1", "controlPos2", "property")
READ = ("advancedPointList", "advancedCurveList", "binLocationsList")


def is_smap(source: Source) -> bool:
    return isinstance(source.document, Mapping) and not source.document.keys().isdisjoint(
        ("advancedPointList", "advanced_point_list")
    )


def read_smap(source: Source) -> Imported:
    if not is_smap(source):
        raise BadInputError(f"{source.file} is not a SEER map: it has no advancedPointList.", code="import.not_smap")
    document = source.document if "advancedPointList" in source.document else _as_the_maker(source.document)
    header = document.get("header") if isinstance(document.get("header"), Mapping) else {}
    draft = Draft(source.name or str(header.get("mapName") or "").strip() or source.stem)
    _points(document, draft)
    _curves(document, draft)
    bins = _bins(document, draft)
    _sites(document, bins, draft)
    for key, items in document.items():
        if isinstance(items, list) and items and key not in READ:
            draft.note(str(key)[:80], f"{LEFT_OUT.get(key, 'It is not carried over')}: {len(items)} of them.")
    return draft.done("smap")


def _as_the_maker(item: Any, depth: int = 8) -> Any:
    """The same with the maker's names for things: some programs write `advanced_point_list` for `advancedPointList`.
    What a map says lies a few levels deep; below that nothing is looked at."""
    if depth and isinstance(item, list):
        return [_as_the_maker(one, depth - 1) for one in item]
    if not depth or not isinstance(item, Mapping):
        return item
    return {_camel(str(key)): _as_the_maker(value, depth - 1) for key, value in item.items()}


def _camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(part.capitalize() for part in others)


def _each(document: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    items = document.get(key)
    for at, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, Mapping):
            yield f"{key}[{at}]", item


def _spot(item: Any) -> tuple[Any, Any]:
    """What stands at x and y; the maker leaves out what is 0."""
    pos = item.get("pos", item) if isinstance(item, Mapping) else {}
    return (pos.get("x", 0), pos.get("y", 0)) if isinstance(pos, Mapping) else (None, None)


def _points(document: Mapping[str, Any], draft: Draft) -> None:
    for path, point in _each(document, "advancedPointList"):
        name, kind = str(point.get("instanceName", "")), str(point.get("className", ""))
        x, y = _spot(point)
        draft.add_node(name, x, y, path)
        for _, prop in _each(point, "property"):
            draft.tally(f"The property {str(prop.get('key', ''))[:60]} of a point is not carried over", path)
        draft.tally_left(point, POINT, "a point", path)
        if kind not in POINTS:
            draft.tally(f"Points of the class {kind[:60]} are nodes and nothing more", path)
        if not point.get("ignoreDir", "dir" not in point):
            draft.tally("The direction of a robot at a point is not carried over", f"{path}.dir")


def _curves(document: Mapping[str, Any], draft: Draft) -> None:
    for path, curve in _each(document, "advancedCurveList"):
        start, end = _ends(curve, draft)
        corners = [_spot(curve.get(key)) for key in ("startPos", "controlPos1", "controlPos2", "endPos")]
        curved = all(isinstance(curve.get(key), Mapping) for key in ("controlPos1", "controlPos2"))
        draft.add_way(start, end, _length(corners) if curved else None, path)
        kind = str(curve.get("className", ""))
        if kind not in ("DegenerateBezier", "BezierPath", "StraightPath"):
            draft.tally(f"Curves of the class {kind[:60]} are measured as Bézier curves", path)
        if isinstance(curve.get("property"), list) and curve["property"]:
            draft.tally("Properties of a curve (direction, speed, obstacle distances) are not carried over", path)
        draft.tally_left(curve, CURVE, "a curve", path)


def _ends(curve: Mapping[str, Any], draft: Draft) -> tuple[str, str]:
    """The points it leads from and to; where they do not say their names, by its own, as LM1-LM2."""
    ends = [curve.get(key) for key in ("startPos", "endPos")]
    start, end = (str(end.get("instanceName") or "") if isinstance(end, Mapping) else "" for end in ends)
    parts = str(curve.get("instanceName", "")).split("-")
    named = [("-".join(parts[:at]), "-".join(parts[at:])) for at in range(1, len(parts))]
    known = [pair for pair in named if draft.nodes.keys() >= set(pair)]
    first, second = known[0] if len(known) == 1 else named[0] if len(named) == 1 else ("", "")
    return start or first, end or second


def _length(corners: list[tuple[Any, Any]]) -> float | None:
    points = [(number(x), number(y)) for x, y in corners]
    if any(x is None or y is None for x, y in points):
        return None
    return bezier_m([(x, y) for x, y in points if x is not None and y is not None])


def _bins(document: Mapping[str, Any], draft: Draft) -> dict[str, tuple[str, Mapping[str, Any], str]]:
    """The bin of each point: its name, itself, and where it stands in the file."""
    found: dict[str, tuple[str, Mapping[str, Any], str]] = {}
    for row, group in _each(document, "binLocationsList"):
        for path, one in _each(group, "binLocationList"):
            point, name = str(one.get("pointName", "")), str(one.get("instanceName", ""))
            path = f"{row}.{path}"
            if point in found:
                draft.note(path, f"{name} is another bin at {point}; only {found[point][0]} is carried over.")
            elif point not in draft.nodes:
                draft.note(path, f"The bin {name} is at {point or 'no point'}, which is not on the map.")
            else:
                found[point] = (name, one, path)
    return found


def _sites(document: Mapping[str, Any], bins: Mapping[str, tuple[str, Mapping[str, Any], str]], draft: Draft) -> None:
    used: set[str] = set()
    for path, point in _each(document, "advancedPointList"):
        name, kind = str(point.get("instanceName", "")), KINDS.get(str(point.get("className", "")))
        if name in used or name not in draft.nodes or (kind is None and name not in bins):
            continue
        used.add(name)
        if kind in ("charger", "park"):
            draft.add_site(name, kind, name, path)
        elif name in bins:
            called, one, at = bins[name]
            draft.add_site(called or name, "buffer", name, at, **_fork_params(one, at, draft))
        else:
            draft.add_site(name, "buffer", name, path)


def _fork_params(one: Mapping[str, Any], path: str, draft: Draft) -> dict[str, Any]:
    """What a bin says of loading and unloading there (its `binTask`)."""
    found: dict[str, Any] = {}
    for at, prop in _each(one, "property"):
        if prop.get("key") != "binTask":
            says = f"The property {str(prop.get('key', ''))[:60]} of a bin is not carried over"
            draft.tally(says, f"{path}.{at}")
            continue
        try:
            tasks = json.loads(_text(prop) or "[]")
        except (ValueError, RecursionError):
            draft.note(f"{path}.{at}", "Its binTask is not JSON and is not carried over.")
            continue
        for task in tasks if isinstance(tasks, list) else [tasks]:
            for verb, said in task.items() if isinstance(task, Mapping) else ():
                key = {"load": "pickParams", "unload": "dropParams"}.get(str(verb).lower())
                if key is None or not isinstance(said, Mapping):
                    draft.note(f"{path}.{at}", f"What its binTask says of {str(verb)[:60]} is not carried over.")
                else:
                    found[key] = _known_params(said, f"{path}.{at}", draft)
    return {key: params for key, params in found.items() if params}


def _text(prop: Mapping[str, Any]) -> str:
    """What a property says: in its typed field, or only in `value`, which is base64."""
    typed = prop.get("stringValue")
    return str(typed) if typed else base64.b64decode(str(prop.get("value") or ""), validate=True).decode()


def _known_params(said: Mapping[str, Any], path: str, draft: Draft) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for key in FORK_KEYS:
        value = said.get(key)
        fits = {"recognize": isinstance(value, bool), "recfile": isinstance(value, str) and bool(value)}
        if fits.get(key, not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value <= 100):
            params[key] = value
    if params.get("recognize") and "recfile" not in params:
        draft.note(path, "It recognises pallets and names no recfile, so recognition is left out.")
        del params["recognize"]
    left = [key for key in said if key not in params and key != "operation"]
    if left:
        draft.note(path, f"Of its binTask {', '.join(map(str, left[:10]))[:200]} is not carried over.")
    return params
