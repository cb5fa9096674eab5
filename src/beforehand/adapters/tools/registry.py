"""Tools by name, and the shortest way to write one.

A plain async function with type hints becomes a tool: its hints are the schema, its docstring the description. A
parameter hinted as ToolContext is given the call's context and is no argument.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import to_jsonable_python

from beforehand.model.errors import BadInputError, Fault, NotFoundError
from beforehand.ports.tool import Destructive, Effect, Tool, ToolContext, ToolSpec

AsyncFunction = Callable[..., Awaitable[Any]]


class ToolRegistry:
    """Every tool that plans may call, each name once."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for one in tools:
            self.add(one)

    def add(self, tool: Tool) -> None:
        name = tool.spec.name
        if held := self._tools.get(name):
            raise BadInputError(
                f"The tool {name} from {tool.spec.source} has a name that is taken by {held.spec.source}.",
                code="tool.duplicate",
                hint="Rename one of them, or give the MCP server another prefix.",
            )
        self._tools[name] = tool

    def get(self, name: str) -> Tool:
        try:
            return self._tools[name]
        except KeyError:
            raise NotFoundError.unknown("tool", name, self._tools) from None

    def specs(self) -> list[ToolSpec]:
        """What each tool declares, in the order of names."""
        return [self._tools[name].spec for name in sorted(self._tools)]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def tool(
    name: str,
    *,
    effect: Effect,
    destructive: Destructive = "never",
    description: str = "",
    output: str = "",
    estimate_s: float = 0.1,
) -> Callable[[AsyncFunction], Tool]:
    """Make a tool of an async function: `@tool("lamp.switch", effect="physical")`."""

    def made(function: AsyncFunction) -> Tool:
        arguments, context_name = _arguments_of(name, function)
        spec = ToolSpec(
            name=name,
            description=description or inspect.getdoc(function) or name,
            input_schema=arguments.model_json_schema(),
            effect=effect,
            destructive=destructive,
            output=output,
            estimate_s=estimate_s,
        )
        return FunctionTool(spec, function, arguments, context_name)

    return made


class FunctionTool(Tool):
    """An async function as a tool; its arguments are read as its type hints say."""

    def __init__(
        self, spec: ToolSpec, function: AsyncFunction, arguments: type[BaseModel], context_name: str | None
    ) -> None:
        self.spec = spec
        self._function = function
        self._arguments = arguments
        self._context_name = context_name

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        try:
            read = self._arguments.model_validate(dict(args))
        except ValidationError as error:
            said = "; ".join(f"{_place(problem['loc'])}: {problem['msg']}" for problem in error.errors())
            raise Fault(
                f"The arguments of {self.spec.name} do not fit: {said}.", code="tool.bad_arguments", untouched=True
            ) from None
        given = {field: getattr(read, field) for field in self._arguments.model_fields}
        if self._context_name:
            given[self._context_name] = context
        return to_jsonable_python(await self._function(**given))


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc) or "arguments"


def _arguments_of(name: str, function: AsyncFunction) -> tuple[type[BaseModel], str | None]:
    """The model of a function's arguments, and the name of its context parameter if it has one."""
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    context_name = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise BadInputError(f"The tool {name} takes *args or **kwargs; name each argument.", code="tool.bad_shape")
        if hints.get(parameter.name) is ToolContext:
            context_name = parameter.name
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints.get(parameter.name, Any), default)
    model = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return cast(type[BaseModel], model), context_name
