"""What is installed and what it brings, as `beforehand plugins` and `GET /plugins` tell it."""

from typing import Any

from beforehand.app.crafts import load_crafts
from beforehand.app.entry_points import entry_points
from beforehand.app.runtime import Runtime
from beforehand.ports.plugin import BUILT_IN


def installed(runtime: Runtime) -> dict[str, Any]:
    """The crafts, the plug-ins, what joins the crafts, the tools with their effect, and why others are missing."""
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
        "points": [
            {"craft": craft.name, "group": group, "names": sorted(entry.name for entry in entry_points(group))}
            for craft in load_crafts().by_name.values()
            for group in craft.plugin_points
        ],
        "tools": tools,
        "missing": [reason.wire() for reason in runtime.extensions.reasons],
    }
