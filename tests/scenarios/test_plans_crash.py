"""Plans, contracts §5: after a crash. Completed steps never run again; what had started is known for what it is."""

import asyncio
from typing import Any

import pytest

from beforehand.engine.decide import record
from beforehand.engine.inputs import Answered, CancelAsked, SkipAsked
from beforehand.model.errors import InDoubtError
from beforehand.model.log_identity import LogIdentity
from beforehand.model.plan import RunStatus
from beforehand.ports.tool import ProbeAnswer
from beforehand.testing import PlanScenario, ScriptedTool, breaks, echoes, fails, gives, hangs, takes


def step(id: str, tool: str = "echo", *, after: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "dependsOn": after or [], **more}


async def crashed(tool: ScriptedTool, **more: Any) -> PlanScenario:
    """A run whose process died while the tool was at work, and was taken up again."""
    run = PlanScenario(ScriptedTool("echo", echoes()), tool)
    await run.begin(
        {"steps": [step("done"), step("a", tool.spec.name, after=["done"], **more), step("b", args={"value": "$a"})]}
    )
    await run.crash()
    return await run.recover()


@pytest.mark.parametrize("effect", ["pure", "idempotent"])
async def test_pure_and_idempotent_steps_run_again_under_the_same_key(effect: Any) -> None:
    run = await crashed(ScriptedTool("do", hangs(), gives(5), effect=effect))
    assert await run.play() is RunStatus.COMPLETED
    assert [key for key, _ in run.tools["do"].calls] == ["r1/a/1", "r1/a/1"]
    assert len(run.tools["echo"].calls) == 2, "done ran once, b once"
    assert run.value("b") == 5


async def test_a_physical_step_without_a_probe_is_in_doubt_and_never_run_again_unasked() -> None:
    run = await crashed(ScriptedTool("arm", hangs(), gives(5), effect="physical"))
    assert await run.play() is RunStatus.WAITING
    assert run.status("a") == "inDoubt"
    assert (run.decision().kind, run.decision().verbs) == ("inDoubt", ("happened", "run-again", "abort"))
    assert len(run.tools["arm"].calls) == 1


async def test_in_doubt_happened_counts_as_completed_with_the_value_given() -> None:
    run = await crashed(ScriptedTool("arm", hangs(), effect="physical"))
    await run.answer("happened", {"n": 1})
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("b") == {"n": 1}
    assert len(run.tools["arm"].calls) == 1


async def test_in_doubt_run_again_starts_it_once_more_under_a_new_key() -> None:
    run = await crashed(ScriptedTool("arm", hangs(), gives(5), effect="physical"))
    await run.answer("run-again")
    assert await run.play() is RunStatus.COMPLETED
    assert [key for key, _ in run.tools["arm"].calls] == ["r1/a/1", "r1/a/2"]


async def test_in_doubt_abort_fails_the_step_and_starts_nothing_new() -> None:
    run = await crashed(ScriptedTool("arm", hangs(), effect="physical"))
    await run.answer("abort")
    assert await run.play() is RunStatus.FAILED
    assert run.statuses == {"done": "completed", "a": "failed", "b": "blocked"}


async def test_probe_happened_completes_the_step() -> None:
    run = await crashed(ScriptedTool("arm", hangs(), effect="physical", probes=(ProbeAnswer("happened", 9),)))
    assert await run.play() is RunStatus.COMPLETED
    assert (run.value("b"), run.tools["arm"].probed, len(run.tools["arm"].calls)) == (9, ["r1/a/1"], 1)


async def test_probe_not_begun_starts_the_step() -> None:
    run = await crashed(
        ScriptedTool("arm", hangs(acts=False), gives(5), effect="physical", probes=(ProbeAnswer("not_begun"),))
    )
    assert await run.play() is RunStatus.COMPLETED
    assert [key for key, _ in run.tools["arm"].calls] == ["r1/a/1", "r1/a/2"]


async def test_probe_running_is_asked_again_after_a_second_until_it_knows() -> None:
    answers = (ProbeAnswer("running"), ProbeAnswer("running"), ProbeAnswer("happened", 1))
    run = await crashed(ScriptedTool("arm", hangs(), effect="physical", probes=answers))
    assert await run.play() is RunStatus.COMPLETED
    assert run.now - run.run.started_at == 2000


async def test_probe_unknown_leaves_it_to_a_person_with_what_the_machine_said() -> None:
    run = await crashed(
        ScriptedTool("arm", hangs(), effect="physical", probes=(ProbeAnswer("unknown", says="Door open."),))
    )
    assert run.status("a") == "inDoubt"
    assert run.decision().evidence["says"] == "Door open."


