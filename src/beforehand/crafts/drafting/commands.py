"""`beforehand draft`: a model writes the plan, a person reviews it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beforehand.cli.exits import DONE, FAILED, REFUSED
from beforehand.cli.options import (
    DbOption,
    HomeOption,
    OutputOption,
    SceneOption,
    WorkspaceOption,
    settings_from,
)
from beforehand.cli.screen import Output, line, print_err, print_json, print_out, print_table
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.model.plan import Plan

COMMANDS = {"draft": "Have a model write a plan from words; a person reviews it."}
WITHOUT = (
    "Without a model: write the plan by hand, use a template (`beforehand template list`), or see what would be sent \
with --dry-run."
)


def draft(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is wanted, in words.")],
    workspace: WorkspaceOption = None,
    model: Annotated[str | None, typer.Option("--model", metavar="M", help="The model that writes it.")] = None,
    scene: SceneOption = None,
    submit: Annotated[bool, typer.Option("--submit", help="Hand the plan in for review.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent to the model; none is asked or needed.")
    ] = False,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Have a model write a plan with the tools there are; every try is checked, and told what is wrong with it.

    Nothing is written and nothing runs: --submit hands the plan in, and a person starts it.
    """
    from beforehand.cli.run_async import run_async
    from beforehand.crafts.drafting.draft_command import drafted, submitted, what_is_sent
    from beforehand.crafts.drafting.drafts import Asked
    from beforehand.model.errors import BadInputError, ModelNotConfiguredError

    if submit and dry_run:
        raise BadInputError("Give either --submit or --dry-run.", code="usage")
    settings = settings_from(workspace=workspace, home=home, db=db, model=model)
    asked = Asked(text, str(settings.workspace), settings["model"], scene, by="command line")
    if dry_run:
        _print_sent(run_async(what_is_sent(settings, asked)), output)
        return DONE
    try:
        head, plan = run_async((submitted if submit else drafted)(settings, asked, output))
    except ModelNotConfiguredError as error:
        error.hint = f"{error.hint} {WITHOUT}"
        raise
    return _print(head, plan, output, submit=submit)


def _print(head: dict[str, Any], plan: "Plan | None", output: Output, *, submit: bool) -> int:
    if plan is None:
        return _print_failed(head, output)
    shown = plan.wire()
    if not submit:  # nobody keeps it, so it has no name to be asked for by
        shown = {name: value for name, value in shown.items() if name not in ("id", "taskId", "version", "createdAt")}
    if output is Output.JSON:
        print_json(shown)
    else:
        _print_plan(plan, head)
    if submit:
        says = f"It waits for a review: beforehand inbox show {plan.id}-v{plan.version}"
        (print_out if output is Output.TABLE else print_err)(says)
    return DONE


def _print_failed(head: dict[str, Any], output: Output) -> int:
    if output is Output.JSON:
        print_json(head)
    reason = head["reason"]
    print_err(reason["says"], *([reason["tryNext"]] if reason.get("tryNext") else []))
    return REFUSED if reason["code"] in ("draft.cannot", "model.budget", "model.declined") else FAILED


def _print_plan(plan: "Plan", head: dict[str, Any]) -> None:
    from beforehand.app.evidence import call_shown

    rows = [
        (
            step.order,
            step.id,
            line(call_shown(step.tool, step.args)),
            ", ".join(step.depends_on),
            line(step.description),
        )
        for step in plan.steps
    ]
    print_table(("", "step", "call", "after", "what its author says"), rows)
    for note in plan.notes:
        print_out(line(note))
    took = "" if plan.estimated_duration is None else f", about {plan.estimated_duration:.1f} s"
    print_out(f"{counted(len(plan.steps), 'step')}{took}, written by {head['model']} from: {line(plan.origin.text)}")


def _print_sent(sent: dict[str, Any], output: Output) -> None:
    if output is Output.JSON:
        print_json(sent)
        return
    print_out("-- system --", sent["system"])
    for message in sent["messages"]:
        print_out(f"-- {message['role']} --", message["text"])
    print_out("The answer must fit a schema; -o json shows it. Nothing was sent.")
