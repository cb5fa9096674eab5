"""The tools every installation has, and the box that holds all tools by name."""

from beforehand.adapters.tools.registry import ToolRegistry, tool

__all__ = ["ToolRegistry", "tool"]
