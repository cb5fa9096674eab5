"""Small pieces that cards share: times, diffs, values, cards that a browser can tell apart."""

import hashlib
import json
from typing import Any

from beforehand.server.page.html import Html, Part, el, html

MOST_LINES = 200
MOST_TEXT = 4_000


def card(key: str, classes: str, *parts: Part) -> Html:
    """A piece of the page with a name and a print of its content: the browser changes only what is new."""
    inside = html(parts)
    print_of = hashlib.sha256(f"{classes}{inside}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return el("article", {"class": f"card {classes}", "data-key": key, "data-print": print_of}, inside)


def moment(iso: Any) -> Html:
    """A time; the browser turns it into an age."""
    text = str(iso)
    return el("time", {"datetime": text, "data-age": True, "title": text}, f"{text[11:19]} UTC")


def seconds(ms: Any) -> str:
    """A duration as people say it."""
    value = float(ms) / 1000
    if value < 1:
        return f"{round(value * 1000)} ms"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def diff(text: str) -> Html:
    """A unified diff, each line with its sign and its colour."""
    lines = text.splitlines()
    rows = [el("span", {"class": f"line {_side(line)}"}, line or " ") for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        rows.append(el("span", {"class": "line more"}, f"… and {len(lines) - MOST_LINES} more lines"))
    return el("pre", {"class": "diff", "tabindex": "0", "aria-label": "What changes"}, rows)


def _side(line: str) -> str:
    if line.startswith(("+++", "---", "diff ", "index ")):
        return "head"
    return {"+": "in", "-": "out", "@": "place"}.get(line[:1], "")


def value(thing: Any) -> Html:
    """Any JSON value, short ones in the line, long ones folded."""
    text = thing if isinstance(thing, str) else json.dumps(thing, ensure_ascii=False)
    if not isinstance(thing, str) and len(text) > 80:
        text = json.dumps(thing, ensure_ascii=False, indent=1)
    if len(text) > MOST_TEXT:
        text = f"{text[:MOST_TEXT]}\n… {len(text) - MOST_TEXT} more characters"
    if len(text) <= 80 and "\n" not in text:
        return el("code", {}, text)
    return el("pre", {"class": "value", "tabindex": "0"}, text)


def pairs(things: dict[str, Any]) -> Html | None:
    """Names and values, one under the other."""
    if not things:
        return None
    rows = [[el("dt", {}, words(name)), el("dd", {}, value(thing))] for name, thing in things.items()]
    return el("dl", {"class": "pairs"}, rows)


def words(name: str) -> str:
    """`openedAt` as `opened at`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip().replace("_", " ")
