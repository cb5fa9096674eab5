"""What goes with a verb: decisions say by a schema which value they take, and refuse another with a sentence."""

from typing import Any

from jsonschema import Draft202012Validator

from beforehand.engine.verb_values import in_words


async def test_a_failure_says_what_retry_and_insert_take(server: Any) -> None:
    run = await server.start(server.step("a", "read_file", {"path": "none.txt"}, onFailure="ask"))
    asked = await server.asked(runId=run["runId"])
    [listed] = await server.call("GET", "/inbox")
    assert listed["values"] == asked["values"]
    assert (await server.call("GET", f"/inbox/{asked['id']}"))["values"].keys() == {"retry", "insert"}
    assert (await server.call("GET", "/state"))["decisions"][0]["values"] == asked["values"]
    retry = asked["values"]["retry"]
    Draft202012Validator.check_schema(retry)
    assert retry["properties"]["args"]["properties"].keys() == {"path"}

    for value in ({"args": {"path": 5}}, {"args": {"path": "a", "deep": 1}}, {"path": 5}, "none", 7, [1]):
        told = await server.refused("POST", f"/inbox/{asked['id']}", {"verb": "retry", "value": value}, status=422)
        assert told["code"] == "decision.value"
    assert "value.args" in told["detail"]
    for value in (None, {"steps": []}, {"steps": [{"id": "x"}]}, {"steps": "x"}, {"steps": [], "more": 1}):
        told = await server.refused("POST", f"/inbox/{asked['id']}", {"verb": "insert", "value": value}, status=422)
        assert told["code"] == "decision.value"
    (server.workspace / "some.txt").write_text("here")
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": "retry", "value": {"path": "some.txt"}})
    assert (await server.ended(run["runId"]))["steps"][0]["result"]["value"] == "here"


async def test_a_reference_may_stand_for_any_argument(server: Any) -> None:
    first = server.step("name", "wait", {"seconds": 0})
    failing = server.step("a", "wait", {"seconds": "$name.missing"}, onFailure="ask", dependsOn=["name"])
    run = await server.start(first, failing)
    asked = await server.asked(runId=run["runId"])
    answer = {"verb": "retry", "value": {"args": {"seconds": "$nobody"}}}
    told = await server.refused("POST", f"/inbox/{asked['id']}", answer, status=422)
    assert "nobody" in told["detail"]
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": "retry", "value": {"args": {"seconds": "$name"}}})
    again = await server.call("GET", "/inbox")
    assert [item["kind"] for item in again] in ([], ["failure"])  # what the reference became is looked at when it runs


async def test_a_question_needs_an_answer(server: Any) -> None:
    run = await server.start(server.step("ask", "ask_person", {"question": "Which one?"}))
    asked = await server.asked(runId=run["runId"])
    assert asked["values"].keys() == {"answer"}
    told = await server.refused("POST", f"/inbox/{asked['id']}", {"verb": "answer"}, status=422)
    assert "needs a `value`" in told["detail"]
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": "answer", "value": "the left"})
    assert (await server.ended(run["runId"]))["steps"][0]["result"]["value"] == "the left"


async def test_a_held_task_names_the_steps_and_places_it_takes(fleet_server: Any) -> None:
    async with fleet_server() as server:
        await server.call("POST", "/robots/RB-01/faults", {"fault": "status5"})
        await server.call("PATCH", "/streams/stream_pick_drop", {"enabled": True})
        asked = await server.asked(scene="line")
        assert asked["values"]["done-by-hand"]["properties"]["step"]["enum"] == ["pick", "drop"]
        answer = {"verb": "done-by-hand", "value": "both"}
        told = await server.refused("POST", f"/inbox/{asked['id']}", answer, status=422)
        assert "must be one of drop, pick, not 'both'" in told["detail"]
        answer = {"verb": "done-by-hand", "value": {"step": "pick", "by": "me"}}
        await server.refused("POST", f"/inbox/{asked['id']}", answer, status=422)
        done = await server.call("POST", f"/inbox/{asked['id']}", {"verb": "done-by-hand", "value": "pick"})
        assert done["answer"]["value"] == {"step": "pick"}


def test_a_schema_in_words() -> None:
    schema = {"description": "Where to.", "properties": {"targetId": {"enum": ["A1", "A2"]}}}
    assert in_words(schema) == "Where to. `targetId` is one of: A1, A2."
    assert in_words({"description": "Else.", "properties": {"args": {"properties": {"path": {}}}}}) == (
        "Else. `args` has: path."
    )


async def test_what_was_decided_is_listed_with_who_when_and_why(server: Any) -> None:
    run = await server.start(server.step("ask", "ask_person", {"question": "Which one?"}))
    asked = await server.asked(runId=run["runId"])
    before = await server.call("GET", "/inbox?open=false")
    assert asked["id"] not in [row["id"] for row in before]
    await server.call("POST", f"/inbox/{asked['id']}", {"verb": "answer", "value": "left", "note": "It is nearer."})
    newest = await server.call("GET", "/inbox?open=false&limit=1000")
    [row] = [row for row in newest if row["id"] == asked["id"]]
    assert row["answer"].items() >= {"verb": "answer", "value": "left", "note": "It is nearer."}.items()
    assert row["answer"]["by"]
    assert row["answer"]["at"]
    assert len(await server.call("GET", "/inbox?open=false&limit=1")) == 1
    assert await server.call("GET", "/inbox") == []
