"""`beforehand config show`: every setting, its value and where it comes from."""

from typing import Any

import typer

from beforehand.cli.exits import DONE
from beforehand.cli.options import DbOption, HomeOption, OutputOption, settings_from
from beforehand.cli.screen import Output, print_json, print_table

app = typer.Typer(help="Settings.", no_args_is_help=True)


@app.callback()
def config() -> None:
    """Settings: flags before environment before beforehand.toml before defaults."""


@app.command()
def show(output: OutputOption = Output.TABLE, home: HomeOption = None, db: DbOption = None) -> int:
    """Every setting, its value and where it comes from; secrets are hidden."""
    from beforehand.app.settings import KNOWN, PREFIX

    settings = settings_from(home=home, db=db)
    rows: list[dict[str, Any]] = []
    for setting in KNOWN:
        value = setting.shown(settings[setting.name])
        source = settings.sources[setting.name]
        environment = PREFIX + setting.name.upper()
        rows.append(
            {"name": setting.name, "value": value, "source": source, "environment": environment, "says": setting.says}
        )
    if output is Output.JSON:
        print_json({"settings": rows, "mcp": sorted(settings.mcp), "plugins": sorted(settings.plugins)})
        return DONE
    print_table(
        ("setting", "value", "from", "environment", "what"),
        [(r["name"], "" if r["value"] is None else r["value"], r["source"], r["environment"], r["says"]) for r in rows],
    )
    return DONE
