"""Plans, contracts §5: pause, resume, cancel, retry, skip, run again, and adopting another version."""

from typing import Any

import pytest

from beforehand.engine.inputs import CancelAsked, PauseAsked, RerunAsked, ResumeAsked, RetryAsked, SkipAsked
from beforehand.engine.steering import adoption_problems
from beforehand.model.errors import BadInputError
from beforehand.model.plan import RunStatus
from beforehand.testing import PlanScenario, ScriptedTool, echoes, fails, gives, hangs, takes


def step(id: str, tool: str = "echo", *, after: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "dependsOn": after or [], **more}


def scenario(*more: ScriptedTool) -> PlanScenario:
    return PlanScenario(
        ScriptedTool("echo", echoes()),
        ScriptedTool("slow", takes(10, "slow")),
        ScriptedTool("fail", fails("No good.")),
        ScriptedTool("hang", hangs()),
        ScriptedTool("once", fails("Not yet."), gives("ok")),
        *more,
    )


CHAIN = {"steps": [step("a", "slow"), step("b", after=["a"])]}


# -- pause, resume, cancel -----------------------------------------------------------------------------------------


async def test_paused_nothing_new_starts_and_what_runs_goes_on() -> None:
    run = await scenario().begin(CHAIN)
    await run.send(PauseAsked)
    await run.play(60)
    assert run.run.status is RunStatus.PAUSED
    assert run.statuses == {"a": "completed", "b": "pending"}
    await run.send(ResumeAsked)
    assert await run.play() is RunStatus.COMPLETED


async def test_paused_an_answer_is_taken_and_acts_after_the_resume() -> None:
    run = await scenario().begin({"steps": [step("a", requiresApproval=True)]})
    await run.send(PauseAsked)
    await run.answer("approve")
    await run.play(5)
    assert (run.status("a"), run.run.status) == ("ready", RunStatus.PAUSED)
    await run.send(ResumeAsked)
    assert await run.play() is RunStatus.COMPLETED


async def test_pause_survives_a_crash() -> None:
    run = await scenario().begin(CHAIN)
    await run.send(PauseAsked)
    await run.crash()
    await run.recover()
    await run.play(60)
    assert (run.run.status, run.status("b")) == (RunStatus.PAUSED, "pending")


async def test_a_run_that_ends_while_paused_is_not_paused_when_it_is_opened_again() -> None:
    run = await scenario().begin({"steps": [step("w", "slow"), step("a", "once")]})
    await run.send(PauseAsked)
    assert await run.play() is RunStatus.FAILED
    await run.send(RetryAsked, "a")
    assert await run.play() is RunStatus.COMPLETED


async def test_cancel_stops_what_runs_and_cancels_what_has_not_begun() -> None:
    run = await scenario().begin(
        {"steps": [step("a", "hang"), step("b", after=["a"]), step("c", requiresApproval=True), step("d")]}
    )
    await run.send(CancelAsked)
    assert await run.play() is RunStatus.CANCELLED
    assert run.statuses == {"a": "cancelled", "b": "cancelled", "c": "cancelled", "d": "completed"}
    assert run.tools["hang"].stopped == ["r1/a/1"]
    assert not run.run.decisions


async def test_cancel_that_comes_with_the_start_is_not_waited_for() -> None:
    run = scenario()
    await run.begin({"steps": [step("a", "slow"), step("b", "hang", after=["a"])]})
    await run.clock.jump()
    await run.send(CancelAsked)
    assert await run.play() is RunStatus.CANCELLED
    assert run.now - run.run.started_at == 10_000


async def test_a_cancelled_run_goes_on_where_it_was_when_a_step_is_retried() -> None:
    run = await scenario(ScriptedTool("first", hangs(), gives(1))).begin(
        {
            "steps": [
                step("a", "first"),
                step("b", after=["a"]),
                step("each", after=["b"], forEach=[1, 2], args={"value": "$item"}),
            ]
        }
    )
    await run.send(CancelAsked)
    await run.play()
    await run.send(RetryAsked, "a")
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("each") == [1, 2]


@pytest.mark.parametrize("word", [PauseAsked, ResumeAsked, CancelAsked])
async def test_a_run_that_has_ended_is_not_paused_resumed_or_cancelled(word: Any) -> None:
    run = await scenario().begin({"steps": [step("a")]})
    await run.play()
    verdict = await run.send(word)
    assert [reason.code for reason in verdict.reasons] == ["run.ended"]
    assert not verdict.events


# -- one step ------------------------------------------------------------------------------------------------------


