"""What reaches the screen: one JSON document, tables, and sentences.

Documents and tables go to standard output, everything else to standard error. Colours go to a terminal only, and
text from plans cannot steer the terminal: control characters are shown, not obeyed.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console


WIDTH = 200
"""How wide a table may be where no terminal sets its width."""


class Output(StrEnum):
    TABLE = "table"
    JSON = "json"


def prepare_streams() -> None:
    """UTF-8 whatever the locale says; half a character is written as JSON would write it.

    A stream that was closed before the start is replaced by nothing at all.
    """
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _nothing(mode: Literal["r", "w"]) -> TextIO:
    return open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123  it stays open as long as the process


def plain(text: object) -> str:
    """Text that a terminal only shows: control characters other than line ends and tabs are replaced."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in str(text))


def line(text: object) -> str:
    """The same on one line."""
    return plain(text).replace("\n", " ").replace("\t", " ")


def print_err(*sentences: object) -> None:
    """Sentences on standard error, one a line."""
    for sentence in sentences:
        sys.stderr.write(f"{plain(sentence)}\n")
    sys.stderr.flush()


def print_out(*sentences: object) -> None:
    """Sentences on standard output: what a command has to say when it prints no document."""
    for sentence in sentences:
        sys.stdout.write(f"{plain(sentence)}\n")
    sys.stdout.flush()


def print_json(document: Any) -> None:
    """One JSON document and nothing else."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def console(stream: TextIO | None = None) -> "Console":
    """A rich console that colours only where somebody looks, and never wraps what a program reads."""
    from rich.console import Console

    stream = stream or sys.stdout
    looks = stream.isatty()
    return Console(
        file=stream,
        force_terminal=looks,
        no_color=None if looks else True,
        width=None if looks else WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, nothing: str = "Nothing.") -> None:
    """A table on standard output, or a sentence when it would be empty."""
    shown = [[plain(item) for item in row] for row in rows]
    if not shown:
        print_out(nothing)
    elif sys.stdout.isatty() or (drawn := plain_table(columns, shown)) is None:
        _print_rich_table(columns, shown)
    else:
        print_out(*drawn)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str] | None:
    """The lines of a table without colours, for a program or a file; None where text has to be folded or measured.

    Most tables that programs read are such, and rich takes longer to load than many a command to do its work.
    """
    table = [columns, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    fits = any(widths) and sum(widths) + 3 * (len(widths) - 1) <= WIDTH
    if not fits or not all(item.isascii() and item.isprintable() for row in table for item in row):
        return None
    lines = ["   ".join(map(str.ljust, row, widths)) for row in table]
    return [lines[0], "─" * len(lines[0]), *lines[1:]]


def _print_rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(item, style=STATUS_STYLES.get(item, "")) for item in row))
    console().print(table)


STATUS_STYLES = {
    "completed": "green",
    "ok": "green",
    "failed": "red",
    "broken": "red",
    "blocked": "red",
    "in doubt": "yellow",
    "inDoubt": "yellow",
    "waiting": "yellow",
    "paused": "yellow",
    "running": "cyan",
    "skipped": "dim",
    "cancelled": "dim",
    "denied": "magenta",
    "partial": "yellow",
    "missing": "yellow",
}


def status_in_words(status: object) -> str:
    """A step's status as people read it."""
    return "in doubt" if status == "inDoubt" else str(status)
