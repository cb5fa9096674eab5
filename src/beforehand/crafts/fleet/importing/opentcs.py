"""openTCS plant models, of the schemas of openTCS 5 (0.0.5), 6 and 7.

Lengths are millimetres and speeds millimetres a second there. A path leads one way at `maxVelocity` and back at
`maxReverseVelocity`, where that is not 0. Points of type PARK_POSITION become park places; locations become worksites
at the first point they are linked with, of the kind their operations say.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from beforehand.app.craft import Imported, Source
from beforehand.crafts.fleet.importing.draft import Draft, number
from beforehand.crafts.fleet.importing.safe_xml import Element, read_xml
from beforehand.model.errors import BadInputError
from beforehand.model.reason import name_list

KNOWN_VERSIONS = ("0.0.5", "5.", "6.", "7.")
CHARGE = ("charge",)
PARK = ("park",)
LARGEST_M = 100.0
UNLOAD = ("unload", "drop", "deliver", "put")
LOAD = ("load", "pick", "take", "get")

SPOT = ("positionX", "positionY", "positionZ", "xPosition", "yPosition", "zPosition")
POINT = ("type", "vehicleOrientationAngle")
PATH = ("sourcePoint", "destinationPoint", "length", "maxVelocity", "maxReverseVelocity", "locked")
LOCATION = ("type", "locked")
ENERGY = tuple(f"energyLevel{one}" for one in ("Critical", "Good", "FullyRecharged", "SufficientlyRecharged"))
VEHICLE = ("maxVelocity", "maxReverseVelocity", "envelopeKey", "length", *ENERGY)
PARTS = ("point", "path", "vehicle", "locationType", "location", "block", "visualLayout", "property")
INNER = (
    "outgoingPath",
    "vehicleEnvelope",
    "maxVehicleBoundingBox",
    "peripheralOperation",
    "boundingBox",
    "link",
    "property",
)


def is_opentcs(source: Source) -> bool:
    text = source.text.lstrip()
    return text.startswith("<") and "<model" in text[:20_000]


def read_opentcs(source: Source) -> Imported:
    root = read_xml(source.text, source.file)
    if root.tag != "model":
        says = f"{source.file} is XML, but not an openTCS plant model: its root is <{root.tag[:60]}>, not <model>."
        raise BadInputError(says, code="import.not_opentcs")
    draft = Draft(source.name or root.attributes.get("name", "").strip() or source.stem)
    version = root.attributes.get("version", "")
    if not version.startswith(KNOWN_VERSIONS):
        told = f"The model's version is {version[:40] or 'not given'}; it is read as one of 5, 6 or 7."
        draft.note("model@version", told)
    _points(root, draft)
    _paths(root, draft)
    _locations(root, draft)
    _parks(root, draft)
    _vehicles(root, draft)
    _the_rest(root, draft)
    return draft.done("opentcs")


def _points(root: Element, draft: Draft) -> None:
    for at, point in root.all("point"):
        given = point.attributes
        x, y = (
            _metres(given.get(new, given.get(old)))
            for new, old in (("positionX", "xPosition"), ("positionY", "yPosition"))
        )
        path = f"model.point[{at}]"
        draft.add_node(given.get("name", ""), x, y, path)
        if any(number(given.get(key)) for key in ("positionZ", "zPosition")):
            draft.tally("The height of a point is not carried over: a scene is one floor", path)
        _left(point, POINT, draft, path)
        angle = number(given.get("vehicleOrientationAngle"))
        if angle is not None:
            draft.tally(
                "The orientation of a vehicle at a point is not carried over", f"{path}@vehicleOrientationAngle"
            )
        if any(child.tag == "vehicleEnvelope" for child in point.children):
            draft.tally("Vehicle envelopes of a point are not carried over", path)
        if any(child.tag == "maxVehicleBoundingBox" for child in point.children):
            draft.tally("How big a vehicle may be at a point is not carried over: every robot may go there", path)
        if given.get("type") == "REPORT_POSITION":
            draft.tally("Points where vehicles only report are nodes like any other", f"{path}@type")


def _paths(root: Element, draft: Draft) -> None:
    for at, way in root.all("path"):
        given, path = way.attributes, f"model.path[{at}]"
        start, end = given.get("sourcePoint", ""), given.get("destinationPoint", "")
        if _is_locked(given):
            draft.note(path, f"The path {given.get('name', '')[:80]} is locked, so it is left out.")
            continue
        length = _metres(given.get("length"))
        if length is not None and length <= 0:
            draft.tally("A path without a length is as long as its points are apart", f"{path}@length")
        _left(way, PATH, draft, path)
        speeds = [number(given.get(key)) for key in ("maxVelocity", "maxReverseVelocity")]
        ways = [way for way, speed in zip(((start, end), (end, start)), speeds, strict=True) if speed]
        if not ways:
            draft.note(path, f"No vehicle may drive on the path {given.get('name', '')[:80]}: both its speeds are 0.")
        for one, other in ways:
            draft.add_way(one, other, length, path)
        if any(speed for speed in speeds):
            draft.tally(
                "The speed limit of a path is not carried over: robots drive at their own", f"{path}@maxVelocity"
            )
        if any(child.tag in ("vehicleEnvelope", "peripheralOperation") for child in way.children):
            draft.tally("Vehicle envelopes and peripheral operations of a path are not carried over", path)


def _locations(root: Element, draft: Draft) -> None:
    for at, kind in root.all("locationType"):
        if any(child.tag == "allowedPeripheralOperation" for child in kind.children):
            says = "Operations of peripheral devices (doors, conveyors, …) are not carried over"
            draft.tally(says, f"model.locationType[{at}]")
    types = {kind.attributes.get("name", ""): _operations(kind) for _, kind in root.all("locationType")}
    for at, location in root.all("location"):
        given, path = location.attributes, f"model.location[{at}]"
        name = given.get("name", "")
        _left(location, LOCATION, draft, path)
        links = [(link.attributes.get("point", ""), _operations(link)) for _, link in location.all("link")]
        if not links:
            draft.note(path, f"The location {name[:80]} is linked with no point, so it is left out.")
            continue
        if _is_locked(given):
            draft.note(path, f"The location {name[:80]} is locked, so it is left out.")
            continue
        allowed = [operation for _, operations in links for operation in operations] or types.get(
            given.get("type", ""), []
        )
        point = links[0][0]
        if len(links) > 1:
            others = name_list([point for point, _ in links[1:]])
            draft.note(f"{path}.link[1]", f"{name} is also linked with {others}; robots are sent to {point} only.")
        _operations_told(allowed, name, path, draft)
        _place(draft, name, _kind(allowed), point, given, path)


def _place(draft: Draft, name: str, kind: str, point: str, given: dict[str, str], path: str) -> None:
    """At the point itself; where another location is worked at from there, at a node of its own beside it."""
    if point not in draft.nodes or not draft.is_place_of_work(point):
        draft.add_site(name, kind, point, path)
        return
    node = f"{name}@{point}"
    x, y = (
        _metres(given.get(new, given.get(old))) for new, old in (("positionX", "xPosition"), ("positionY", "yPosition"))
    )
    here = draft.nodes[point]
    draft.add_node(node, here[0] if x is None else x, here[1] if y is None else y, path)
    draft.add_way(point, node, None, path)
    draft.add_way(node, point, None, path)
    told = f"{name} shares its point {point} with another location, so it got a node of its own beside it, {node}."
    draft.note(path, f"{told} Look whether robots can be sent there.")
    draft.add_site(name, kind, point, path, actionNodeId=node)


def _operations(element: Element) -> list[str]:
    return [child.attributes.get("name", "") for child in element.children if child.tag == "allowedOperation"]


def _kind(operations: Iterable[str]) -> str:
    words = [operation.lower() for operation in operations]
    if any(part in word for word in words for part in CHARGE):
        return "charger"
    drops = any(part in word for word in words for part in UNLOAD)
    picks = any(part in word.replace("unload", "") for word in words for part in LOAD)
    if not drops and not picks and any(part in word for word in words for part in PARK):
        return "park"
    return "pickup" if picks and not drops else "dropoff" if drops and not picks else "buffer"


def _operations_told(operations: list[str], name: str, path: str, draft: Draft) -> None:
    known = CHARGE + PARK + UNLOAD + LOAD
    odd = [operation for operation in operations if not any(part in operation.lower() for part in known)]
    if odd:
        draft.note(path, f"What {name} is for is not clear from {name_list(odd)}; look at its worksiteType.")


def _parks(root: Element, draft: Draft) -> None:
    for at, point in root.all("point"):
        name = point.attributes.get("name", "")
        if point.attributes.get("type") != "PARK_POSITION" or name not in draft.nodes:
            continue
        if draft.is_place_of_work(name):
            draft.note(f"model.point[{at}]@type", f"{name} is a park position and a place of work; nobody parks there.")
        else:
            draft.add_site(f"PARK_{name}", "park", name, f"model.point[{at}]")


def _vehicles(root: Element, draft: Draft) -> None:
    """Where a vehicle stands is no part of a plant model: they begin on the park places, then on the other points."""
    parks = [site["entryNodeId"] for site in draft.sites.values() if site["worksiteType"] == "park"]
    others = [node for node in draft.nodes if node not in parks and any(start == node for start, _ in draft.ways)]
    starts = iter([*parks, *others])
    for at, vehicle in root.all("vehicle"):
        path, name = f"model.vehicle[{at}]", vehicle.attributes.get("name", "")
        _left(vehicle, VEHICLE, draft, path)
        start = next(starts, None)
        speed = _metres(vehicle.attributes.get("maxVelocity"))
        more: dict[str, Any] = {"speedMps": round(speed, 3)} if speed and 0 < speed <= 100 else {}
        draft.add_robot(name, start, path, **more, **_size(vehicle, path, draft))
        draft.tally("A plant model does not say where a vehicle stands: look at each nodeId", path)
        if any(key.startswith("energyLevel") for key in vehicle.attributes):
            draft.tally("The energy levels of a vehicle are not carried over", path)
        if vehicle.attributes.get("envelopeKey"):
            draft.tally("The envelopes of a vehicle are not carried over, only its length and width", path)
        if number(vehicle.attributes.get("maxReverseVelocity")):
            draft.tally("The reverse speed of a vehicle is not carried over", f"{path}@maxReverseVelocity")


def _size(vehicle: Element, path: str, draft: Draft) -> dict[str, float]:
    """Its length and width: from its bounding box, as openTCS 6 and 7 have it, else its length, as 5 has it."""
    box = next((child.attributes for child in vehicle.children if child.tag == "boundingBox"), vehicle.attributes)
    found: dict[str, float] = {}
    for key, name in (("length", "lengthM"), ("width", "widthM")):
        metres = _metres(box.get(key))
        if metres is not None and 0 < metres <= LARGEST_M:
            found[name] = round(metres, 3)
        elif key in box:
            draft.note(f"{path}@{key}", f"A robot cannot be {box[key][:40]} mm in {key}; the usual size is taken.")
    if "lengthM" in found and "widthM" not in found:
        draft.tally("A plant model of this version does not say how wide a vehicle is: 1 m is taken", path)
    if any(number(box.get(key)) for key in ("referenceOffsetX", "referenceOffsetY")):
        draft.tally("Where in its body a vehicle's reference point lies is not carried over", path)
    return found


def _the_rest(root: Element, draft: Draft) -> None:
    for at, block in root.all("block"):
        name = block.attributes.get("name", "")[:80]
        draft.note(f"model.block[{at}]", f"The block {name} is not carried over: a scene has none.")
    for tag in dict.fromkeys(element.tag for element in root.children if element.tag not in PARTS):
        count = sum(element.tag == tag for element in root.children)
        draft.note(f"model.{tag[:60]}", f"Elements <{tag[:60]}> are not carried over: {count} of them.")
    for at, prop in root.all("property"):
        name = prop.attributes.get("name", "")[:80]
        draft.note(f"model.property[{at}]", f"The property {name} is not carried over.")
    for element in root.children:
        for prop in element.children:
            if prop.tag == "property":
                name = prop.attributes.get("name", "")[:80]
                draft.tally(f"The property {name} of a {element.tag} is not carried over", f"model.{element.tag}")
    if any(element.tag == "visualLayout" for element in root.children):
        draft.note("model.visualLayout", "The drawing (layers, colours, labels) is not carried over.")


def _left(element: Element, read: Iterable[str], draft: Draft, path: str) -> None:
    """What an element says beside what is read, or told of, everywhere else."""
    of = f"a {element.tag}"
    draft.tally_left(element.attributes, (*read, *SPOT, "name"), of, path)
    inner = {child.tag: child for child in element.children if not child.tag.endswith("Layout")}
    draft.tally_left(inner, INNER, of, path)


def _is_locked(given: Mapping[str, str]) -> bool:
    return given.get("locked", "").strip() in ("true", "1")  # both are yes in XML


def _metres(value: Any) -> float | None:
    found = number(value)
    return None if found is None else found / 1000
