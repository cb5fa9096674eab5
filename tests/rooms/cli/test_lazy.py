"""Commands found without being imported, and groups that several crafts add to."""

import sys
from pathlib import Path

import pytest

from beforehand.app import craft_commands
from beforehand.cli.lazy import Entry, LazyCommands

CRAFT = """
import typer
COMMANDS = {{"robot": "Robots {name}."}}
robot = typer.Typer(help=COMMANDS["robot"])

@robot.command("{name}")
def own() -> int:
    return 0

@robot.command("both")
def both() -> int:
    "From {name}."
    return 0
"""


@pytest.fixture
def crafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two packages with a command group of one name each."""
    monkeypatch.syspath_prepend(tmp_path)
    names = ["lazy_one", "lazy_two"]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "commands.py").write_text(CRAFT.format(name=name))

    class Entries:
        def __init__(self, name: str) -> None:
            self.module = f"{name}.craft"

    monkeypatch.setattr(craft_commands, "craft_entries", lambda: [Entries(name) for name in names])
    return names


def test_a_group_that_two_crafts_name_holds_the_commands_of_both(crafts: list[str]) -> None:
    [listed] = craft_commands.listed_commands()
    assert (listed.name, listed.help) == ("robot", "Robots lazy_one.")
    assert listed.modules == ("lazy_one.commands", "lazy_two.commands")
    assert not any(name in sys.modules for name in crafts), "listed without being imported"
    first, *more = listed.modules
    group = LazyCommands({"robot": Entry(first, "robot", listed.help, tuple(more))})["robot"]
    assert sorted(group.commands) == ["both", "lazy_one", "lazy_two"]
    assert group.commands["both"].help == "From lazy_one.", "what is there already stays what it is"
