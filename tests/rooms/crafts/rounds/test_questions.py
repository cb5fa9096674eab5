"""Questions in a runtime: answered by rules, clarified by people, taken up after a crash, and never done twice."""

import asyncio
import json
from typing import Any

import pytest

from beforehand.app.crafts import load_crafts
from beforehand.app.inbox import answer_decision, list_decisions
from beforehand.app.runtime import open_runtime
from beforehand.crafts.rounds.core.inputs import RunWorker
from beforehand.crafts.rounds.core.question_words import Words
from beforehand.crafts.rounds.core.replay import play, result_of
from beforehand.crafts.rounds.core.replay_file import read_replay
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.questions import Question, Questions
from beforehand.crafts.rounds.workers import Crew
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError
from beforehand.testing import MemoryStore

TASKS = [("hall-t1", "completed", "RB-1"), ("hall-t2", "failed", "RB-1"), ("hall-t3", "completed", "RB-2")]


async def history(runtime: Any) -> None:
    """Three tasks of a fleet, as the log tells them."""
    for task_id, status, robot in TASKS:
        task = {
            "taskId": task_id,
            "streamId": "out",
            "sourceId": "PICK_01",
            "targetId": "DROP_01",
            "robotId": robot,
            "step": "drop",
            "phase": "driving",
        }
        for kind, now in (("taskCreated", "active"), ("taskUpdated", status)):
            at = {"createdTsMs": runtime.now() - 60_000, "sentTsMs": runtime.now() - 50_000}
            more = at | ({"endedTsMs": runtime.now()} if now != "active" else {})
            more |= {"error": "The fork is blocked."} if now == "failed" else {}
            await runtime.log(
                kind, {**task, "status": now, **more}, owner="fleet:hall", scene="hall", taskId=task_id, robotId=robot
            )


async def until(homestead: Any, kind: str, /, **data: Any) -> Any:
    """Wait for an event that comes when a search, which works beside the virtual clock, has ended."""
    async with asyncio.timeout(30):
        while True:
            for event in homestead.events(kind):
                if all(event.data.get(name) == value for name, value in data.items()):
                    return event
            await asyncio.sleep(0.01)


async def answered(runtime: Any, text: str, **more: Any) -> dict[str, Any]:
    questions = runtime.service(Questions)
    question = await questions.ask(Question(text, **more))
    return await questions.until_over(question.question_id)


def workers_of(question: dict[str, Any]) -> list[str]:
    return [sub_goal["worker"] for sub_goal in question["sub_goals"]]


async def test_a_question_about_the_past_goes_through_the_spec_s_workers(homestead: Any) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        question = await answered(runtime, "how many tasks failed today?")
        assert question["status"] == "done", question
        assert question["answer"].startswith("1 ")
        assert workers_of(question) == ["metadata_lookup", "es_query_gen", "es_query_exec", "show_results"]
        made = next(each for each in question["sub_goals"] if each["worker"] == "es_query_gen")
        ran = next(each for each in question["sub_goals"] if each["worker"] == "es_query_exec")
        assert made["round"] < ran["round"], "the query is looked at before it runs"
        assert ran["params"]["bundles_with_sub_goal"] == made["id"]
        shown = question["sub_goals"][-1]["outputs"]["formatted_results"]
        assert shown["query"]["index"] in ("tasks", "handlings")


async def test_follow_ups_and_pages_go_on_from_the_question_before(homestead: Any) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        first = await answered(runtime, "list the last 2 tasks")
        assert first["status"] == "done", first
        second = await answered(runtime, "next page", follows=first["questionId"])
        assert second["status"] == "done", second
        assert "page_query" in workers_of(second)
        assert second["sub_goals"][-1]["outputs"]["formatted_results"]["rows"]
        third = await answered(runtime, "next page", follows=second["questionId"])
        assert third["status"] == "failed"
        assert "no next page" in third["reason"]
        one = await answered(runtime, "list the last 1 tasks")
        for _ in range(2):
            one = await answered(runtime, "next page", follows=one["questionId"])
        back = await answered(runtime, "previous page", follows=one["questionId"])
        assert back["answer"].startswith("3 tasks; these are 2 to 2.")
        count = await answered(runtime, "how many tasks today?")
        per_robot = await answered(runtime, "and per robot?", follows=count["questionId"])
        assert per_robot["status"] == "done", per_robot
        assert "RB-1" in per_robot["answer"]


