"""`inbox`: listed, shown, answered; reviews are started from it."""

import json

import pytest


@pytest.fixture
def waiting(cli, step) -> dict:
    """A run that waits for an approval."""
    (cli.folder / "old.txt").write_text("old\n")
    cli.plan(step("over", "write_file", path="old.txt", content="new\n"))
    return cli("run", "plan.yaml", "-o", "json", code=3).document


def test_nothing_waits_where_nothing_is(cli) -> None:
    assert cli("inbox", code=0).out == "Nothing waits for a person.\n"
    assert cli("inbox", "list", "-o", "json", code=0).document == []
    assert not (cli.folder / ".beforehand").exists()


def test_list_and_show(cli, waiting) -> None:
    decision = waiting["decisions"][0]
    assert cli("inbox", "-o", "json", code=0).document == [decision]
    assert decision["id"] in cli("inbox", code=0).out
    assert cli("inbox", "show", decision["id"], "-o", "json", code=0).document == decision
    shown = cli("inbox", "show", decision["id"], code=0).out
    for part in ("-old", "+new", "approve: The step runs", f"beforehand inbox answer {decision['id']} approve"):
        assert part in shown


def test_wrong_answers_change_nothing(cli, waiting) -> None:
    name = waiting["decisions"][0]["id"]
    count = len(cli.events())
    assert "Known verbs: approve, deny" in cli("inbox", "answer", name, "aprove", code=2).err
    assert f"Known decisions: {name}" in cli("inbox", "answer", "d9", "approve", code=2).err
    assert "Known verbs: approve, deny" in cli("inbox", "answer", name, "start", code=2).err
    assert len(cli.events()) == count


def test_answering_twice_is_refused(cli, waiting) -> None:
    name = waiting["decisions"][0]["id"]
    cli("inbox", "answer", name, "deny", code=0)
    assert "was answered with 'deny'" in cli("inbox", "answer", name, "approve", code=3).err
    assert "answered with 'deny'" in cli("inbox", "show", name, code=0).out


def test_a_step_put_in_before_a_failed_one(cli, step) -> None:
    cli.plan(step("f", "read_file", {"onFailure": "ask"}, path="late.txt"))
    run = cli("run", "plan.yaml", "-o", "json", code=3).document
    steps = {"steps": [step("first", "write_file", path="late.txt", content="here")]}
    cli("inbox", "answer", run["decisions"][0]["id"], "insert", "--value", json.dumps(steps), code=0)
    done = cli("run", "--resume", run["runId"], "-o", "json", code=0).document
    assert [(item["id"], item["status"]) for item in done["steps"]] == [("first", "completed"), ("f", "completed")]
    assert done["version"] == 2


def test_values_that_cannot_work_are_refused(cli, step) -> None:
    cli.plan(step("q", "ask_person", question="How many?"))
    name = cli("run", "plan.yaml", "-o", "json", code=3).document["decisions"][0]["id"]
    assert "needs a `value`" in cli("inbox", "answer", name, "answer", code=2).err
    assert (
        cli("inbox", "answer", name, "answer", "--value", "42", "-o", "json", code=0).document["answer"]["value"] == 42
    )


def test_show_says_what_a_verb_takes(cli, step) -> None:
    cli.plan(step("a", "read_file", path="none.txt", also={"onFailure": "ask"}))
    name = cli("run", "plan.yaml", "-o", "json", code=3).document["decisions"][0]["id"]
    shown = " ".join(cli("inbox", "show", name).out.split())
    assert "value: Other arguments for the step; its own when left out. `args` has: path." in shown
    assert "value: The steps to put in, each with `id` and `tool`. It is given as `steps`." in shown


def test_a_review_is_started_from_the_inbox(cli, step) -> None:
    url = cli.up()
    import urllib.request

    plan = {"plan": {"steps": [step("a", "write_file", path="a.txt", content="x")]}}
    request = urllib.request.Request(
        f"{url}/api/v1/plans", json.dumps(plan).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        review = json.loads(answer.read())["decision"]["id"]
    cli.end_all()
    assert not (cli.folder / "a.txt").exists()
    done = cli("inbox", "answer", review, "start", "-o", "json", code=0)
    assert done.document["status"] == "completed"
    assert (cli.folder / "a.txt").exists()
    assert cli("inbox", "answer", review, "start", code=3).out == ""
