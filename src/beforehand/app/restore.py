"""A backup becomes an empty home and store again: checked, taken out beside everything else, then put in place.

While a home is being restored a folder in it says so, which holds all that was taken out: nobody leads the home then.
The log is put in place first and at once; until that has happened, whatever goes wrong leaves the home as it was. From
then on restoring again goes on where it was cut off.
"""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from beforehand.app.backup import FULL, held, in_thread, sync_folder
from beforehand.app.backup_file import as_bad_input, check_backup, new_file, read_listed, read_through, unreadable
from beforehand.app.backup_manifest import HOME, LOG, LOG_FILE, SETTINGS, Manifest, Stand
from beforehand.app.private_files import FILE, FOLDER, RESTORING
from beforehand.app.settings import CONFIG_FILE, Settings
from beforehand.app.stores import check_copy, copy_store, open_reading, store_exists, store_files, store_location
from beforehand.model.errors import BeforehandError, RefusedError, UnavailableError
from beforehand.model.words import in_bytes

EPOCHS = 1_000
"""How much the leaders' epoch is raised: more leaders than there can have been since the backup was made."""
_BEGUN, _FILLED = "manifest.json", "filled"
"""Files in the marking folder: which backup it is, and that its log is in place."""


async def restore(settings: Settings, file: Path) -> dict[str, Any]:
    """Make an empty home and store what they were when the backup was made; all numbers and ids are kept.

    The log is another generation of itself. RefusedError where there is something already, BadInputError where the file
    is not whole, UnavailableError where there is no room. Cut off in the middle it can be called again.
    """
    listed = await in_thread(read_listed, file)
    _refuse_without_room(settings, listed, file)
    manifest = await in_thread(check_backup, file)
    with _explained(settings, file):
        begun = _begun(settings)
        if not (is_filled := await _is_filled(settings, begun, manifest)):
            _refuse_in_use(settings, manifest)
        with _marked(settings) as marker:
            if not is_filled:
                await _refuse_filled(settings)
                _refuse_in_use(settings, manifest)  # anew: somebody else may have been quicker
                await _fill(settings, file, manifest, marker)
            await in_thread(_put_in_place, settings.home, marker)
    return manifest.model_dump()


def _refuse_without_room(settings: Settings, manifest: Manifest, file: Path) -> None:
    """The sizes a backup lists are compared with the room there is, before anything of them is read."""
    if os.path.lexists(settings.home / RESTORING):
        return  # what was begun has taken its room already
    folder = next(one for one in (settings.home, *settings.home.parents) if one.exists())
    needed, free = manifest.size, shutil.disk_usage(folder).free
    for place in store_files(settings.database)[:1]:
        near = next(one for one in place.parents if one.exists())
        if near.stat().st_dev == folder.stat().st_dev:
            needed += sum(one.size for name, one in manifest.kept.items() if name.startswith(f"{LOG}/"))
    if needed > free:
        told = f"It needs {in_bytes(needed)} there, and {in_bytes(free)} are free"
        raise _no_room(settings, file, f"{told}; nothing was changed")


class Begun(NamedTuple):
    """What a restore that was cut off left in the home; `manifest` is None where it had come no further."""

    manifest: bytes | None
    filled: bool


def _begun(settings: Settings) -> Begun | None:
    marker = settings.home / RESTORING
    if not os.path.lexists(marker):
        return None
    if marker.is_symlink() or not marker.is_dir():
        raise _in_use(f"{marker} is no folder")
    begun = marker / _BEGUN
    return Begun(begun.read_bytes() if begun.exists() else None, (marker / _FILLED).exists())


@contextmanager
def _marked(settings: Settings) -> Iterator[Path]:
    """The folder that says that the home is being restored; it is gone afterwards, unless the log is in place already.

    What had to be made for it is gone again, too, where nothing was restored.
    """
    home, marker = settings.home, settings.home / RESTORING
    wanted = [
        home,
        *home.parents,
        *(parent for place in store_files(settings.database)[:1] for parent in place.parents),
    ]
    made = [folder for folder in wanted if not folder.exists()]
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        home.mkdir(mode=FOLDER, exist_ok=True)
        marker.mkdir(mode=FOLDER, exist_ok=True)
        with held(marker, f"Another process is restoring a backup into {home}."):
            try:
                yield marker
            except _HalfRestoredError:
                raise
            except BaseException:
                shutil.rmtree(marker, ignore_errors=True)
                raise
    except _HalfRestoredError as half:
        raise half.error from half
    except BaseException:
        for folder in made:
            with suppress(OSError):  # it is not empty: somebody else's by now
                folder.rmdir()
        raise


