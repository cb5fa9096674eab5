"""`beforehand submit` and `beforehand runs`: handed in, listed, shown, steered without a server."""

from typing import Any


def test_a_plan_is_handed_in_and_nothing_runs(cli: Any, step: Any) -> None:
    cli.write("plan.yaml", {"name": "Greet", "steps": [step("a", "write_file", path="x.txt", content="hi")]})
    plan = cli("submit", "plan.yaml", "-o", "json", code=0).document
    review = f"{plan['id']}-v1"
    assert [item["id"] for item in cli("inbox", "-o", "json", code=0).document] == [review]
    shown = cli("inbox", "show", review, code=0).out
    assert "1. write_file(path: x.txt, content: hi) [idempotent, may destroy]" in shown
    assert cli("runs", "-o", "json", code=0).document == []
    assert not (cli.folder / "x.txt").exists()
    assert "Unknown scene" in cli("submit", "plan.yaml", "--scene", "nowhere", code=2).err


def test_runs_are_listed_shown_and_steered_without_a_server(cli: Any, step: Any) -> None:
    cli.write(
        "plan.yaml",
        {
            "name": "Ask",
            "steps": [step("q", "ask_person", question="Go?"), {**step("b", "wait", seconds=0), "dependsOn": ["q"]}],
        },
    )
    run = cli("run", "plan.yaml", "-o", "json", code=3).document
    run_id = run["runId"]
    [listed] = cli("runs", "list", "-o", "json", code=0).document
    assert (listed["runId"], listed["status"]) == (run_id, "waiting")
    shown = cli("runs", "show", run_id, "-o", "json", code=0).document
    assert [item["status"] for item in shown["steps"]] == ["ready", "pending"]
    assert "cancelled" in cli("runs", "cancel", run_id, code=0).out
    assert "cancelled already" in cli("runs", "pause", run_id, code=3).err
    assert f"Known runs: {run_id}" in cli("runs", "show", "nope", code=2).err
    assert "Unknown run 'nope'" in cli("runs", "cancel", "nope", code=2).err


def test_a_step_is_retried_and_skipped_at_the_server(cli: Any, step: Any) -> None:
    cli.plan(step("a", "read_file", path="later.txt"), step("b", "wait", {"dependsOn": ["a"]}, seconds=0))
    run_id = cli("run", "plan.yaml", "-o", "json", code=1).document["runId"]
    refused = cli("runs", "retry", run_id, "a", code=3).err
    assert "No server runs on this home, so nobody would carry the step out." in refused
    assert "beforehand up" in refused
    cli.up()
    (cli.folder / "other.txt").write_text("there")
    cli("runs", "retry", run_id, "a", "--value", '{"path": "other.txt"}', code=0)
    assert "a" in cli("runs", "skip", run_id, "nope", code=2).err
    assert cli("run", "--resume", run_id, "-o", "json", code=0).document["status"] == "completed"
