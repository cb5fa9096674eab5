"""Writing HTML: elements as calls, everything escaped unless it is HTML already."""

from html import escape
from typing import Any


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


VOID = ("input", "meta", "link", "br")
Part = Any
"""HTML, text, a list of parts, or None for nothing."""


def html(part: Part) -> Html:
    """A part as HTML: text is escaped, lists are joined, nothing is nothing."""
    if part is None or part is False:
        return Html("")
    if isinstance(part, Html):
        return part
    if isinstance(part, list | tuple):
        return Html("".join(map(html, part)))
    return Html(escape(_whole(str(part))))


def _whole(text: str) -> str:
    """Text that UTF-8 can carry, whatever was in it."""
    return text.encode("utf-8", "backslashreplace").decode()


def el(name: str, attributes: dict[str, Any] | None = None, *parts: Part) -> Html:
    """One element: `el("p", {"class": "note"}, "text")`; an attribute that is None or False is left out."""
    written = "".join(_attribute(key, value) for key, value in (attributes or {}).items())
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{html(parts)}</{name}>")


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(_whole(str(value)))}"'
