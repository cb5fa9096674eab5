"""How a user names MCP servers: one table `[mcp.NAME]` each, in beforehand.toml.

    [mcp.files]
    command = "node"
    args = ["server.js", "data"]
    timeout_s = 20
    tools = {write_file = {effect = "idempotent", destructive = true}}

What is set here overrides what the server says of its own tools, which is only a hint.
"""

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from beforehand.model.errors import BadInputError
from beforehand.model.reason import Problem
from beforehand.ports.tool import Effect

_NAME = r"^[A-Za-z0-9_-]{1,60}$"


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolPolicy(_Table):
    """What the user decides about one tool; None leaves it to the server's hints."""

    effect: Effect | None = None
    destructive: Literal["never", "always"] | None = None

    @field_validator("destructive", mode="before")
    @classmethod
    def _from_bool(cls, value: Any) -> Any:
        return ("always" if value else "never") if isinstance(value, bool) else value


class McpServerConfig(_Table):
    name: str = Field(pattern=_NAME)
    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = None
    url: str | None = Field(default=None, pattern=r"^https?://")
    headers: dict[str, str] = Field(default_factory=dict)
    prefix: str | None = None
    """What stands before the dot in the tools' names; the server's name by default, '' for none."""
    timeout_s: float = Field(default=60.0, gt=0, le=86_400, allow_inf_nan=False)
    """How long one call may take."""
    start_timeout_s: float = Field(default=60.0, gt=0, le=86_400, allow_inf_nan=False)
    effect: Effect | None = None
    """For all tools of this server that have no policy of their own."""
    tools: dict[str, ToolPolicy] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_way_in(self) -> "McpServerConfig":
        if (self.command is None) == (self.url is None):
            raise ValueError("set either command (a program to start) or url (a server to call), not both or neither")
        return self

    def tool_name(self, name: str) -> str:
        prefix = self.name if self.prefix is None else self.prefix
        return f"{prefix}.{name}" if prefix else name

    def where(self) -> str:
        """The server as a sentence names it; what may hold secrets (arguments, headers, queries) stays out."""
        if self.url is None:
            return f"command {self.command}"
        parts = urlsplit(self.url)
        return f"url {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def read_configs(tables: Mapping[str, Any]) -> list[McpServerConfig]:
    """The servers of the tables under `mcp`, or every problem in them at once."""
    configs: list[McpServerConfig] = []
    problems: list[Problem] = []
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            problems.append(_problem(f"mcp.{name}", name, "must be a table"))
            continue
        try:
            configs.append(McpServerConfig.model_validate({**table, "name": name}))
        except ValidationError as error:
            for found in error.errors():
                path = ".".join(["mcp", str(name), *(str(part) for part in found["loc"])])
                problems.append(_problem(path, str(name), found["msg"].removeprefix("Value error, ")))
    if problems:
        raise BadInputError(
            " ".join(problem.says for problem in problems), code="mcp.bad_config", problems=tuple(problems)
        )
    return configs


def _problem(path: str, name: str, said: str) -> Problem:
    return Problem(
        code="mcp.bad_config",
        about=name,
        says=f"Setting {path}: {said[:1].lower()}{said[1:]}.",
        try_next="Correct the setting and start again.",
        path=path,
    )
