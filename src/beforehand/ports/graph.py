"""Where the map of a robot cell is kept: in this process, or in a graph database others look at and change too.

The store keeps and gives back scenes; it never searches. Paths and their tie-break are its own, so that every
store gives the same plan to the byte.
"""

from typing import Protocol

from beforehand.model.cell import CellScene


class CellGraph(Protocol):
    """Scenes by name. What does not answer is an UnavailableError; a name nobody knows is a NotFoundError."""

    async def read(self, name: str) -> CellScene:
        """The scene as it is kept now, its lists in their written order; BadInputError for values of the wrong kind."""

    async def write(self, scene: CellScene) -> None:
        """Keep the scene in place of what stood under its name: all or nothing, and no other scene is touched."""

    async def fingerprint(self, name: str) -> str:
        """A short text that differs whenever anything `read` gives differs; cheaper than reading."""

    async def names(self) -> tuple[str, ...]:
        """The scenes there are, in name order."""

    async def close(self) -> None: ...