async def test_retry_of_a_failed_step_unblocks_what_waits_for_it_and_opens_the_run_again() -> None:
    run = await scenario().begin(
        {"steps": [step("a", "once"), step("b", args={"value": "$a"}), step("c", after=["b"])]}
    )
    assert await run.play() is RunStatus.FAILED
    verdict = await run.send(RetryAsked, "a")
    assert not verdict.reasons
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("b") == "ok"
    assert [event.data["status"] for event in run.events("runFinished")] == ["failed", "completed"]
    assert "finishedAt" not in run.events("runUpdated")[-1].data


async def test_retry_leaves_blocked_what_something_else_still_holds_up() -> None:
    run = await scenario().begin({"steps": [step("a", "once"), step("z", "fail"), step("b", after=["a", "z"])]})
    await run.play()
    await run.send(RetryAsked, "a")
    assert await run.play() is RunStatus.FAILED
    assert run.statuses == {"a": "completed", "z": "failed", "b": "blocked"}


@pytest.mark.parametrize(
    ("name", "code"), [("ok", "step.not_failed"), ("b", "step.not_failed"), ("nobody", "step.not_failed")]
)
async def test_retry_of_anything_else_is_refused(name: str, code: str) -> None:
    run = await scenario().begin({"steps": [step("ok"), step("a", "fail"), step("b", after=["a"])]})
    await run.play()
    verdict = await run.send(RetryAsked, name)
    assert [reason.code for reason in verdict.reasons] == [code]
    assert not verdict.events


async def test_retry_of_one_item_brings_its_step_and_what_follows_back() -> None:
    run = await scenario(ScriptedTool("do", gives(1), fails("Stuck."), gives(2))).begin(
        {"steps": [step("each", "do", forEach=[1, 2]), step("end", args={"value": "$each"})]}
    )
    assert await run.play() is RunStatus.FAILED
    assert run.statuses["end"] == "blocked"
    refused = await run.send(RetryAsked, "each")
    assert [reason.code for reason in refused.reasons] == ["step.has_items"]
    await run.send(RetryAsked, "each[1]")
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("end") == [1, 2]


async def test_skip_of_a_failed_step_lets_the_rest_of_an_ended_run_go_on() -> None:
    run = await scenario().begin({"steps": [step("a", "fail"), step("b", after=["a"])]})
    await run.play()
    await run.send(SkipAsked, "a")
    assert await run.play() is RunStatus.COMPLETED
    assert run.statuses == {"a": "skipped", "b": "completed"}


async def test_skip_of_a_failed_item_completes_its_step() -> None:
    run = await scenario(ScriptedTool("do", gives(1), fails("Stuck."))).begin(
        {"steps": [step("each", "do", forEach=[1, 2]), step("end", args={"value": "$each"})]}
    )
    await run.play()
    await run.send(SkipAsked, "each[1]")
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("end") == [1, None]


async def test_a_repeated_step_that_is_skipped_as_a_whole_counts_as_skipped() -> None:
    run = await scenario(ScriptedTool("do", gives(1), fails("Stuck."))).begin(
        {"steps": [step("each", "do", forEach=[1, 2]), step("end", args={"value": "$each"})]}
    )
    assert await run.play() is RunStatus.FAILED
    await run.send(SkipAsked, "each")
    assert await run.play() is RunStatus.COMPLETED
    summary = run.events("runFinished")[-1].data["summary"]
    assert {name: count for name, count in summary.items() if count} == {"completed": 2, "skipped": 1}


async def test_skip_of_a_running_step_stops_it() -> None:
    run = await scenario().begin({"steps": [step("a", "hang"), step("b", after=["a"])]})
    await run.send(SkipAsked, "a")
    assert await run.play() is RunStatus.COMPLETED
    assert run.statuses == {"a": "skipped", "b": "completed"}
    assert run.tools["hang"].stopped == ["r1/a/1"]


async def test_what_stands_behind_a_skipped_step_still_waits_for_what_that_waited_for() -> None:
    run = await scenario().begin({"steps": [step("w", "slow"), step("a", after=["w"]), step("b", after=["a"])]})
    await run.send(SkipAsked, "a")
    assert run.statuses == {"w": "running", "a": "skipped", "b": "pending"}
    await run.play()
    assert run.statuses == {"w": "completed", "a": "skipped", "b": "completed"}


