"""`beforehand ask`: answered in this process or at the server, followed up, and refused rather than guessed."""

from typing import Any


def test_the_past_and_the_documentation_are_asked_without_a_model(cli: Any, step: Any) -> None:
    cli.plan(step("a", "wait", seconds=0), name="tiny.yaml")
    cli("run", "tiny.yaml", code=0)
    done = cli("ask", "how many runs today?", code=0)
    assert done.out.startswith("1 ")
    helped = cli("ask", "How do I add a token?", "-o", "json", code=0).document
    assert helped["status"] == "done"
    assert "beforehand token add" in helped["answer"]
    refused = cli("ask", "how many unicorns?", code=1)
    assert "unicorns" in refused.err
    first = cli("ask", "list runs", "-o", "json", code=0).document
    again = cli("ask", "and per hour?", "--follows", first["questionId"], code=0)
    assert "hour" in again.out
    assert "Unknown question" in cli("ask", "next page", "--follows", "nobody", code=2).err


def test_the_server_of_the_home_answers(cli: Any) -> None:
    cli.up()
    assert "token" in cli("ask", "How do I add a token?", code=0).out
