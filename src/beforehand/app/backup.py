"""A home into one file while it is in use.

A backup holds the log as it stood at one instant, its archive, and the files of the home; what is only a cache is left
out, and so are secrets unless they are asked for. Everything is copied once into a folder beside the file, packed from
there and read back; only then the file gets its name.
"""

import asyncio
import fcntl
import os
import shutil
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from beforehand import __version__
from beforehand.app.backup_file import copy_file, new_file, read_through, write_backup
from beforehand.app.backup_manifest import HOME, LOG_FILE, SETTINGS_FILE, Manifest, is_reserved, why_no_name
from beforehand.app.backup_members import NotWholeError
from beforehand.app.clock import wall_ms
from beforehand.app.kept_files import files_of, known_to_all
from beforehand.app.private_files import FOLDER, refuse_half_restored
from beforehand.app.settings import CONFIG_FILE, KNOWN, Settings
from beforehand.app.stores import check_copy, copy_beside, stand_of_copy, store_files, store_location
from beforehand.model.errors import BadInputError, BeforehandError, RefusedError, UnavailableError
from beforehand.model.event import iso
from beforehand.ports.tasks import part

SECRETS = ("secrets", "session.key", "session.ended")
FULL = (ENOSPC, EDQUOT, EFBIG)
_DRAFT = ".new"
_PASSES = 2
"""How often a home is looked through: a list that was copied late may name files that came after the first look."""
_PACKED = "backup"
_OURS = (_PACKED, "log", "home", "settings", "shared")
"""What the names in such a folder begin with."""
P = ParamSpec("P")
T = TypeVar("T")


async def back_up(settings: Settings, target: Path, *, with_secrets: bool = False) -> dict[str, Any]:
    """Write a backup of a home and its log, beside whoever leads it; what is in it and what was left out.

    RefusedError where the file is there already, UnavailableError where there is no log or no room. What is there under
    the name afterwards was read back and can be restored.
    """
    refuse_half_restored(settings.home)
    _refuse_inside(settings, target)
    with _explained(target), _draft_of(target) as draft:
        log = draft / LOG_FILE
        log.parent.mkdir(mode=FOLDER)
        await copy_beside(settings.database, log)
        last, epoch = await in_thread(stand_of_copy, log)
        told = {
            "beforehand": __version__,
            "createdAt": iso(wall_ms()),
            "of": store_location(settings.database),
            "lastSeq": last,
            "epoch": epoch,
        }
        left_out = await in_thread(_copy_files, settings, draft, with_secrets)
        await in_thread(write_backup, draft / _PACKED, draft, _names_in(draft), {**told, "leftOut": left_out})
        manifest = await in_thread(_read_back, draft)
        size = (draft / _PACKED).stat().st_size
        _give_name(draft / _PACKED, target)
    return {**manifest.model_dump(), "file": str(target), "size": size}


