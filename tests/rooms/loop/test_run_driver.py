"""The driver's own promises; what runs do is told in the scenarios."""

import asyncio
from typing import Any

import pytest

from beforehand.engine.inputs import Answered, CancelAsked, PauseAsked, RetryAsked
from beforehand.loop.run_driver import RunDriver
from beforehand.model.errors import Fault, InDoubtError, NotLeadingError, UnavailableError
from beforehand.model.event import Event
from beforehand.model.plan import RunStatus
from beforehand.ports.tool import ProbeAnswer
from beforehand.testing import MemoryStore, PlanScenario, ScriptedTool, breaks, echoes, fails, gives, hangs


class Losing(MemoryStore):
    """A store whose lead is taken away."""

    lost = False

    async def append(self, events: Any) -> Any:
        if self.lost:
            raise NotLeadingError("Another process leads.")
        return await super().append(events)


async def test_whoever_asks_is_answered_when_what_follows_is_durable() -> None:
    run = await PlanScenario(ScriptedTool("hang", hangs())).begin({"steps": [{"id": "a", "tool": "hang"}]})
    verdict = await run.send(PauseAsked)
    assert verdict.events[0].kind == "runUpdated"
    assert run.store.log[-1].data["status"] == "paused"


async def test_whoever_asks_a_driver_that_fails_is_told_and_not_left_waiting() -> None:
    store = Losing()
    run = await PlanScenario(ScriptedTool("hang", hangs()), store=store).begin({"steps": [{"id": "a", "tool": "hang"}]})
    store.lost = True
    with pytest.raises(UnavailableError, match="r1 is not driven any more"):
        await run.send(PauseAsked)
    assert run.tools["hang"].stopped == ["r1/a/1"]
    with pytest.raises(NotLeadingError):
        await run.play()


async def test_a_driver_that_has_ended_takes_nothing_in() -> None:
    run = await PlanScenario(ScriptedTool("echo", echoes())).begin({"steps": [{"id": "a", "tool": "echo"}]})
    await run.play()
    assert run._driver is not None
    with pytest.raises(UnavailableError):
        await run._driver.request(RetryAsked(run.now, "a"))


async def test_a_driver_on_a_run_that_has_ended_answers_and_ends() -> None:
    run = await PlanScenario(ScriptedTool("echo", echoes())).begin({"steps": [{"id": "a", "tool": "echo"}]})
    await run.play()
    driver = RunDriver(run.run, run.around)
    asked = asyncio.ensure_future(driver.request(RetryAsked(run.now, "a")))
    await asyncio.sleep(0)
    await driver.drive()
    assert (await asked).reasons[0].code == "step.not_failed"


async def test_a_word_that_comes_while_the_run_ends_is_not_lost() -> None:
    run = await PlanScenario(ScriptedTool("once", fails(), gives(1))).begin(
        {"steps": [{"id": "a", "tool": "once", "timeoutS": 60}, {"id": "b", "tool": "once"}]}
    )
    assert await run.play() is RunStatus.FAILED
    await run.send(RetryAsked, "a")
    assert await run.play() is RunStatus.COMPLETED


class Deaf(ScriptedTool):
    """A machine that cannot be told to stop: the order is taken and nothing comes of it, or it does not arrive."""

    def __init__(self, *, unheard: Exception | None = None, probes: tuple[ProbeAnswer, ...] = ()) -> None:
        super().__init__("arm", hangs(), effect="physical", probes=probes)
        self.unheard = unheard

    async def stop(self, args: Any, context: Any) -> bool:
        if self.unheard is not None:
            raise self.unheard
        return True


@pytest.mark.parametrize(
    ("arm", "says"),
    [
        (Deaf(), "It was told to stop; not confirmed."),
        (
            Deaf(unheard=Fault("The line is down."), probes=(ProbeAnswer("running", says="It may be at it."),)),
            "It was told to stop; not confirmed. The line is down.",
        ),
        (
            Deaf(unheard=Fault("The line is down."), probes=(ProbeAnswer("unknown", says="It has forgotten."),)),
            "It was told to stop in the middle. It has forgotten.",
        ),
    ],
    ids=["no answer", "not heard", "not heard, and forgotten"],
)
async def test_of_a_machine_that_does_not_confirm_a_stop_is_said_just_that(arm: Deaf, says: str) -> None:
    run = await PlanScenario(arm).begin({"steps": [{"id": "a", "tool": "arm"}]})
    await run.send(CancelAsked)
    await run.play()
    assert run.status("a") == "inDoubt"
    assert run.decision().evidence["says"] == says


async def test_what_contradicts_a_machines_word_is_the_evidence() -> None:
    seen = {"planned": {"at": "B"}, "now": {"at": "A"}, "says": ["It is at A."]}
    arm = ScriptedTool("arm", breaks(InDoubtError("It is not there.", seen)), effect="physical")
    run = await PlanScenario(arm).begin({"steps": [{"id": "a", "tool": "arm"}]})
    await run.play()
    evidence = run.decision().evidence
    assert (evidence["code"], evidence["difference"]) == ("step.contradicted", seen)
    assert (run.run.steps["a"].reason or {})["code"] == "step.contradicted"


async def test_what_a_tool_says_is_made_writable_and_kept_short() -> None:
    lines = tuple(f"line {n} \udcff" for n in range(500))
    run = PlanScenario(ScriptedTool("talk", gives(1, logs=lines)), ScriptedTool("odd", fails("No \udcff.")))
    await run.begin({"steps": [{"id": "a", "tool": "talk"}, {"id": "b", "tool": "odd"}]})
    await run.play()
    logs = run.events("stepUpdated", "a")[-1].data["logs"]
    assert len(logs) == 200
    assert logs[0]["line"] == "line 0 ?"
    assert run.error("b") == "No ?."


async def test_progress_is_shown_live_and_not_logged() -> None:
    class Reporting(ScriptedTool):
        async def run(self, args: Any, context: Any) -> Any:
            context.progress(50)
            return await super().run(args, context)

    run = await PlanScenario(Reporting("do")).begin({"steps": [{"id": "a", "tool": "do"}]})
    await run.play()
    assert run.progress == [("a", 50)]
    assert all("progress" not in event.data for event in run.store.log)


async def test_events_carry_the_correlation_and_owner_of_their_run() -> None:
    run = await PlanScenario(ScriptedTool("echo", echoes())).begin(
        {"steps": [{"id": "a", "tool": "echo", "requiresApproval": True}]}
    )
    await run.send(Answered, run.decision().id, "approve")
    await run.play()
    assert {(event.correlation_id, event.owner) for event in run.store.log} == {("c1", "run:r1")}
    assert all(isinstance(event, Event) and event.seq == n for n, event in enumerate(run.store.log, 1))
