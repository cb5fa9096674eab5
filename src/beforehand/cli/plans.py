"""`beforehand check` and `beforehand preview`: look at a plan; nothing is written and no home is made."""

import sys
from typing import Any

from beforehand.cli.exits import DONE, FAILED, print_problems
from beforehand.cli.options import (
    DbOption,
    HomeOption,
    OutputOption,
    PlanArgument,
    PositionOption,
    SceneOption,
    ToolOption,
    WorkspaceOption,
    settings_from,
)
from beforehand.cli.screen import Output, console, line, print_json, print_out, print_table
from beforehand.model.words import counted


def check(
    plan: PlanArgument,
    scene: SceneOption = None,
    position: PositionOption = None,
    tool: ToolOption = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Is this plan, or this list of steps, valid? Every problem at once."""
    from beforehand.app.documents import read_file
    from beforehand.app.dry_run import check_plan
    from beforehand.app.intake import PlanInput
    from beforehand.cli.run_async import run_async

    given = PlanInput(read_file(plan), scene, options=_start(position, tool))
    found = run_async(check_plan(settings_from(home=home, db=db), given))
    shown = [problem.wire() for problem in found.problems]
    if output is Output.JSON:
        told: dict[str, Any] = {"valid": not shown, "steps": found.steps, "problems": shown}
        print_json(told if found.end is None else told | {"end": found.end})
    elif not shown:
        print_out(f"The plan is valid: {counted(found.steps, 'step')}.{_after(found.says)}")
    if shown:
        print_problems(shown, head=f"The plan has {counted(len(shown), 'problem')}:")
        return FAILED
    return DONE


def _start(position: str | None, tool: str | None) -> dict[str, str]:
    given = {"position": position, "tool": tool}
    return {name: value for name, value in given.items() if value is not None}


def _after(sentence: str) -> str:
    return f" {sentence}" if sentence else ""


def preview(
    plan: PlanArgument,
    scene: SceneOption = None,
    position: PositionOption = None,
    tool: ToolOption = None,
    workspace: WorkspaceOption = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Simulate a plan: what it would do, in which order, how long it takes, and the diff of every write.

    For a scene that can be simulated also the moves, the tool changes, how it ends and, on a terminal, a map.
    """
    from beforehand.app.documents import read_file
    from beforehand.app.dry_run import preview_input
    from beforehand.app.intake import PlanInput
    from beforehand.cli.run_async import run_async

    settings = settings_from(workspace=workspace, home=home, db=db)
    given = PlanInput(read_file(plan), scene, options=_start(position, tool))
    shown, drawn = run_async(preview_input(settings, given))
    if output is Output.JSON:
        print_json(shown)
    else:
        _show(shown)
        if drawn is not None and sys.stdout.isatty():
            print_out("", drawn)
    if shown["problems"]:
        print_problems(shown["problems"], head=f"It would not work: {counted(len(shown['problems']), 'problem')}.")
        return FAILED
    return DONE


def _show(shown: dict[str, Any]) -> None:
    rows = [
        (
            f"{row['startS']:.1f}",
            f"{row['endS']:.1f}",
            row["stepId"],
            line(row.get("says") or row.get("name", "")),
            _asks(row),
        )
        for row in shown["timeline"]
    ]
    print_table(("from s", "to s", "step", "what it would do", ""), rows, nothing="The plan has no steps.")
    if shown.get("diffs"):
        from beforehand.cli.prompt import diff_text

        for diff in shown["diffs"]:
            console().print(diff_text(f"# {diff['stepId']}\n{diff['diff']}"))
    print_out(f"It would take about {shown['durationS']:.1f} s, {_extent(shown)}.{_after(shown.get('endSays', ''))}")


def _asks(row: dict[str, Any]) -> str:
    return "needs approval" if row.get("needsApproval") else ""


def _extent(shown: dict[str, Any]) -> str:
    if shown.get("moves") or shown.get("toolChanges"):
        return f"with {counted(shown['moves'], 'move')} and {counted(shown['toolChanges'], 'tool change')}"
    return f"with at most {counted(shown.get('mostAtOnce', 1), 'step')} at once"
