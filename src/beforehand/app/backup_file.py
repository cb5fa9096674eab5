"""A backup as one file: a compressed tar whose first member lists all others with their checksums.

It is written from copies that nobody else changes, and read through from end to end: every member must be listed, be
as long as it is listed and have the checksum that is listed.
"""

import hashlib
import json
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from errno import ELOOP, ENOENT, ENOTDIR
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from beforehand.app.backup_manifest import FORMAT, MANIFEST, MOST_BYTES, Manifest, read_manifest, too_big
from beforehand.app.backup_members import CHUNK, Member, NotWholeError, members, shown
from beforehand.app.private_files import FILE, FOLDER
from beforehand.model.errors import BadInputError

_LEVEL = 3


def write_backup(draft: Path, folder: Path, names: list[str], told: Mapping[str, Any]) -> None:
    """Pack the files of a folder under their names, behind a manifest of what is told and of their checksums."""
    sizes = {name: (folder / name).stat().st_size for name in names}
    files = {name: {"size": sizes[name], "sha256": _sum_of(folder / name)} for name in names}
    with new_file(draft) as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=_LEVEL, format=tarfile.PAX_FORMAT) as tar:
            written = json.dumps({"format": FORMAT, **told, "files": files}, indent=1).encode()
            tar.addfile(_member(MANIFEST, len(written)), BytesIO(written))
            for name in names:
                with (folder / name).open("rb") as content:
                    tar.addfile(_member(name, sizes[name]), content)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # what is read back comes from the disk


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A file for its owner only that is not there yet; no link is followed."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, FILE)
    with os.fdopen(descriptor, "wb") as file:
        yield file


def copy_file(source: Path, target: Path) -> bool:
    """Copy what a file holds now; false where it is gone or is no plain file any more."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (ENOENT, ENOTDIR, ELOOP):
            return False
        raise
    with os.fdopen(descriptor, "rb") as content:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        with new_file(target) as file:
            while chunk := content.read(CHUNK):
                file.write(chunk)
    return True


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, FILE
    return member


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_through(path: Path, folder: Path | None = None) -> Manifest:
    """The manifest of a backup that is whole, NotWholeError for any other; its files are taken out into the folder."""
    with closing(members(path)) as found:
        return _read(found, folder)


def _read(found: Iterator[Member], folder: Path | None) -> Manifest:
    manifest = _manifest(next(found, None))
    left = dict(manifest.files)
    for member in found:
        listed = left.pop(member.name, None)
        if listed is None:
            again = member.name in manifest.files
            raise NotWholeError(f"it holds {shown(member.name)}{' twice' if again else ', which it does not list'}")
        if member.size != listed.size:
            raise NotWholeError(f"{shown(member.name)} in it is not as long as it is listed")
        place = folder / member.name if folder and member.name in manifest.kept else None
        if _taken_out(member, place) != listed.sha256:
            raise NotWholeError(f"{shown(member.name)} in it is not what was backed up")
    if left:
        raise NotWholeError(f"{shown(next(iter(left)))} is missing in it")
    return manifest


def _manifest(first: Member | None) -> Manifest:
    if first is None or first.name != MANIFEST:
        raise NotWholeError("it is no backup of Beforehand")
    if first.size > MOST_BYTES:
        raise too_big(first.size)
    return read_manifest(b"".join(first.content))


def _taken_out(member: Member, place: Path | None) -> str:
    """The checksum of a member, which is written to its place if it has one."""
    digest = hashlib.sha256()
    if place is None:
        for chunk in member.content:
            digest.update(chunk)
        return digest.hexdigest()
    try:
        with new_file(place) as file:
            for chunk in member.content:
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise NotWholeError(f"{shown(member.name)} in it has the name of another one on this disk") from None
    return digest.hexdigest()


def read_listed(path: Path) -> Manifest:
    """What a backup says it holds, before anything else of it is read; BadInputError where it is none."""
    with as_bad_input(path), closing(members(path)) as found:
        return _manifest(next(found, None))


def check_backup(path: Path) -> Manifest:
    """The manifest of a backup that is whole; BadInputError says what is wrong with any other file."""
    with as_bad_input(path):
        return read_through(path)


@contextmanager
def as_bad_input(path: Path) -> Iterator[None]:
    """What is wrong with a backup, said to whoever named the file."""
    try:
        if path.exists() and not path.is_file():
            raise BadInputError(f"{path} is no file.", code="backup.missing", hint="Name a backup's file.")
        with path.open("rb"):
            pass
    except OSError as error:
        raise BadInputError(f"The backup {path} cannot be opened: {error.strerror}.", code="backup.missing") from error
    try:
        yield
    except NotWholeError as why:
        raise unreadable(path, str(why)) from why


def unreadable(path: Path, why: str) -> BadInputError:
    return BadInputError(
        f"The backup {path} cannot be restored: {why}. Nothing was changed.",
        code="backup.unreadable",
        hint="Take another backup file.",
    )
