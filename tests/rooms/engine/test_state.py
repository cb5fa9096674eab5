from beforehand.engine.decide import decide
from beforehand.engine.inputs import Begin, StepEnded
from beforehand.engine.state import RunState, replay
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import plan_from
from beforehand.model.event import Event
from beforehand.model.plan import RunStatus, StepStatus
from beforehand.ports.tool import ToolSpec

CATALOG = ToolCatalog([ToolSpec("t", "", {"type": "object"}, "pure")])
STARTED = Event("runStarted", {}, {"version": 1, "runId": "r", "status": "running"}, 1000)


def chain() -> RunState:
    plan = plan_from(
        [
            {"id": "a", "tool": "t"},
            {"id": "b", "tool": "t", "dependsOn": ["a"]},
            {"id": "c", "tool": "t", "dependsOn": ["b"]},
        ],
        CATALOG,
    )
    run = RunState("r", plan, lambda version: plan)
    run.apply(STARTED)
    return run


def test_a_run_begins_with_what_waits_for_nothing() -> None:
    run = chain()
    assert list(run.eligible) == ["a"]
    assert run.waits == {"a": 0, "b": 1, "c": 1}
    assert run.followers_of("a") == ["b", "c"]


def test_events_of_other_kinds_and_of_steps_that_are_gone_change_nothing() -> None:
    run, other = chain(), chain()
    run.apply(Event("taskCreated", {}, {}, 1))
    run.apply(Event("stepUpdated", {}, {"stepId": "nobody", "status": "failed"}, 1))
    assert run.steps == other.steps


def test_replaying_the_events_of_decisions_gives_the_state_they_led_to() -> None:
    run = chain()
    events = [STARTED, *decide(run, Begin(1000), CATALOG).events]
    for name in "abc":
        events += decide(run, StepEnded(2000, name, 1, True, value=name), CATALOG).events
    again = replay("r", run.plan_of, events)
    assert again.status is run.status is RunStatus.COMPLETED
    assert again.steps == run.steps


def test_a_late_or_doubled_end_changes_nothing() -> None:
    run = chain()
    decide(run, Begin(1000), CATALOG)
    assert decide(run, StepEnded(2000, "a", 1, True), CATALOG).events
    assert not decide(run, StepEnded(2000, "a", 1, False), CATALOG).events
    assert not decide(run, StepEnded(2000, "b", 7, True), CATALOG).events
    assert not decide(run, StepEnded(2000, "nobody", 1, True), CATALOG).events


def test_a_step_that_failed_has_its_result_and_who_needs_it_the_reason() -> None:
    run = chain()
    decide(run, Begin(1000), CATALOG)
    decide(run, StepEnded(2500, "a", 1, False, error="No."), CATALOG)
    failed, blocked = run.steps["a"], run.steps["b"]
    assert (failed.status, failed.attempt, failed.started_at) == (StepStatus.FAILED, 1, 1000)
    assert failed.result == {"ok": False, "error": "No.", "duration": 1500, "timestamp": "1970-01-01T00:00:02.500Z"}
    assert (blocked.status, blocked.result) == (StepStatus.BLOCKED, None)
    assert blocked.reason == {
        "code": "step.blocked",
        "about": "b",
        "says": "It needs a, which failed.",
        "tryNext": "Retry or skip a.",
    }