async def in_thread(act: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Do it beside the event loop; who is stopped meanwhile waits for its end, so that nothing is written later."""
    doing = part(asyncio.to_thread(act, *given, **named))
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await _ended(doing)
        raise


async def _ended(doing: Awaitable[Any]) -> None:
    await asyncio.wait([part(doing)])


def _refuse_inside(settings: Settings, target: Path) -> None:
    if target.parent.resolve().is_relative_to(settings.home.resolve()):
        raise BadInputError(
            f"{target} lies in the home that is to be backed up, so every backup would hold those before it.",
            code="backup.folder",
            hint="Name a file outside the home.",
        )


@contextmanager
def _draft_of(target: Path) -> Iterator[Path]:
    """The folder beside the file in which it is made; one that was left there by a killed backup is emptied."""
    if not target.parent.is_dir():
        raise BadInputError(f"{target.parent} is not a folder.", code="backup.folder")
    draft = target.with_name(f"{target.name}{_DRAFT}")
    if draft.is_symlink() or (draft.exists() and not (draft.is_dir() and _is_ours(draft))):
        says = f"{draft} is there, where the backup would be made, and no backup left it behind."
        raise RefusedError(says, code="backup.exists", hint="Move it away, or name another file.")
    draft.mkdir(mode=FOLDER, exist_ok=True)
    with held(draft, f"Another process is writing the backup {target}."):
        try:
            _empty(draft)
            if os.path.lexists(target):
                raise _exists(target)
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    return all(path.name.startswith(_OURS) for path in folder.iterdir())


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def held(folder: Path, says: str) -> Iterator[None]:
    """Nobody else works in the folder meanwhile; RefusedError where somebody does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = folder.stat().st_ino == os.fstat(descriptor).st_ino  # and not gone since, or made anew
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise RefusedError(says, code="backup.busy", hint="Wait until it has ended.")
        yield
    finally:
        os.close(descriptor)


def _exists(target: Path) -> RefusedError:
    return RefusedError(f"{target} is there already.", code="backup.exists", hint="Name another file.")


def _give_name(packed: Path, target: Path) -> None:
    """The file gets its name in one instant, and never in the place of another one."""
    try:
        os.link(packed, target)
    except FileExistsError:
        raise _exists(target) from None
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise _exists(target) from None
        packed.replace(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_back(draft: Path) -> Manifest:
    """Read what was written as restoring would: every member, and the log, whose copy has the checksum in the file."""
    try:
        manifest = read_through(draft / _PACKED)
        if why := check_copy(draft / LOG_FILE, manifest.stand):
            raise NotWholeError(why)
    except NotWholeError as why:
        raise UnavailableError(
            f"The backup was read back and could not be restored: {why}. It was not kept.",
            code="backup.not_whole",
            hint="See what `beforehand doctor` says of the log, or write the backup to another disk.",
        ) from why
    return manifest


def _names_in(draft: Path) -> list[str]:
    names = [path.relative_to(draft).as_posix() for path in _files_in(draft) if not path.name.endswith(_BESIDE)]
    return sorted(names, key=lambda name: (name != LOG_FILE, name))


_BESIDE = ("-wal", "-shm", "-journal", ".lock")


def _files_in(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _copy_files(settings: Settings, draft: Path, with_secrets: bool) -> list[str]:
    """Copy the home's files and the settings file; what was left out because it is secret."""
    left_out: list[str] = []
    copied: set[str] = set()
    for _ in range(_PASSES):
        for name in [name for name in _own(settings) if name not in copied]:
            if why := "" if with_secrets else _why_secret(settings, name):
                left_out.append(f"{name}{why}")
            else:
                _refuse_name(settings.home, name)
                copy_file(settings.home / name, draft / HOME / name)
            copied.add(name)
    for name, content in _shared(settings).items():
        if with_secrets or name.split("/")[0] not in SECRETS:
            (draft / HOME / name).unlink(missing_ok=True)
            with new_file(draft / HOME / name) as file:
                file.write(content)
        elif name not in left_out:
            left_out.append(name)
    if settings.file is not None and settings.file.is_file():
        if with_secrets or not _holds_secrets(settings.file):
            copy_file(settings.file.resolve(), draft / SETTINGS_FILE)
        else:
            left_out.append(f"{settings.file}{_HIDDEN}")
    return [_shown(name) for name in left_out]


_HIDDEN = " (it holds a password or token)"


def _why_secret(settings: Settings, name: str) -> str:
    """What is said of a file of the home that is secret; empty for any other."""
    if name == CONFIG_FILE and _holds_secrets(settings.home / name):
        return _HIDDEN
    return " " if name.split("/")[0] in SECRETS else ""


def _shown(name: str) -> str:
    """A name as it may stand in a sentence, whatever letters it has."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in name.rstrip())


def _refuse_name(home: Path, name: str) -> None:
    if why := why_no_name(f"{HOME}/{name}"):
        says = f"The home {home} holds {name!a}, {why}, so it could not be restored."
        raise BadInputError(says, code="backup.name", hint="Rename it or move it out of the home, and try again.")


def _shared(settings: Settings) -> dict[str, bytes]:
    """Files that several servers share in a database, as they would lie in a home: a restored one brings them along."""
    files = files_of(settings)
    return known_to_all(files) if files.are_shared else {}


def _own(settings: Settings) -> list[str]:
    """The home's files, but for the log and its archive, which are copied in another way, caches and drafts.

    Where there is a settings file it is kept as such, and no other one can be put back beside it.
    """
    home = settings.home
    if not home.is_dir():
        return []
    stores = tuple(str(path) for path in store_files(settings.database))
    found = [path for path in _files_in(home) if not (stores and str(path).startswith(stores))]
    names = [path.relative_to(home).as_posix() for path in found]
    apart = CONFIG_FILE if settings.file is not None and settings.file.is_file() else ""
    kept = [name for name in names if name != apart and not name.endswith(_DRAFT)]
    return [name for name in kept if not is_reserved(name.split("/")[0])]


def _holds_secrets(file: Path) -> bool:
    """Whether something in a settings file is hidden when settings are shown, or may be inside its tables."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return True
    tables = any(table.get(name) for name in ("mcp", "plugins"))
    return tables or any(one.name in table and one.shown(table[one.name]) != table[one.name] for one in KNOWN)


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    """A full or broken disk, in words; the draft is gone then."""
    try:
        yield
    except BeforehandError as error:
        if error.code != "store.full":
            raise
        raise _no_room(target) from error
    except OSError as error:
        if error.errno in FULL:
            raise _no_room(target) from error
        says = f"The backup {target} could not be written: {error.filename or target}: {error.strerror}."
        raise UnavailableError(says, code="backup.fault", hint="Correct that, or name another file.") from error


def _no_room(target: Path) -> UnavailableError:
    return UnavailableError(
        f"There is no space left to write the backup {target}; nothing was kept of it.",
        code="backup.full",
        hint="It needs room for the log, for the files of the home and for the backup itself. Free some, "
        "or name a file on another disk.",
    )
