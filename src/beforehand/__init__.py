"""Beforehand: plans you can see, check and change before anything moves, and then carry out.

The names here are those that authors of tools, plug-ins, crafts, scripts and tests need; `docs/python.md` tells what
each is for. One is imported when it is first used, so that `import beforehand` costs nothing.
"""

TYPE_CHECKING = False  # not that of `typing`: the command heeds signals only once this module is loaded
if TYPE_CHECKING:
    from typing import Any

    from beforehand.adapters.tools.registry import tool
    from beforehand.app.craft import Craft, Parts, Planner, PlanRequest, Scenes
    from beforehand.app.inbox import answer_decision
    from beforehand.app.intake import PlanInput
    from beforehand.app.plans import create_plan, preview
    from beforehand.app.runs import follow_run, start_run
    from beforehand.app.runtime import Runtime, open_runtime
    from beforehand.app.scenes import live_scene
    from beforehand.app.settings import load_settings
    from beforehand.model.errors import BeforehandError, Fault
    from beforehand.ports.plugin import PluginRegistry
    from beforehand.ports.tool import Judgement, Preview, ProbeAnswer, Tool, ToolContext, ToolSpec

__version__ = "0.1.0"

__all__ = [
    "BeforehandError",
    "Craft",
    "Fault",
    "Judgement",
    "Parts",
    "PlanInput",
    "PlanRequest",
    "Planner",
    "PluginRegistry",
    "Preview",
    "ProbeAnswer",
    "Runtime",
    "Scenes",
    "Tool",
    "ToolContext",
    "ToolSpec",
    "answer_decision",
    "create_plan",
    "follow_run",
    "live_scene",
    "load_settings",
    "open_runtime",
    "preview",
    "start_run",
    "tool",
]

_PLACES = {
    "adapters.tools.registry": ("tool",),
    "app.craft": ("Craft", "Parts", "PlanRequest", "Planner", "Scenes"),
    "app.inbox": ("answer_decision",),
    "app.intake": ("PlanInput",),
    "app.plans": ("create_plan", "preview"),
    "app.runs": ("follow_run", "start_run"),
    "app.runtime": ("Runtime", "open_runtime"),
    "app.scenes": ("live_scene",),
    "app.settings": ("load_settings",),
    "model.errors": ("BeforehandError", "Fault"),
    "ports.plugin": ("PluginRegistry",),
    "ports.tool": ("Judgement", "Preview", "ProbeAnswer", "Tool", "ToolContext", "ToolSpec"),
}
_MODULES = {name: f"{__name__}.{place}" for place, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
