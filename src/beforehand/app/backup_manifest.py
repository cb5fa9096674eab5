"""What a backup says about itself, and which names its members may have.

A manifest comes from a file that anybody may have made: every value is checked before anything is done with it. No
member may have a name that lies outside the folder it is taken out into, or that something else of a home goes by.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from beforehand.app.backup_members import NotWholeError, shown
from beforehand.app.documents import from_json
from beforehand.app.private_files import RESTORING
from beforehand.app.settings import CONFIG_FILE
from beforehand.model.errors import BadInputError
from beforehand.model.words import in_bytes, wanted_value

FORMAT = "beforehand-backup-1"
MANIFEST = "manifest.json"
LOG, HOME, SETTINGS = "log", "home", "settings"
"""What the names of members begin with: the log and its archive, files of the home, and the settings file."""
LOG_FILE, SETTINGS_FILE = f"{LOG}/log.db", f"{SETTINGS}/{CONFIG_FILE}"
PASSED_OVER = frozenset({f"{HOME}/log.mark"})
"""What is in older backups and is of the home that they were made of only."""
MOST_BYTES = 32 * 1024 * 1024
_MOST_FILES = 100_000
_MOST_VALUES = 8 * _MOST_FILES
_LONGEST, _LONGEST_PART, _DEEPEST = 3000, 255, 60
_MOST = 2**53
_PART = re.compile(r"log/log\.db\.archive/events-\d{12,}-\d{12,}-[0-9a-f]{12}\.jsonl\.xz")
_Line = Annotated[str, Field(max_length=5000, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]


class Stand(NamedTuple):
    """How far a log has come: the number of its last event, and the epoch of its last leader."""

    last_seq: int
    epoch: int


class BackedUpFile(BaseModel, strict=True):
    size: int = Field(ge=0, le=_MOST)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(BaseModel, strict=True):
    """`files` is in the file itself by the names of members; `leftOut` is said to people."""

    format: str
    beforehand: _Line
    createdAt: _Line  # noqa: N815
    of: _Line
    lastSeq: int = Field(ge=0, le=_MOST)  # noqa: N815
    epoch: int = Field(ge=0, le=_MOST)
    leftOut: list[_Line]  # noqa: N815
    files: dict[str, BackedUpFile]

    @property
    def kept(self) -> dict[str, BackedUpFile]:
        """The files that are put back."""
        return {name: one for name, one in self.files.items() if name not in PASSED_OVER}

    @property
    def stand(self) -> Stand:
        return Stand(self.lastSeq, self.epoch)

    @property
    def size(self) -> int:
        return sum(one.size for one in self.kept.values())


def read_manifest(raw: bytes) -> Manifest:
    """The manifest in a backup; NotWholeError with the first thing that is wrong with it."""
    found = _document(raw)
    if not isinstance(found, dict) or not str(found.get("format", "")).startswith("beforehand-backup-"):
        raise NotWholeError("it is no backup of Beforehand")
    if found["format"] != FORMAT:
        raise NotWholeError("a newer Beforehand made it")
    try:
        manifest = Manifest.model_validate(found)
    except ValidationError as error:
        raise NotWholeError(_wrong(error.errors()[0])) from None
    _check_names(manifest)
    return manifest


def _document(raw: bytes) -> Any:
    if sum(map(raw.count, (b"[", b"{", b","))) > _MOST_VALUES:
        raise NotWholeError(f"its manifest lists more than {_MOST_FILES} files")
    try:
        return from_json(raw.decode(), MANIFEST)
    except RecursionError:
        raise NotWholeError("its manifest is nested too deeply") from None
    except BadInputError as error:
        raise NotWholeError(f"its manifest cannot be read ({error.says.rstrip('.')})") from None
    except ValueError:
        raise NotWholeError("its manifest is no JSON") from None


def _wrong(problem: Mapping[str, Any]) -> str:
    where = " of ".join(shown(str(one)) for one in reversed(problem["loc"]))
    if problem["type"] == "missing":
        return f"its manifest has no {where}"
    wanted = wanted_value(problem["type"], problem.get("ctx", {}))
    return f"{where} in its manifest is {f'not {wanted}' if wanted else 'not what it can be'}"


def _check_names(manifest: Manifest) -> None:
    if len(manifest.files) > _MOST_FILES:
        raise NotWholeError(f"it lists more than {_MOST_FILES} files")
    if LOG_FILE not in manifest.files:
        raise NotWholeError("there is no log in it")
    for name in manifest.kept:
        if why := why_no_name(name):
            raise NotWholeError(f"it lists {shown(name)}, {why}")
    if twice := _in_the_way(manifest.kept):
        raise NotWholeError(f"it lists {shown(twice)} both as a file and as a folder")
    both = [manifest.files.get(name) for name in (SETTINGS_FILE, f"{HOME}/{CONFIG_FILE}")]
    if None not in both and both[0] != both[1]:
        raise NotWholeError(f"it holds two files that would become {CONFIG_FILE}")


def _in_the_way(names: Iterable[str]) -> str | None:
    known = set(names)
    folders = {str(folder) for name in known for folder in PurePosixPath(name).parents}
    return next(iter(known & folders), None)


def why_no_name(name: str) -> str:
    """Why no member may be called so, as the end of a sentence; empty where one may."""
    kind, *parts = name.split("/")
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        return "which holds characters that no name may have"
    if kind == LOG:
        return "" if name == LOG_FILE or _PART.fullmatch(name) else "which is no part of a log"
    if kind == SETTINGS:
        return "" if name == SETTINGS_FILE else "which is no settings file"
    if kind != HOME or not parts or any(part in ("", ".", "..") for part in parts):
        return "which is no place inside a home"
    if len(name) > _LONGEST or len(parts) > _DEEPEST or any(len(part.encode()) > _LONGEST_PART for part in parts):
        return "which is too long for a name"
    return "which is the log's own" if is_reserved(parts[0]) else ""


def is_reserved(first: str) -> bool:
    """Whether a name directly in a home is the log's, or that of restoring; also where upper case is no difference."""
    folded = unicodedata.normalize("NFKC", first).casefold()
    return folded.startswith("log.db") or folded in ("log.mark", RESTORING)


def too_big(size: int) -> NotWholeError:
    return NotWholeError(f"its manifest takes {in_bytes(size)}, and {in_bytes(MOST_BYTES)} are the most")
