"""What is installed beside Beforehand and names itself in an entry point: crafts, plug-ins. Read once in a process."""

from functools import cache
from importlib.metadata import EntryPoint
from importlib.metadata import entry_points as read_entry_points
from typing import Any


@cache
def _installed() -> Any:
    return read_entry_points()


def entry_points(group: str) -> list[EntryPoint]:
    """The entry points of a group, in the order of their names."""
    return sorted(_installed().select(group=group), key=lambda entry: entry.name)
