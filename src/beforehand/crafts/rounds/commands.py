"""`beforehand ask` and `beforehand rounds`: questions, and sessions of the round planner run again from their files."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED, REFUSED
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, line, print_err, print_json, print_out, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = {
    "ask": "Ask about what the installation has been doing, or how it works.",
    "rounds": "Sessions of the round planner, run again from a file.",
}


def ask(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The question, in plain words.")],
    model: Annotated[
        str | None, typer.Option("--model", metavar="M", help="The model that plans; rules do without one.")
    ] = None,
    follows: Annotated[
        str | None, typer.Option("--follows", metavar="ID", help="The question it goes on from.")
    ] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Ask about the past of the installation, or about Beforehand itself.

    How many picks failed yesterday? Which robot waited longest this week? How do I add a token? No model is needed.
    """
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.rounds.ask_command import ask_and_follow

    asked = {"text": text, "model": model, "follows": follows}
    question = run_async(ask_and_follow(settings_from(home=home, db=db), asked, output))
    return _answered(question, output)


def _answered(question: dict[str, Any], output: Output) -> int:
    if output is Output.JSON:
        print_json(question)
    elif question["status"] == "done":
        print_out(question["answer"])
        for drawn in _charts(question):
            print_out("", drawn)
        print_err(*_how_read(question))
        print_err(f"To go on from it: beforehand ask … --follows {question['questionId']}")
    if question.get("waitsFor"):
        print_err("It waits for a person.", *_what_waits(question))
        print_err(f"Answer it: beforehand inbox show {question['waitsFor'][0]}")
        return REFUSED
    if question["status"] == "failed":
        print_err(question.get("reason", "It was not answered."))
        if question.get("partial_response"):
            print_err("What was finished:", question["partial_response"])
        return REFUSED if question.get("refused") else FAILED
    return DONE


def _what_waits(question: dict[str, Any]) -> "Iterator[str]":
    """What a person is asked, where words of the question were not clear."""
    for sub_goal in question["sub_goals"]:
        if unclear := (sub_goal.get("outputs") or {}).get("unclear"):
            yield str(unclear)


def _how_read(question: dict[str, Any]) -> "Iterator[str]":
    """What the words were taken for: a misspelt name that was corrected is seen beside the answer."""
    for sub_goal in question["sub_goals"]:
        if summary := (sub_goal.get("outputs") or {}).get("query_summary"):
            yield f"Read as: {summary}"


def _charts(question: dict[str, Any]) -> "Iterator[str]":
    from beforehand.crafts.rounds.core.chart import blocks
    from beforehand.crafts.rounds.core.results import chart_from

    for ref in question["synthesis_inputs"].values():
        for sub_goal in question["sub_goals"]:
            value = (sub_goal.get("outputs") or {}).get(ref["slot"]) if sub_goal["id"] == ref["from_sub_goal"] else None
            if isinstance(value, dict) and value.get("chart"):
                yield blocks(chart_from(value["chart"]))


rounds = typer.Typer(help=COMMANDS["rounds"], no_args_is_help=True)


@rounds.callback()
def _group() -> None:
    """Keeps `replay` a command of its own, although it is the only one."""


@rounds.command()
def replay(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A replay file; - reads standard input.")],
    output: OutputOption = Output.TABLE,
) -> int:
    """Run a session again from its file: no model is asked, nothing is written, the same bytes every time."""
    from beforehand.app.documents import read_file
    from beforehand.crafts.rounds.core.replay import play, result_of
    from beforehand.crafts.rounds.core.replay_file import read_replay

    result = result_of(play(read_replay(read_file(file))))
    if output is Output.JSON:
        print_json(result)
    else:
        _show(result)
    if result["status"] == "done":
        return DONE
    print_err(*(result["warnings"][-1:] or ["The session has failed."]))
    return FAILED


def _show(result: dict[str, Any]) -> None:
    rows = [[each["round"], each["id"], each["worker"], each["status"], _came_of(each)] for each in result["sub_goals"]]
    print_table(["round", "id", "worker", "status", ""], rows, nothing="There were no sub-goals.")
    for says in result["warnings"]:
        print_out(f"Warning: {line(says)}")
    text = result.get("answer") or result.get("partial_response")
    if text:
        print_out("", "Answer:" if "answer" in result else "What was finished:", text)


def _came_of(sub_goal: dict[str, Any]) -> str:
    slots = ", ".join(sub_goal.get("outputs", {}))
    return line(sub_goal.get("error") or slots)[:120]
