"""A bench of tools that shows how a plug-in is written: two physical ones and a pure one."""

from beforehand import PluginRegistry
from beforehand_example_plugin.append import Append
from beforehand_example_plugin.count import count


def register(plugins: PluginRegistry) -> None:
    """Offer the tools of this plug-in."""
    plugins.add_tool(Append("bench.append", can_probe=True))
    plugins.add_tool(Append("bench.append_noprobe", can_probe=False))
    plugins.add_tool(count)
