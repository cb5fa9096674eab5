"""Plans, contracts §5: approvals, questions, and calls that destroy something."""

from typing import Any

import pytest

from beforehand.adapters.tools.writing import CopyFile, DeleteFile, WriteFile
from beforehand.engine.inputs import Answered, RerunAsked, RetryAsked, SkipAsked
from beforehand.engine.validate import check_document
from beforehand.model.plan import RunStatus
from beforehand.ports.tool import Judgement, Tool
from beforehand.testing import PlanScenario, ScriptedTool, echoes, fails, gives, hangs, takes


def step(id: str, tool: str = "echo", *, after: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "dependsOn": after or [], **more}


def scenario(*more: ScriptedTool) -> PlanScenario:
    return PlanScenario(
        ScriptedTool("echo", echoes()),
        ScriptedTool("slow", takes(10, "slow")),
        ScriptedTool("delete", gives("gone"), effect="idempotent", destructive="always"),
        ScriptedTool("ask_person", asks_person=True),
        *more,
    )


def file_tools() -> tuple[Tool, ...]:
    return WriteFile(), DeleteFile()


async def test_a_step_that_needs_approval_waits_alone_and_others_go_on() -> None:
    run = await scenario().begin({"steps": [step("a", requiresApproval=True, args={"value": 7}), step("b", "slow")]})
    assert run.run.status is RunStatus.RUNNING, "b runs"
    assert await run.play() is RunStatus.WAITING
    assert run.statuses == {"a": "ready", "b": "completed"}
    decision = run.decision("a")
    assert (decision.kind, decision.verbs) == ("approval", ("approve", "deny"))
    assert decision.evidence == {"tool": "echo", "args": {"value": 7}}
    assert not run.tools["echo"].calls
    await run.answer("approve")
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("a") == 7


async def test_denied_is_a_state_of_its_own_with_its_dependents_blocked() -> None:
    run = await scenario().begin({"steps": [step("a", requiresApproval=True), step("b", after=["a"]), step("c")]})
    await run.answer("deny", note="Not today.")
    assert await run.play() is RunStatus.PARTIAL
    assert run.statuses == {"a": "denied", "b": "blocked", "c": "completed"}
    summary = run.events("runFinished")[-1].data["summary"]
    assert {name: count for name, count in summary.items() if count} == {"completed": 1, "denied": 1, "blocked": 1}
    assert run.step("b").reason is not None
    assert run.step("b").reason["says"] == "It needs a, which was denied."
    assert run.events("stepUpdated", "a")[-1].data["reason"]["says"] == "Approval was denied. Not today."


async def test_denied_with_nobody_behind_it_still_does_not_look_like_success() -> None:
    run = await scenario().begin({"steps": [step("a", requiresApproval=True), step("c")]})
    await run.answer("deny")
    assert await run.play() is RunStatus.PARTIAL


async def test_a_denied_step_can_be_retried_and_is_asked_about_again() -> None:
    run = await scenario().begin({"steps": [step("a", requiresApproval=True), step("b", after=["a"])]})
    await run.answer("deny")
    await run.play()
    await run.send(RetryAsked, "a")
    await run.answer("approve")
    assert await run.play() is RunStatus.COMPLETED


async def test_destructive_calls_need_approval_whether_the_plan_says_so_or_not() -> None:
    run = await scenario().begin({"steps": [step("a", "delete", requiresApproval=False)]})
    assert run.decision().kind == "approval"
    await run.answer("approve")
    assert await run.play() is RunStatus.COMPLETED


async def test_a_call_that_is_judged_harmless_needs_nobody() -> None:
    write = ScriptedTool("write", effect="idempotent", destructive="judged", judgements=(Judgement(False),))
    run = await scenario(write).begin({"steps": [step("a", "write")]})
    assert await run.play() is RunStatus.COMPLETED
    assert len(write.judged) == 1


async def test_what_the_judgement_found_is_evidence() -> None:
    shows = Judgement(True, "It overwrites x.", {"diff": "-a\n+b"})
    write = ScriptedTool("write", effect="idempotent", destructive="judged", judgements=(shows,))
    run = await scenario(write).begin({"steps": [step("a", "write", args={"path": "x"})]})
    assert run.decision().evidence == {
        "tool": "write",
        "args": {"path": "x"},
        "diff": "-a\n+b",
        "says": "It overwrites x.",
    }


@pytest.mark.parametrize(("words", "marked"), [("Read the report", True), ("Write the report", False), ("", False)])
async def test_words_that_do_not_match_the_call_are_told_where_it_is_approved(words: str, marked: bool) -> None:
    write = ScriptedTool("write", effect="idempotent", destructive="always")
    steps = [step("name", args={"value": "report.txt"}), step("a", "write", args={"path": "$name"}, description=words)]
    run = await scenario(write).begin({"steps": steps})
    assert run.decision().evidence.get("mismatch", False) is marked


