"""A command in words: `start("sitting on bed1")`, `stop(…)`, `skip(2)`, `end()`.

A command is one line whose first word is the verb. Quotes round an action are optional, a code fence or a trailing
comment is taken off, and only the outer parentheses count. Prose is not searched for commands.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from beforehand.model.reason import Reason

CommandVerb = Literal["start", "stop", "skip", "end"]
VERBS: tuple[CommandVerb, ...] = ("start", "stop", "skip", "end")
WAKE_ON = ("change", "acting", "done", "failed", "stuck")
LONGEST_S = 60.0
LONGEST_TEXT = 2_000
LONGEST_REPLY = 20_000
"""Further than this a reply is not searched for a second command."""
_FIRST = re.compile(r"^\s*(start|stop|skip|end)\b(?!\s*=)\s*(.*)$", re.IGNORECASE | re.DOTALL)
_NEXT = re.compile(r"[\s;,.]*(?:(?:start|stop)\b\s*\(|(?:skip|end)\b)", re.IGNORECASE)
_NEXT_AFTER_BARE = re.compile(r";\s*(?:start|stop|skip|end)\b\s*(?:\(|$)", re.IGNORECASE)
_LANGUAGE = re.compile(r"^\w+\s+(?=(?:start|stop|skip|end)\b)", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "«": "»", "`": "`", "”": "”", "’": "’"}
USAGE = 'A command is one line: start("action"), stop("action"), skip(seconds) or end().'


@dataclass(frozen=True, slots=True)
class Command:
    verb: CommandVerb
    action: str = ""
    seconds: float = 1.0
    wake_on: str | None = None
    note: str = ""
    """What the reply says besides, such as that a second command was not run."""


def read_command(text: str) -> Command | Reason:
    """The first command of a reply, or why it is none."""
    lines = list(_lines(text[:LONGEST_REPLY]))
    if not lines:
        return _unreadable("The command is empty.")
    if len(lines[0]) > LONGEST_TEXT:
        return _unreadable(f"A command has {LONGEST_TEXT} letters at most.")
    first, more = _split(lines[0])
    others = [line for line in lines[1:] if _FIRST.match(line)]
    found = _FIRST.match(first)
    if not found:
        return _unreadable(f"{first[:60]!r} is not a command.")
    verb: CommandVerb = next(name for name in VERBS if name == found[1].lower())
    argument = _argument(found[2].strip(), verb)
    if argument is None:
        return _unreadable(f"The parentheses of {first[:60]!r} do not match.")
    note = "One command at a time: only the first one was run." if more or others else ""
    return _command(verb, argument, note)


def command_lines(text: str) -> list[str]:
    """The lines of a file that say something: empty ones and those that are only a comment or a fence are left out."""
    return [line for line in text.splitlines() if any(_lines(line))]


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("```"):
            line = line.strip("`").strip()
            line = line if _FIRST.match(line) else _LANGUAGE.sub("", line)
            if not _FIRST.match(line):  # a fence, perhaps with the name of a language
                continue
        line = _without_comment(line.strip("`").strip())
        if line:
            yield line


def _without_comment(line: str) -> str:
    """The line without a trailing `# comment`; a # inside quotes stays."""
    quote = ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in '"“' and line.find(_QUOTES[letter], at + 1) > 0:
            quote = _QUOTES[letter]
        elif letter == "#" and (at == 0 or line[at - 1] in " \t);"):
            return line[:at].strip()
    return line


def _split(line: str) -> tuple[str, bool]:
    """The first command of a line, and whether another one follows it; parentheses inside quotes do not count."""
    depth, quote = 0, ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in '"“' and line.find(_QUOTES[letter], at + 1) > 0:
            quote = _QUOTES[letter]
        else:
            depth += (letter == "(") - (letter == ")")
            if letter == ")" and depth == 0 and _NEXT.match(line, at + 1):
                return line[: at + 1], True
            if depth == 0 and _NEXT_AFTER_BARE.match(line, at):
                return line[:at], True
    return line, False


def _argument(rest: str, verb: CommandVerb) -> str | None:
    """What stands between the outer parentheses, or after the verb; None where they do not match."""
    rest = rest.rstrip(";. ") if ")" in rest or verb in ("skip", "end") else rest
    if not rest.startswith("("):
        return rest if ")" not in rest or rest.count("(") == rest.count(")") else None
    if not rest.endswith(")"):
        return None
    return rest[1:-1].strip()


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] in _QUOTES and text[-1] in (_QUOTES[text[0]], '"', "”", "’", "'"):
        return text[1:-1].strip()
    return text


def _command(verb: CommandVerb, argument: str, note: str) -> Command | Reason:
    if verb == "end":
        return _unreadable(f"end() takes nothing, not {argument[:60]!r}.") if argument else Command("end", note=note)
    if verb == "skip":
        return _skip(argument, note)
    action = _unquoted(re.sub(r"^action\s*=\s*", "", argument))
    if not action:
        return _unreadable(f'{verb} needs an action, such as {verb}("dancing").')
    return Command(verb, action, note=note)


def _skip(argument: str, note: str) -> Command | Reason:
    given, _, option = argument.partition(",")
    if re.match(r"wake_?on\b", argument, re.IGNORECASE):
        given, option = "", argument
    wake_on = None
    if option and not option.strip().lower().startswith("wake"):
        given = argument
    elif option:
        found = re.fullmatch(r"\s*wake_?on\s*[=:]\s*[\"'“]?(\w+)[\"'”]?\s*", option, re.IGNORECASE)
        if not found or found[1].lower() not in WAKE_ON:
            return _unreadable(f"skip may end early with wake_on={', '.join(WAKE_ON[:-1])} or {WAKE_ON[-1]}.")
        wake_on = found[1].lower()
    seconds = _seconds(_unquoted(given.strip()))
    if not math.isfinite(seconds) or seconds < 0:
        return _unreadable(f"skip({given.strip()[:40]}) is not a time to wait: give seconds from 0 to {LONGEST_S:g}.")
    return Command("skip", seconds=min(seconds, LONGEST_S), wake_on=wake_on, note=note)


def _seconds(text: str) -> float:
    text = re.sub(r"^seconds\s*=\s*", "", text)
    try:
        return float(re.sub(r"\s*(?:seconds?|secs?|s)$", "", text.lower()) or "1")
    except ValueError:
        return 1.0


def _unreadable(says: str) -> Reason:
    return Reason(code="command.unreadable", about="command", says=says, try_next=USAGE)
