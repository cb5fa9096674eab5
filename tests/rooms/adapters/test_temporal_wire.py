"""What goes through Temporal comes out as it went in, and what a call that gave no result means."""

from typing import Any

import pytest

from beforehand.engine.inputs import (
    Adopted,
    Advised,
    Answered,
    JudgeStep,
    PauseAsked,
    ProbeStep,
    RetryAsked,
    StartStep,
    StepEnded,
    StepLost,
)
from beforehand.model.event import Event
from beforehand.model.log_identity import LogIdentity
from beforehand.model.plan import Plan
from beforehand.ports.tool import Judgement, ProbeAnswer, ToolSpec

pytestmark = pytest.mark.needs("temporalio")
START = StartStep("r1/a/2", "a", 2, "drill", {"depth": 3}, "seen", {"at": "Pos_1"})
PLAN = Plan.model_validate({"id": "p1", "version": 3, "name": "drill", "steps": [{"id": "a", "tool": "drill"}]})


def through_json(document: Any) -> Any:
    from pydantic_core import from_json, to_json

    return from_json(to_json(document))


@pytest.mark.parametrize(
    "given",
    [
        PauseAsked(5, "ann"),
        Answered(5, "d1", "approve", {"x": 1}, "note", "ann"),
        RetryAsked(5, "a", "ann", {"depth": 4}),
        Advised(5, "d1", ({"verb": "retry", "value": None},)),
    ],
)
def test_an_input_comes_out_as_it_went_in(given: Any) -> None:
    from beforehand.adapters.temporal.wire import at, input_document, input_from

    assert input_from(through_json(input_document(given)), None) == given
    assert at(given, 9).ts == 9


@pytest.mark.parametrize("answers", [None, Answered(5, "d1", "edit", by="ann")])
def test_a_plan_does_not_travel_with_the_input_that_adopts_it(answers: Answered | None) -> None:
    from beforehand.adapters.temporal.wire import at, input_document, input_from

    shown = through_json(input_document(Adopted(5, PLAN, "ann", answers)))
    assert shown["version"] == 3
    assert "plan" not in shown
    read = input_from(shown, PLAN)
    assert read == Adopted(5, PLAN, "ann", answers)
    moved = at(read, 9)
    assert (moved.ts, moved.answers.ts if moved.answers else 9) == (9, 9)


def test_commands_and_answers_come_out_as_they_went_in() -> None:
    from beforehand.adapters.temporal import wire

    judge, probe = JudgeStep("r1/a", "a", "drill", "h"), ProbeStep("r1/a/2", "a", 2, "drill")
    ended = StepEnded(5, "a", 2, True, {"hole": 1}, logs=({"ts": "t", "line": "l"},))
    for made, read in [
        (START, wire.start_from),
        (judge, wire.judge_from),
        (probe, wire.probe_from),
        (ended, wire.ended_from),
        (Judgement(True, "It destroys.", {"size": 3}), wire.judgement_from),
        (ProbeAnswer("happened", {"hole": 1}, "It did."), wire.answer_from),
    ]:
        assert read(through_json(wire.document_of(made))) == made


LOG = LogIdentity("0jnk8481", "ewyc2n1k")


