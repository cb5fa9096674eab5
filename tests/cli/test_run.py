"""`run`: what is printed, how it ends, and how a run that needs a person goes on."""

import json

import pytest


def statuses(run: dict) -> dict[str, str]:
    return {step["id"]: step["status"] for step in run["steps"]}


def test_a_run_prints_its_document(cli, step) -> None:
    cli.plan(
        step("a", "write_file", path="a.txt", content="hello"),
        step("b", "read_file", {"dependsOn": ["a"]}, path="a.txt"),
        step("c", "write_file", path="c.txt", content="${b} world"),
    )
    done = cli("run", "plan.yaml", "-o", "json", code=0)
    run = done.document
    assert run["status"] == "completed"
    assert run["version"] == 1
    assert isinstance(run["durationMs"], int)
    assert run["runId"]
    assert run["planId"]
    assert statuses(run) == {"a": "completed", "b": "completed", "c": "completed"}
    result = run["steps"][1]["result"]
    assert result["ok"] is True
    assert result["value"] == "hello"
    assert result["timestamp"].endswith("Z")
    assert done.err == ""
    assert (cli.folder / "c.txt").read_text() == "hello world"
    assert [event["seq"] for event in cli.events()] == list(range(1, len(cli.events()) + 1))


def test_a_table_for_people_without_colours_in_a_pipe(cli, step) -> None:
    cli.plan(step("a", "wait", {"description": "Wait a little"}, seconds=0))
    done = cli("run", "plan.yaml", code=0, FORCE_COLOR="1", TERM="xterm-256color")
    assert "Wait a little" in done.out
    assert "completed" in done.out
    assert "\u001b" not in done.out + done.err


def test_the_call_stands_beside_its_author_s_words_and_what_was_denied_apart(cli, step) -> None:
    (cli.folder / "old.txt").write_text("one")
    cli.plan(
        step("look", "write_file", {"description": "Read the settings"}, path="old.txt", content="a, path: b"),
        step("list", "list_dir", path="."),
        step("after", "wait", {"dependsOn": ["look"]}, seconds=0),
    )
    waiting = cli("run", "plan.yaml", code=3)
    row = next(line for line in waiting.out.splitlines() if line.startswith("look"))
    assert 'write_file(path: old.txt, content: "a, path: b")   Read the settings   ready' in row
    assert "waiting, 1 of 3 steps done." in waiting.out
    assert "{" not in waiting.out, "no JSON in a table"
    decision = f"{cli.events()[-1]['about']['runId']}-d1"
    shown = cli("inbox", "show", decision, code=0).out
    assert 'The call: write_file(path: old.txt, content: "a, path: b")' in shown
    assert "\n  args:" not in shown
    cli("inbox", "answer", decision, "deny", code=0)
    ended = cli("run", "--resume", decision.removesuffix("-d1"), code=1)
    assert "partial, 1 of 3 steps done, 1 denied, 1 blocked" in ended.out
    assert (
        cli("runs", "show", decision.removesuffix("-d1"), code=0).out.splitlines()[2:5] == ended.out.splitlines()[2:5]
    )


def test_a_failed_run_prints_its_document_and_says_why(cli, step) -> None:
    cli.plan(
        step("good", "wait", seconds=0),
        step("bad", "read_file", path="missing.txt"),
        step("after", "wait", {"dependsOn": ["bad"]}, seconds=0),
    )
    done = cli("run", "plan.yaml", "-o", "json", code=1)
    assert done.document["status"] == "failed"
    assert statuses(done.document) == {"good": "completed", "bad": "failed", "after": "blocked"}
    assert "missing.txt" in done.err
    assert "after blocked" in done.err


def test_an_invalid_plan_is_bad_input_and_starts_nothing(cli, step) -> None:
    cli.plan(
        step("a", "write_file", path="a", content=""), step("b", "no_such_tool"), step("c", "wait", seconds="soon")
    )
    done = cli("run", "plan.yaml", "-o", "json", code=2)
    assert done.out == ""
    assert "There are 2 problems:" in done.err
    assert not (cli.folder / "a").exists()


def test_the_plan_may_come_from_standard_input(cli, step) -> None:
    done = cli("run", "-", "-o", "json", given=json.dumps({"steps": [step("a", "wait", seconds=0)]}), code=0)
    assert done.document["status"] == "completed"


def test_another_workspace(cli, step) -> None:
    (cli.folder / "there").mkdir()
    cli.plan(step("a", "write_file", path="a.txt", content="x"))
    cli("run", "plan.yaml", "--workspace", "there", code=0)
    assert (cli.folder / "there" / "a.txt").exists()
    assert "is not a folder" in cli("run", "plan.yaml", "--workspace", "nowhere", code=2).err


# -- somebody is needed ------------------------------------------------------------------------------------------


def asking(cli, step) -> str:
    (cli.folder / "old.txt").write_text("old")
    return cli.plan(
        step("new", "write_file", path="new.txt", content="n"),
        step("over", "write_file", path="old.txt", content="changed"),
        step("gone", "delete_file", {"dependsOn": ["over"]}, path="new.txt"),
    )


