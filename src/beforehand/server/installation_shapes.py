"""The shapes of answers about the installation itself: tokens, what it brings, settings, its pages, and how it does."""

from typing import Any, Literal

from pydantic import Field

from beforehand.server.shapes import ProblemShape, ReasonShape, Shape, WhoShape


class TokenShape(WhoShape):
    created_at: str


class MadeTokenShape(TokenShape):
    token: str | None = Field(default=None, description="Shown only in the answer to the call that made it.")
    says: str


class RevokedShape(Shape):
    name: str
    revoked: bool
    says: str | None = None


class GenerationShape(Shape):
    after: int
    log: str


class LogCheckShape(Shape):
    ok: bool
    events: int
    first: int
    last: int
    begins: int
    unchained: int
    deleted: int
    anchor: str
    generations: list[GenerationShape]
    problems: list[ProblemShape]


class InstalledToolShape(Shape):
    name: str
    effect: Literal["pure", "idempotent", "physical"]
    destructive: Literal["never", "always", "judged"]
    source: str
    description: str
    input_schema: dict[str, Any]
    can_probe: bool


class PluginPointShape(Shape):
    """A group of entry points by which other packages join a craft, and what has joined."""

    craft: str
    group: str
    names: list[str]


class PluginsShape(Shape):
    """What is installed, and what could not be loaded."""

    crafts: list[str]
    plugins: list[str]
    points: list[PluginPointShape]
    tools: list[InstalledToolShape]
    missing: list[ReasonShape]


class SettingShape(Shape):
    name: str
    value: str | float | None = None
    source: str = Field(description="A flag, a variable of the environment, a file, or the default.")
    environment: str
    says: str


class SettingsShape(Shape):
    settings: list[SettingShape]
    mcp: list[str]
    plugins: list[str]
    warnings: list[str]


class FindingShape(Shape):
    check: str
    state: Literal["ok", "missing", "broken"]
    says: str
    try_next: str


class DoctorShape(Shape):
    ok: bool
    checks: list[FindingShape]


class DocPageShape(Shape):
    name: str
    title: str
