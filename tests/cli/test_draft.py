"""`beforehand draft`: with a model that is a fake one over HTTP, and with none."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.conftest import Cli, beside

from beforehand.testing.model_replies import Reply, gives
from beforehand.testing.model_servers import FakeOpenAI

WORDS = "Copy my notes to copy.txt."


def step(name: str, tool: str, *needs: str, **args: Any) -> dict[str, Any]:
    return {
        "id": name,
        "description": f"Call {tool}.",
        "tool": tool,
        "args": [{"name": key, "json_value": json.dumps(value)} for key, value in args.items()],
        "depends_on": list(needs),
        "requires_approval": False,
        "when": "",
        "on_failure": "continue",
    }


def plan(*steps: dict[str, Any], cannot: str = "") -> Reply:
    return gives({"name": "Copy", "steps": list(steps), "edge_cases": [], "cannot": cannot})


GOOD = plan(
    step("read", "read_file", path="notes.txt"),
    step("write", "write_file", "read", path="copy.txt", content="$read"),
    step("check", "read_file", "write", path="copy.txt"),
)


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    fake = FakeOpenAI(GOOD)
    with beside(fake):
        yield fake


@pytest.fixture
def writer(cli: Cli, model: FakeOpenAI) -> Cli:
    (cli.folder / "notes.txt").write_text("Milk.\n")
    cli.environment.update(BEFOREHAND_MODEL="openai:writer", BEFOREHAND_MODEL_URL=model.url)
    return cli


@pytest.mark.needs("pydantic_ai")
def test_a_draft_is_shown_and_nothing_is_written(writer: Cli, model: FakeOpenAI) -> None:
    shown = writer("draft", WORDS, code=0)
    assert "write_file(path: copy.txt, content: $read)" in shown.out
    assert f"written by openai:writer from: {WORDS}" in shown.out
    assert not (writer.folder / ".beforehand").exists()
    drafted = writer("draft", WORDS, "-o", "json", code=0).document
    assert "id" not in drafted
    assert drafted["origin"]["model"] == "openai:writer"
    (writer.folder / "plan.json").write_text(json.dumps(drafted))
    writer("check", "plan.json", code=0)
    assert writer("run", "plan.json", "-o", "json", code=0).document["status"] == "completed"
    assert (writer.folder / "copy.txt").read_text() == "Milk.\n"


@pytest.mark.needs("pydantic_ai")
def test_a_draft_is_handed_in_for_review_with_who_wrote_it(writer: Cli, model: FakeOpenAI) -> None:
    shown = writer("draft", WORDS, "--submit", "-o", "json", code=0)
    plan_id = shown.document["id"]
    assert f"beforehand inbox show {plan_id}-v1" in shown.err
    review = writer("inbox", "show", f"{plan_id}-v1", "-o", "json", code=0).document
    assert review["evidence"]["origin"]["model"] == "openai:writer"
    assert WORDS in writer("inbox", "show", f"{plan_id}-v1", code=0).out


@pytest.mark.needs("pydantic_ai")
def test_a_server_drafts_it_where_one_runs(writer: Cli, model: FakeOpenAI) -> None:
    writer.up()
    plan_id = writer("draft", WORDS, "--submit", "-o", "json", code=0).document["id"]
    assert writer("inbox", "show", f"{plan_id}-v1", "-o", "json", code=0).document["status"] == "open"


@pytest.mark.needs("pydantic_ai")
def test_tries_are_told_and_a_failure_is_one(writer: Cli, model: FakeOpenAI) -> None:
    model.script = (plan(step("read", "read_file", file="notes.txt")), GOOD)
    shown = writer("draft", WORDS, code=0)
    assert "Try 1 has" in shown.err
    model.script = (plan(step("read", "read_file", "nobody", path="notes.txt")),)
    failed = writer("draft", WORDS, "-o", "json", code=1)
    assert failed.document["reason"]["code"] == "draft.invalid"
    assert "nobody" in failed.err
    model.script = (plan(cannot="No tool sends mail."),)
    assert "No tool sends mail." in writer("draft", "Mail it.", code=3).err


def test_without_a_model_it_says_what_to_set_and_what_else_there_is(cli: Cli) -> None:
    for submit in ([], ["--submit"]):
        told = cli("draft", WORDS, *submit, code=3).err
        assert "BEFOREHAND_MODEL" in told
        assert "--dry-run" in told
        assert "template" in told
    assert not (cli.folder / ".beforehand").exists()


def test_a_name_that_is_no_models_is_bad_input(cli: Cli) -> None:
    for words in (["draft", WORDS], ["ask", "tasks today"], ["agent", "run", "apartment", "--goal", "sit on bed1"]):
        told = cli(*words, "--model", "gpt-5", code=2).err
        assert "'gpt-5' is not the name of a model." in told
        assert "openai:gpt-5" in told


def test_a_dry_run_shows_what_would_be_sent_and_needs_no_model(cli: Cli) -> None:
    (cli.folder / "notes.txt").write_text("Milk.\n")
    (cli.folder / ".env").write_text("KEY=hunter2\n")
    sent = cli("draft", WORDS, "--dry-run", "-o", "json", code=0).document
    assert sent["messages"][0]["text"].endswith(WORDS)
    assert "notes.txt" in sent["messages"][0]["text"]
    assert "hunter2" not in json.dumps(sent)
    assert "write_file" in sent["schema"]["properties"]["steps"]["items"]["properties"]["tool"]["enum"]
    assert "Nothing was sent." in cli("draft", WORDS, "--dry-run", code=0).out
    cli("draft", WORDS, "--dry-run", "--submit", code=2)
    assert not (cli.folder / ".beforehand").exists()