def test_what_is_known_of_a_run_comes_in_parts_and_out_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    from beforehand.adapters.temporal import known

    monkeypatch.setattr(known, "PART_BYTES", 100)
    spec = ToolSpec("drill", "Drills.", {"type": "object"}, "physical", writes=("path",))
    events = [Event("runStarted", {"runId": "r1"}, {"n": n}, 5, "hall", "c1", "run:r1", n) for n in range(1, 4)]
    written = known.write_known([PLAN.model_dump(by_alias=True, mode="json")], events, [(spec, "b.tool.drill")], LOG)
    parts, number = [], 0
    while not parts or parts[-1].startswith(b"+"):
        parts.append(known.part_of(written, number, 3))
        number += 1
    assert len(parts) == -(-len(written) // 100) > 1
    assert {part.partition(b"\n")[0][1:] for part in parts} == {b"3"}
    read = known.read_known(b"".join(part.partition(b"\n")[2] for part in parts))
    assert list(read.events) == events
    assert read.plans == {3: PLAN}
    assert read.catalog.get("drill") == spec
    assert read.queues == {"drill": "b.tool.drill"}
    assert read.log == LOG


def test_a_part_that_just_fits_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    from beforehand.adapters.temporal import known

    monkeypatch.setattr(known, "PART_BYTES", 4)
    assert known.part_of(b"12345678", 0, 7) == b"+7\n1234"
    assert known.part_of(b"12345678", 1, 7) == b".7\n5678"


def test_events_go_to_the_log_as_they_were_decided() -> None:
    from beforehand.adapters.temporal.wire import read_events, write_events

    events = [Event("stepUpdated", {"runId": "r1"}, {"status": "running"}, 5, "hall", "c1", "run:r1")]
    assert read_events(write_events(events)) == events
    assert read_events(write_events([])) == []


async def test_large_values_are_compressed_and_small_ones_stay_readable() -> None:
    from beforehand.adapters.temporal.connection import LARGE_BYTES, converter

    small, large = {"value": 7}, {"text": "x" * 5 * LARGE_BYTES}
    payloads = await converter().encode([small, large])
    assert b'"value"' in payloads[0].data
    assert len(payloads[1].data) < LARGE_BYTES
    assert await converter().decode(payloads) == [small, large]


def test_leaders_and_workers_of_one_installation_meet_under_its_prefix() -> None:
    from beforehand.adapters.temporal.names import Names

    ours, theirs = Names("ours"), Names("theirs")
    met = [{one.runs, one.run("r1"), one.tool("r1"), one.tool("runs")} for one in (ours, theirs)]
    assert all(len(names) == 4 for names in met)
    assert not met[0] & met[1]


def failed(cause: Exception | None) -> Any:
    from temporalio.exceptions import ActivityError

    error = ActivityError(
        "failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="w",
        activity_type="call",
        activity_id="1",
        retry_state=None,
    )
    error.__cause__ = cause
    return error


def became(cause: Exception | None, *, is_physical: bool = True) -> StepEnded | StepLost:
    from beforehand.adapters.temporal.endings import what_became_of

    return what_became_of(START, failed(cause), is_physical=is_physical)


def test_a_call_that_nobody_had_taken_touched_nothing() -> None:
    from temporalio.exceptions import CancelledError, TimeoutError, TimeoutType

    ended = became(CancelledError())
    assert isinstance(ended, StepEnded)
    assert (ended.step_id, ended.attempt, ended.ok, ended.stopped, ended.untouched) == ("a", 2, False, True, True)
    late = became(TimeoutError("late", type=TimeoutType.SCHEDULE_TO_START, last_heartbeat_details=[]))
    assert isinstance(late, StepEnded)
    assert (late.ok, late.transient, late.untouched, late.in_doubt) == (False, True, True, False)
    assert "within 10 minutes" in late.error
    assert "beforehand worker --tools drill" in late.error


@pytest.mark.parametrize(("details", "begun"), [((), False), (("a", 0.0), True)])
def test_a_worker_that_is_gone_began_only_what_it_had_claimed(details: tuple[Any, ...], begun: bool) -> None:
    from temporalio.exceptions import TimeoutError, TimeoutType

    gone = TimeoutError("gone", type=TimeoutType.HEARTBEAT, last_heartbeat_details=list(details))
    assert became(gone) == StepLost(0, "a", 2, begun)
    assert became(gone, is_physical=False) == StepLost(0, "a", 2, True), "what moves nothing is just done again"


@pytest.mark.parametrize(("said", "begun"), [("notBegun", False), ("lost", True)])
def test_a_worker_that_ends_says_whether_it_had_begun(said: str, begun: bool) -> None:
    from temporalio.exceptions import ApplicationError

    assert became(ApplicationError(said, type=said)) == StepLost(0, "a", 2, begun)
    assert became(ApplicationError(said, type=said), is_physical=False) == StepLost(0, "a", 2, True)


def test_what_broke_outside_the_tool_is_in_doubt_where_it_may_have_moved_something() -> None:
    from temporalio.exceptions import ApplicationError

    for is_physical in (True, False):
        ended = became(ApplicationError("out of memory", type="MemoryError"), is_physical=is_physical)
        assert isinstance(ended, StepEnded)
        assert (ended.ok, ended.in_doubt, ended.untouched) == (False, is_physical, False)
        assert "out of memory" in ended.error