async def test_a_probe_that_breaks_leaves_it_to_a_person() -> None:
    class Broken(ScriptedTool):
        async def probe(self, args: Any, context: Any) -> ProbeAnswer:
            raise ConnectionError("no route")

    run = await crashed(Broken("arm", hangs(), effect="physical", probes=(ProbeAnswer("happened"),)))
    assert run.decision().evidence["says"] == "The machine could not be asked: ConnectionError: no route"


FIRST = LogIdentity("0jnk8481", "ewyc2n1k")


async def restored(*probes: ProbeAnswer, effect: Any = "physical") -> PlanScenario:
    """A run whose step was at work when its log was put back to that moment; the machine went on."""
    run = PlanScenario(ScriptedTool("arm", hangs(), gives(5), effect=effect, probes=probes), log=FIRST)
    await run.begin({"steps": [step("a", "arm")]})
    await run.crash()
    run.log = FIRST.next_generation()
    return await run.recover()


@pytest.mark.parametrize("said", ["happened", "not_begun", "failed", "unknown"])
async def test_what_a_machine_says_of_another_generation_is_evidence_and_no_result(said: Any) -> None:
    run = await restored(ProbeAnswer(said, says="Says the arm."))
    assert await run.play() is RunStatus.WAITING
    assert run.status("a") == "inDoubt"
    assert run.decision().evidence["says"].endswith("after the step had been sent. Says the arm.")
    assert run.tools["arm"].probed == [FIRST.key("r1/a/1")], "asked under the key that it was sent with"
    await run.answer("run-again")
    assert await run.play() is RunStatus.COMPLETED
    assert run.tools["arm"].calls[-1][0] == run.log.key("r1/a/2")


async def test_what_still_runs_for_another_generation_is_waited_for() -> None:
    run = await restored(ProbeAnswer("running"), ProbeAnswer("running"), ProbeAnswer("happened"))
    await run.play(2.5)
    assert run.status("a") == "inDoubt"


async def test_what_the_log_itself_knows_is_believed_in_every_generation() -> None:
    run = await restored(ProbeAnswer("happened", 7, from_log=True))
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("a") == 7


async def test_an_idempotent_step_of_another_generation_runs_again_under_the_key_it_had() -> None:
    run = await restored(effect="idempotent")
    assert await run.play() is RunStatus.COMPLETED
    assert [key for key, _ in run.tools["arm"].calls] == [FIRST.key("r1/a/1")] * 2


@pytest.mark.parametrize("asked", [CancelAsked, SkipAsked])
async def test_a_step_told_to_stop_before_a_crash_whose_machine_says_that_it_failed_is_in_doubt(asked: Any) -> None:
    stopped = ProbeAnswer("failed", says="It stands still in the middle.")
    run = PlanScenario(ScriptedTool("arm", hangs(), effect="physical", probes=(ProbeAnswer("running"), stopped)))
    await run.begin({"steps": [step("a", "arm")]})
    await run.crash()
    await run.recover()
    await run.send(asked, *(["a"] if asked is SkipAsked else []))
    await run.play(2)
    assert run.status("a") == "inDoubt"
    assert run.decision().evidence["says"] == "It was told to stop in the middle. It stands still in the middle."


async def test_a_tool_that_is_gone_leaves_its_started_step_to_a_person() -> None:
    run = PlanScenario(ScriptedTool("do", hangs()))
    await run.begin({"steps": [step("a", "do")]})
    await run.crash()
    run.catalog._specs.clear()
    await run.recover()
    assert run.status("a") == "inDoubt"


async def test_a_machine_that_lost_track_of_a_call_leaves_it_to_a_person_without_a_crash() -> None:
    """The call comes back with neither an end nor a failure: nobody knows, so nothing is begun again."""
    lost = breaks(InDoubtError("The controller has forgotten its commands."))
    run = PlanScenario(ScriptedTool("arm", lost, gives(5), effect="physical"), ScriptedTool("echo", echoes()))
    await run.begin({"steps": [step("a", "arm", retries=3), step("b", args={"value": "$a"})]})
    assert await run.play() is RunStatus.WAITING
    assert run.status("a") == "inDoubt"
    assert (run.decision().kind, run.decision().verbs) == ("inDoubt", ("happened", "run-again", "abort"))
    assert run.decision().evidence["says"] == "The controller has forgotten its commands."
    assert len(run.tools["arm"].calls) == 1
    await run.answer("run-again")
    assert await run.play() is RunStatus.COMPLETED
    assert [key for key, _ in run.tools["arm"].calls] == ["r1/a/1", "r1/a/2"]


