"""Asking a person at the terminal: the evidence, what each answer does, and one line read back.

The line is read without blocking the loop, so that the run goes on meanwhile and the question can be taken back.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beforehand.cli.screen import console, plain, print_err

_SHORT = {"approval": {"y": "approve", "yes": "approve", "n": "deny", "no": "deny"}}
_SHOWN_APART = (
    "diff",
    "proposals",
    "says",
    "error",
    "question",
    "steps",
    "moreSteps",
    "inDoubt",
    "tool",
    "mismatch",
    "args",
    "notes",
    "difference",
    "code",
)
_BYTES = ("size", "sizeBefore")
_WITNESSES = {"planned": ("Planned", "any"), "reported": ("Answered", "not known"), "now": ("Seen now", "not known")}
"""What stands in a difference, as people read it, and what nothing means there."""
LONGEST = 2000
LATER = "later"


@dataclass(frozen=True, slots=True)
class Asked:
    verb: str
    value: Any = None
    note: str = ""


def can_ask() -> bool:
    """Whether somebody sits there: a terminal to read from and one to write to."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


async def ask(decision: Mapping[str, Any]) -> Asked | None:
    """The person's answer; None when they would rather answer later."""
    show_decision(decision)
    while True:
        text = await read_line(_prompt(decision))
        if text is None or text.strip().lower() in (LATER, f"/{LATER}"):
            return None
        asked = understood(decision, text)
        if asked is not None:
            return asked
        print_err(f"Please answer with one of: {', '.join(decision['verbs'])}, or {LATER}.")


def _prompt(decision: Mapping[str, Any]) -> str:
    if decision["kind"] == "question":
        return "Answer (/skip to leave it out, /later to answer another time): "
    verbs = "/".join(decision["verbs"])
    short = " [y/n]" if decision["kind"] in _SHORT else ""
    return f"{verbs}/{LATER}{short}: "


def understood(decision: Mapping[str, Any], text: str) -> Asked | None:
    """What a line means: a verb, with JSON behind it where the verb takes a value; for a question, the answer."""
    text = text.strip()
    if decision["kind"] == "question":
        if text == "/skip":
            return Asked("skip")
        return Asked("answer", value_from(text)) if text else None
    word, _, rest = text.partition(" ")
    verb = _SHORT.get(str(decision["kind"]), {}).get(word.lower(), word.lower())
    if verb not in decision["verbs"]:
        return None
    rest = rest.strip()
    if rest[:1] in ("{", "["):
        return Asked(verb, value_from(rest))
    return Asked(verb, note=rest)


def value_from(text: str) -> Any:
    """A value as typed: JSON if it is, else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def show_decision(decision: Mapping[str, Any], screen: Any = None) -> None:
    """A decision with its evidence; on standard error unless told otherwise."""
    from rich.text import Text

    from beforehand.engine.verb_values import in_words

    screen = screen or console(sys.stderr)
    evidence = decision.get("evidence", {})
    screen.print()
    screen.print(Text(plain(decision["title"]), style="bold yellow"))
    for name in ("says", "error"):
        if evidence.get(name):
            screen.print(Text(plain(evidence[name])))
    for sentence in evidence_lines(decision):
        screen.print(Text(f"  {plain(sentence)}"))
    if evidence.get("diff"):
        screen.print(diff_text(str(evidence["diff"])))
    values = decision.get("values", {})
    for verb, effect in decision.get("effects", {}).items():
        screen.print(Text(f"  {verb}: {plain(effect)}"))
        if verb in values:
            screen.print(Text(f"    value: {plain(in_words(values[verb]))}", style="dim"))


def evidence_lines(decision: Mapping[str, Any]) -> list[str]:
    """What a decision rests on, in words: the calls first, then the rest."""
    from beforehand.app.evidence import call_shown, call_text
    from beforehand.model.words import counted, in_words, named

    evidence = decision.get("evidence", {})
    told = [call_text(call) for call in evidence.get("steps", ())] if decision["kind"] == "review" else []
    if "moreSteps" in evidence:
        told.append(f"… and {counted(evidence['moreSteps'], 'more step')}")
    if "tool" in evidence:
        told.append(f"The call: {call_shown(evidence['tool'], evidence.get('args') or {}, LONGEST)}")
        told += ["The words do not match the call."] if evidence.get("mismatch") else []
    told += [str(note) for note in evidence.get("notes") or ()]
    told += _difference(evidence.get("difference"))
    said = {in_words(value) for value in (evidence.get("args") or {}).values()}
    for name, value in evidence.items():
        text = counted(value, "byte") if name in _BYTES else in_words(value)
        if name not in _SHOWN_APART and value not in (None, "", []) and text not in said:
            told.append(f"{named(name).capitalize()}: {text}"[:LONGEST])
    return told + [_proposal(proposal) for proposal in evidence.get("proposals", ())]


def _difference(found: Any) -> list[str]:
    """What a machine was to be like, what it answered and what it shows; the sentences in it are told already."""
    from beforehand.model.words import in_words, named

    told = []
    for name, (word, nothing) in _WITNESSES.items():
        seen = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(seen, Mapping):
            values = (f"{named(key)} {nothing if one is None else in_words(one)}" for key, one in seen.items())
            told.append(f"{word}: {', '.join(values)}")
    return told


def _proposal(proposal: Mapping[str, Any]) -> str:
    """A proposal as it is typed to accept it, and why."""
    value = "" if proposal.get("value") is None else f" {json.dumps(proposal['value'], ensure_ascii=False)}"
    return f"{proposal['model']} proposes: {proposal['verb']}{value} ({proposal['why']})"[:LONGEST]


def diff_text(diff: str) -> Any:
    """A unified diff with its lines coloured."""
    from rich.text import Text

    text = Text()
    for row in plain(diff).splitlines():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(row[:1], "")
        text.append(row + "\n", style=style)
    return text


async def read_line(prompt: str) -> str | None:
    """One line from the terminal; None at its end."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    raw = await read_part()
    return raw.decode("utf-8", "replace").rstrip("\n") if raw else None


async def read_part() -> bytes:
    """What standard input holds next, a terminal's line or part of a pipe; nothing at its end."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[bytes] = loop.create_future()
    fd = sys.stdin.fileno()

    def readable() -> None:
        loop.remove_reader(fd)
        if not heard.done():
            try:
                heard.set_result(os.read(fd, 65536))
            except OSError:  # the terminal is gone
                heard.set_result(b"")

    try:
        loop.add_reader(fd, readable)
    except PermissionError:  # a file: it never has one wait
        return os.read(fd, 65536)
    try:
        return await heard
    finally:
        loop.remove_reader(fd)
