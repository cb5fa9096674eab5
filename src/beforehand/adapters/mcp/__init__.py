"""The tools of any MCP server, by configuration: over its standard input and output, or over HTTP."""

from beforehand.adapters.mcp.client import McpServers
from beforehand.adapters.mcp.config import McpServerConfig, ToolPolicy, read_configs

__all__ = ["McpServerConfig", "McpServers", "ToolPolicy", "read_configs"]