async def test_destructive_is_judged_once_at_first_start_not_after_a_crash_or_a_retry() -> None:
    write = ScriptedTool(
        "write",
        hangs(),
        fails("Busy.", transient=True),
        gives(),
        effect="idempotent",
        destructive="judged",
        judgements=(Judgement(False), Judgement(True)),
    )
    run = await scenario(write).begin({"steps": [step("a", "write", args={"path": "new"})]})
    await run.crash()
    await run.recover()
    assert await run.play() is RunStatus.COMPLETED
    assert len(write.judged) == 1
    assert [key for key, _ in write.calls] == ["r1/a/1", "r1/a/1", "r1/a/2"]


async def test_a_tool_that_cannot_judge_leaves_it_to_a_person() -> None:
    class Broken(ScriptedTool):
        async def judge(self, args: Any, context: Any) -> Judgement:
            raise OSError("no disk")

    run = await scenario(Broken("write", effect="idempotent", destructive="judged")).begin(
        {"steps": [step("a", "write")]}
    )
    assert run.decision().evidence["says"] == "What it would do could not be found out: OSError: no disk"


async def test_an_approval_covers_the_arguments_after_references_and_is_asked_again_when_they_change() -> None:
    counts = ScriptedTool("count", gives(1), gives(2))
    act = ScriptedTool("act", fails("Jammed."), gives("done"))
    run = await scenario(counts, act).begin(
        {"steps": [step("n", "count"), step("a", "act", args={"n": "$n"}, requiresApproval=True)]}
    )
    first = run.decision()
    assert first.evidence["args"] == {"n": 1}
    await run.answer("approve")
    assert await run.play() is RunStatus.FAILED
    await run.send(RerunAsked, "n")
    second = run.decision()
    assert second.evidence["args"] == {"n": 2}
    assert second.covers != first.covers
    await run.answer("approve")
    assert await run.play() is RunStatus.COMPLETED
    assert [args for _, args in act.calls] == [{"n": 1}, {"n": 2}]


async def test_a_retry_with_the_same_arguments_is_not_asked_about_again_and_other_arguments_are() -> None:
    act = ScriptedTool("act", fails("Jammed."), fails("Jammed."), gives("done"))
    run = await scenario(act).begin({"steps": [step("a", "act", args={"n": 1}, requiresApproval=True)]})
    await run.answer("approve")
    await run.play()
    await run.send(RetryAsked, "a")
    assert await run.play() is RunStatus.FAILED
    assert len(act.calls) == 2, "the same call was approved"
    await run.send(RetryAsked, "a", args={"n": 2})
    assert run.decision().evidence["args"] == {"n": 2}
    await run.answer("approve")
    assert await run.play() is RunStatus.COMPLETED


async def test_running_again_what_had_completed_needs_a_new_approval() -> None:
    run = await scenario().begin({"steps": [step("a", "delete")]})
    await run.answer("approve")
    await run.play()
    await run.send(RerunAsked, "a")
    assert run.decision().kind == "approval"
    assert len(run.tools["delete"].calls) == 1


async def test_an_approval_that_is_open_survives_a_crash_and_is_asked_only_once() -> None:
    run = await scenario().begin({"steps": [step("a", requiresApproval=True)]})
    asked = run.decision()
    await run.crash()
    await run.recover()
    assert run.decision() == asked
    await run.answer("approve")
    assert await run.play() is RunStatus.COMPLETED
    assert len(run.events("decisionOpened")) == 1


async def test_each_item_of_a_for_each_is_approved_by_itself() -> None:
    run = await scenario().begin(
        {"steps": [step("a", "delete", forEach=[1, 2], args={"n": "$item"}), step("b", after=["a"])]}
    )
    await run.answer("approve", step="a[0]")
    await run.answer("deny", step="a[1]")
    assert await run.play() is RunStatus.PARTIAL
    assert run.statuses == {"a": "denied", "b": "blocked", "a[0]": "completed", "a[1]": "denied"}


async def test_a_question_waits_for_a_persons_answer_which_is_its_value() -> None:
    run = await scenario().begin(
        {"steps": [step("q", "ask_person", args={"question": "How many?"}), step("b", args={"value": "$q"})]}
    )
    assert run.run.status is RunStatus.WAITING
    assert (run.decision().kind, run.decision().title) == ("question", "How many?")
    await run.answer("answer", 12)
    assert await run.play() is RunStatus.COMPLETED
    assert run.value("b") == 12
    assert not run.tools["ask_person"].calls


async def test_a_question_can_be_skipped() -> None:
    run = await scenario().begin({"steps": [step("q", "ask_person"), step("b", args={"value": "$q"})]})
    await run.answer("skip")
    assert await run.play() is RunStatus.COMPLETED
    assert run.statuses == {"q": "skipped", "b": "completed"}


async def test_skipping_a_step_withdraws_its_open_approval() -> None:
    run = await scenario().begin({"steps": [step("a", requiresApproval=True), step("b", after=["a"])]})
    asked = run.decision()
    await run.send(SkipAsked, "a")
    assert await run.play() is RunStatus.COMPLETED
    assert run.events("decisionWithdrawn")[0].data["id"] == asked.id


