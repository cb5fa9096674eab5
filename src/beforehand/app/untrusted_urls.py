"""A folder from somebody else must not send keys, prompts or names where it likes by bringing a settings file."""

from urllib.parse import urlsplit

from beforehand.app.settings import Settings, is_inside
from beforehand.app.trust import is_trusted
from beforehand.model.hosts import is_loopback


def is_untrusted(settings: Settings, name: str, url: str = "") -> bool:
    """Whether a setting leads to another machine by the word of a file in the workspace that nobody trusted."""
    file = settings.file
    if file is None or settings.sources.get(name) != str(file) or is_loopback(urlsplit(url).hostname or ""):
        return False
    return is_inside(file, settings.workspace) and not is_trusted(settings.home, file)
