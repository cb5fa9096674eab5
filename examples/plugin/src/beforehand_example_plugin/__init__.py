"""A bench of tools that shows how a plug-in is written: two physical ones and a pure one."""

import asyncio

from beforehand import PluginRegistry
from beforehand_example_plugin.append import Append
from beforehand_example_plugin.count import count


def register(plugins: PluginRegistry) -> None:
    """Offer the tools of this plug-in."""
    turn = asyncio.Lock()
    plugins.add_tool(Append("bench.append", turn, can_probe=True))
    plugins.add_tool(Append("bench.append_noprobe", turn, can_probe=False))
    plugins.add_tool(count)
