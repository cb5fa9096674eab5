"""What is installed and what it brings, as `beforehand plugins` and `GET /plugins` tell it."""

from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.ports.plugin import BUILT_IN


def installed(runtime: Runtime) -> dict[str, Any]:
    """The crafts, the plug-ins, the tools with their effect, and the reasons why others are missing."""
    tools = [
        {
            "name": spec.name,
            "effect": spec.effect,
            "destructive": spec.destructive,
            "source": spec.source,
            "description": spec.description,
            "inputSchema": dict(spec.input_schema),
            "canProbe": spec.can_probe,
        }
        for spec in runtime.catalog.specs()
    ]
    return {
        "crafts": sorted(runtime.crafts),
        "plugins": sorted(one.source for one in runtime.extensions.plugins if one.source != BUILT_IN),
        "tools": tools,
        "missing": [reason.wire() for reason in runtime.extensions.reasons],
    }
