"""Plans, contracts §5: what starts when, and what a run comes to."""

from typing import Any

import pytest

from beforehand.model.plan import RunStatus
from beforehand.testing import PlanScenario, ScriptedTool, echoes, fails, gives, takes


def tools() -> list[ScriptedTool]:
    return [
        ScriptedTool("echo", echoes()),
        ScriptedTool("slow", takes(10, "slow")),
        ScriptedTool("quick", takes(1, "quick")),
        ScriptedTool("fail", fails("No good.")),
        ScriptedTool("list", gives({"files": ["a", "b", "c"], "none": [], "n": 3})),
    ]


def step(id: str, tool: str = "echo", *, after: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "dependsOn": after or [], **more}


async def played(*steps: dict[str, Any]) -> PlanScenario:
    scenario = await PlanScenario(*tools()).begin({"steps": list(steps)})
    await scenario.play()
    return scenario


async def test_a_step_starts_as_soon_as_its_own_dependencies_are_done_not_in_waves() -> None:
    run = await played(
        step("long", "slow"),
        step("short", "quick"),
        step("next", "quick", after=["short"]),
        step("join", after=["long", "next"]),
    )
    assert run.moments("next") == [("running", 1.0), ("completed", 2.0)]
    assert run.moments("join")[0] == ("running", 10.0)
    assert run.run.status is RunStatus.COMPLETED


async def test_ready_steps_run_in_parallel() -> None:
    run = await played(*(step(f"s{n}", "slow") for n in range(20)))
    assert run.events("runFinished")[0].data["durationMs"] == 10_000


async def test_a_reference_implies_the_dependency() -> None:
    run = await played(step("b", args={"value": "$a"}), step("a", "slow"))
    assert run.value("b") == "slow"
    assert run.moments("b")[0] == ("running", 10.0)


async def test_a_failed_step_blocks_what_depends_on_it_and_the_rest_goes_on() -> None:
    run = await played(
        step("bad", "fail"), step("child", after=["bad"]), step("grandchild", after=["child"]), step("other", "slow")
    )
    assert run.statuses == {"bad": "failed", "child": "blocked", "grandchild": "blocked", "other": "completed"}
    assert run.run.status is RunStatus.FAILED
    assert run.step("grandchild").reason == {
        "code": "step.blocked",
        "about": "grandchild",
        "says": "It needs bad, which failed.",
        "tryNext": "Retry or skip bad.",
    }


async def test_a_step_skipped_in_review_counts_as_done_and_its_value_is_null() -> None:
    run = await played(step("a", status="skipped"), step("b", args={"value": "$a"}))
    assert run.statuses == {"a": "skipped", "b": "completed"}
    assert run.step("b").result is not None
    assert run.value("b") is None
    assert run.run.status is RunStatus.COMPLETED
    assert not run.tools["echo"].calls[1:]


@pytest.mark.parametrize(
    ("when", "status"),
    [
        ("$src.n == 3", "completed"),
        ("$src.n > 3", "skipped"),
        ("$src.gone == null", "completed"),
        ("$src.gone.deeper > 1", "skipped"),
        ("not ($src.n >= 4) and $src.files[0] == 'a'", "completed"),
    ],
)
async def test_when_skips_what_does_not_apply_and_skipped_counts_as_done(when: str, status: str) -> None:
    run = await played(step("src", "list"), step("a", when=when), step("b", after=["a"]))
    assert run.statuses == {"src": "completed", "a": status, "b": "completed"}
    assert run.run.status is RunStatus.COMPLETED
    if status == "skipped":
        assert run.step("a").reason is not None
        assert when in run.step("a").reason["says"]


async def test_for_each_runs_once_per_item_in_visible_steps_and_its_value_is_their_list() -> None:
    run = await played(
        step("src", "list"),
        step("each", forEach="$src.files", args={"value": "${item}-${index}"}),
        step("end", args={"value": "$each"}),
    )
    assert run.statuses["each[0]"] == run.statuses["each[2]"] == run.statuses["each"] == "completed"
    assert run.value("end") == ["a-0", "b-1", "c-2"]
    assert run.step("each").children == ("each[0]", "each[1]", "each[2]")
    assert run.events("stepExpanded")[0].data["items"] == ["a", "b", "c"]


