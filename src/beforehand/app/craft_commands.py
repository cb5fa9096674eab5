"""The commands of crafts, listed without importing any craft.

They stand in a literal `COMMANDS` in the module `commands` beside the one a craft's entry point names, and that file is
read as text; the module itself is imported when one of its commands is called. Several crafts may add to one group:
each names it and brings commands of its own.
"""

import ast
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint
from importlib.util import resolve_name
from pathlib import Path

from beforehand.app.entry_points import entry_points

GROUP = "beforehand.crafts"
OURS = "beforehand."


def craft_entries() -> list[EntryPoint]:
    """The entry points of crafts, the built-in ones first, each name once."""
    entries = sorted(entry_points(GROUP), key=lambda entry: not entry.value.startswith(OURS))
    return list({entry.name: entry for entry in reversed(entries)}.values())[::-1]


@dataclass(frozen=True, slots=True)
class ListedCommand:
    """A command of a craft, before its module is imported."""

    name: str
    help: str
    modules: tuple[str, ...]
    """Where it is; more than one where several crafts add to one group."""


def listed_commands() -> list[ListedCommand]:
    """The commands of every craft, read from the text of their modules; nothing of a craft is imported."""
    found: dict[str, ListedCommand] = {}
    for entry in craft_entries():
        module = resolve_name(".commands", entry.module.rpartition(".")[0] or entry.module)
        for name, says in _commands_in(module).items():
            first = found.setdefault(name, ListedCommand(name, says, ()))
            found[name] = replace(first, modules=(*first.modules, module))
    return list(found.values())


def _commands_in(module: str) -> dict[str, str]:
    """The literal `COMMANDS = {name: help}` of a module; nothing where there is none."""
    path = _source_of(module)
    if path is None:
        return {}
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            value = getattr(node, "value", None)
            if isinstance(target, ast.Name) and target.id == "COMMANDS" and value is not None:
                return {str(name): str(says) for name, says in ast.literal_eval(value).items()}
    except (OSError, SyntaxError, ValueError, AttributeError):
        return {}
    return {}


def _source_of(module: str) -> Path | None:
    """The file of a module, found without importing any package on the way."""
    where: list[str] | None = None
    name, path = "", None
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, where)
        if spec is None:
            return None
        where = list(spec.submodule_search_locations or ())
        path = spec.origin
    return Path(path) if path and path.endswith(".py") else None
