"""A person at a terminal: progress is shown and what waits for them is asked inline, with the evidence."""

import json
import os


def test_an_approval_is_asked_inline_with_its_diff(cli, step, terminal) -> None:
    (cli.folder / "old.txt").write_text("one\n")
    cli.plan(step("over", "write_file", {"description": "Change it"}, path="old.txt", content="two\n"))
    at = terminal("run", "plan.yaml")
    shown = at.until("approve/deny/later [y/n]: ")
    assert "Approve: Change it" in shown
    assert "-one" in shown
    assert "+two" in shown
    assert "deny: The step is not done" in shown
    at.type("maybe\n")
    assert "Please answer with one of: approve, deny, or later." in at.until("[y/n]: ")
    at.type("y\n")
    assert "completed" in at.rest()
    assert at.process.wait(timeout=60) == 0
    assert (cli.folder / "old.txt").read_text() == "two\n"


def test_json_stays_pure_while_questions_go_to_the_terminal(cli, step, terminal) -> None:
    cli.plan(step("q", "ask_person", question="Which colour?"), step("w", "write_file", path="c.txt", content="${q}"))
    at = terminal("run", "plan.yaml", "-o", "json")
    assert "Which colour?" in at.until("Answer")
    at.type("blue\n")
    at.rest()
    out, _ = at.process.communicate(timeout=60)
    assert json.loads(out)["status"] == "completed"
    assert (cli.folder / "c.txt").read_text() == "blue"


def test_a_failure_is_asked_about_inline(cli, step, terminal) -> None:
    (cli.folder / "there.txt").write_text("x")
    cli.plan(step("f", "read_file", {"onFailure": "ask"}, path="missing.txt"))
    at = terminal("run", "plan.yaml")
    assert "missing.txt" in at.until("retry/skip/insert/abort/later: ")
    at.type('retry {"args": {"path": "there.txt"}}\n')
    assert "completed" in at.rest()
    assert at.process.wait(timeout=60) == 0


def test_later_leaves_it_in_the_inbox(cli, step, terminal) -> None:
    cli.plan(step("q", "ask_person", question="Which colour?"))
    at = terminal("run", "plan.yaml")
    at.until("another time): ")
    at.type("/later\n")
    assert "Then continue with: beforehand run --resume" in at.rest()
    assert at.process.wait(timeout=60) == 3
    assert [item["kind"] for item in cli("inbox", "-o", "json").document] == ["question"]


def test_ctrl_c_at_a_question_leaves_the_run_to_be_taken_up(cli, step, terminal) -> None:
    cli.plan(step("q", "ask_person", question="Which colour?"))
    at = terminal("run", "plan.yaml")
    at.until("another time): ")
    os.killpg(at.process.pid, 2)
    assert "can be continued with: beforehand run --resume" in at.rest()
    assert at.process.wait(timeout=60) == 130


def test_progress_is_shown(cli, step, terminal) -> None:
    cli.plan(
        step("w", "wait", {"description": "Wait a little"}, seconds=1), step("q", "ask_person", question="Enough?")
    )
    at = terminal("run", "plan.yaml")
    at.until("Answer")
    at.type("yes\n")
    assert "completed" in at.rest()
    assert at.process.wait(timeout=60) == 0


def test_a_question_answered_elsewhere_is_taken_back(cli, step, terminal) -> None:
    cli.up()
    cli.plan(step("q", "ask_person", question="Which colour?"))
    at = terminal("run", "plan.yaml")
    at.until("another time): ")
    name = cli("inbox", "-o", "json").document[0]["id"]
    cli("inbox", "answer", name, "answer", "--value", "red", code=0)
    assert "That has been answered elsewhere." in at.rest()
    assert at.process.wait(timeout=60) == 0