async def test_an_answer_to_what_is_not_open_is_refused_and_changes_nothing() -> None:
    run = await scenario().begin({"steps": [step("a", requiresApproval=True)]})
    asked = run.decision()
    for verb in ("approve", "approve", "deny"):
        verdict = await run.send(Answered, asked.id, verb)
    assert [reason.code for reason in verdict.reasons] == ["decision.not_open"]
    assert not verdict.events
    assert run.status("a") == "completed"


async def test_an_approval_covers_the_file_it_was_shown() -> None:
    run = PlanScenario(*file_tools())
    await run.around.workspace.write("a.txt", b"old")
    await run.begin({"steps": [step("w", "write_file", args={"path": "a.txt", "content": "new"})]})
    await run.around.workspace.write("a.txt", b"changed by somebody")
    await run.answer("approve")
    assert await run.around.workspace.read("a.txt") == b"changed by somebody"
    assert "changed by somebody" in run.decision().evidence["diff"]
    await run.answer("approve")
    assert await run.play() is RunStatus.COMPLETED
    assert await run.around.workspace.read("a.txt") == b"new"


async def test_the_second_to_write_a_new_file_asks() -> None:
    run = PlanScenario(*file_tools(), ScriptedTool("slow", takes(5, "a.txt")))
    late = step("late", "write_file", args={"path": "$which", "content": "2"})
    await run.begin(
        {"steps": [step("first", "write_file", args={"path": "a.txt", "content": "1"}), step("which", "slow"), late]}
    )
    assert await run.play() is RunStatus.WAITING
    assert run.decision().about["stepId"] == "late"
    assert await run.around.workspace.read("a.txt") == b"1"


def test_two_that_write_one_file_side_by_side_are_a_problem() -> None:
    catalog = PlanScenario(*file_tools()).catalog
    first = step("a", "write_file", args={"path": "out/x.txt", "content": "1"})
    second = step("b", "write_file", args={"path": "out/./x.txt", "content": "2"})
    _, problems = check_document({"steps": [first, second]}, catalog)
    assert [(one.code, one.about) for one in problems] == [("step.same_path", "b")]
    _, problems = check_document({"steps": [first, {**second, "dependsOn": ["a"]}]}, catalog)
    assert problems == []
    _, problems = check_document({"steps": [first, {**second, "when": "1 == 1"}]}, catalog)
    assert problems == []


def test_writers_of_one_file_need_a_chain_through_all_of_them() -> None:
    catalog = PlanScenario(*file_tools()).catalog
    first, middle, last = (step(name, "write_file", args={"path": "x$$", "content": name}) for name in "abc")
    middle["dependsOn"] = ["a", "c"]
    _, problems = check_document({"steps": [first, middle, last]}, catalog)
    assert [(one.about, one.says) for one in problems] == [
        ("c", "a and c both change 'x$', and neither waits for the other.")
    ]
    _, problems = check_document({"steps": [first, middle, {**last, "dependsOn": ["a"]}]}, catalog)
    assert problems == []
    last["args"]["path"], last["dependsOn"] = "x$", []
    _, problems = check_document({"steps": [first, last]}, catalog)
    assert [one.code for one in problems] == ["step.same_path"]


async def test_each_item_that_writes_the_one_file_asks_but_the_first() -> None:
    run = PlanScenario(*file_tools())
    write = {"path": "a.txt", "content": "$item"}
    await run.begin({"steps": [step("w", "write_file", args=write, forEach=["1", "2", "3"])]})
    assert await run.play() is RunStatus.WAITING
    assert sorted(run.statuses.values()) == ["completed", "ready", "ready", "running"]


async def test_an_approval_of_a_copy_covers_what_is_copied() -> None:
    run = PlanScenario(CopyFile())
    files = run.around.workspace
    await files.write("from.txt", b"shown")
    await files.write("to.txt", b"old")
    await run.begin({"steps": [step("c", "copy_file", args={"from": "from.txt", "to": "to.txt"})]})
    await files.write("from.txt", b"put there since")
    await run.answer("approve")
    assert await files.read("to.txt") == b"old"
    assert "put there since" in run.decision().evidence["diff"]
    await run.answer("approve")
    assert await run.play() is RunStatus.COMPLETED
    assert await files.read("to.txt") == b"put there since"


async def test_beside_a_diff_stand_the_call_the_file_its_size_and_a_sentence() -> None:
    run = PlanScenario(*file_tools())
    await run.around.workspace.write("a.txt", b"old\n")
    written, gone = {"path": "a.txt", "content": "newer\n"}, {"path": "a.txt"}
    await run.begin(
        {"steps": [step("w", "write_file", args=written), step("d", "delete_file", args=gone, after=["w"])]}
    )
    shown = dict(run.decision().evidence)
    assert shown.pop("diff").splitlines()[-2:] == ["-old", "+newer"]
    sizes = {"sizeBefore": 4, "size": 6}
    assert shown == {"tool": "write_file", "args": written, "path": "a.txt", **sizes, "says": "Overwrites 'a.txt'."}
    await run.answer("approve")
    shown = dict(run.decision().evidence)
    assert shown.pop("diff").splitlines()[-1] == "-newer"
    assert shown == {"tool": "delete_file", "args": gone, "path": "a.txt", "size": 6, "says": "Deletes 'a.txt'."}
