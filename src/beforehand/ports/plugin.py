"""What a plug-in is handed when it registers.

An entry point of the group `beforehand.plugins` is a callable `register(plugins: Plugins) -> None`. Built-ins register
the same way. Today a plug-in brings tools; stream kinds, robot links, planners and workers get their own `add_…` here.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from beforehand.model.errors import BadInputError
from beforehand.ports.tool import Tool, ToolSpec

BUILT_IN = "built-in"


class PluginRegistry:
    """One plug-in's collection. `source` is its name; `settings` is what the user set for it."""

    def __init__(self, source: str = BUILT_IN, settings: Mapping[str, Any] | None = None) -> None:
        self.source = source
        self.settings: Mapping[str, Any] = dict(settings or {})
        self._tools: dict[str, Tool] = {}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools offered so far."""
        return tuple(self._tools.values())

    def add_tool(self, tool: Tool) -> None:
        """Offer a tool under the name in its spec; BadInputError for what is not a tool, or a name offered twice."""
        spec = getattr(tool, "spec", None)
        if not isinstance(tool, Tool) or not isinstance(spec, ToolSpec):
            raise BadInputError(
                f"The plug-in {self.source} offered {type(tool).__name__} as a tool, which is not one.",
                code="plugin.not_a_tool",
                hint="Offer an object of a class derived from beforehand.ports.tool.Tool that has a spec.",
            )
        if spec.name in self._tools:
            raise BadInputError(
                f"The plug-in {self.source} offers the tool {spec.name} twice.",
                code="tool.duplicate",
                hint="Give each tool its own name.",
            )
        if spec.source == BUILT_IN != self.source:
            tool.spec = replace(spec, source=self.source)
        self._tools[spec.name] = tool


Register = Callable[[PluginRegistry], None]
"""The shape of an entry point."""
