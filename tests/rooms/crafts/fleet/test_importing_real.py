"""Maps as their makers' programs export them, with everything in them that a scene has no word for."""

import json
from pathlib import Path
from typing import Any

import pytest

from beforehand.app.craft import Imported
from beforehand.app.importing import import_file

BOX = '<{tag} length="{length}" width="{width}" height="2100" referenceOffsetX="{offset}" referenceOffsetY="0"/>'
ENVELOPE = '<vehicleEnvelope key="fork"><vertex x="-600" y="-500"/><vertex x="600" y="500"/></vehicleEnvelope>'


def plant(version: str) -> str:
    """A plant as the Model Editor of that version saves it: layers, a peripheral, a block, envelopes, two vehicles."""
    new = version[0] in "67"
    x, y = ("positionX", "positionY") if version[0] == "7" or new else ("xPosition", "yPosition")
    limit = BOX.format(tag="maxVehicleBoundingBox", length=2000, width=1200, offset=0) if new else ""
    points = "".join(
        f'<point name="P{n}" {x}="{4000 * n}" {y}="0" {x[:-1]}Z="0" vehicleOrientationAngle="NaN" '
        f'type="{"PARK_POSITION" if n == 0 else "HALT_POSITION"}">{limit}{ENVELOPE if new else ""}'
        f'<outgoingPath name="P{n} --- P{n + 1}"/><property name="tcs:note" value="n"/>'
        f'<pointLayout xPosition="{80 * n}" yPosition="0" labelOffsetX="-10" labelOffsetY="-20" layerId="1"/></point>'
        for n in range(4)
    )
    ways = "".join(
        f'<path name="P{n} --- P{n + 1}" sourcePoint="P{n}" destinationPoint="P{n + 1}" length="{4000 + 500 * n}" '
        f'maxVelocity="1000" maxReverseVelocity="500" locked="false">'
        f'<peripheralOperation name="Open" locationName="Door" executionTrigger="AFTER_ALLOCATION" '
        f'completionRequired="true"/>{ENVELOPE}'
        f'<pathLayout connectionType="BEZIER" layerId="1"><controlPoint x="1" y="2"/></pathLayout></path>'
        for n in range(3)
    )
    levels = 'energyLevelCritical="30" energyLevelGood="90" maxVelocity="1200" maxReverseVelocity="600"'
    size = BOX.format(tag="boundingBox", length=1850, width=890, offset=-300) if new else ""
    old = "" if new else 'length="1850" '
    vehicles = (
        f'<vehicle name="V1" {old}{levels} envelopeKey="fork">{size}<vehicleLayout color="#FF0000"/></vehicle>'
        f'<vehicle name="V2" {old.replace("1850", "0")}{levels}>'
        f"{size.replace('1850', '0').replace('890', '-5')}</vehicle>"
    )
    places = (
        '<locationType name="T"><allowedOperation name="Load cargo"/><allowedOperation name="Unload cargo"/>'
        '<locationTypeLayout locationRepresentation="LOAD_TRANSFER_GENERIC"/></locationType>'
        '<locationType name="Gate"><allowedPeripheralOperation name="Open"/></locationType>'
        f'<location name="Store" {x}="12000" {y}="1000" type="T" locked="false"><link point="P3">'
        f'<allowedOperation name="Load cargo"/></link></location>'
        f'<location name="Door" {x}="6000" {y}="1000" type="Gate" locked="false"/>'
    )
    rest = (
        '<block name="B1" type="SAME_DIRECTION_ONLY"><member name="P1 --- P2"/><blockLayout color="#FF0000"/></block>'
        '<visualLayout name="V" scaleX="50.0" scaleY="50.0"><layer id="1" ordinal="1" visible="true" name="L" '
        'groupId="0"/><layerGroup id="0" name="G" visible="true"/></visualLayout>'
    )
    head = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><model version="{version}" name="Plant">'
    return f"{head}{points}{ways}{vehicles}{places}{rest}</model>"


