"""`beforehand agent`: a body in a home, steered from a file, by hand, by the policy or by a model."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED, REFUSED
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, line, print_err, print_json, print_out

if TYPE_CHECKING:
    from beforehand.app.settings import Settings

    Document = dict[str, Any]

COMMANDS = {"agent": "A body in a home, steered with start, stop, skip and end."}
agent = typer.Typer(help=COMMANDS["agent"], no_args_is_help=True)
SceneArgument = Annotated[str, typer.Argument(metavar="SCENE", help="The home's scene: its name, or a file.")]
GoalOption = Annotated[str | None, typer.Option("--goal", metavar="TEXT", help="What is to be achieved.")]


@agent.command()
def run(
    scene: SceneArgument,
    commands: Annotated[
        str | None, typer.Option("--commands", metavar="FILE", help="One command a line; - reads standard input.")
    ] = None,
    goal: GoalOption = None,
    model: Annotated[str | None, typer.Option("--model", metavar="M", help="The model that steers.")] = None,
    policy: Annotated[bool, typer.Option("--policy", help="The built-in policy steers; no model is needed.")] = False,
    instruction: Annotated[
        str | None, typer.Option("--instruction", metavar="TEXT", help="The goal in other words, for the model.")
    ] = None,
    pictures: Annotated[bool, typer.Option("--pictures/--no-pictures", help="Whether the model sees the map.")] = True,
    max_steps: Annotated[int | None, typer.Option("--max-steps", metavar="N", min=1, help="The most commands.")] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Run a session: from a file of commands, or by a model or the policy that is given a goal.

    A file runs in virtual time, writes nothing to the home's log, and gives the same answer every time.
    """
    from beforehand.app.documents import read_text
    from beforehand.app.dry_run import scene_document
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.agent.core.command_text import command_lines
    from beforehand.crafts.agent.playing import play
    from beforehand.model.errors import BadInputError

    if commands is None and goal is None:
        raise BadInputError("Give --commands FILE, or --goal TEXT for a model or the policy.", code="usage")
    if commands is not None and (model or policy or instruction):
        raise BadInputError("With --commands leave out --model, --policy and --instruction.", code="usage")
    if commands is None and not (goal or "").strip():
        raise BadInputError("A session that a model or the policy steers needs a goal: --goal TEXT.", code="usage")
    if model and policy:
        raise BadInputError("Either a model steers or the policy, not both.", code="usage")
    if commands == "-" and scene == "-":
        raise BadInputError("The scene and the commands cannot both come from standard input.", code="usage")
    settings = settings_from(home=home, db=db, model=model)
    if commands is None:
        from beforehand.crafts.agent.goal_command import run_goal

        asked = {"goal": goal, "instruction": instruction, "maxSteps": max_steps}
        asked |= {"policy": True} if policy else {"model": _configured(settings), "pictures": pictures}
        result = run_async(run_goal(settings, scene, asked, _show(output)))
    else:
        lines = command_lines(read_text(commands))
        document = run_async(scene_document(settings, scene))
        result = play(document, lines, goal=goal, max_steps=max_steps, watch=_show(output))
    return _print(result, output)


def _configured(settings: "Settings") -> str:
    """The model's name; refused, with what to set, where none is configured."""
    from beforehand.app.models import open_model

    open_model(settings)
    return str(settings["model"])


def _show(output: Output) -> Any:
    def show(step: "Document") -> None:
        if output is Output.TABLE:
            print_out(f"> {line(step['command'])}", step["reply"], step["state"], "")

    return show


def _print(result: dict[str, Any], output: Output) -> int:
    if output is Output.JSON:
        print_json(result)
    else:
        reached = {True: "The goal was reached.", False: "The goal was not reached."}.get(result["goalReached"], "")
        ends = {
            "ended": "The session has ended.",
            "failed": "The session has failed.",
            "open": "The session is still open.",
        }
        print_out(" ".join(part for part in (ends[result["status"]], reached) if part))
    if result.get("waitsFor"):
        print_err(
            *filter(None, [result.get("reason")]),
            "Nobody steers it any more, and everything is stopped.",
            f"Answer: beforehand inbox show {result['waitsFor']}",
        )
        return REFUSED
    if result["status"] == "failed":
        print_err(result.get("reason", "The session has failed."))
        return FAILED
    return DONE


@agent.command()
def steer(
    scene: SceneArgument,
    goal: GoalOption = None,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Steer by hand: the state, then your command, one after another. `end()` or the end of input ends it."""
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.agent.hand_command import steer_by_hand

    return _print(run_async(steer_by_hand(settings_from(home=home, db=db), scene, goal)), Output.TABLE)
