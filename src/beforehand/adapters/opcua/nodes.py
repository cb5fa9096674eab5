"""Where the nodes of the information model are on a server: found by their browse names, whatever their ids are.

The namespace may have any index there, the nodes any order and any neighbours; only names and namespace count.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from beforehand.adapters.opcua.model import ALL_METHODS, CELL, NAMESPACE, OPTIONAL, STATE, STATE_TYPES

Ask = Callable[[Awaitable[Any]], Awaitable[Any]]
"""Asks the server something; None where it refuses."""


@dataclass(slots=True)
class Nodes:
    cell: Any = None
    methods: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    """The paths of nodes that have to be there and are not."""

    @property
    def can_hold(self) -> bool:
        return all(name in self.methods for name in OPTIONAL)


async def find_nodes(client: Any, ask: Ask) -> Nodes | None:
    """Every node of the model that is there; None where the server does not have the namespace."""
    names = await ask(client.get_namespace_array()) or []
    if NAMESPACE not in names:
        return None
    at, found = names.index(NAMESPACE), Nodes()

    async def find(*path: str) -> Any:
        return await ask(client.nodes.objects.get_child([f"{at}:{name}" for name in path]))

    found.cell = await find(CELL)
    if found.cell is None:
        found.missing.append(CELL)
    for name in ALL_METHODS:
        _note(found, found.methods, name, await find(CELL, name), f"{CELL}.{name}", name in OPTIONAL)
    for name in STATE_TYPES:
        _note(found, found.state, name, await find(CELL, STATE, name), f"{CELL}.{STATE}.{name}", False)
    return found


def _note(found: Nodes, among: dict[str, Any], name: str, node: Any, path: str, optional: bool) -> None:
    if node is not None:
        among[name] = node
    elif not optional:
        found.missing.append(path)
