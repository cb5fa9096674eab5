"""The built-in tools, registered the way a plug-in registers its own."""

from collections.abc import Iterable

from beforehand.adapters.tools.http import HttpGet
from beforehand.adapters.tools.reading import ListDir, ReadFile
from beforehand.adapters.tools.waiting import AskPerson, Wait
from beforehand.adapters.tools.writing import CopyFile, DeleteFile, WriteFile
from beforehand.ports.plugin import PluginRegistry


def register(plugins: PluginRegistry) -> None:
    """Offer the built-in tools; the setting `http_allow` names hosts that http_get may reach anyway."""
    for tool in (
        ReadFile(),
        ListDir(),
        HttpGet(allowed_hosts(plugins.settings.get("http_allow", ()))),
        Wait(),
        WriteFile(),
        CopyFile(),
        DeleteFile(),
        AskPerson(),
    ):
        plugins.add_tool(tool)


def allowed_hosts(setting: str | Iterable[str]) -> list[str]:
    """Hosts from a list, or from text with commas or spaces between them, as an environment variable has it."""
    if isinstance(setting, str):
        return setting.replace(",", " ").split()
    return list(setting)
