"""Maps of other systems as scenes: each passes the check, drives to idle with a stream, and tells what it left out."""

import base64
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.app.craft import Imported
from beforehand.app.importing import import_file
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate
from beforehand.model.errors import BadInputError, BeforehandError, NotFoundError, TooLargeError

MAPS = Path(__file__).parents[3] / "fixtures" / "maps"
PLANTS = ["plant-5.xml", "plant-6.xml", "plant-7.xml"]


def imported(file: str, **more: Any) -> Imported:
    return import_file(str(MAPS / file), **more)


def sites(found: Imported) -> dict[str, tuple[str, str]]:
    return {
        site["worksiteId"]: (site["worksiteType"], site.get("actionNodeId", site["entryNodeId"]))
        for site in found.document["worksites"]
    }


def edges(found: Imported) -> dict[tuple[str, str], tuple[bool, float | None]]:
    return {
        (edge["from"], edge["to"]): (edge.get("oneWay", False), edge.get("lengthM")) for edge in found.document["edges"]
    }


def paths(found: Imported) -> list[str]:
    return [note.path for note in found.notes]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "opentcs") for name in PLANTS),
        ("hall.smap", "smap"),
        ("hall.lif.json", "lif"),
        ("grid.map", "movingai"),
    ],
)
def test_a_map_is_recognised_and_drives_to_idle(name: str, kind: str) -> None:
    found = imported(name, starts=str(MAPS / "grid.scen") if kind == "movingai" else None)
    assert found.kind == kind == imported(name, kind=kind).kind
    document = found.document
    if not document["robots"]:
        document["robots"] = [{"robotId": "RB-01", "nodeId": document["nodes"][0]["id"], "loadState": "empty"}]
    places = [site for site in document["worksites"] if site["worksiteType"] not in ("charger", "park")]
    places.sort(key=lambda site: ("pickup", "buffer", "dropoff").index(site["worksiteType"]))
    source, target = places[0], places[-1]
    source["occupancy"], target["occupancy"] = "filled", "empty"
    document["streams"] = [
        {"streamId": "s", "params": {"pickGroup": [source["worksiteId"]], "dropGroup": [target["worksiteId"]]}}
    ]
    scene = read_fleet(document)
    result = simulate(scene, SimFleet(scene))
    assert (result.state.completed, result.ended, result.violations) == (1, "idle", [])


def test_a_plant_model_of_openTCS_5() -> None:
    found = imported("plant-5.xml")
    assert found.document["name"] == "Small plant five"
    assert found.document["nodes"][1] == {"id": "P2", "x": 10.0, "y": 0.0}
    assert edges(found) == {
        ("P1", "P2"): (True, None),
        ("P2", "P3"): (True, None),
        ("P3", "P4"): (True, 12.5),
        ("P1", "P4"): (False, None),
    }
    assert sites(found) == {"IN 1": ("pickup", "P2"), "OUT 1": ("dropoff", "P3"), "PARK_P4": ("park", "P4")}
    assert [(one["robotId"], one["nodeId"], one["speedMps"]) for one in found.document["robots"]] == [
        ("Truck 1", "P4", 1.5)
    ]
    assert "model.visualLayout" in paths(found)
    assert "model.point[1]@vehicleOrientationAngle" in paths(found)


@pytest.mark.parametrize("name", PLANTS[1:])
def test_a_plant_model_of_openTCS_6_and_7(name: str) -> None:
    found = imported(name)
    assert sites(found) == {
        "S1": ("buffer", "B"),
        "S2": ("buffer", "S2@B"),
        "S3": ("buffer", "C"),
        "CH": ("charger", "D"),
        "PARK_E": ("park", "E"),
    }
    assert [one["nodeId"] for one in found.document["robots"]] == ["E", "A"]
    told = paths(found)
    for path in (
        "model.path[4]",
        "model.location[2].link[1]",
        "model.location[3]",
        "model.location[4]",
        "model.block[0]",
        "model.property[0]",
    ):
        assert path in told
    assert any("NOP" in note.says for note in found.notes)


