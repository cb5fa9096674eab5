"""Files that scenes name, over HTTP: checked, kept by hash, listed, and what scenes are held to."""

from typing import Any

PLT = {"length": 1.2, "width": 0.8, "pockets": [[0.1, 0.3]]}


def naming(document: Any, recfile: str) -> dict[str, Any]:
    stream = {**document["streams"][0]}
    stream["params"] = {**stream["params"], "pickParams": {"recognize": True, "recfile": recfile}}
    return {**document, "streams": [stream]}


async def test_a_file_is_kept_listed_and_read(fleet_server: Any) -> None:
    async with fleet_server() as server:
        assert await server.call("GET", "/files") == []
        kept = await server.call("PUT", "/files/plt/p0001.plt", PLT)
        assert (kept["name"], kept["form"], len(kept["sha256"])) == ("plt/p0001.plt", "recognition file", 64)
        assert await server.call("PUT", "/files/plt/p0001.plt", PLT) == kept
        assert await server.call("GET", "/files") == [kept]
        assert (await server.call("GET", "/files/plt/p0001.plt")) == {**kept, "document": PLT}
        newer = await server.call("PUT", "/files/plt/p0001.plt", {**PLT, "length": 1.0})
        assert newer["sha256"] != kept["sha256"]
        unknown = await server.refused("GET", "/files/plt/p0002.plt", status=404)
        assert unknown["nearest"] == ["plt/p0001.plt"]


async def test_which_scenes_name_which_files_is_told_and_what_is_wrong_by_now(fleet_server: Any) -> None:
    async with fleet_server() as server:
        assert await server.call("GET", "/files/uses") == []
        document = naming((await server.call("GET", "/scenes/line"))["document"], "plt/p0001.plt")
        await server.call("PUT", "/scenes/line", document)
        (use,) = await server.call("GET", "/files/uses")
        assert use == {"scene": "line", "files": [{"name": "plt/p0001.plt", "kept": False}], "problems": []}
        await server.call("PUT", "/files/plt/p0002.plt", PLT)
        (use,) = await server.call("GET", "/files/uses")
        assert use["problems"][0]["nearest"] == ["plt/p0002.plt"]
        await server.call("PUT", "/files/plt/p0001.plt", PLT)
        (use,) = await server.call("GET", "/files/uses")
        assert use == {"scene": "line", "files": [{"name": "plt/p0001.plt", "kept": True}], "problems": []}


async def test_the_log_has_the_hash_and_not_what_is_in_it(fleet_server: Any) -> None:
    async with fleet_server() as server:
        kept = await server.call("PUT", "/files/fork/ft16.json", {"maxHeightM": 1.6, "note": "unmistakable"})
        (event,) = await server.call("GET", "/events?before=100000&limit=1000&kinds=sceneFileSaved")
        assert event["data"] == kept
        assert "unmistakable" not in str(event)


async def test_a_wrong_name_size_or_form_is_refused(fleet_server: Any) -> None:
    async with fleet_server() as server:
        for path, document, code in (
            ("/files/elsewhere/p.plt", PLT, "file.folder"),
            ("/files/plt/p0001.json", PLT, "file.name"),
            ("/files/plt/.plt", PLT, "file.name"),
            ("/files/plt/%2e%2e.plt", PLT, "file.name"),
            ("/files/plt/p0001.plt", [], "file.invalid"),
            ("/files/plt/p0001.plt", {"length": -1}, "file.invalid"),
            ("/files/fork/f.json", {"maxHeightM": "high", "colour": "red"}, "file.invalid"),
            ("/files/fork/f.json", {"maxHeightM": 1, "minHeightM": 2}, "file.invalid"),
        ):
            refused = await server.refused("PUT", path, document, status=422)
            assert refused["code"] == code, path
        await server.refused("PUT", "/files/plt/big.plt", {"a": "x" * (1024 * 1024)}, status=413)
        assert await server.call("GET", "/files") == []


async def test_a_scene_that_names_a_missing_file_is_refused_with_the_nearest(fleet_server: Any) -> None:
    async with fleet_server() as server:
        (scene,) = [one for one in await server.call("GET", "/scenes") if one["kind"] == "fleet"]
        document = (await server.call("GET", f"/scenes/{scene['name']}"))["document"]
        given = naming(document, "plt/p0010.plt")
        assert (await server.call("POST", "/scenes/check", given))["ok"]
        await server.call("PUT", "/files/plt/p0001.plt", PLT)
        found = await server.call("POST", "/scenes/check", given)
        (problem,) = found["problems"]
        assert problem["path"] == "streams[0].params.pickParams.recfile"
        assert problem["nearest"] == ["plt/p0001.plt"]
        await server.refused("PUT", f"/scenes/{scene['name']}", given, status=422)
        await server.call("PUT", f"/scenes/{scene['name']}", naming(document, "plt/p0001.plt"))
