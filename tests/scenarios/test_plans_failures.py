"""Plans, contracts §5: what a failure means, retries, timeouts, and a person who decides."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from beforehand.engine.inputs import Adopted, Answered, RetryAsked, SkipAsked
from beforehand.model.plan import RunStatus
from beforehand.ports.tool import ProbeAnswer
from beforehand.testing import PlanScenario, ScriptedTool, breaks, echoes, fails, gives, hangs, takes


def step(id: str, tool: str = "echo", *, after: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "dependsOn": after or [], **more}


def scenario(*more: ScriptedTool) -> PlanScenario:
    return PlanScenario(
        ScriptedTool("echo", echoes()),
        ScriptedTool("slow", takes(10, "slow")),
        ScriptedTool("fail", fails("No good.")),
        ScriptedTool("ask_person", asks_person=True),
        *more,
    )


busy = fails("Busy.", transient=True)


async def test_transient_faults_are_retried_after_one_and_two_seconds_and_then_fail() -> None:
    run = await scenario(ScriptedTool("flaky", busy)).begin({"steps": [step("a", "flaky")]})
    assert await run.play() is RunStatus.FAILED
    assert [at for status, at in run.moments("a") if status == "running"] == [0.0, 1.0, 3.0]
    assert run.error("a") == "Busy."
    waiting = run.events("stepUpdated", "a")[1].data
    assert (waiting["status"], waiting["reason"]["code"]) == ("ready", "step.retrying")


async def test_a_retry_that_works_completes_the_step() -> None:
    run = await scenario(ScriptedTool("flaky", busy, gives(1))).begin({"steps": [step("a", "flaky")]})
    assert await run.play() is RunStatus.COMPLETED
    assert [key for key, _ in run.tools["flaky"].calls] == ["r1/a/1", "r1/a/2"]


async def test_retries_and_their_delay_are_the_steps_own() -> None:
    run = await scenario(ScriptedTool("flaky", busy)).begin({"steps": [step("a", "flaky", retries=1, retryDelayS=5)]})
    await run.play()
    assert [at for status, at in run.moments("a") if status == "running"] == [0.0, 5.0]


async def test_only_transient_faults_are_retried() -> None:
    run = await scenario().begin({"steps": [step("a", "fail")]})
    await run.play()
    assert len(run.tools["fail"].calls) == 1


@pytest.mark.parametrize(("untouched", "calls"), [(False, 1), (True, 3)])
async def test_something_physical_is_retried_only_when_nothing_was_touched(untouched: bool, calls: int) -> None:
    arm = ScriptedTool("arm", fails("Lost it.", transient=True, untouched=untouched), effect="physical")
    run = await scenario(arm).begin({"steps": [step("a", "arm")]})
    assert await run.play() is RunStatus.FAILED
    assert len(arm.calls) == calls


async def test_a_bug_in_a_tool_is_that_steps_failure() -> None:
    run = await scenario(ScriptedTool("odd", breaks(KeyError("x")))).begin({"steps": [step("a", "odd"), step("b")]})
    assert await run.play() is RunStatus.FAILED
    assert run.statuses == {"a": "failed", "b": "completed"}
    assert run.error("a") == "The tool odd broke: KeyError: 'x'"


@pytest.mark.parametrize("value", [object(), float("nan"), [float("inf")], "\udcff", {"a": {1, "x", object}}])
async def test_a_value_that_is_no_json_fails_the_step_and_not_the_run(value: Any) -> None:
    run = await scenario(ScriptedTool("odd", gives(value))).begin({"steps": [step("a", "odd"), step("b")]})
    assert await run.play() is RunStatus.FAILED
    assert run.error("a").startswith("The tool odd gave a value that is not JSON")


async def test_a_value_is_taken_as_json_so_that_a_replay_sees_the_same() -> None:
    run = await scenario(ScriptedTool("odd", gives({1: (2, 3)}))).begin(
        {"steps": [step("a", "odd"), step("b", args={"value": "$a.1[0]"})]}
    )
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("b") == 2


async def test_a_tool_that_changes_its_arguments_changes_nothing_else() -> None:
    class Greedy(ScriptedTool):
        async def run(self, args: Any, context: Any) -> Any:
            args["list"].append("mine")
            return len(args["list"])

    run = await scenario(Greedy("greedy")).begin(
        {
            "steps": [
                step("a", args={"value": [1]}),
                step("b", "greedy", args={"list": "$a"}),
                step("c", args={"value": "$a"}, after=["b"]),
            ]
        }
    )
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("c") == [1]


async def test_arguments_that_do_not_fit_once_filled_in_fail_the_step_before_its_tool_is_called() -> None:
    strict = ScriptedTool("strict", schema={"type": "object", "properties": {"n": {"type": "integer"}}})
    run = await scenario(strict).begin(
        {"steps": [step("a", args={"value": "text"}), step("b", "strict", args={"n": "$a"})]}
    )
    assert await run.play() is RunStatus.FAILED
    assert run.error("b") == "args.n must be integer, not string."
    assert not strict.calls


async def test_a_missing_part_fails_the_step_with_what_was_there() -> None:
    run = await scenario().begin({"steps": [step("a", args={"value": {"x": 1}}), step("b", args={"value": "$a.y"})]})
    await run.play()
    assert run.error("b") == "$a.y is not there: $a has no 'y'; it has x."


@pytest.mark.parametrize("how", [{"onFailure": "stop"}, {"critical": True}])
async def test_with_stop_nothing_new_starts_and_what_runs_may_finish(how: dict[str, Any]) -> None:
    run = await scenario().begin(
        {
            "steps": [
                step("long", "slow"),
                step("later", after=["long"]),
                step("bad", "fail", **how),
                step("behind", after=["bad"]),
            ]
        }
    )
    assert await run.play() is RunStatus.FAILED
    assert run.statuses == {"long": "completed", "later": "cancelled", "bad": "failed", "behind": "blocked"}
    assert run.events("runFinished")[0].data["stoppedBy"] == "bad"


async def test_with_stop_open_questions_fall_away() -> None:
    run = await scenario(ScriptedTool("later", takes(5), fails())).begin(
        {
            "steps": [
                step("a", "fail", onFailure="ask"),
                step("b", requiresApproval=True),
                step("w", "slow"),
                step("c", "fail", critical=True, after=["w"]),
            ]
        }
    )
    assert len(run.run.decisions) == 2
    assert await run.play() is RunStatus.FAILED
    assert not run.run.decisions
    assert run.statuses == {"a": "failed", "b": "cancelled", "w": "completed", "c": "failed"}


async def test_stop_reaches_what_is_behind_a_step_that_a_person_skipped() -> None:
    run = await scenario(ScriptedTool("soon", takes(1), fails())).begin(
        {
            "steps": [
                step("w", "slow"),
                step("bad", "fail", critical=True, after=["w"]),
                step("mid", after=["bad"]),
                step("end", after=["mid", "hold"]),
                step("hold", requiresApproval=True),
            ]
        }
    )
    await run.send(SkipAsked, "mid")
    assert await run.play() is RunStatus.FAILED
    assert run.statuses == {
        "w": "completed",
        "bad": "failed",
        "mid": "skipped",
        "end": "blocked",
        "hold": "cancelled",
    }


async def test_a_stopped_run_goes_on_when_the_step_is_retried() -> None:
    run = await scenario(ScriptedTool("once", fails(), gives(1))).begin(
        {
            "steps": [
                step("bad", "once", critical=True),
                step("behind", after=["bad"]),
                step("w", "slow"),
                step("other", after=["w"]),
            ]
        }
    )
    assert await run.play() is RunStatus.FAILED
    assert run.statuses["other"] == "cancelled"
    await run.send(RetryAsked, "bad")
    assert await run.play() is RunStatus.COMPLETED
    assert set(run.statuses.values()) == {"completed"}


# -- ask -----------------------------------------------------------------------------------------------------------


async def asked(*script: Any) -> PlanScenario:
    run = scenario(ScriptedTool("try", *script))
    await run.begin(
        {"steps": [step("a", "try", args={"n": 1}, onFailure="ask"), step("b", args={"value": "$a"}), step("c")]}
    )
    await run.play()
    return run


async def test_ask_opens_a_decision_while_the_rest_goes_on() -> None:
    run = await asked(fails("Jammed."))
    assert run.run.status is RunStatus.WAITING
    assert run.statuses == {"a": "failed", "b": "pending", "c": "completed"}
    decision = run.decision()
    assert (decision.kind, decision.verbs) == ("failure", ("retry", "skip", "insert", "abort"))
    assert decision.evidence == {"tool": "try", "args": {"n": 1}, "error": "Jammed."}
    assert set(decision.effects) == set(decision.verbs)


async def test_ask_retry_with_other_arguments() -> None:
    run = await asked(fails("Jammed."), gives("ok"))
    await run.answer("retry", {"args": {"n": 2}})
    assert await run.play() is RunStatus.COMPLETED
    assert [args for _, args in run.tools["try"].calls] == [{"n": 1}, {"n": 2}]
    assert run.value("b") == "ok"
    assert run.step("a").args == {"n": 2}


@pytest.mark.parametrize("value", [{"args": 5}, [1], "x"])
async def test_ask_retry_with_nonsense_is_refused_and_stays_open(value: Any) -> None:
    run = await asked(fails("Jammed."))
    verdict = await run.answer("retry", value)
    assert [reason.code for reason in verdict.reasons] == ["decision.value"]
    assert run.decision().is_open


async def test_ask_retry_with_a_reference_to_nothing_fails_again_with_a_sentence() -> None:
    run = await asked(fails("Jammed."), gives("ok"))
    await run.answer("retry", {"args": {"n": "$nobody", "m": "$b"}})
    await run.play()
    assert run.error("a") == "$nobody is not there: there is no such step."
    await run.answer("retry", {"args": {"m": "$b"}})
    await run.play()
    assert run.error("a") == "$b is not there: that step has not completed."
    assert run.decision().kind == "failure"


async def test_ask_skip_lets_what_depends_on_it_go_on() -> None:
    run = await asked(fails("Jammed."))
    await run.answer("skip")
    assert await run.play() is RunStatus.COMPLETED
    assert run.statuses == {"a": "skipped", "b": "completed", "c": "completed"}


async def test_ask_abort_ends_the_run_as_failed() -> None:
    run = await asked(fails("Jammed."))
    await run.answer("abort")
    assert await run.play() is RunStatus.FAILED
    assert run.statuses == {"a": "failed", "b": "blocked", "c": "completed"}


async def test_ask_insert_puts_steps_before_it_and_tries_again() -> None:
    run = await asked(fails("Jammed."), gives("ok"))
    asking = run.decision()
    verdict = await run.adopt(
        [
            {"op": "add", "step": step("clear", "slow"), "before": "a"},
            {"op": "edit", "id": "a", "set": {"dependsOn": ["clear"]}},
        ]
    )
    assert not verdict.reasons
    assert run.decision() == asking, "the decision still waits for its answer"
    await run.send(Answered, asking.id, "insert")
    assert run.statuses == {"clear": "running", "a": "pending", "b": "pending", "c": "completed"}
    assert await run.play() is RunStatus.COMPLETED
    assert run.moments("a")[-2:] == [("running", 10.0), ("completed", 10.0)]


async def test_ask_insert_before_one_item_holds_that_item_back() -> None:
    run = scenario(ScriptedTool("try", gives(1), fails("Jammed."), gives(3)))
    await run.begin({"steps": [step("a", "try", forEach=[1, 2], onFailure="ask")]})
    await run.play()
    asking = run.decision("a[1]")
    await run.adopt(
        [
            {"op": "add", "step": step("clear", "slow"), "before": "a"},
            {"op": "edit", "id": "a", "set": {"dependsOn": ["clear"]}},
        ]
    )
    await run.send(Answered, asking.id, "insert")
    assert run.status("a[1]") == "pending"
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("a") == [1, 3]


async def test_ask_insert_whose_new_step_fails_blocks_the_step() -> None:
    run = await asked(fails("Jammed."), gives("ok"))
    asking = run.decision()
    await run.adopt(
        [
            {"op": "add", "step": step("clear", "fail"), "before": "a"},
            {"op": "edit", "id": "a", "set": {"dependsOn": ["clear"]}},
        ]
    )
    await run.send(Answered, asking.id, "insert")
    assert await run.play() is RunStatus.FAILED
    assert run.statuses == {"clear": "failed", "a": "blocked", "b": "blocked", "c": "completed"}


async def test_a_failed_item_asks_for_itself_and_its_skipping_completes_the_step() -> None:
    run = scenario(ScriptedTool("try", gives(1), fails("Jammed."), gives(3)))
    await run.begin({"steps": [step("a", "try", forEach=[1, 2], onFailure="ask"), step("b", args={"value": "$a"})]})
    await run.play()
    await run.answer("skip", step="a[1]")
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("b") == [1, None]


# -- timeouts ------------------------------------------------------------------------------------------------------


async def test_a_step_that_takes_too_long_is_stopped_retried_and_fails() -> None:
    run = await scenario(ScriptedTool("stuck", hangs())).begin({"steps": [step("a", "stuck", timeoutS=5, retries=1)]})
    assert await run.play() is RunStatus.FAILED
    assert run.error("a") == "It was stopped after 5 s without an end."
    assert run.tools["stuck"].stopped == ["r1/a/1", "r1/a/2"]
    assert [at for status, at in run.moments("a") if status == "failed"] == [11.0]


async def test_how_long_a_silent_step_has_taken_is_told_below_a_second_too() -> None:
    arm = ScriptedTool("arm", hangs(), effect="physical")
    run = await scenario(arm).begin({"steps": [step("a", "arm", timeoutS=0.4)]})
    await run.play()
    assert run.decision().evidence["says"] == "It has not ended after 0.4 s; it should have taken less than 0.4 s."


async def test_silence_of_something_physical_stops_nothing_and_is_asked_about() -> None:
    arm = ScriptedTool("arm", hangs(), effect="physical")
    run = await scenario(arm).begin({"steps": [step("a", "arm", timeoutS=5)]})
    await run.play()
    assert (run.status("a"), arm.stopped) == ("running", [])
    asked = run.decision()
    assert (asked.kind, asked.verbs) == ("silent", ("wait", "stop", "abort"))
    await run.answer("wait")
    await run.play(4)
    assert not run.run.decisions
    await run.play()
    assert run.decision().kind == "silent"
    await run.answer("stop")
    await run.play()
    assert run.status("a") == "inDoubt"
    assert run.decision().verbs == ("happened", "run-again", "abort")


async def test_a_silent_step_that_ends_after_all_closes_the_question() -> None:
    arm = ScriptedTool("arm", takes(9), effect="physical")
    run = await scenario(arm).begin({"steps": [step("a", "arm", timeoutS=5)]})
    await run.play(6)
    assert run.decision().kind == "silent"
    assert await run.play() is RunStatus.COMPLETED
    assert run.events("decisionWithdrawn")[0].data["why"] == "It has ended."


async def test_time_in_which_we_stood_still_ourselves_is_not_the_machine_s_silence() -> None:
    """What it answered lies unread behind the timer that is due."""
    arm = ScriptedTool("arm", takes(6), effect="physical")
    run = await scenario(arm).begin({"steps": [step("a", "arm", timeoutS=5)]})
    run.clock.hold_up(8)
    assert await run.play() is RunStatus.COMPLETED
    assert run.events("decisionOpened") == []


async def test_a_machine_that_stays_silent_after_we_stood_still_is_asked_about() -> None:
    arm = ScriptedTool("arm", hangs(), effect="physical")
    run = await scenario(arm).begin({"steps": [step("a", "arm", timeoutS=5)]})
    run.clock.hold_up(3600)
    await run.play(9)
    assert not run.run.decisions
    await run.play(2)
    assert run.decision().kind == "silent"


async def test_a_step_on_a_machine_has_a_time_of_its_own() -> None:
    arm = ScriptedTool("arm", hangs(), effect="physical")
    arm.spec = replace(arm.spec, machine="arm:{n}", estimate_s=20.0, pace=10.0)
    run = await scenario(arm).begin({"steps": [step("a", "arm", args={"n": 1})]})
    await run.play(5.9)
    assert not run.run.decisions
    await run.play(0.2)
    assert run.decision().kind == "silent"


async def test_a_machine_that_does_not_even_take_the_stop_is_in_doubt_after_ten_seconds() -> None:
    class Deaf(ScriptedTool):
        async def stop(self, args: Any, context: Any) -> bool:
            await asyncio.Event().wait()
            return True

    run = await scenario(Deaf("arm", hangs(), effect="physical")).begin({"steps": [step("a", "arm")]})
    await run.send(SkipAsked, "a")
    await run.play(9)
    assert (run.status("a"), run.step("a").stopping) == ("running", "skip")
    await run.play(2)
    assert run.status("a") == "inDoubt"


async def test_silence_may_end_the_run() -> None:
    arm = ScriptedTool("arm", hangs(), effect="physical", probes=(ProbeAnswer("not_begun"),))
    run = await scenario(arm).begin({"steps": [step("a", "arm", timeoutS=5), step("b", "arm", after=["a"])]})
    await run.play()
    await run.answer("abort")
    assert await run.play() is RunStatus.FAILED
    assert run.statuses == {"a": "failed", "b": "cancelled"}


async def test_a_step_that_ends_in_time_is_left_alone_and_its_timer_forgotten() -> None:
    run = await scenario().begin({"steps": [step("a", "slow", timeoutS=60), step("b", "slow", after=["a"])]})
    assert await run.play() is RunStatus.COMPLETED
    assert run.now - run.run.started_at == 20_000


async def test_a_tool_that_does_not_stop_when_told_to_is_left_behind() -> None:
    class Deaf(ScriptedTool):
        async def run(self, args: Any, context: Any) -> Any:
            while True:
                try:
                    return await super().run(args, context)
                except BaseException:
                    if len(self.stopped) > 1:
                        raise

    run = await scenario(Deaf("deaf", hangs())).begin({"steps": [step("a", "deaf", timeoutS=5, retries=0)]})
    assert await run.play() is RunStatus.FAILED
    assert run.moments("a")[-1] == ("failed", 15.0)


async def test_nothing_is_carried_out_while_the_log_cannot_be_written() -> None:
    run = scenario()
    run.store.break_down()
    run.store.mend()
    await run.begin({"steps": [step("a", "slow"), step("b", after=["a"])]})
    run.store.break_down()
    await run.play(30)
    assert not run.tools["echo"].calls
    assert run.replayed().steps["a"].status == "running"
    run.store.mend()
    assert await run.play() is RunStatus.COMPLETED
    assert len(run.tools["echo"].calls) == 1


async def test_adopting_what_cannot_be_is_refused_whole() -> None:
    run = await asked(fails("Jammed."))
    plan = run.plans[1].model_copy(update={"version": 2, "steps": run.plans[1].steps[1:]})
    run.plans[2] = plan
    verdict = await run.send(Adopted, plan)
    assert [reason.says for reason in verdict.reasons] == ["a has started and cannot be removed."]
    assert not verdict.events


async def test_critical_stops_even_where_the_step_says_continue() -> None:
    run = await PlanScenario(ScriptedTool("echo", echoes()), ScriptedTool("fail", fails("No."))).begin(
        {
            "steps": [
                {"id": "a", "tool": "fail", "critical": True, "onFailure": "continue"},
                {"id": "w", "tool": "echo", "requiresApproval": True},
            ]
        }
    )
    await run.play()
    assert run.statuses == {"a": "failed", "w": "cancelled"}


async def test_the_first_error_of_a_summary_is_the_one_that_came_first() -> None:
    steps = [step("late", "fail", after=["w"]), step("w", "slow"), step("b", "fail", forEach=[1])]
    run = await scenario().begin({"steps": steps})
    assert await run.play() is RunStatus.FAILED
    assert run.run.head["summary"]["firstError"] == "b[0]: No good."
