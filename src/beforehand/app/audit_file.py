"""The record as a file that cannot be changed unseen: its lines, each with a hash chained to the line before.

The hash of a line covers the hash of the line before and everything the line says. The last line tells how many there
are and how far the log had come, with the link of its chain there: an anchor, by which the log can be checked later.
Whoever writes the whole file anew can make hashes that fit; the last one, kept elsewhere, shows that too.
"""

import csv
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from io import StringIO
from typing import Any, NamedTuple

from beforehand.app.audit import FIELDS, Entry, audit, entry_of
from beforehand.model.chain import Anchor
from beforehand.model.errors import BadInputError
from beforehand.model.event import iso
from beforehand.model.reason import Problem
from beforehand.ports.store import Store

END = "end"
START = "0" * 64
COLUMNS = (*FIELDS, "line", "hash")
MOST_PROBLEMS = 100
_HASH = re.compile(r"[0-9a-f]{64}")
_SEALED = re.compile(r'(.*), "hash": "([0-9a-f]{64})"\}', re.DOTALL)


def _hashed(before: str, text: str) -> str:
    return sha256(f"{before}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def _as_json(entry: Entry, before: str) -> tuple[str, str]:
    text = json.dumps(entry, ensure_ascii=False)
    found = _hashed(before, text)
    return f'{text[:-1]}, "hash": "{found}"}}\n', found


def _as_csv(entry: Entry, before: str) -> tuple[str, str]:
    values = [_written(value) for value in entry.values()]
    found = _hashed(before, _csv(values))
    return _csv([*values, found]), found


def _csv(values: Iterable[str]) -> str:
    line = StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue()


def _written(value: Any) -> str:
    """A value as a spreadsheet may show it: never as a formula, whatever people wrote."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


class Form(NamedTuple):
    first: str
    """What stands first."""
    write: Callable[[Entry, str], tuple[str, str]]
    """A line with its hash, and the hash; made of an entry and the hash before."""
    media_type: str


FORMATS: Mapping[str, Form] = {
    "jsonl": Form("", _as_json, "application/x-ndjson"),
    "csv": Form(_csv(COLUMNS), _as_csv, "text/csv; charset=utf-8"),
}


def check_form(form: str) -> str:
    if form not in FORMATS:
        raise BadInputError.unknown("format", form, FORMATS, code="audit.format")
    return form


async def audit_lines(store: Store, form: str, since: int = 0, until: int | None = None) -> AsyncIterator[str]:
    """The record as text, in one of `FORMATS`; the last line is its end."""
    first, write, _ = FORMATS[check_form(form)]
    if first:
        yield first
    before, number = START, 0
    async for entry in audit(store, since, until):
        number += 1
        line, before = write({**entry, "line": number}, before)
        yield line
    yield write({**await _end(store, number), "line": number + 1}, before)[0]


def hash_of(line: str) -> str:
    """The hash at the end of a line of the record."""
    return line.rstrip('"}\r\n')[-64:]


async def _end(store: Store, lines: int) -> Entry:
    """How many lines there are, and an anchor of the log."""
    last = await store.last_seq()
    newest = await store.events(after=last - 1, limit=1)
    identity, anchor = await store.identity(), await anchor_at(store, last)
    return entry_of(
        kind=END,
        title=f"The end of the record: {lines} lines, the log up to event {last}.",
        value={"lines": lines, "log": str(identity or ""), "anchor": str(anchor or "")},
        openedAt=iso(newest[0].ts) if newest else None,
        openedSeq=last,
        record=END,
    )


async def anchor_at(store: Store, seq: int) -> Anchor | None:
    """The link of an event; None where it has none."""
    found = await store.chained(after=seq - 1, limit=1) if seq else []
    return Anchor(seq, found[0].link) if found and found[0].seq == seq and found[0].link else None


class FileFinding(NamedTuple):
    """What a file of the record shows."""

    lines: int
    last_hash: str
    anchor: Anchor | None
    """Of the log it was made from."""
    log: str
    """That log, by its identity and generation."""
    problems: list[Problem]


class _Line(NamedTuple):
    number: int
    record: str
    value: Any
    text: str
    hash: str


def check_file(text: str, last_hash: str | None = None) -> FileFinding:
    """Whether every line of an export is there, as it was written, in its place. BadInputError for no export at all.

    `last_hash` is that of its last line, as it was told when it was made.
    """
    found = _Finding()
    for place, line in enumerate(_lines_in(text), 1):
        found.look(place, line)
    return found.ended(last_hash)


class _Finding:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._next, self._before, self._lines = 1, START, 0
        self._end: _Line | None = None

    def look(self, place: int, line: _Line | None) -> None:
        self._lines = place
        if line is None:
            self._tell(place, "unreadable", f"Line {place} cannot be read as a line of the record.")
            self._next, self._before = self._next + 1, ""
            return
        if self._end is not None:
            self._tell(place, "inserted", f"Line {place} stands behind the end of the record.")
            return
        if line.number > self._next:
            gone = (
                f"Line {self._next} is"
                if line.number == self._next + 1
                else (f"Lines {self._next} to {line.number - 1} are")
            )
            self._tell(place, "missing", f"{gone} missing in front of line {line.number}.")
        elif line.number < self._next:
            says = f"Line {line.number} stands where line {self._next} should: it was put in, doubled or moved."
            self._tell(place, "moved", says)
            return
        elif self._before and line.hash != _hashed(self._before, line.text):
            self._tell(place, "changed", f"Line {line.number} was changed, or the hash of the line before it was.")
        self._next, self._before = max(self._next, line.number + 1), line.hash
        if line.record == END:
            self._end = line

    def ended(self, last_hash: str | None) -> FileFinding:
        end = self._end
        if end is None:
            self._tell(self._lines, "cut", f"The end is missing: the record was cut off after line {self._lines}.")
        told = end.value if end is not None and isinstance(end.value, dict) else {}
        if last_hash is not None and self._before != last_hash:
            says = "The last hash is another one than was told when the record was made: the file was written anew."
            self._tell(self._lines, "anew", says)
        anchor = read_anchor(str(told["anchor"])) if told.get("anchor") else None
        return FileFinding(self._lines, self._before, anchor, str(told.get("log", "")), self.problems)

    def _tell(self, place: int, code: str, says: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            hint = "Export the record anew, or take the file from where it was kept."
            self.problems.append(Problem(code=f"audit.{code}", about=f"line {place}", says=says, try_next=hint))


def _lines_in(text: str) -> Iterator[_Line | None]:
    if text.startswith(_csv(COLUMNS)[:20]):
        yield from map(_from_csv, list(csv.reader(StringIO(text, newline="")))[1:])
    elif text.lstrip().startswith("{"):
        yield from map(_from_json, text.split("\n")[: -1 if text.endswith("\n") else None])
    else:
        raise BadInputError(
            "This is no record of `beforehand audit export`.", code="audit.file", hint="Name a file that it wrote."
        )


def _from_json(raw: str) -> _Line | None:
    sealed = _SEALED.fullmatch(raw)
    if sealed is None:
        return None
    text = f"{sealed[1]}}}"
    try:
        told = json.loads(text)
        return _Line(int(told["line"]), str(told["record"]), told["value"], text, sealed[2])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _from_csv(values: list[str]) -> _Line | None:
    named = dict(zip(COLUMNS, values, strict=False))
    if len(values) != len(COLUMNS) or not _HASH.fullmatch(named["hash"]) or not named["line"].isdecimal():
        return None
    try:
        value = json.loads(named["value"]) if named["record"] == END else None
    except ValueError:
        return None
    return _Line(int(named["line"]), named["record"], value, _csv(values[:-1]), named["hash"])


def read_anchor(told: str) -> Anchor:
    """`812:9f3c…`, as exports and checks print it; BadInputError for anything else."""
    seq, _, link = told.strip().partition(":")
    if not (seq.isascii() and seq.isdecimal() and int(seq[:18]) > 0 and len(seq) < 19 and _HASH.fullmatch(link)):
        raise BadInputError(
            f"{told[:80]!r} is no anchor: it is written NUMBER:HASH, with 64 characters of hash.",
            code="audit.anchor",
            hint="Copy it from the end of an export, or from what `beforehand audit verify` printed.",
        )
    return Anchor(int(seq), bytes.fromhex(link))
