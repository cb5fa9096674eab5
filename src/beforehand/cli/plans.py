"""`beforehand check` and `beforehand preview`: look at a plan; nothing is written and no home is made."""

from typing import Any

from beforehand.cli.exits import DONE, FAILED, say_problems
from beforehand.cli.options import OutputOption, PlanArgument, SceneOption, WorkspaceOption, settings_from
from beforehand.cli.screen import Output, console, line, print_json, print_table, tell


def check(plan: PlanArgument, scene: SceneOption = None, output: OutputOption = Output.TABLE) -> int:
    """Is this plan valid? Every problem at once."""
    from beforehand.app.documents import read_file
    from beforehand.app.scratch import check_plan
    from beforehand.cli.work import work

    document = read_file(plan)
    found, problems = work(check_plan(settings_from(), document, scene))
    shown = [problem.wire() for problem in problems]
    if output is Output.JSON:
        print_json({"valid": not shown, "steps": len(found.steps), "problems": shown})
    elif not shown:
        tell(f"The plan is valid: {count(len(found.steps), 'step')}.")
    if shown:
        say_problems(shown, head=f"The plan has {count(len(shown), 'problem')}:")
        return FAILED
    return DONE


def preview(
    plan: PlanArgument,
    scene: SceneOption = None,
    workspace: WorkspaceOption = None,
    output: OutputOption = Output.TABLE,
) -> int:
    """Simulate a plan: what it would do, in which order, how long it takes, and the diff of every write."""
    from beforehand.app.documents import read_file
    from beforehand.app.scratch import preview_document
    from beforehand.cli.work import work

    document = read_file(plan)
    shown = work(preview_document(settings_from(workspace=workspace), document, scene))
    if output is Output.JSON:
        print_json(shown)
    else:
        _show(shown)
    if shown["problems"]:
        say_problems(shown["problems"], head=f"It would not work out: {count(len(shown['problems']), 'problem')}.")
        return FAILED
    return DONE


def _show(shown: dict[str, Any]) -> None:
    rows = [
        (f"{row['startS']:.1f}", f"{row['endS']:.1f}", row["stepId"], line(row.get("says", "")), _asks(row))
        for row in shown["timeline"]
    ]
    print_table(("from s", "to s", "step", "what it would do", ""), rows, nothing="The plan has no steps.")
    if shown.get("diffs"):
        from beforehand.cli.prompt import diff_text

        for diff in shown["diffs"]:
            console().print(diff_text(f"# {diff['stepId']}\n{diff['diff']}"))
    tell(f"It would take about {shown['durationS']:.1f} s, {_extent(shown)}.")


def _asks(row: dict[str, Any]) -> str:
    return "needs approval" if row.get("needsApproval") else ""


def _extent(shown: dict[str, Any]) -> str:
    if shown.get("moves") or shown.get("toolChanges"):
        return f"with {count(shown['moves'], 'move')} and {count(shown['toolChanges'], 'tool change')}"
    return f"with at most {count(shown.get('mostAtOnce', 1), 'step')} at once"


def count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"
