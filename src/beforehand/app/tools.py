"""The tools a step can call, as they are shown."""

from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.ports.tool import ToolSpec


def tool_documents(runtime: Runtime) -> list[dict[str, Any]]:
    """Every tool with its arguments, by name."""
    return [_shown(spec) for spec in sorted(runtime.catalog.specs(), key=lambda spec: spec.name)]


def _shown(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "inputSchema": dict(spec.input_schema),
        "effect": spec.effect,
        "destructive": spec.destructive,
        "asksPerson": spec.asks_person,
        "output": spec.output,
        "outputSchema": spec.output_schema,
        "estimateS": spec.estimate_s,
        "canProbe": spec.can_probe,
        "sceneKind": spec.scene_kind,
        "source": spec.source,
    }
