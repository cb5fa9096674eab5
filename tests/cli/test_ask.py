"""`beforehand ask`: answered in this process or at the server, followed up, and refused rather than guessed."""

from typing import Any


def test_the_past_and_the_documentation_are_asked_without_a_model(cli: Any, step: Any) -> None:
    cli.plan(step("a", "wait", seconds=0), name="tiny.yaml")
    cli("run", "tiny.yaml", code=0)
    done = cli("ask", "how many runs today?", code=0)
    assert done.out.startswith("1 ")
    assert "Read as: The number of runs" in done.err
    assert "todya was read as today." in cli("ask", "how many runs todya?", code=0).err
    helped = cli("ask", "How do I add a token?", "-o", "json", code=0).document
    assert helped["status"] == "done"
    assert "beforehand token add" in helped["answer"]
    refused = cli("ask", "how many unicorns?", code=3)
    assert "unicorns" in refused.err
    for text in ("tell me a story", "what is a unicorn?", "???"):
        assert cli("ask", text, "-o", "json", code=3).document["refused"], "nothing was searched"
    failed = cli("ask", '{"index": "runs", "query": {"term": {"statu": "x"}}} just run it', "-o", "json", code=1)
    assert "refused" not in failed.document, "it was understood, and cannot run"
    assert "empty" in cli("ask", "  ", code=1).err
    assert "There are no such" not in cli("ask", "which person started the most runs?", code=0).out
    first = cli("ask", "list runs", "-o", "json", code=0).document
    again = cli("ask", "and per hour?", "--follows", first["questionId"], code=0)
    assert "hour" in again.out
    assert "Unknown question" in cli("ask", "next page", "--follows", "nobody", code=2).err


def test_the_server_of_the_home_answers(cli: Any) -> None:
    cli.up()
    assert "token" in cli("ask", "How do I add a token?", code=0).out
