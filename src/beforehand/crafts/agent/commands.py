"""`beforehand agent`: a body in a home, steered from a file, by hand, by the policy or by a model."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED, REFUSED
from beforehand.cli.known_names import rows_named
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, line, print_err, print_json, print_out

if TYPE_CHECKING:
    from beforehand.app.settings import Settings

    Document = dict[str, Any]

session_ids = rows_named("session", lambda row: (row["sessionId"], f"in {row['scene']}"), open=True)
COMMANDS = {"agent": "A body in a home, steered with start, stop, skip and end."}
agent = typer.Typer(help=COMMANDS["agent"], no_args_is_help=True)
SceneArgument = Annotated[str, typer.Argument(metavar="SCENE", help="The home's scene: its name, or a file.")]
LeaseOption = Annotated[
    float,
    typer.Option(
        "--lease", metavar="SECONDS", min=1, max=3600, help="How long a server keeps it when this command is killed."
    ),
]
SessionArgument = Annotated[str, typer.Argument(metavar="ID", help="The session's id.", autocompletion=session_ids)]
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
    lease: LeaseOption = 30.0,
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
        result = run_async(run_goal(settings, scene, asked, _show(output), lease))
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
    lease: LeaseOption = 30.0,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Steer by hand: the state, then your command, one after another. `end()` or the end of input ends it."""
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.agent.hand_command import steer_by_hand

    return _print(run_async(steer_by_hand(settings_from(home=home, db=db), scene, goal, lease)), Output.TABLE)


@agent.command("list")
def list_sessions(
    everything: Annotated[bool, typer.Option("--all", help="Those that are over, too.")] = False,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """The sessions that hold a body: who steers, since when, idle for how long, and what is left of the budget."""
    from beforehand.crafts.agent.session_commands import list_open, print_sessions

    print_sessions(list_open(settings_from(home=home, db=db), everything=everything), output)
    return DONE


@agent.command()
def show(
    session: SessionArgument, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None
) -> int:
    """One session: who holds its body, what it does, and how things are."""
    from beforehand.crafts.agent.session_commands import print_session
    from beforehand.crafts.agent.session_commands import show as show_it

    print_session(show_it(settings_from(home=home, db=db), session), output)
    return DONE


@agent.command()
def end(
    session: SessionArgument, output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None
) -> int:
    """Stop everything in a session, end it and give its body back, whoever steers it; works without a server too."""
    from beforehand.crafts.agent.session_commands import end_open
    from beforehand.crafts.agent.session_face import ended_says

    ended = end_open(settings_from(home=home, db=db), session)
    print_json(ended) if output is Output.JSON else print_out(ended_says(ended))
    return DONE


@agent.command("take-over")
def take_over(
    session: SessionArgument,
    lease: LeaseOption = 30.0,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Steer a session by hand from here on, whoever did before; with `-o json` it is yours to steer over HTTP."""
    from beforehand.cli.run import refuse_missing
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.agent.hand_command import steer_on
    from beforehand.crafts.agent.session_commands import take_over as take_it_over

    settings = settings_from(home=home, db=db)
    refuse_missing(settings, f"so there is no session {session!r}")
    if output is Output.JSON:
        print_json(take_it_over(settings, session))
        return DONE
    return _print(run_async(steer_on(settings, session, lease)), Output.TABLE)


@agent.command()
def resume(
    session: SessionArgument,
    requests: Annotated[int | None, typer.Option("--requests", min=1, help="The most requests to the model.")] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", min=1, help="The most tokens.")] = None,
    money: Annotated[float | None, typer.Option("--money", min=0.0, help="The most US dollars.")] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", min=0.0, help="The longest thinking, in all.")] = None,
    max_steps: Annotated[int | None, typer.Option("--max-steps", metavar="N", min=1, help="The most commands.")] = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Have a session that waits for a person go on at its server, with more to use where you say so."""
    from beforehand.crafts.agent.session_commands import print_session
    from beforehand.crafts.agent.session_commands import resume as resume_it

    given = {"requests": requests, "tokens": tokens, "money": money, "seconds": seconds, "maxSteps": max_steps}
    print_session(resume_it(settings_from(home=home, db=db), session, given), output)
    return DONE


@agent.command()
def reset(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="The home's name.")],
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Put a simulated body and its world back to where the scene begins; only where nobody holds it."""
    from beforehand.crafts.agent.session_commands import reset as reset_it

    done = reset_it(settings_from(home=home, db=db), scene)
    print_json(done) if output is Output.JSON else print_out(f"{scene} is as its scene begins.", done["state"])
    return DONE
