"""Asking about fleets, and asking something of them: at the server that drives them, or in the log it left."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from beforehand.cli import asking
from beforehand.cli.asking import path_to

if TYPE_CHECKING:
    from beforehand.app.settings import Settings
    from beforehand.ports.store import Store

__all__ = ["look", "path_to", "tell"]
UNKNOWN = "no fleet is known"


def look(settings: "Settings", path: str, in_log: Callable[["Store"], Awaitable[Any]]) -> Any:
    return asking.look(settings, path, in_log, unknown=UNKNOWN)


def tell(settings: "Settings", method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    driven = "no fleet is driven and nothing can be asked of it"
    return asking.tell(settings, method, path, body, unknown=UNKNOWN, driven=driven)