async def test_for_each_over_an_empty_list_is_done_at_once() -> None:
    run = await played(step("src", "list"), step("each", forEach="$src.none"), step("end", args={"value": "$each"}))
    assert run.value("end") == []
    assert run.run.status is RunStatus.COMPLETED


async def test_for_each_over_something_else_fails_saying_what_was_there() -> None:
    run = await played(step("src", "list"), step("each", forEach="$src.n"), step("end", after=["each"]))
    assert run.error("each") == "forEach needs a list, but $src.n is the number 3."
    assert run.statuses["end"] == "blocked"


async def test_for_each_takes_a_list_written_in_the_plan() -> None:
    run = await played(step("src", "list"), step("each", forEach=[1, "$src.n"], args={"value": "$item"}))
    assert run.value("each") == [1, 3]


async def test_a_when_about_the_item_is_asked_of_every_item() -> None:
    run = await played(
        step("src", "list"), step("each", forEach="$src.files", when="$item != 'b'", args={"value": "$item"})
    )
    assert run.value("each") == ["a", None, "c"]
    assert run.statuses["each[1]"] == "skipped"


async def test_a_when_about_other_steps_is_asked_once_before_the_items() -> None:
    run = await played(step("src", "list"), step("each", forEach="$src.files", when="$src.n > 5"))
    assert run.statuses == {"src": "completed", "each": "skipped"}


async def test_a_failing_item_fails_its_step_and_spares_its_siblings() -> None:
    scenario = PlanScenario(
        ScriptedTool("list", gives([1, 2, 3])), ScriptedTool("do", gives(1), fails("Stuck."), gives(3))
    )
    await scenario.begin(
        {"steps": [step("src", "list"), step("each", "do", forEach="$src"), step("end", "do", after=["each"])]}
    )
    await scenario.play()
    assert scenario.statuses == {
        "src": "completed",
        "each": "failed",
        "end": "blocked",
        "each[0]": "completed",
        "each[1]": "failed",
        "each[2]": "completed",
    }
    assert scenario.error("each") == "1 of 3 items did not complete; first: each[1]: Stuck."


async def test_a_thousand_and_more_steps_at_once_all_run() -> None:
    run = await played(*(step(f"s{n}", "quick") for n in range(2500)))
    assert run.run.status is RunStatus.COMPLETED
    assert run.events("runFinished")[0].data["durationMs"] == 3000, "a thousand at a time"


async def test_a_result_and_a_progress_event_have_the_shape_of_the_spec() -> None:
    scenario = PlanScenario(
        ScriptedTool("do", gives({"a": 1}, logs=("one", "two"))),
        ScriptedTool("slow", takes(1.5, 7)),
        ScriptedTool("bad", fails("No.")),
    )
    await scenario.begin({"steps": [step("a", "do"), step("b", "slow"), step("c", "bad")]})
    await scenario.play()
    done = scenario.events("stepUpdated", "b")[-1]
    assert done.data == {
        "taskId": "t1",
        "stepId": "b",
        "status": "completed",
        "attempt": 1,
        "result": {"ok": True, "value": 7, "duration": 1500, "timestamp": "2026-01-01T12:00:01.500Z"},
    }
    assert done.about == {"planId": "p1", "taskId": "t1", "runId": "r1", "stepId": "b"}
    failed = scenario.events("stepUpdated", "c")[-1].data["result"]
    assert failed == {"ok": False, "error": "No.", "duration": 0, "timestamp": "2026-01-01T12:00:00.000Z"}
    logs = scenario.events("stepUpdated", "a")[-1].data["logs"]
    assert logs == [{"ts": "2026-01-01T12:00:00.000Z", "line": line} for line in ("one", "two")]


async def test_completed_i_and_started_k_travel_in_one_append() -> None:
    scenario = PlanScenario(ScriptedTool("echo", echoes()))
    await scenario.begin({"steps": [step("s0"), *(step(f"s{n}", after=[f"s{n - 1}"]) for n in range(1, 10))]})
    await scenario.play()
    assert scenario.store.appends == 1 + 10 + 1, "the start, one per hop, and the end"
