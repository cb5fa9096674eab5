"""The parts of the page that crafts bring: a section per craft, a card per live scene."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from beforehand.app.runtime import Runtime
from beforehand.server.page.html import Html

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PageContext:
    """What the whole page shows, for a card that belongs to it."""

    runtime: Runtime
    decisions: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    may_write: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """A section of the page: a card for every live scene of a kind."""

    name: str
    title: str
    kind: str
    card: Callable[[PageContext, Row], Awaitable[Html]]
    place: Literal["first", "after decisions"] = "after decisions"
    static: Path | None = None
    """A folder served under `/static/<name>/`."""
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    """Files of that folder the page loads, modules."""


async def cards_of(panel: Panel, context: PageContext, scenes: list[dict[str, Any]]) -> list[Html]:
    return [await panel.card(context, scene) for scene in scenes if scene["kind"] == panel.kind]