async def test_a_context_that_makes_no_sense_is_told_in_a_sentence(homestead: Any) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        questions = runtime.service(Questions)
        asked = Question("how many tasks?", context={"prior_analysis": {"index": "tasks", "act": "list"}})
        told = await questions.until_over((await questions.ask(asked)).question_id)
        assert told["status"] == "failed"
        assert "not written like this: noun, text, time." in told["reason"]


async def test_questions_about_beforehand_go_to_the_help_desk(homestead: Any) -> None:
    async with homestead.open() as runtime:
        question = await answered(runtime, "How do I add a token?")
        assert workers_of(question) == ["common_helpdesk"]
        assert "beforehand token add" in question["answer"]


@pytest.mark.parametrize("text", ["how many unicorns?", "tell me a story", "delete all tasks", "???"])
async def test_what_is_not_understood_is_refused_and_not_guessed(homestead: Any, text: str) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        question = await answered(runtime, text)
        assert question["status"] == "failed"
        assert question["reason"]
        assert "es_query_exec" not in workers_of(question)


async def test_a_pasted_query_runs_as_it_is(homestead: Any) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        question = await answered(runtime, '{"index": "tasks", "query": {"term": {"status": "completed"}}} just run it')
        assert question["status"] == "done", question
        assert question["answer"].startswith("2 found in tasks.")
        wrong = await answered(runtime, '{"index": "tasks", "query": {"term": {"statu": "x"}}} just run it')
        assert wrong["status"] == "failed"
        assert "status" in wrong["reason"], "the nearest name is told"


async def test_after_a_crash_what_was_finished_is_not_done_again(homestead: Any) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        questions = runtime.service(Questions)
        question = await questions.ask(Question("how many tasks failed today?"))
        delivered = await until(homestead, "subGoalUpdated", worker="metadata_lookup", status="success")
        await questions.until_over(question.question_id)
    await homestead.lose_after(delivered.seq)
    async with homestead.open() as runtime:
        questions = runtime.service(Questions)
        told = await questions.until_over(question.question_id)
        assert told["status"] == "done", told
        runs = [event for event in homestead.events("subGoalUpdated") if event.data["worker"] == "metadata_lookup"]
        assert [event.data["status"] for event in runs].count("running") == 1


async def test_every_question_is_a_replay_file_that_gives_the_same(homestead: Any) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        question = await answered(runtime, "how many tasks failed today?")
        document = await runtime.service(Questions).replay_file(question["questionId"])
        again = result_of(play(read_replay(document)))
        assert again["status"] == question["status"]
        assert again["answer"] == question["answer"]


async def test_what_is_over_is_over(homestead: Any) -> None:
    async with homestead.open() as runtime:
        questions = runtime.service(Questions)
        question = await answered(runtime, "how do I add a token?")
        with pytest.raises(ConflictError, match="is over"):
            await questions.cancel(question["questionId"])
        with pytest.raises(NotFoundError):
            await questions.show("nobody")
        assert (await answered(runtime, "   "))["status"] == "failed"


