"""The ids of robots, tasks, streams and worksites that a shell can complete, by the scenes that are active."""

from collections.abc import Iterable

import typer

from beforehand.cli.known_names import Named, home_rows, rows_named
from beforehand.crafts.fleet.sentences import task_says

KINDS = {"robots": "robotId", "streams": "streamId", "worksites": "worksiteId"}

active_fleets = rows_named("scene", lambda row: (row["name"], "an active scene"), open=True)


def record_ids(context: typer.Context, incomplete: str) -> Iterable[Named]:
    """Those of the group whose command is being written; of every group for `fleet why`."""
    group = str(context.parent.info_name) if context.parent is not None else ""
    if group != "tasks":
        for scene in home_rows(context, "scene", open=True):
            for kind in KINDS if group not in KINDS else (group,):
                yield from ((item[KINDS[kind]], scene["name"]) for item in scene["document"].get(kind, ()))
    if group not in KINDS:
        yield from ((task["taskId"], task_says(task)) for task in home_rows(context, "task", open=True))
