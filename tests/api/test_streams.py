"""Streams over HTTP: switched and set before others, tried out without anything happening, after a restart too."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.api.conftest import line, serving

from beforehand.app.scenes import save_scene
from beforehand.server.serve import recover

BOTH = {"enabled": True, "priority": 5}


def two_streams() -> dict[str, Any]:
    """One robot, two streams of one pallet each, both switched off; the second one's pallet is further away."""
    document = line()
    document["nodes"] += [{"id": "AP_FAR", "x": 10, "y": 3}, {"id": "AP_TO", "x": 10, "y": -3}]
    document["edges"] += [{"from": "LM11", "to": "AP_FAR"}, {"from": "LM11", "to": "AP_TO"}]
    filled = {"worksiteType": "pickup", "entryNodeId": "LM11", "actionNodeId": "AP_FAR", "occupancy": "filled"}
    empty = {"worksiteType": "dropoff", "entryNodeId": "LM11", "actionNodeId": "AP_TO", "occupancy": "empty"}
    document["worksites"] += [{"worksiteId": "FAR", **filled}, {"worksiteId": "TO", **empty}]
    first = document["streams"][0]
    params = {**first["params"], "pickGroup": ["FAR"], "dropGroup": ["TO"]}
    document["streams"].append({**first, "streamId": "second", "params": params})
    return document


async def test_a_priority_is_an_event_and_dispatch_sees_it(fleet_server: Any) -> None:
    async with fleet_server(two_streams()) as server:
        await server.call("POST", "/robots/RB-01/hold")
        shown = await server.call("PATCH", "/streams/second", {"priority": 5})
        assert (shown["priority"], shown["enabled"]) == (5, False)
        await server.call("PATCH", "/streams/second", {"enabled": True})
        assert (await server.call("GET", "/streams/second"))["priority"] == 5
        await server.call("PATCH", "/streams/stream_pick_drop", {"enabled": True})
        events = await server.take(3, kinds="streamUpdated")
        assert events[0]["data"]["priority"] == 5
        assert events[0]["says"] == "The stream second is switched off, with priority 5."
        assert (await server.call("POST", "/streams/second/dry-run"))["tasks"] == []
        await server.call("POST", "/robots/RB-01/release")
        [task] = await server.take(1, kinds="taskCreated")
        assert (task["data"]["streamId"], task["data"]["priority"]) == ("second", 5)


async def test_a_dry_run_says_what_would_happen_and_nothing_does(fleet_server: Any) -> None:
    async with fleet_server(two_streams()) as server:
        before = (await server.call("GET", "/state"))["seq"]
        off = await server.call("POST", "/streams/second/dry-run")
        assert (off["tasks"], off["reasons"][0]["code"]) == ([], "stream.disabled")
        assert off["candidates"] == [
            {"sourceId": "FAR", "targetId": "TO", "sinceTsMs": off["candidates"][0]["sinceTsMs"]}
        ]
        on = await server.call("POST", "/streams/second/dry-run", {"enabled": True, "priority": 7})
        [task] = on["tasks"]
        assert (task["sourceId"], task["targetId"], task["robotId"]) == ("FAR", "TO", "RB-01")
        assert (on["stream"]["enabled"], task["priority"], on["reasons"]) == (True, 7, [])
        await server.call("PATCH", "/worksites/FAR", {"occupancy": "empty"})
        empty = await server.call("POST", "/streams/second/dry-run", {"enabled": True})
        assert (empty["candidates"], empty["tasks"]) == ([], [])
        assert empty["reasons"][0]["code"] == "stream.no_candidate"
        stream = await server.call("GET", "/streams/second")
        assert (stream["enabled"], stream["priority"]) == (False, 0)
        events = await server.call("GET", "/events?before=100000&limit=1000&kinds=taskCreated,streamUpdated")
        assert [event for event in events if event["seq"] > before] == []


async def test_wrong_words_are_422(fleet_server: Any) -> None:
    async with fleet_server() as server:
        path = "/streams/stream_pick_drop"
        for wrong in ({}, {"priority": "high"}, {"priority": True}, {"priority": 1e12}, {"enabled": 1}, {"quota": 3}):
            await server.refused("PATCH", path, wrong, status=422)
        await server.refused("POST", f"{path}/dry-run", {"priority": "high"}, status=422)
        told = await server.refused("POST", "/streams/none/dry-run", status=404)
        assert "stream_pick_drop" in told["nearest"]


async def test_a_priority_survives_a_restart_and_a_replay(tmp_path: Path) -> None:
    async with serving(tmp_path, speed=50) as server:
        await save_scene(server.runtime, None, two_streams(), activate=True)
        await server.call("POST", "/fleet/line/hold")
        before = await server.call("PATCH", "/streams/second", BOTH)
    for with_snapshots in (True, False):
        if not with_snapshots:
            with closing(sqlite3.connect(tmp_path / "home" / "log.db")) as file, file:
                assert file.execute("DELETE FROM snapshots").rowcount
        async with serving(tmp_path, speed=50) as server:
            await recover(server.runtime, [])
            assert await server.call("GET", "/streams/second") == before


async def test_a_batch_is_tried_and_shown_with_all_its_pallets(fleet_server: Any) -> None:
    document = two_streams()
    document["robots"][0]["capacity"] = 2
    picks = document["streams"][0]["params"]["pickGroup"] + document["streams"][1]["params"]["pickGroup"]
    drops = document["streams"][0]["params"]["dropGroup"] + document["streams"][1]["params"]["dropGroup"]
    params = {"pickGroup": list(dict.fromkeys(picks)), "dropGroup": list(dict.fromkeys(drops)), "batchSize": 2}
    document["streams"] = [{"streamId": "run", "kind": "batch", "enabled": False, "params": params}]
    for site in document["worksites"]:
        if site["worksiteId"] in params["pickGroup"]:
            site["occupancy"] = "filled"
        elif site["worksiteId"] in params["dropGroup"]:
            site["occupancy"] = "empty"
    async with fleet_server(document) as server:
        tried = await server.call("POST", "/streams/run/dry-run", {"enabled": True})
        (candidate,) = tried["candidates"]
        (task,) = tried["tasks"]
        pairs = [(candidate["sourceId"], candidate["targetId"])]
        pairs += [(one["sourceId"], one["targetId"]) for one in candidate["more"]]
        assert len(pairs) == 2
        assert [(leg["sourceId"], leg["targetId"], leg["state"]) for leg in task["legs"]] == [
            (*pair, "waiting") for pair in pairs
        ]