async def test_an_unclear_question_is_asked_back_in_the_inbox(homestead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        questions = runtime.service(Questions)
        working = questions.crew.run

        async def unclear_at_first(command: RunWorker, state: Any) -> Any:
            if command.worker == "metadata_lookup" and "clarification" not in command.inputs:
                return {"analysis_result": {}, "needs_clarification": True, "unclear": "Which tasks?"}
            return await working(command, state)

        monkeypatch.setattr(type(questions.crew), "run", lambda self, command, state: unclear_at_first(command, state))
        question = await questions.ask(Question("how many tasks"))
        await until(homestead, "decisionOpened", kind="question")
        [decision] = await list_decisions(runtime)
        assert decision["about"]["questionId"] == question.question_id
        assert not (await questions.show(question.question_id))["warnings"], "it is asked once"
        assert decision["title"] == "Which tasks?", "what has to be answered, not what the worker is for"
        await answer_decision(runtime, decision["id"], "answer", value="failed today")
        told = await questions.until_over(question.question_id)
        assert told["status"] == "done", told
        assert told["answer"].startswith("1 ")


def test_a_name_that_is_empty_is_no_name() -> None:
    words = Words("how many tasks")
    assert words.take_exactly(["", "§", " "], "robots?") is None


async def test_no_question_moves_a_machine(homestead: Any) -> None:
    async with homestead.open() as runtime:
        tools = {worker.name for worker in await Crew(runtime).workers() if worker.name.startswith("tool:")}
        known = {spec.name for spec in runtime.catalog.specs()}
    assert {"fleet.park", "fleet.charge", "cell.move"} <= known
    assert "tool:read_file" in tools
    assert not [name for name in tools if name.startswith(("tool:fleet.", "tool:cell.", "tool:agent."))]


@pytest.mark.parametrize(("params", "says"), [({}, "args needs 'path'"), ({"path": 5}, "args.path must be string")])
async def test_a_tool_is_not_called_with_arguments_that_do_not_fit(
    homestead: Any, params: dict[str, Any], says: str
) -> None:
    async with homestead.open() as runtime:
        command = RunWorker(1, "tool:read_file", "read it", {}, params, "1:1")
        with pytest.raises(BadInputError, match=f"read_file cannot be called like this: {says}"):
            await Crew(runtime).run(command, QuestionState("q1", "read it", {}))


@pytest.mark.parametrize(
    "text",
    [
        '{"index": "tasks", "query": {"term": {"status": "failed"}}}',
        'GET tasks/_search\n```json\n{"query": {"term": {"status": "failed"}}}\n```',
        '{"index": "tasks", "body": {"query": {"term": {"status": "failed"}}}}',
        '{"index": "tasks", "term": {"status": "failed"}}',
        'Whatever this finds: {"index": "tasks", "query": {"term": {"status": "failed"}}}',
    ],
)
async def test_a_pasted_query_is_run_as_it_is(homestead: Any, text: str) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        first = await answered(runtime, "how many tasks failed today?")
        for follows in (None, first["questionId"]):
            question = await answered(runtime, text, follows=follows)
            assert workers_of(question) == ["es_query_exec", "show_results"], question
            assert question["answer"].startswith("1 found in tasks.")
            assert "hall-t2" in question["answer"]


async def test_a_pasted_query_shows_what_it_adds_up(homestead: Any) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        took = {"d": {"sum": {"field": "durationS"}}}
        for aggs, columns, last in (
            (took, ["d"], [180]),
            ({"by": {"terms": {"field": "robotId"}, "aggs": took}}, ["by", "count", "d"], ["RB-2", 1, 60]),
            ({"two": {"filters": {"filters": {"all": {"match_all": {}}}}}}, ["two", "count"], ["all", 3]),
        ):
            asked = await answered(runtime, json.dumps({"index": "tasks", "size": 0, "aggs": aggs}))
            shown = asked["sub_goals"][-1]["outputs"]["formatted_results"]
            assert (shown["columns"], shown["rows"][-1]) == (columns, last)


async def test_a_question_that_nobody_works_on_goes_on_with_its_answer(homestead: Any) -> None:
    async with homestead.open() as runtime:
        await history(runtime)
        asked = await runtime.service(Questions).ask(Question("which robot failed most"))
        await until(homestead, "decisionOpened")
    store = MemoryStore(load_crafts().projection(), shared=homestead.log)
    beside = open_runtime(homestead.settings, clock=homestead.clock, store=store, with_servers=False, serves=False)
    async with beside as runtime:
        (decision,) = await list_decisions(runtime)
        await answer_decision(runtime, decision["id"], "answer", value="tasks", by="anna", carry_on=False)
        question = await runtime.service(Questions).show(asked.question_id)
        assert (question["status"], question["answer"].split(".")[0]) == ("done", "RB-1: 1")
        with pytest.raises(ConflictError):
            await answer_decision(runtime, decision["id"], "answer", value="tasks")
