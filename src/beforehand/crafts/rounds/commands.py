"""`beforehand rounds`: sessions of the round planner, run again from their files."""

from typing import Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED
from beforehand.cli.options import OutputOption
from beforehand.cli.screen import Output, line, print_err, print_json, print_out, print_table

COMMANDS = {"rounds": "Sessions of the round planner, run again from a file."}
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
    from beforehand.crafts.rounds.core.replay import play, read_replay, result_of

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
