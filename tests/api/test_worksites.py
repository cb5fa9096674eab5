"""Worksites over HTTP: before a person says what lies there, the server says whom that affects."""

from typing import Any

from tests.api.test_streams import two_streams


async def test_a_dry_run_says_whom_a_pallet_affects_and_nothing_changes(fleet_server: Any) -> None:
    document = two_streams()
    document["streams"][0]["enabled"] = True
    for site in document["worksites"]:
        if site["worksiteId"] == "PICK_01":
            site["occupancy"] = "empty"
    async with fleet_server(document) as server:
        before = (await server.call("GET", "/state"))["seq"]
        told = await server.call("POST", "/worksites/PICK_01/dry-run", {"occupancy": "filled"})
        assert told["streams"] == ["stream_pick_drop"]
        assert [effect["says"] for effect in told["effects"]] == [
            "RB-01 takes a pallet from PICK_01 to DROP_01: it drives to pick."
        ]
        assert told["effects"][0]["about"]["robotId"] == "RB-01"
        assert told["worksite"]["occupancy"] == "empty"
        unseen = await server.call("POST", "/worksites/FAR/dry-run", {"occupancy": "unknown"})
        assert (unseen["effects"], unseen["streams"]) == ([], ["second"])
        assert (await server.call("GET", "/worksites/PICK_01"))["occupancy"] == "empty"
        events = await server.call("GET", "/events?before=100000&limit=1000&kinds=taskCreated,worksiteUpdated")
        assert [event for event in events if event["seq"] > before] == []


async def test_a_dry_run_names_the_task_that_would_be_given_up(fleet_server: Any) -> None:
    document = two_streams()
    document["streams"][0]["enabled"] = True
    document["robots"][0]["speedMps"] = 0.01  # it is still on its way when it is held
    async with fleet_server(document) as server:
        [task] = await server.take(1, kinds="taskCreated")
        await server.call("POST", "/robots/RB-01/hold")
        source = task["data"]["sourceId"]
        told = await server.call("POST", f"/worksites/{source}/dry-run", {"occupancy": "empty"})
        assert task["about"]["taskId"] in {effect["about"].get("taskId") for effect in told["effects"]}
        assert any("cancel" in effect["says"] for effect in told["effects"]), told


async def test_it_is_refused_as_saying_it_would_be(fleet_server: Any) -> None:
    async with fleet_server() as server:
        wrong = await server.refused("POST", "/worksites/PICK_01/dry-run", {"occupancy": "full"}, status=422)
        assert "empty, filled or unknown" in wrong["detail"]
        unknown = await server.refused("POST", "/worksites/PICK_99/dry-run", {"occupancy": "empty"}, status=404)
        assert "PICK_01" in unknown["nearest"]