def test_a_map_of_seer() -> None:
    found = imported("hall.smap")
    assert found.document["name"] == "small_smap"
    assert found.document["nodes"][0] == {"id": "LM1", "x": 0.0, "y": 0.0}
    ways = edges(found)
    both, length = ways["LM1", "LM2"]
    assert (both, round(length or 0, 1)) == (False, 11.3)
    assert ways["AP3", "LM2"] == (False, None)
    assert sites(found) == {
        "RACK-1": ("buffer", "AP3"),
        "AP4": ("buffer", "AP4"),
        "CP5": ("charger", "CP5"),
        "PP6": ("park", "PP6"),
    }
    rack = next(site for site in found.document["worksites"] if site["worksiteId"] == "RACK-1")
    assert rack["pickParams"] == {
        "start_height": 0.1,
        "end_height": 0.4,
        "recognize": True,
        "recfile": "plt/p0001.plt",
    }
    assert rack["dropParams"] == {"end_height": 0.1}
    told = paths(found)
    for path in (
        "advancedCurveList[10]",
        "advancedAreaList",
        "normalPosList",
        "binLocationsList[0].binLocationList[1]",
        "binLocationsList[0].binLocationList[2]",
        "advancedPointList[6]",
    ):
        assert path in told


def test_a_layout_of_lif() -> None:
    found = imported("hall.lif.json")
    assert found.document["name"] == "small_lif"
    assert edges(found)["N1", "N2"] == (True, 10.0)
    assert edges(found)["N1", "N5"] == (False, None)
    assert sites(found) == {
        "ST_IN": ("pickup", "N3"),
        "ST_OUT": ("dropoff", "N4"),
        "ST_CHARGE": ("charger", "N5"),
        "ST_TWO": ("buffer", "N2"),
    }
    told = paths(found)
    for path in (
        "layouts[0].edges[6]",
        "layouts[0].stations[0].stationHeight",
        "layouts[0].stations[3]",
        "layouts[0].stations[4].interactionNodeIds",
    ):
        assert path in told


def test_a_grid_of_movingai() -> None:
    found = imported("grid.map", starts=str(MAPS / "grid.scen"))
    nodes = {node["id"]: (node["x"], node["y"]) for node in found.document["nodes"]}
    assert len(nodes) == 17
    assert (nodes["C0_0"], nodes["C5_3"]) == ((0.0, 3.0), (5.0, 0.0))
    assert "C1_1" not in nodes
    assert len(found.document["edges"]) == 18
    assert [one["nodeId"] for one in found.document["robots"]] == ["C0_0", "C5_0"]
    assert sites(found) == {"GOAL_01": ("dropoff", "C5_3"), "GOAL_02": ("dropoff", "C0_3")}
    assert "scen[2]" in paths(found)
    assert "scen[3]" in paths(found)
    assert any("Swamp" in note.says for note in found.notes)
    assert any("Water" in note.says for note in found.notes)


def test_a_start_or_goal_that_is_no_free_cell_takes_nobody_elses_number(tmp_path: Path) -> None:
    (tmp_path / "g.map").write_text("type octile\nheight 2\nwidth 3\nmap\n..@\n...\n")
    lines = ["2 0 0 0", "0 0 2 1", "0 1 9 9", "1 1 1 0"]
    (tmp_path / "g.scen").write_text("version 1\n" + "".join(f"0 g.map 3 2 {line} 1.0\n" for line in lines))
    found = import_file(str(tmp_path / "g.map"), starts=str(tmp_path / "g.scen"))
    assert {robot["robotId"]: robot["nodeId"] for robot in found.document["robots"]} == {
        "RB-01": "C0_0",
        "RB-02": "C1_1",
    }
    assert sites(found) == {"GOAL_01": ("dropoff", "C2_1"), "GOAL_02": ("dropoff", "C1_0")}
    told = [note for note in found.notes if note.path.startswith("scen")]
    assert [note.path for note in told] == ["scen[0]", "scen[2]"]
    assert "C2_0 is no free cell" in told[0].says