class _HalfRestoredError(Exception):
    """The log is in place or may be, and something else is not: the home stays marked."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


async def _is_filled(settings: Settings, begun: Begun | None, manifest: Manifest) -> bool:
    """Whether the log was put in place already from this very backup, and only the rest is missing."""
    stand = await stand_of(settings.database)
    is_this = begun is not None and begun.manifest in (None, _written(manifest))
    if is_this and begun is not None and (_is_of(stand, manifest) if stand.last_seq else begun.filled):
        return True
    try:
        await _refuse_filled(settings)
    except RefusedError as error:
        if begun is not None:
            error.hint = "Restore the file that was begun with again, or take an empty home and an empty store."
        raise
    return False


async def _refuse_filled(settings: Settings) -> None:
    if (await stand_of(settings.database)).last_seq:
        raise _in_use(f"The log {store_location(settings.database)} holds events already")


def _is_of(stand: Stand, manifest: Manifest) -> bool:
    return stand == (manifest.lastSeq, manifest.epoch + EPOCHS)


async def stand_of(url: str) -> Stand:
    """How far a log has come; zeros where there is none or it is empty."""
    if not await asyncio.to_thread(store_exists, url):
        return Stand(0, 0)
    async with open_reading(url) as store:
        leader = await store.leader()
        return Stand(await store.last_seq(), leader.epoch if leader else 0)


def _written(manifest: Manifest) -> bytes:
    return manifest.model_dump_json().encode()


def _refuse_in_use(settings: Settings, manifest: Manifest) -> None:
    """No file that is there is written over, and no link there is followed."""
    logs = {str(place).casefold() for place in store_files(settings.database)}
    for name in manifest.kept:
        place = _place(settings.home, name)
        if place is None:
            continue
        if any(str(one).casefold() in logs for one in (place, *place.parents)):
            raise _in_use(f"{place} would be where the log is to be")
        if os.path.lexists(place):
            raise _in_use(f"{place} is there already")
        for folder in place.parents[: len(place.relative_to(settings.home).parts) - 1]:
            if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
                raise _in_use(f"{folder} is there already and is no folder")


def _place(home: Path, name: str) -> Path | None:
    """Where a member comes to lie in the home; None for the log, which is copied into its store."""
    kind, _, rest = name.partition("/")
    return None if kind == LOG else home / (CONFIG_FILE if kind == SETTINGS else rest)


async def _fill(settings: Settings, file: Path, manifest: Manifest, marker: Path) -> None:
    """Take everything out beside the home's own files, and put the log in place, all or nothing."""
    await in_thread(_take_out, file, manifest, marker)
    try:
        await copy_store(str(marker / LOG_FILE), settings.database, raise_epoch=EPOCHS)
    except RefusedError:
        raise  # somebody else's log: nothing of it was touched
    except BaseException as error:
        if not await _is_empty(settings.database):
            raise _HalfRestoredError(error) from error
        raise
    try:
        (marker / _FILLED).touch(FILE)
    except OSError as error:
        raise _HalfRestoredError(error) from error


def _take_out(file: Path, manifest: Manifest, marker: Path) -> None:
    for path in marker.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    with new_file(marker / _BEGUN) as begun:
        begun.write(_written(manifest))
        begun.flush()
        os.fsync(begun.fileno())
    sync_folder(marker)
    with as_bad_input(file):
        if read_through(file, marker) != manifest:
            raise unreadable(file, "it was changed while it was read")
    if why := check_copy(marker / LOG_FILE, manifest.stand):
        raise unreadable(file, why)


async def _is_empty(url: str) -> bool:
    """Whether the log was certainly not put in place."""
    try:
        return not (await stand_of(url)).last_seq
    except BeforehandError:
        return False


def _put_in_place(home: Path, marker: Path) -> None:
    """Give the files that were taken out their places, which only takes other names; then the home is whole."""
    try:
        for kind in (HOME, SETTINGS):
            folder = marker / kind
            for path in [one for one in sorted(folder.rglob("*")) if one.is_file() and not one.is_symlink()]:
                _move(path, home, path.relative_to(folder).parts)
    except BaseException as error:
        raise _HalfRestoredError(error) from error
    for path in marker.iterdir():
        if path.name not in (_BEGUN, _FILLED):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(marker)
    sync_folder(home)


def _move(path: Path, home: Path, parts: tuple[str, ...]) -> None:
    """From name to name inside the home; a link in the place of one of its folders is not followed."""
    folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            with suppress(FileExistsError):
                os.mkdir(part, FOLDER, dir_fd=folder)
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        _rename(path, parts[-1], folder)
        os.fsync(folder)
    finally:
        os.close(folder)


def _rename(path: Path, name: str, folder: int) -> None:
    try:
        os.link(path, name, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if found.st_ino != path.stat().st_ino:  # the same one: it was cut off right here
            raise
    except OSError:  # a file system without links
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            raise FileExistsError(None, "File exists", name) from None
        os.rename(path, name, dst_dir_fd=folder)
        return
    path.unlink()


def _in_use(why: str) -> RefusedError:
    return RefusedError(
        f"{why}, and a backup is only restored into an empty home; nothing was changed.",
        code="backup.not_empty",
        hint="Name an empty home with --home, or an empty database with --db.",
    )


@contextmanager
def _explained(settings: Settings, file: Path) -> Iterator[None]:
    """A full or broken disk, in words."""
    try:
        yield
    except BeforehandError as error:
        if error.code != "store.full":
            raise
        raise _no_room(settings, file, _how_it_stands(settings)) from error
    except OSError as error:
        stands = _how_it_stands(settings)
        if error.errno in FULL:
            raise _no_room(settings, file, stands) from error
        says = (
            f"The backup {file} could not be restored: {error.filename or settings.home}: {error.strerror}; {stands}."
        )
        raise UnavailableError(says, code="backup.fault", hint="Correct that and restore it again.") from error


def _how_it_stands(settings: Settings) -> str:
    if (settings.home / RESTORING).exists():
        return f"{settings.home} is half restored and cannot be used until it is restored again"
    return "nothing was changed"


def _no_room(settings: Settings, file: Path, stands: str) -> UnavailableError:
    return UnavailableError(
        f"There is no space left in {settings.home} to restore {file}: {stands}.",
        code="backup.full",
        hint="Free some space on that disk and restore it again, or name a home on another one.",
    )
