"""Where the nodes of the information model are on a server: found by their browse names, whatever their ids are.

The namespace may have any index there, the nodes any order and any neighbours; only names and namespace count.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from beforehand.adapters.opcua.model import (
    ALL_METHODS,
    CELL,
    NAMESPACES,
    NEEDS_TYPES,
    OPTIONAL,
    STATE,
    STATE_TYPES,
    execute_arguments,
)

Ask = Callable[[Awaitable[Any]], Awaitable[Any]]
"""Asks the server something; None where it refuses."""


@dataclass(slots=True)
class Nodes:
    version: int = 1
    """Of the information model."""
    cell: Any = None
    methods: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    """The paths of nodes that have to be there and are not."""
    execute: tuple[str, ...] = ()
    """What Execute takes, in the server's order."""

    @property
    def can_hold(self) -> bool:
        return all(name in self.methods for name in OPTIONAL)

    @property
    def can_refuse(self) -> bool:
        """Whether it is told for which state a command was checked, and so can refuse it in another."""
        return NEEDS_TYPES.keys() <= set(self.execute)


async def find_nodes(client: Any, ask: Ask) -> Nodes | None:
    """Every node of the model that is there; None where the server has it in no version."""
    names = await ask(client.get_namespace_array()) or []
    version = next((version for version, name in NAMESPACES.items() if name in names), None)
    if version is None:
        return None
    at, found = names.index(NAMESPACES[version]), Nodes(version)

    async def find(*path: str) -> Any:
        return await ask(client.nodes.objects.get_child([f"{at}:{name}" for name in path]))

    found.cell = await find(CELL)
    if found.cell is None:
        found.missing.append(CELL)
    for name in ALL_METHODS:
        _note(found, found.methods, name, await find(CELL, name), f"{CELL}.{name}", name in OPTIONAL)
    for name in STATE_TYPES:
        _note(found, found.state, name, await find(CELL, STATE, name), f"{CELL}.{STATE}.{name}", False)
    declared = await declared_arguments(found.methods.get("Execute"), "InputArguments", ask)
    found.execute = execute_arguments(declared, version)
    return found


async def declared_arguments(method: Any, which: str, ask: Ask) -> list[str] | None:
    """The names of a method's arguments (`InputArguments` or `OutputArguments`); None where it does not say."""
    described = None if method is None else await ask(method.get_child(f"0:{which}"))
    given = None if described is None else await ask(described.read_value())
    return [str(getattr(one, "Name", None) or "") for one in given] if isinstance(given, list | tuple) else None


def _note(found: Nodes, among: dict[str, Any], name: str, node: Any, path: str, optional: bool) -> None:
    if node is not None:
        among[name] = node
    elif not optional:
        found.missing.append(path)