@pytest.mark.parametrize("skipped_in", ["review", "run"])
async def test_a_skipped_step_does_not_hide_a_failure_behind_which_it_stood(skipped_in: str) -> None:
    chain = [
        ("fetch", "slow", []),
        ("build", "once", ["fetch"]),
        ("test", "echo", ["build"]),
        ("deploy", "echo", ["test"]),
    ]
    steps = [step(name, tool, after=after) for name, tool, after in chain]
    if skipped_in == "review":
        steps[2]["status"] = "skipped"
    run = await scenario().begin({"steps": steps})
    if skipped_in == "run":
        await run.send(SkipAsked, "test")
    await run.play()
    assert run.statuses == {"fetch": "completed", "build": "failed", "test": "skipped", "deploy": "blocked"}
    assert run.run.status is RunStatus.FAILED
    await run.send(RetryAsked, "build")
    await run.play()
    assert run.statuses == {"fetch": "completed", "build": "completed", "test": "skipped", "deploy": "completed"}


@pytest.mark.parametrize("name", ["ok", "out", "nobody"])
async def test_skip_of_what_is_done_is_refused(name: str) -> None:
    run = await scenario().begin({"steps": [step("ok"), step("out", status="skipped"), step("w", "slow")]})
    verdict = await run.send(SkipAsked, name)
    assert [reason.code for reason in verdict.reasons] == ["step.done"]


async def test_run_again_from_a_step_runs_it_and_all_behind_it_and_nothing_else() -> None:
    counts = ScriptedTool("count", *(gives(n) for n in range(1, 9)))
    run = await scenario(counts).begin(
        {"steps": [step("a", "count"), step("b", args={"value": "$a"}), step("c", after=["b"]), step("other")]}
    )
    await run.play()
    await run.send(RerunAsked, "b")
    assert await run.play() is RunStatus.COMPLETED
    attempts = {name: state.attempt for name, state in run.run.steps.items()}
    assert attempts == {"a": 1, "b": 2, "c": 2, "other": 1}
    await run.send(RerunAsked, "a")
    await run.play()
    assert run.value("b") == 2


async def test_run_again_leaves_out_what_a_person_left_out_and_asks_conditions_anew() -> None:
    flag = ScriptedTool("flag", gives(0), gives(1))
    run = await scenario(flag).begin(
        {
            "steps": [
                step("f", "flag"),
                step("out", status="skipped", after=["f"]),
                step("cond", when="$f == 1"),
                step("end", after=["cond"]),
            ]
        }
    )
    await run.play()
    assert run.statuses == {"f": "completed", "out": "skipped", "cond": "skipped", "end": "completed"}
    await run.send(RerunAsked, "f")
    await run.play()
    assert run.statuses == {"f": "completed", "out": "skipped", "cond": "completed", "end": "completed"}


async def test_run_again_of_a_for_each_expands_it_anew() -> None:
    lists = ScriptedTool("list", gives([1, 2]), gives([7]))
    run = await scenario(lists).begin(
        {"steps": [step("src", "list"), step("each", forEach="$src", args={"value": "$item"})]}
    )
    await run.play()
    await run.send(RerunAsked, "src")
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("each") == [7]
    assert list(run.run.steps) == ["src", "each", "each[0]"]


async def test_run_again_of_what_is_under_way_or_held_up_is_refused() -> None:
    run = await scenario().begin(
        {"steps": [step("a"), step("b", "slow", after=["a"]), step("x", "fail"), step("y", after=["x"])]}
    )
    assert [r.code for r in (await run.send(RerunAsked, "a")).reasons] == ["step.running"]
    assert [r.code for r in (await run.send(RerunAsked, "y")).reasons] == ["step.blocked"]
    assert [r.code for r in (await run.send(RerunAsked, "nobody")).reasons] == ["step.unknown"]


# -- another version -----------------------------------------------------------------------------------------------


async def test_steps_not_yet_started_may_change_while_the_plan_runs() -> None:
    run = await scenario().begin({"steps": [step("a", "slow"), step("b", after=["a"], args={"value": 1})]})
    verdict = await run.adopt(
        [
            {"op": "edit", "id": "b", "set": {"args": {"value": 2}}},
            {"op": "add", "step": step("c", args={"value": "$b"})},
        ]
    )
    assert not verdict.reasons
    assert await run.play() is RunStatus.COMPLETED
    assert (run.value("b"), run.value("c")) == (2, 2)
    assert run.events("runFinished")[0].data["version"] == 2


