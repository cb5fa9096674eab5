"""The small file of what a link keeps for the next process: a JSON object a line, later ones over earlier ones.

A link may lead to hundreds of robots and keeps something of one of them with every order: that is one short line more.
When the lines have grown long, or everything is kept anew, the file is written as one line. A line that a crash cut
off is passed over, and so is what nobody can read.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from beforehand.ports.private_files import PrivateFiles

LONG_B = 64_000
TIMES = 4
"""The file is written anew when its lines are so many times as long as that one line would be, and LONG_B."""


class Keeping(Protocol):
    @property
    def kept(self) -> dict[str, Any] | None:
        """Everything that is kept; None where there is nothing."""

    def keep(self, part: Mapping[str, Any]) -> None:
        """Keep this in place of what was kept under the same names. OSError where it cannot be written."""


class SharedParts:
    """The same where several servers find it: each name is a private file of its own."""

    def __init__(self, files: PrivateFiles, name: str) -> None:
        self._files = files
        self._prefix = f"{name}/"
        self._kept = {key.removeprefix(self._prefix): part for key, part in _parts(files.read_all(self._prefix))}

    @property
    def kept(self) -> dict[str, Any] | None:
        return dict(self._kept) or None

    def keep(self, part: Mapping[str, Any]) -> None:
        for key, value in part.items():
            self._files.write_soon(f"{self._prefix}{key}", json.dumps(value).encode())


def _parts(found: Mapping[str, bytes]) -> Iterator[tuple[str, Any]]:
    for name, content in found.items():
        with suppress(ValueError, RecursionError):
            yield name, json.loads(content)


class KeptFile:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept = _read(file)
        self._lines_b = self._whole_b = 0

    @property
    def kept(self) -> dict[str, Any] | None:
        """Everything that is kept; None where there is nothing."""
        return dict(self._kept) or None

    def keep(self, part: Mapping[str, Any]) -> None:
        """Keep this in place of what was kept under the same names. OSError where it cannot be written."""
        is_all = self._kept.keys() <= part.keys()
        self._kept.update(part)
        if is_all or not self._whole_b or self._lines_b > max(LONG_B, TIMES * self._whole_b):
            self._write_whole()
        else:
            self._add(part)

    def _write_whole(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        draft = self._file.with_suffix(".new")
        draft.touch(mode=0o600)
        self._whole_b = draft.write_text(_line(self._kept), encoding="utf-8")
        self._lines_b = 0
        draft.replace(self._file)

    def _add(self, part: Mapping[str, Any]) -> None:
        with self._file.open("ab", buffering=0) as lines:
            self._lines_b += lines.write(_line(part).encode())


def _line(kept: Mapping[str, Any]) -> str:
    return json.dumps(kept) + "\n"


def _read(file: Path) -> dict[str, Any]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    kept: dict[str, Any] = {}
    for line in lines:
        try:
            part = json.loads(line)
        except (ValueError, RecursionError):
            continue
        kept |= part if isinstance(part, dict) else {}
    return kept
