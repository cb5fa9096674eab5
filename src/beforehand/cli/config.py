"""`beforehand config`: every setting, its value and where it comes from; and which settings file is trusted."""

from typing import Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, print_json, print_out, print_table

app = typer.Typer(help="Settings.", no_args_is_help=True)


@app.callback()
def config() -> None:
    """Settings: flags before environment before beforehand.toml before defaults."""


@app.command()
def show(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """Every setting, its value and where it comes from; secrets are hidden."""
    from beforehand.app.settings import shown_settings

    shown = shown_settings(settings_from(home=home, db=db))
    if output is Output.JSON:
        print_json(shown)
        return DONE
    rows = shown["settings"]
    print_table(
        ("setting", "value", "from", "environment", "what"),
        [(r["name"], "" if r["value"] is None else r["value"], r["source"], r["environment"], r["says"]) for r in rows],
    )
    return DONE


@app.command()
def trust(output: OutputOption = Output.TABLE, home: HomeOption = None) -> int:
    """Trust beforehand.toml of this folder as it is now: its [mcp] and [plugins] take effect.

    Read it first: the programs it names are run. When the file changes it must be trusted again.
    """
    from pathlib import Path

    from beforehand.app.settings import CONFIG_FILE, load_settings
    from beforehand.app.trust import trust as trust_file
    from beforehand.model.errors import NotFoundError

    file = Path(CONFIG_FILE)
    settings = load_settings({} if home is None else {"home": home})
    if not file.is_file():
        raise NotFoundError(f"There is no {CONFIG_FILE} in this folder.", code="settings.file")
    digest = trust_file(settings.home, file)
    now = load_settings({} if home is None else {"home": home})
    if output is Output.JSON:
        told = {"mcp": sorted(now.mcp), "plugins": sorted(now.plugins)}
        print_json({"file": str(file.absolute()), "sha256": digest, **told})
        return DONE
    print_out(f"{file.absolute()} is trusted as it is now.")
    for name in sorted(now.mcp):
        print_out(f"  MCP server {name}: {_started_by(now.mcp[name])}")
    for name in sorted(now.plugins):
        print_out(f"  plug-in {name}")
    return DONE


def _started_by(table: Any) -> str:
    if not isinstance(table, dict):
        return "not readable"
    return str(table.get("url") or " ".join([str(table.get("command")), *map(str, table.get("args", ()))]))
