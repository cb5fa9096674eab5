"""A backup as one file: a compressed tar whose first member lists all others with their checksums.

Writing goes to a draft that gets its name at the very end, so a file under that name is always whole. Reading checks
every byte before anything is taken out.
"""

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from beforehand.model.errors import BadInputError

FORMAT = "beforehand-backup-1"
MANIFEST = "manifest.json"
LOG, HOME, SETTINGS = KINDS = ("log", "home", "settings")
"""What the names of members begin with: the log and its archive, files of the home, and the settings file."""
_LEVEL = 3
_CHUNK = 1024 * 1024


def write_backup(draft: Path, members: Mapping[str, Path], told: Mapping[str, Any]) -> dict[str, Any]:
    """Pack the files under their names; the manifest, which is `told` and their checksums."""
    sizes = {name: path.stat().st_size for name, path in members.items()}
    files = {name: {"size": sizes[name], "sha256": _sum_of(path)} for name, path in members.items()}
    manifest = {"format": FORMAT, **told, "files": files}
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=_LEVEL, format=tarfile.PAX_FORMAT) as tar:
            written = json.dumps(manifest, indent=1).encode()
            tar.addfile(_member(MANIFEST, len(written)), BytesIO(written))
            for name, path in members.items():
                with path.open("rb") as content:
                    tar.addfile(_member(name, sizes[name]), content)
        file.flush()
        os.fsync(file.fileno())
    return manifest


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return _digest(file)


def _digest(content: IO[bytes]) -> str:
    found = hashlib.sha256()
    while chunk := content.read(_CHUNK):
        found.update(chunk)
    return found.hexdigest()


def check_backup(path: Path) -> dict[str, Any]:
    """The manifest of a backup that is whole; BadInputError says what is wrong with any other file."""
    with _reading(path) as tar:
        manifest = _manifest(tar, path)
        left = dict(manifest["files"])
        for member in tar:
            if member.name == MANIFEST:
                continue
            told = left.pop(member.name, None)
            content = tar.extractfile(member)
            if told is None or content is None or not _is_inside(member.name):
                raise unreadable(path, f"it holds {member.name!r}, which it does not list")
            if _digest(content) != told["sha256"]:
                raise unreadable(path, f"{member.name} in it is not what was backed up")
        if left:
            raise unreadable(path, f"{next(iter(left))} is missing in it")
    return manifest


def take_out(path: Path, places: Mapping[str, Path]) -> None:
    """Write the members that have a place there, each for its owner only."""
    with _reading(path) as tar:
        for member in tar:
            place, content = places.get(member.name), tar.extractfile(member)
            if place is None or content is None:
                continue
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                while chunk := content.read(_CHUNK):
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())


def _manifest(tar: tarfile.TarFile, path: Path) -> dict[str, Any]:
    first = tar.next()
    content = tar.extractfile(first) if first is not None and first.name == MANIFEST else None
    manifest = json.loads(content.read()) if content is not None else {}
    if not isinstance(manifest, dict) or not str(manifest.get("format", "")).startswith("beforehand-backup-"):
        raise unreadable(path, "it is no backup of Beforehand")
    if manifest["format"] != FORMAT:
        raise unreadable(path, "a newer Beforehand made it")
    return manifest


@contextmanager
def _reading(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        file: IO[bytes] = path.open("rb")
    except OSError as error:
        raise BadInputError(f"The backup {path} cannot be opened: {error.strerror}.", code="backup.missing") from error
    with file:
        try:
            with tarfile.open(fileobj=file, mode="r|gz") as tar:
                yield tar
        except (tarfile.TarError, EOFError, OSError, ValueError, KeyError) as error:
            raise unreadable(path, f"it is damaged ({error})") from error


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[0] in KINDS and ".." not in path.parts


def unreadable(path: Path, why: str) -> BadInputError:
    return BadInputError(
        f"The backup {path} cannot be restored: {why}. Nothing was changed.",
        code="backup.unreadable",
        hint="Take another backup file.",
    )
