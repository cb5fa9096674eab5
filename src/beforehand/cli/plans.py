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
from beforehand.cli.screen import Output, console, counted, line, print_json, print_out, print_table


def check(
    plan: PlanArgument,
    scene: SceneOption = None,
    position: PositionOption = None,
    tool: ToolOption = None,
    output: OutputOption = Output.TABLE,
    home: HomeOption = None,
    db: DbOption = None,
) -> int:
    """Is this plan, or this list of a cell's steps, valid? Every problem at once."""
    from beforehand.app.documents import read_file
    from beforehand.app.dry_run import check_plan
    from beforehand.cli.run_async import run_async

    document = read_file(plan)
    found = run_async(check_plan(settings_from(home=home, db=db), document, scene, _start(position, tool)))
    shown = [problem.wire() for problem in found.problems]
    if output is Output.JSON:
        told: dict[str, Any] = {"valid": not shown, "steps": found.steps, "problems": shown}
        print_json(told if found.end is None else told | {"end": found.end})
    elif not shown:
        print_out(f"The plan is valid: {counted(found.steps, 'step')}.{_ends(found.end)}")
    if shown:
        print_problems(shown, head=f"The plan has {counted(len(shown), 'problem')}:")
        return FAILED
    return DONE


def _start(position: str | None, tool: str | None) -> dict[str, str]:
    given = {"current_position": position, "current_tool": tool}
    return {name: value for name, value in given.items() if value is not None}


def _ends(end: dict[str, Any] | None) -> str:
    if not end or "current_position" not in end:
        return ""
    held = "no tool" if end["current_tool"] == "none" else end["current_tool"]
    return f" The robot ends at {end['current_position']} with {held}."


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

    For a cell also the moves, the tool changes, where the robot ends and, on a terminal, the way on the map.
    """
    from beforehand.app.documents import read_file
    from beforehand.app.dry_run import preview_document
    from beforehand.cli.run_async import run_async

    document = read_file(plan)
    settings = settings_from(workspace=workspace, home=home, db=db)
    shown, cell = run_async(preview_document(settings, document, scene, _start(position, tool)))
    if output is Output.JSON:
        print_json(shown)
    else:
        _show(shown)
        if cell is not None and cell.get("kind") == "cell" and sys.stdout.isatty():
            _draw(cell, shown)
    if shown["problems"]:
        print_problems(shown["problems"], head=f"It would not work out: {counted(len(shown['problems']), 'problem')}.")
        return FAILED
    return DONE


def _draw(document: dict[str, Any], shown: dict[str, Any]) -> None:
    """The way on the cell's map, from where the robot stands to where it ends."""
    from beforehand.crafts.cell.core.ascii_map import ascii_map
    from beforehand.crafts.cell.core.scene import read_cell

    moves = [row for row in shown["timeline"] if row.get("action") == "move"]
    path = [*(row["from"] for row in moves[:1]), *(row["position"] for row in moves)]
    print_out("", ascii_map(read_cell(document), path, robot=shown["end"].get("current_position")))


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
    print_out(f"It would take about {shown['durationS']:.1f} s, {_extent(shown)}.{_ends(shown.get('end'))}")


def _asks(row: dict[str, Any]) -> str:
    return "needs approval" if row.get("needsApproval") else ""


def _extent(shown: dict[str, Any]) -> str:
    if shown.get("moves") or shown.get("toolChanges"):
        return f"with {counted(shown['moves'], 'move')} and {counted(shown['toolChanges'], 'tool change')}"
    return f"with at most {counted(shown.get('mostAtOnce', 1), 'step')} at once"