def test_without_a_terminal_a_run_that_needs_a_person_ends_with_3(cli, step) -> None:
    done = cli("run", asking(cli, step), "-o", "json", code=3)
    run = done.document
    assert run["status"] == "waiting"
    assert [decision["kind"] for decision in run["decisions"]] == ["approval"]
    decision = run["decisions"][0]
    assert f"beforehand inbox answer {decision['id']} approve" in done.err
    assert f"beforehand run --resume {run['runId']}" in done.err
    assert (cli.folder / "old.txt").read_text() == "old"
    assert (cli.folder / "new.txt").exists()


def test_yes_approves_every_approval_one_after_another(cli, step) -> None:
    done = cli("run", asking(cli, step), "--yes", "-o", "json", code=0)
    assert done.document["status"] == "completed"
    assert (cli.folder / "old.txt").read_text() == "changed"
    assert not (cli.folder / "new.txt").exists()


def test_resume_after_an_answer_in_between(cli, step) -> None:
    run = cli("run", asking(cli, step), "-o", "json", code=3).document
    answered = cli(
        "inbox", "answer", run["decisions"][0]["id"], "approve", "--note", "fine by me", "-o", "json", code=0
    )
    assert answered.document["answer"]["verb"] == "approve"
    assert answered.document["answer"]["note"] == "fine by me"
    assert f"run --resume {run['runId']}" in answered.err
    assert (cli.folder / "old.txt").read_text() == "old", "an answer by itself runs nothing"
    again = cli("run", "--resume", run["runId"], "-o", "json", code=3).document
    assert statuses(again)["over"] == "completed"
    assert statuses(again)["gone"] == "ready"
    last = cli("run", "--resume", run["runId"], "--yes", "-o", "json", code=0).document
    assert last["runId"] == run["runId"]
    assert last["status"] == "completed"
    assert cli("run", "--resume", run["runId"], "-o", "json", code=0).document == last


def test_a_denied_step_does_not_look_like_success(cli, step) -> None:
    run = cli("run", asking(cli, step), "-o", "json", code=3).document
    cli("inbox", "answer", run["decisions"][0]["id"], "deny", code=0)
    done = cli("run", "--resume", run["runId"], "-o", "json", code=1).document
    assert statuses(done) == {"new": "completed", "over": "denied", "gone": "blocked"}
    assert (done["status"], done["summary"]["denied"]) == ("partial", 1)


def test_a_resumed_run_keeps_its_workspace(cli, step) -> None:
    (cli.folder / "elsewhere").mkdir()
    run = cli("run", asking(cli, step), "-o", "json", code=3).document
    home = str(cli.folder / ".beforehand")
    elsewhere = type(cli)(cli.folder / "elsewhere")
    elsewhere("run", "--resume", run["runId"], "--yes", "--home", home, code=0)
    assert (cli.folder / "old.txt").read_text() == "changed"


def test_yes_answers_no_questions_and_no_failures(cli, step) -> None:
    cli.plan(
        step("q", "ask_person", question="Which colour?"),
        step("f", "read_file", {"onFailure": "ask"}, path="missing.txt"),
    )
    done = cli("run", "plan.yaml", "--yes", "-o", "json", code=3)
    kinds = {decision["kind"]: decision["id"] for decision in done.document["decisions"]}
    assert set(kinds) == {"question", "failure"}
    assert "Which colour?" in done.err
    assert f"inbox answer {kinds['question']} answer --value TEXT (or skip)" in done.err
    cli("inbox", "answer", kinds["question"], "answer", "--value", "dark red", code=0)
    (cli.folder / "other.txt").write_text("found")
    cli("inbox", "answer", kinds["failure"], "retry", "--value", '{"args": {"path": "other.txt"}}', code=0)
    run = cli("run", "--resume", done.document["runId"], "-o", "json", code=0).document
    values = {item["id"]: item["result"]["value"] for item in run["steps"]}
    assert values == {"q": "dark red", "f": "found"}


def test_a_tool_that_breaks_shows_no_traceback(cli, step) -> None:
    cli.plan(step("a", "bench.append", path="/proc/nothing/here", line="x"))
    assert cli("run", "plan.yaml", "-o", "json", code=1).document["steps"][0]["status"] == "failed"


@pytest.mark.parametrize("name", ["run_nobody", "", "../x", "x" * 3000])
def test_an_unknown_run(cli, step, name: str) -> None:
    cli("run", cli.plan(step("a", "wait", seconds=0)), code=0)
    assert "Unknown run" in cli("run", "--resume", name, code=2).err


def test_a_home_that_another_process_leads(cli, step) -> None:
    cli.plan(step("a", "write_file", path="begun", content=""), step("b", "wait", {"dependsOn": ["a"]}, seconds=60))
    first = cli.start("run", "plan.yaml")
    assert first.stderr is not None
    assert any("a completed" in line for line in first.stderr)
    done = cli("run", "plan.yaml", "-o", "json", code=3)
    assert f"Process {first.pid} " in done.err
    assert done.out == ""
    assert f"Process {first.pid} " in cli("template", "save", "plan.yaml", code=3).err
    assert cli("inbox", "list", "-o", "json", code=0).document == [], "looking goes on beside it"
    assert str(first.pid) in cli("doctor").out