def read(tmp_path: Path, name: str, text: str) -> Imported:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return import_file(str(tmp_path / name))


def told(found: Imported) -> str:
    return "\n".join(f"{note.path}: {note.says}" for note in found.notes)


@pytest.mark.parametrize("version", ["0.0.5", "6.0.0", "6.1.0", "7.0.0"])
def test_a_plant_with_everything_in_it(tmp_path: Path, version: str) -> None:
    found = read(tmp_path, "plant.xml", plant(version))
    one, two = found.document["robots"]
    assert one["lengthM"] == 1.85
    assert (one.get("widthM") == 0.89) is (version != "0.0.5")
    assert "lengthM" not in two, "a size of nothing is not taken over"
    assert {edge["to"]: edge.get("lengthM") for edge in found.document["edges"] if "lengthM" in edge} == {
        "P2": 4.5,
        "P3": 5.0,
    }
    assert [site["worksiteId"] for site in found.document["worksites"]] == ["Store", "PARK_P0"]
    said = told(found)
    for left_out in (
        "Operations of peripheral devices",
        "Vehicle envelopes and peripheral operations of a path",
        "The location Door is linked with no point",
        "The block B1 is not carried over",
        "The energy levels of a vehicle",
        "The envelopes of a vehicle",
        "The drawing (layers, colours, labels)",
        "A robot cannot be 0 mm in length",
    ):
        assert left_out in said
    if version != "0.0.5":
        assert "How big a vehicle may be at a point" in said
        assert "reference point" in said


def smap() -> dict[str, Any]:
    """As Roboshop writes it: what is 0 is left out, curves of several classes, bins, areas, walls, devices."""

    def point(kind: str, name: str, x: float, y: float, **more: Any) -> dict[str, Any]:
        given = {key: value for key, value in (("x", x), ("y", y)) if value}
        return {"className": kind, "instanceName": name, "pos": given, **more}

    def curve(kind: str, start: str, end: str, **more: Any) -> dict[str, Any]:
        ends = {"startPos": {"instanceName": start}, "endPos": {"instanceName": end}}
        return {"className": kind, "instanceName": f"{start}-{end}", **ends, **more}

    return {
        "header": {"mapType": "2D-Map", "mapName": "hall", "minPos": {}, "maxPos": {"x": 9.0}, "version": "1.0.6"},
        "normalPosList": [{"x": 0.1}, {"y": 0.2}],
        "normalLineList": [{"startPos": {}, "endPos": {"x": 1.0}}],
        "advancedPointList": [
            point("LocationMark", "LM1", 0, 0),
            point("LocationMark", "LM2", 4, 0, dir=1.57, ignoreDir=False),
            point("ActionPoint", "AP3", 4, 3, property=[{"key": "spin", "type": "bool", "boolValue": True}]),
            point("ChargePoint", "CP4", 0, -2),
        ],
        "advancedCurveList": [
            curve("StraightPath", "LM1", "LM2"),
            curve("BezierPath", "LM2", "LM1", controlPos1={"x": 3.0, "y": 1.0}),
            curve("ArcPath", "LM2", "AP3", controlPos1={"x": 5.0, "y": 1.0}, controlPos2={"x": 5.0, "y": 2.0}),
            curve("DegenerateBezier", "AP3", "LM2", property=[{"key": "maxspeed", "doubleValue": 0.5}]),
            curve("StraightPath", "LM1", "CP4"),
            curve("StraightPath", "CP4", "LM1"),
        ],
        "advancedAreaList": [{"className": "AdvancedArea", "instanceName": "1", "posGroup": [{}, {"x": 1.0}]}],
        "binLocationsList": [
            {"binLocationList": [{"className": "GoodsLocation", "instanceName": "R1", "pointName": "AP3"}]}
        ],
        "externalDeviceList": [{"instanceName": "door-1"}],
        "somethingNew": [{"a": 1}, {"b": 2}],
        "userData": [],
    }