PLANT = """<model version="0.0.5" name="m">
  <point name="A" xPosition="0" yPosition="0" zPosition="3500" type="HALT_POSITION"><hint/></point>
  <point name="B" xPosition="3000" yPosition="4000" zPosition="0" type="HALT_POSITION"/>
  <path name="A --- B" sourcePoint="A" destinationPoint="B" length="0" routingCost="7" maxVelocity="1" locked="false"/>
  <vehicle name="V" length="1000" type="fork"/>
  <staticRoute name="R"><hop name="A"/></staticRoute>
</model>"""
LAYOUT = {
    "metaInformation": {"lifVersion": "1.0.0"},
    "layouts": [
        {
            "nodes": [
                {
                    "nodeId": "n1",
                    "nodeName": "one",
                    "nodePosition": {"x": 0, "y": 0},
                    "vehicleTypeNodeProperties": [
                        {"vehicleTypeId": "f", "actions": [{"actionType": "pick", "actionParameters": [{"key": "h"}]}]}
                    ],
                },
                {"nodeId": "n2", "nodePosition": {"x": 4, "y": 0}},
            ],
            "edges": [
                {
                    "edgeId": "e",
                    "startNodeId": "n1",
                    "endNodeId": "n2",
                    "vehicleTypeEdgeProperties": [{"vehicleTypeId": "f", "maxHeight": 2, "minHeight": None}],
                }
            ],
            "stations": [
                {"stationId": "S", "interactionNodeIds": ["n1"], "stationName": "in", "stationDescription": ""}
            ],
        }
    ],
}
LOADS = {"Load": {"operation": "ForkLoad", "end_height": 0.4}}
SEER = {
    "advancedPointList": [
        {
            "className": "ActionPoint",
            "instanceName": "AP1",
            "pos": {},
            "property": [{"key": "spin", "boolValue": True}],
        },
        {"className": "LocationMark", "instanceName": "LM2", "pos": {"x": 2}, "desc": "corner"},
    ],
    "advancedCurveList": [{"className": "StraightPath", "instanceName": "LM2-AP1", "width": 2}],
    "binLocationsList": [
        {
            "binLocationList": [
                {
                    "instanceName": "Bin",
                    "pointName": "AP1",
                    "property": [
                        {"key": "binTask", "value": base64.b64encode(json.dumps([LOADS]).encode()).decode()},
                        {"key": "level", "stringValue": "2"},
                    ],
                }
            ]
        }
    ],
}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            PLANT,
            [
                "The height of a point",
                "hint of a point",
                "A path without a length",
                "routingCost of a path",
                "type of a vehicle",
                "Elements <staticRoute>",
            ],
        ),
        (
            json.dumps(LAYOUT),
            ["nodeName of a node", "actionParameters of an action", "maxHeight of an edge", "stationName of a station"],
        ),
        (
            json.dumps(SEER),
            [
                "The property spin of a point",
                "desc of a point",
                "width of a curve",
                "The property level of a bin",
            ],
        ),
    ],
)
def test_what_a_scene_has_no_word_for_is_told(text: str, told: list[str], tmp_path: Path) -> None:
    (tmp_path / "map").write_text(text)
    notes = [note.says for note in import_file(str(tmp_path / "map")).notes]
    assert {one: sum(note.startswith(one) for note in notes) for one in told} == dict.fromkeys(told, 1)
    assert not any("minHeight" in note for note in notes), "it says nothing"


