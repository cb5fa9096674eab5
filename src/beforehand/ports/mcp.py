"""What Beforehand offers to programs that call it over MCP: tools, pages and prompts, as plain data.

A tool gets a `HomeAccess`, which knows the home's server, or reads the log where none runs, and gives an `McpAnswer`:
words and data. No tool moves a machine or changes a file; one that `writes` only hands something in for a person to
decide.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class McpAnswer:
    """What a tool answers: in words, and the same as a JSON object."""

    says: str
    data: Mapping[str, Any] = field(default_factory=dict)


class HomeAccess(Protocol):
    """Where one caller's questions are answered."""

    def require_operator(self, for_what: str) -> None:
        """ForbiddenError where the caller's token is only good for looking."""

    async def look(self, path: str, here: Callable[[Any], Awaitable[Any]]) -> Any:
        """What the server of the home answers to GET `path` (below `/api/v1`), or what `here` finds without one.

        `here` gets a runtime over the home's log that can only read.
        """

    async def perform(self, here: Callable[[Any], Awaitable[Any]], method: str, path: str, body: Any = None) -> Any:
        """Have the server write something, or `here` with a runtime that leads the home for that long.

        Raises ForbiddenError where the caller may only look.
        """


@dataclass(frozen=True, slots=True)
class McpTool:
    name: str
    title: str
    description: str
    call: Callable[[Any, Mapping[str, Any]], Awaitable[McpAnswer]]
    """Given a HomeAccess and arguments that fit the schema; raises from the tree of errors."""
    properties: Mapping[str, Schema] = field(default_factory=dict)
    """The arguments it takes, each with a JSON schema; it takes no others."""
    required: Sequence[str] = ()
    writes: bool = False
    """Whether it leaves something in the log; all others only look."""

    @property
    def input_schema(self) -> dict[str, Any]:
        needed = {"required": list(self.required)} if self.required else {}
        return {"type": "object", "properties": dict(self.properties), **needed, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class McpPage:
    """Something to read, by its address."""

    uri: str
    title: str
    media_type: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A way to begin, for people to choose; `arguments` says what each is."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, str]
    text: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class McpOffer:
    """Everything one MCP server offers."""

    instructions: str
    tools: Mapping[str, McpTool]
    prompts: Mapping[str, McpPrompt]
    access_for: Callable[[Any], Any]
    """What a caller may reach: given their HTTP request, or None over standard input and output."""
    pages: Callable[[Any], Awaitable[Sequence[McpPage]]]
    """Everything there is to read, asked with a caller's access."""
    page: Callable[[Any, str], Awaitable[str]]
    """The text at an address; NotFoundError with the nearest addresses."""