async def test_started_steps_may_not_change_and_every_one_is_named() -> None:
    run = await scenario().begin({"steps": [step("a", "slow"), step("b"), step("c", after=["a"])]})
    with pytest.raises(BadInputError):
        await run.adopt([{"op": "edit", "id": "a", "set": {"tool": "nonsense"}}])
    from beforehand.engine.edit import edited

    plan = edited(
        run.plans[1],
        [{"op": "edit", "id": "a", "set": {"args": {"x": 1}}}, {"op": "remove", "id": "b"}],
        run.catalog,
        created_at="",
    )
    assert [problem.says for problem in adoption_problems(run.run, plan)] == [
        "a has started and cannot change.",
        "b has started and cannot be removed.",
    ]
    assert not adoption_problems(run.run, run.plans[1])


async def test_an_open_approval_of_a_changed_step_is_withdrawn_and_asked_anew() -> None:
    run = await scenario().begin({"steps": [step("a", args={"value": 1}, requiresApproval=True)]})
    before = run.decision()
    await run.adopt([{"op": "edit", "id": "a", "set": {"args": {"value": 2}}}])
    after = run.decision()
    assert before.id != after.id
    assert after.evidence["args"] == {"value": 2}


async def test_a_version_that_mends_what_blocked_a_step_lets_it_go_on_and_says_so_in_events() -> None:
    run = await scenario().begin({"steps": [step("w", "slow"), step("bad", "fail"), step("b", after=["bad"])]})
    assert run.status("b") == "blocked"
    await run.adopt([{"op": "edit", "id": "b", "set": {"dependsOn": []}}])
    assert run.moments("b") == [("blocked", 0.0), ("pending", 0.0), ("running", 0.0), ("completed", 0.0)]


async def test_a_step_skipped_in_the_new_version_is_skipped() -> None:
    run = await scenario().begin({"steps": [step("a", "slow"), step("b", after=["a"]), step("c", after=["b"])]})
    await run.adopt([{"op": "skip", "id": "b"}])
    assert run.status("b") == "skipped"
    assert run.status("c") == "pending", "it still comes after a"
    await run.play()
    assert run.status("c") == "completed"
    assert await run.play() is RunStatus.COMPLETED


async def test_a_new_step_behind_a_failed_one_is_blocked() -> None:
    run = await scenario().begin({"steps": [step("w", "slow"), step("bad", "fail")]})
    await run.adopt([{"op": "add", "step": step("n", after=["bad"])}])
    assert run.status("n") == "blocked"
    assert await run.play() is RunStatus.FAILED


async def test_a_stopped_run_goes_on_with_an_adopted_version() -> None:
    run = await scenario().begin(
        {"steps": [step("w", "slow"), step("bad", "fail", critical=True), step("c", after=["w"])]}
    )
    assert run.status("c") == "cancelled"
    await run.adopt([{"op": "add", "step": step("n")}])
    assert await run.play() is RunStatus.FAILED
    assert run.statuses == {"w": "completed", "bad": "failed", "c": "completed", "n": "completed"}


async def test_a_skipped_step_cannot_come_back_once_others_have_gone_on_without_it() -> None:
    run = await scenario().begin({"steps": [step("a", status="skipped"), step("b", "slow", after=["a"])]})
    verdict = await run.adopt([{"op": "unskip", "id": "a"}])
    assert [reason.says for reason in verdict.reasons] == [
        "a was skipped and what depends on it has gone on; it cannot change any more."
    ]
    assert await run.play() is RunStatus.COMPLETED


async def test_a_version_that_skips_a_step_waiting_for_a_person_withdraws_the_question() -> None:
    run = await scenario().begin({"steps": [step("q", requiresApproval=True), step("z", after=["q"])]})
    await run.play()
    assert run.status("q") == "ready"
    await run.adopt([{"op": "skip", "id": "q"}])
    await run.play()
    assert run.statuses == {"q": "skipped", "z": "completed"}
    assert run.run.decisions == {}


async def test_a_version_may_not_skip_what_has_started() -> None:
    run = await scenario().begin({"steps": [step("r", "slow"), step("z", after=["r"])]})
    verdict = await run.adopt([{"op": "skip", "id": "r"}])
    assert [reason.says for reason in verdict.reasons] == ["r has started; skip it in the run instead."]


async def test_what_comes_too_late_is_told_how_the_run_ended() -> None:
    ends = {"deny": "The run has ended already.", "approve": "The run has completed already."}
    for verb, says in ends.items():
        run = await scenario().begin({"steps": [step("a", requiresApproval=True)]})
        await run.answer(verb)
        await run.play()
        assert [reason.says for reason in (await run.send(PauseAsked)).reasons] == [says]