def test_a_bin_task_that_is_only_there_in_base64_is_read(tmp_path: Path) -> None:
    (tmp_path / "hall.smap").write_text(json.dumps(SEER))
    (site,) = import_file(str(tmp_path / "hall.smap")).document["worksites"]
    assert site["pickParams"] == {"end_height": 0.4}


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_a_path_that_is_locked_by_a_1_is_locked(tmp_path: Path) -> None:
    points = "".join(f'<point name="{name}" positionX="{at}000" positionY="0"/>' for at, name in enumerate("ABC"))
    way = '<path name="{0}-{1}" sourcePoint="{0}" destinationPoint="{1}" maxVelocity="9" locked="{2}"/>'
    plant = f"<model version='7.0.0' name='p'>{points}{way.format('A', 'B', 0)}{way.format('B', 'C', 1)}</model>"
    assert list(edges(import_file(written(tmp_path, "p.xml", plant)))) == [("A", "B")]


def test_a_curve_is_known_by_its_name_even_where_points_have_hyphens_in_theirs(tmp_path: Path) -> None:
    points = [{"className": "LocationMark", "instanceName": f"LM-{n}", "pos": {"x": n}} for n in (1, 2)]
    curves = [{"instanceName": "LM-1-LM-2"}, {"instanceName": "a-b-c"}]
    seer = json.dumps({"advancedPointList": points, "advancedCurveList": curves})
    found = import_file(written(tmp_path, "m.smap", seer))
    assert list(edges(found)) == [("LM-1", "LM-2")]
    says = {note.path: note.says for note in found.notes}
    assert says["advancedCurveList[1]"] == "It does not say which points it leads from and to; it is left out."


def test_a_station_of_lif_is_at_the_first_node_that_is_there_and_actions_are_known_in_any_case(tmp_path: Path) -> None:
    actions = [{"vehicleTypeId": "v", "actions": [{"actionType": "Pick"}]}]
    nodes = [{"nodeId": n, "nodePosition": {"x": 0, "y": y}} for y, n in enumerate(("n1", "n2"))]
    layout = {
        "nodes": [nodes[0], {**nodes[1], "vehicleTypeNodeProperties": actions}],
        "edges": [{"edgeId": "e", "startNodeId": "n1", "endNodeId": "n2"}],
        "stations": [{"stationId": "s", "interactionNodeIds": ["gone", "n2"]}],
    }
    found = import_file(written(tmp_path, "l.json", json.dumps({"layouts": [layout]})))
    assert sites(found) == {"s": ("pickup", "n2")}


def test_blanks_behind_rows_and_in_the_name_of_a_map_change_nothing(tmp_path: Path) -> None:
    grid = written(tmp_path, "g.map", "type octile\nheight 2\nwidth 3\nmap\n..@  \n...\t\n")
    starts = written(tmp_path, "g.scen", "version 1\n0\tmy old map.map\t3\t2\t0\t0\t2\t1\t3.0\n")
    found = import_file(grid, starts=starts)
    assert sites(found) == {"GOAL_01": ("dropoff", "C2_1")}
    assert [robot["nodeId"] for robot in found.document["robots"]] == ["C0_0"]


def test_starts_beside_a_map_that_has_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        BadInputError, match="is read as opentcs, and a second file with starts is only read beside mov"
    ):
        import_file(str(MAPS / PLANTS[0]), starts=written(tmp_path, "a.scen", "version 1"))


def test_a_name_can_be_given() -> None:
    assert imported("grid.map", name="yard").document["name"] == "yard"
    assert imported("grid.map").document["name"] == "grid"


