"""Commands that are imported only when they are called, so that listing them costs nothing."""

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command


class Entry(NamedTuple):
    """Where a command is: an attribute of a module, a function or a group of commands."""

    module: str
    attribute: str
    help: str
    more: tuple[str, ...] = ()
    """Modules that add commands of their own to this group, by the same attribute."""


class LazyCommands(MutableMapping[str, Any]):
    """Commands by name, each made when it is first looked at."""

    def __init__(self, entries: dict[str, Entry]) -> None:
        self.entries = entries
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(name, self.entries[name])
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self.entries.setdefault(name, Entry("", name, ""))
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self.entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in self.entries


def _made(name: str, entry: Entry) -> Any:
    """The command as a part of the whole, with its settings."""
    found = getattr(import_module(entry.module), entry.attribute)
    around = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    around.callback()(lambda: None)
    if isinstance(found, typer.Typer):
        around.add_typer(found, name=name)
    else:
        around.command(name)(found)
    group: Any = get_command(around)
    made = group.commands[name]
    for module in entry.more if isinstance(found, typer.Typer) else ():
        _add(made, import_module(module), entry.attribute)
    return made


def _add(group: Any, module: Any, attribute: str) -> None:
    """The commands that another module brings to a group; a name that is there already stays what it is."""
    theirs = getattr(module, attribute, None)
    if isinstance(theirs, typer.Typer):
        around = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        around.callback()(lambda: None)
        around.add_typer(theirs, name=attribute)
        made: Any = get_command(around)
        for name, command in made.commands[attribute].commands.items():
            group.commands.setdefault(name, command)


class LazyGroup(TyperGroup):
    """A group over `LazyCommands`; its help names every command without making one."""

    entries: dict[str, Entry] = {}  # noqa: RUF012  set by the one class below it

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        own = dict(self.commands)
        self.commands = LazyCommands(dict(self.entries))
        self.commands.update(own)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands: Any = self.commands
        rows = [(name, entry.help) for name, entry in commands.entries.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