async def test_a_step_that_was_told_to_stop_and_is_in_doubt_is_not_skipped_by_asking_twice() -> None:
    run = PlanScenario(ScriptedTool("arm", hangs(), effect="physical"), ScriptedTool("echo"))
    await run.begin({"steps": [step("a", "arm"), step("b", after=["a"])]})
    await run.send(SkipAsked, "a")
    assert run.status("a") == "inDoubt"
    assert [reason.code for reason in (await run.send(SkipAsked, "a")).reasons] == ["step.in_doubt"]
    assert run.statuses == {"a": "inDoubt", "b": "pending"}
    await run.answer("happened")
    assert await run.play() is RunStatus.COMPLETED


async def test_in_doubt_survives_another_crash() -> None:
    run = await crashed(ScriptedTool("arm", hangs(), effect="physical"))
    asked = run.decision()
    await run.crash()
    await run.recover()
    assert run.decision() == asked


async def test_a_retry_that_was_waited_for_comes_at_its_time() -> None:
    run = PlanScenario(ScriptedTool("flaky", fails("Busy.", transient=True), gives(1)))
    await run.begin({"steps": [step("a", "flaky", retryDelayS=60)]})
    await run.crash()
    await run.clock.advance(20)
    await run.recover()
    assert await run.play() is RunStatus.COMPLETED
    assert run.moments("a")[-1] == ("completed", 60.0)


async def test_answers_written_down_while_nobody_runs_it_act_when_it_is_taken_up() -> None:
    run = PlanScenario(ScriptedTool("echo", echoes()))
    await run.begin({"steps": [step("a", requiresApproval=True, args={"value": 3})]})
    asked = run.decision()
    await run.crash()
    state = run.replayed()
    verdict = record(state, Answered(run.now, asked.id, "approve"), run.catalog)
    assert not verdict.commands
    await run.store.append(verdict.events)
    await run.recover()
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("a") == 3


async def test_a_cancel_that_was_under_way_is_finished() -> None:
    run = PlanScenario(ScriptedTool("do", hangs()), ScriptedTool("arm", hangs(), effect="physical"))
    await run.begin({"steps": [step("a", "do"), step("m", "arm")]})
    await run.crash()
    await run.store.append(record(run.replayed(), CancelAsked(run.now), run.catalog).events)
    await run.recover()
    assert run.status("a") == "cancelled"
    await run.answer("run-again", step="m")
    assert await run.play() is RunStatus.CANCELLED
    assert run.status("m") == "cancelled", "a cancelled run starts nothing"
    assert len(run.tools["arm"].calls) == 1


async def test_a_skip_that_was_under_way_is_finished() -> None:
    run = PlanScenario(
        ScriptedTool("do", hangs()), ScriptedTool("arm", hangs(), effect="physical", probes=(ProbeAnswer("not_begun"),))
    )
    await run.begin({"steps": [step("a", "do"), step("m", "arm")]})
    await run.crash()
    for name in ("a", "m"):
        await run.store.append(record(run.replayed(), SkipAsked(run.now, name), run.catalog).events)
    await run.recover()
    assert await run.play() is RunStatus.COMPLETED
    assert run.statuses == {"a": "skipped", "m": "skipped"}


@pytest.mark.parametrize("moment", range(0, 48))
async def test_killed_at_any_moment_nothing_physical_happens_twice(moment: int) -> None:
    arm = ScriptedTool("arm", takes(1, "moved"), effect="physical", probes=(ProbeAnswer("unknown"),))
    count = ScriptedTool("count", gives(1), effect="idempotent", destructive="always")
    run = PlanScenario(ScriptedTool("echo", echoes()), arm, count)
    beginning = asyncio.ensure_future(
        run.begin(
            {
                "steps": [
                    step("s", args={"value": [1, 2]}),
                    step("each", "arm", forEach="$s"),
                    step("c", "count", after=["s"]),
                    step("end", "arm", after=["each", "c"]),
                ]
            }
        )
    )
    for _ in range(moment % 24):
        await asyncio.sleep(0)
    if moment >= 24:
        await run.clock.jump()
        for _ in range(moment % 24):
            await asyncio.sleep(0)
    await run.crash()
    beginning.cancel()
    await run.clock.settle()
    if not run.store.log:
        return
    await run.recover()
    for _ in range(20):
        if await run.play() is not RunStatus.WAITING:
            break
        decision = next(iter(run.run.decisions.values()))
        key = run.run.key_of(str(decision.about["stepId"]), run.step(str(decision.about["stepId"])).attempt)
        verb = "approve" if decision.kind == "approval" else "happened" if arm.effects[key] else "run-again"
        await run.send(Answered, decision.id, verb)
    assert run.run.status is RunStatus.COMPLETED
    done = [key.rsplit("/", 1)[0] for key in arm.effects.elements()]
    assert sorted(done) == ["r1/each[0]", "r1/each[1]", "r1/end"]
    assert run.replayed().steps == run.run.steps
