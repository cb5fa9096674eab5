"""Names a shell can complete: scenes, runs, decisions, templates. They are read from the home; nothing is written."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import typer

from beforehand.cli.screen import line

Named = tuple[str, str]
"""A name, and what is said beside it."""
Completer = Callable[[typer.Context, str], Iterable[Named]]
MOST = 200


def rows_named(kind: str, name_of: Callable[[Mapping[str, Any]], Named], **only: Any) -> Completer:
    """Completes the names of one kind of rows of the home, the newest first."""

    def names(context: typer.Context, incomplete: str) -> Iterable[Named]:
        return map(name_of, home_rows(context, kind, **only))

    return names


def home_rows(context: typer.Context, kind: str, **only: Any) -> list[Any]:
    """Rows of the home a half-written line speaks of; none where it cannot be read, for nobody is there to be told."""
    from beforehand.app.settings import load_settings
    from beforehand.cli.read_home import read_home
    from beforehand.model.errors import BeforehandError

    flags = {name: value for name in ("home", "db") if (value := _said(context, name))}
    logging.disable()
    try:
        settings = load_settings(flags)
        return list(read_home(settings, lambda store: store.rows(kind, limit=MOST, newest_first=True, **only), []))
    except (BeforehandError, OSError):
        return []


def _said(context: Any, name: str) -> Any:
    """What was given for an option, for the command or for a group it is in."""
    while context is not None:
        if context.params.get(name):
            return context.params[name]
        context = context.parent
    return None


def scenes_of(kind: str | None = None) -> Completer:
    """Completes the names of scenes, of one kind or of all: those in the home first, then the examples."""

    def names(context: typer.Context, incomplete: str) -> Iterable[Named]:
        from beforehand.app.examples import example_files, kind_of_example

        kinds = {row["name"]: (str(row["kind"]), "in this home") for row in home_rows(context, "scene")}
        for name, path in example_files().items():
            kinds.setdefault(name, (str(kind_of_example(path)), "an example"))
        return [(name, f"{found}, {where}") for name, (found, where) in kinds.items() if kind in (None, found)]

    return names


scene_names = scenes_of()
run_ids = rows_named("run", lambda run: (run["runId"], f"{run['status']}: {line(run.get('name', ''))}"))
decision_ids = rows_named("decision", lambda item: (item["id"], line(item["title"])), open=True)
template_names = rows_named("template", lambda item: (item["name"], line(item.get("description", ""))))