HOSTILE = {
    "an entity": ('<!DOCTYPE m [<!ENTITY a "aaaa">]><model name="&a;"/>', "document type"),
    "an external one": ('<!DOCTYPE m SYSTEM "file:///etc/passwd"><model/>', "document type"),
    "deep XML": ("<model>" + "<a>" * 5000 + "</a>" * 5000 + "</model>", "levels deep"),
    "broken XML": ('<model name="x"><point></model>', "not well-formed XML"),
    "other XML": ("<!-- <model --><html/>", "root is <html>"),
    "deep JSON": ('{"layouts": ' + "[" * 5000 + "]" * 5000 + "}", "levels deep"),
    "other JSON": ('{"hello": 1}', "not a map of a known kind"),
    "nothing": ("", "not a map of a known kind"),
    "words": ("Dear all, here is the map.", "not a map of a known kind"),
    "a grid that lies": ("type octile\nheight 2\nwidth 3\nmap\n...\n..\n", "row 2 has 2 cells"),
    "a grid without a size": ("type octile\nheight x\nwidth 3\nmap\n...\n", "width and height"),
    "a grid of other things": ("type octile\nheight 1\nwidth 3\nmap\n.?.\n", "has a cell '?'"),
    "a wall": ("type octile\nheight 1\nwidth 3\nmap\n@@@\n", "none of its cells"),
    "an endless head": ("type octile\n" + "a b\n" * 100, "no line `map`"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_ends_in_a_clear_sentence(name: str, tmp_path: Path) -> None:
    text, says = HOSTILE[name]
    (tmp_path / "given").write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as caught:
        import_file(str(tmp_path / "given"))
    assert says in caught.value.says


def test_bytes_that_are_no_text_and_files_that_are_too_big(tmp_path: Path) -> None:
    (tmp_path / "latin.xml").write_bytes('<model name="Lager für Öl"/>'.encode("latin-1"))
    with pytest.raises(BadInputError, match="not UTF-8"):
        import_file(str(tmp_path / "latin.xml"))
    (tmp_path / "big.map").write_text("type octile\nheight 300\nwidth 300\nmap\n" + ("." * 300 + "\n") * 300)
    with pytest.raises(TooLargeError, match="90000 free cells"):
        import_file(str(tmp_path / "big.map"))
    with pytest.raises(NotFoundError):
        import_file(str(tmp_path / "none.map"))
    with pytest.raises(BadInputError) as caught:
        imported("grid.map", kind="opentsc")
    assert "opentcs" in caught.value.nearest
    for kind in ("opentcs", "smap", "lif"):
        with pytest.raises(BadInputError):
            imported("grid.map", kind=kind)


def test_odd_values_are_noted_and_left_out(tmp_path: Path) -> None:
    document = {
        "header": 3,
        "advancedPointList": [
            {"className": "LocationMark", "instanceName": "A", "pos": {"x": 0, "y": 0}},
            {"className": "LocationMark", "instanceName": "A", "pos": {"x": 1, "y": 0}},
            {"className": "LocationMark", "instanceName": "B", "pos": {"x": "far", "y": 0}},
            {"className": "LocationMark", "instanceName": "C", "pos": {"x": 1e300, "y": 0}},
            {"className": "ActionPoint", "instanceName": "", "pos": {"x": 1, "y": 1}},
            {"className": "ActionPoint", "instanceName": "x" * 300, "pos": {"x": 1, "y": 1}},
            7,
            {"className": "ActionPoint", "instanceName": "D", "pos": 5},
        ],
        "advancedCurveList": [
            {"instanceName": "A-A"},
            {"instanceName": "A"},
            None,
            {"startPos": {"instanceName": "A"}},
        ],
        "binLocationsList": [{"binLocationList": {"a": 1}}, 3],
    }
    (tmp_path / "odd.smap").write_text(json.dumps(document), encoding="utf-8")
    found = import_file(str(tmp_path / "odd.smap"))
    assert [node["id"] for node in found.document["nodes"]] == ["A"]
    assert len(found.notes) > 8


KEYS = [
    "pos",
    "x",
    "y",
    "instanceName",
    "className",
    "nodeId",
    "nodePosition",
    "nodes",
    "edges",
    "stations",
    "startNodeId",
    "endNodeId",
    "interactionNodeIds",
    "property",
    "binLocationList",
    "key",
    "stringValue",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["advancedPointList", "layouts"]), st.lists(json_values, max_size=4), json_values)
def test_whatever_stands_in_the_file_it_is_a_scene_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, key: str, items: list[Any], more: Any
) -> None:
    file = tmp_path_factory.mktemp("drawn") / "drawn.json"
    file.write_text(json.dumps({key: items, "advancedCurveList": more, "binLocationsList": items}), encoding="utf-8")
    with suppress(BeforehandError):
        read_fleet(import_file(str(file)).document)
