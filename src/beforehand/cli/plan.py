"""`beforehand plan`: what somebody wants of a scene, as a plan to look at. Nothing is written and no home is made."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.known_names import scene_names
from beforehand.cli.options import DbOption, HomeOption, PositionOption, ToolOption, settings_from
from beforehand.cli.screen import line, print_err, print_json, print_out, print_table
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.model.plan import Plan


class PlanOutput(StrEnum):
    TABLE = "table"
    JSON = "json"
    STEPS = "steps"


class Order(StrEnum):
    GIVEN = "given"
    FREE = "free"


def plan(
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What is wanted, in words.")] = None,
    scene: Annotated[
        str | None,
        typer.Option(
            "--scene", metavar="S", help="The scene it is for: its name, or a file.", autocompletion=scene_names
        ),
    ] = None,
    intent: Annotated[
        str | None, typer.Option("--intent", metavar="FILE|-", help="What is wanted, as an intent's file instead.")
    ] = None,
    position: PositionOption = None,
    tool: ToolOption = None,
    order: Annotated[
        Order | None, typer.Option("--order", help="Keep the goals in the order given, or look for the shortest.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="M", help="May read words the grammar refuses; `configured` is the one that is set."
        ),
    ] = None,
    output: Annotated[
        PlanOutput,
        typer.Option("--output", "-o", help="A table, the plan as JSON, or just its steps as one JSON list."),
    ] = PlanOutput.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Make a plan from words or an intent.

    It starts from --position and --tool, else from where the home's log says the machine stands, else as the scene
    begins. The JSON can be handed to check, preview and run.
    """
    from beforehand.app.documents import read_file
    from beforehand.app.dry_run import draft_plan
    from beforehand.app.intake import PlanInput
    from beforehand.cli.run_async import run_async

    _refuse_unclear(text, scene, intent)
    given = {"order": order.value if order else None, "position": position, "tool": tool, "model": model}
    options = {name: value for name, value in given.items() if value is not None}
    wanted = None if intent is None else _intent(read_file(intent))
    request = PlanInput(scene=scene, text=text, intent=wanted, options=options)
    made, steps = run_async(draft_plan(settings_from(home=home, db=db), request))
    _print(made, steps, output)
    return DONE


def _refuse_unclear(text: str | None, scene: str | None, intent: str | None) -> None:
    from beforehand.model.errors import BadInputError

    if scene is None:
        raise BadInputError(
            "Say which scene the plan is for: --scene NAME|FILE.",
            code="usage",
            hint="`beforehand scene list` shows the scenes.",
        )
    if (text is None) == (intent is None):
        raise BadInputError("Say what is wanted: either in words, or with --intent FILE.", code="usage")


def _intent(document: Any) -> Any:
    from beforehand.model.errors import BadInputError

    if isinstance(document, list):
        document = {"steps": document}
    if not isinstance(document, dict):
        raise BadInputError("An intent is an object with a list of `steps`.", code="intent.shape")
    return document


def _print(made: "Plan", steps: list[dict[str, Any]], output: PlanOutput) -> None:
    if output is PlanOutput.JSON:
        shown = made.wire()
        print_json({key: value for key, value in shown.items() if value != ""})
        return
    if output is PlanOutput.STEPS:
        print_json(steps)
    else:
        _show(made)
    for note in made.notes:
        (print_out if output is PlanOutput.TABLE else print_err)(note)


def _show(made: "Plan") -> None:
    rows = []
    served: object = None
    for step in made.steps:
        goal = step.goal or {}
        first = goal.get("index") != served
        served = goal.get("index")
        rows.append(
            (f"{goal.get('index')}. {goal['says']}" if goal and first else "", step.order, line(step.description))
        )
    if any(goal for goal, _, _ in rows):
        print_table(("goal", "step", "what"), rows)
    else:
        print_table(("step", "what"), [row[1:] for row in rows], nothing="There is nothing to do.")
    if made.steps:
        took = "" if made.estimated_duration is None else f", about {made.estimated_duration:.1f} s"
        print_out(f"{counted(len(made.steps), 'step')}{took}.")