def snake(item: Any) -> Any:
    def renamed(key: str) -> str:
        return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)

    if isinstance(item, list):
        return [snake(one) for one in item]
    return {renamed(key): snake(value) for key, value in item.items()} if isinstance(item, dict) else item


@pytest.mark.parametrize("spelt", ["as the maker does", "with underscores"])
def test_a_seer_map_with_everything_in_it(tmp_path: Path, spelt: str) -> None:
    document = smap() if spelt == "as the maker does" else snake(smap())
    found = read(tmp_path, "hall.smap", json.dumps(document))
    assert found.document["name"] == "hall"
    assert [node["id"] for node in found.document["nodes"]] == ["LM1", "LM2", "AP3", "CP4"]
    lengths = {(edge["from"], edge["to"]): edge.get("lengthM") for edge in found.document["edges"]}
    assert lengths["LM1", "LM2"] is None, "a curve that names one of its control points only is taken as straight"
    assert lengths["LM2", "AP3"] > 3.0
    assert [site["worksiteId"] for site in found.document["worksites"]] == ["R1", "CP4"]
    said = told(found)
    for left_out in (
        "Areas",
        "Walls are not carried over: 1 of them",
        "Devices",
        "It is not carried over: 2 of them",
        "Curves of the class ArcPath",
        "Properties of a curve",
        "The direction of a robot",
    ):
        assert left_out in said
    assert "userData" not in said


def test_lif_with_several_floors_and_types_of_vehicles(tmp_path: Path) -> None:
    def node(name: str, x: float, level: str, *actions: str) -> dict[str, Any]:
        given = [{"actionType": one, "requirementType": "OPTIONAL", "blockingType": "HARD"} for one in actions]
        types = [{"vehicleTypeId": kind, "theta": 0.0, "actions": given} for kind in ("fork", "tug")]
        position = {"x": x, "y": 0.0}
        return {"nodeId": name, "mapId": level, "nodePosition": position, "vehicleTypeNodeProperties": types}

    def edge(start: str, end: str) -> dict[str, Any]:
        kinds = [{"vehicleTypeId": "fork", "vehicleOrientation": 0.0, "maxSpeed": 1.5, "rotationAllowed": False}]
        name = f"{start}-{end}"
        return {"edgeId": name, "startNodeId": start, "endNodeId": end, "vehicleTypeEdgeProperties": kinds}

    floors = [
        {
            "layoutId": "ground",
            "layoutLevelId": "0",
            "nodes": [node("A", 0, "g"), node("B", 5, "g", "pick"), node("LIFT", 9, "g")],
            "edges": [edge("A", "B"), edge("B", "A"), edge("B", "LIFT"), edge("LIFT", "U1")],
            "stations": [{"stationId": "IN", "interactionNodeIds": ["B"]}],
        },
        {
            "layoutId": "upper",
            "layoutLevelId": "1",
            "nodes": [node("U1", 9, "u"), node("U2", 14, "u", "drop"), node("A", 0, "u")],
            "edges": [edge("U1", "U2"), edge("U2", "U1"), edge("U1", "NOWHERE")],
            "stations": [{"stationId": "OUT", "interactionNodeIds": ["U2"], "stationHeight": 0.8}],
        },
    ]
    meta = {"projectIdentification": "two floors", "lifVersion": "1.0.0", "creator": "x"}
    found = read(tmp_path, "two.lif.json", json.dumps({"metaInformation": meta, "layouts": floors}))
    assert [node["id"] for node in found.document["nodes"]] == ["A", "B", "LIFT", "U1", "U2"]
    said = told(found)
    for left_out in (
        "There are several layouts",
        "layouts[1].nodes[2]: A is given twice",
        "there is no NOWHERE",
        "LIF tells apart fork, tug",
        "The height of OUT",
        "The map names no robots",
    ):
        assert left_out in said
