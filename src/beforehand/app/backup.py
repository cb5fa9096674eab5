"""A home into one file while it is in use, and out of it into an empty one.

A backup holds the log as it stood at one instant, its archive, and the files of the home; what is only a cache is left
out, and so are secrets unless they are asked for. While a home is being restored a folder in it says so: nobody leads
it then, and restoring it again begins anew.
"""

import asyncio
import shutil
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from beforehand import __version__
from beforehand.app.backup_file import HOME, LOG, SETTINGS, check_backup, take_out, write_backup
from beforehand.app.kept_files import files_of, known_to_all
from beforehand.app.private_files import FOLDER, RESTORING
from beforehand.app.settings import CONFIG_FILE, KNOWN, Settings
from beforehand.app.stores import copy_beside, copy_store, open_reading, store_exists, store_files, store_location
from beforehand.model.errors import BadInputError, RefusedError
from beforehand.model.event import iso

SECRETS = ("secrets", "session.key", "session.ended")
EPOCHS = 1_000
"""How much the leaders' epoch is raised: more leaders than there can have been since the backup was made."""


async def back_up(settings: Settings, target: Path, *, with_secrets: bool = False) -> dict[str, Any]:
    """Write a backup of a home and its log, beside whoever leads it; what is in it and what was left out.

    RefusedError where the file is there already, UnavailableError where there is no log.
    """
    draft = _draft_of(target)
    try:
        await copy_beside(settings.database, draft / "log.db")
        async with open_reading(str(draft / "log.db")) as store:
            last, leader = await store.last_seq(), await store.leader()
        told = {
            "beforehand": __version__,
            "createdAt": iso(time.time_ns() // 1_000_000),
            "of": store_location(settings.database),
            "lastSeq": last,
            "epoch": leader.epoch if leader else 0,
        }
        manifest = await asyncio.to_thread(_packed, settings, draft, with_secrets, told)
        size = (draft / "backup").stat().st_size
        (draft / "backup").replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return {**manifest, "file": str(target), "size": size}


def _draft_of(target: Path) -> Path:
    """The folder beside the file in which it is made; one that was left there by a killed backup is emptied."""
    if target.exists():
        raise RefusedError(f"{target} is there already.", code="backup.exists", hint="Name another file.")
    if not target.parent.is_dir():
        raise BadInputError(f"{target.parent} is not a folder.", code="backup.folder")
    draft = target.with_name(f"{target.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=FOLDER)
    return draft


def _packed(settings: Settings, draft: Path, with_secrets: bool, told: Mapping[str, Any]) -> dict[str, Any]:
    members = {f"{LOG}/{path.relative_to(draft)}": path for path in _files_in(draft) if not path.name.endswith(_BESIDE)}
    left_out: list[str] = []
    own = {path.relative_to(settings.home): path for path in _own(settings)} | _shared(settings, draft)
    for name, path in own.items():
        if with_secrets or name.parts[0] not in SECRETS:
            members[f"{HOME}/{name.as_posix()}"] = path
        else:
            left_out.append(name.as_posix())
    if settings.file is not None and settings.file.is_file():
        if with_secrets or not _holds_secrets(settings.file):
            members[f"{SETTINGS}/{CONFIG_FILE}"] = settings.file
        else:
            left_out.append(f"{settings.file} (it holds a password or token)")
    return write_backup(draft / "backup", members, {**told, "leftOut": left_out})


def _shared(settings: Settings, draft: Path) -> dict[Path, Path]:
    """Files that several servers share in a database, as they would lie in a home: a restored one brings them along."""
    files = files_of(settings)
    found: dict[Path, Path] = {}
    for name, content in (known_to_all(files) if files.are_shared else {}).items():
        found[Path(name)] = path = draft / "shared" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return found


_BESIDE = ("-wal", "-shm", "-journal", ".lock")


def _files_in(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _own(settings: Settings) -> list[Path]:
    """The home's files, but for the log and its archive, which are copied in another way, and caches."""
    home = settings.home
    if not home.is_dir():
        return []
    stores = tuple(str(path) for path in store_files(settings.database))
    logs = tuple(str(home / name) for name in ("log.db", RESTORING))
    found = [path for path in _files_in(home) if not str(path).startswith((*stores, *logs))]
    return [path for path in found if not path.name.endswith(".new")]


def _holds_secrets(file: Path) -> bool:
    """Whether something in a settings file is hidden when settings are shown, or may be inside its tables."""
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return True
    tables = any(table.get(name) for name in ("mcp", "plugins"))
    return tables or any(one.name in table and one.shown(table[one.name]) != table[one.name] for one in KNOWN)


async def restore(settings: Settings, file: Path) -> dict[str, Any]:
    """Make an empty home and store what they were when the backup was made; all numbers and ids are kept.

    RefusedError where there is something already, BadInputError where the file is not whole. Cut off in the middle it
    can be called again.
    """
    manifest = await asyncio.to_thread(check_backup, file)
    home = settings.home
    marker = home / RESTORING
    again = marker.exists()
    if again and await _is_restored(settings.database, manifest):
        shutil.rmtree(marker)
        return manifest
    await _refuse_in_use(settings, manifest, again)
    shutil.rmtree(marker, ignore_errors=True)
    marker.mkdir(parents=True, mode=FOLDER)
    await asyncio.to_thread(take_out, file, {name: _place(home, marker, name) for name in manifest["files"]})
    await copy_store(str(marker / "log.db"), settings.database, raise_epoch=EPOCHS)
    shutil.rmtree(marker)
    return manifest


def _place(home: Path, marker: Path, name: str) -> Path:
    kind, *rest = PurePosixPath(name).parts
    return {LOG: marker, HOME: home, SETTINGS: home}[kind].joinpath(*rest)


async def _is_restored(url: str, manifest: Mapping[str, Any]) -> bool:
    """Whether the log was filled already, and only the end was missing."""
    last, epoch = await _stand(url)
    return bool(last and last == manifest["lastSeq"] and epoch == manifest["epoch"] + EPOCHS)


async def _stand(url: str) -> tuple[int, int]:
    """The number of the last event and the epoch of a store; zeros where there is none or it is empty."""
    if not await asyncio.to_thread(store_exists, url):
        return 0, 0
    async with open_reading(url) as store:
        leader = await store.leader()
        return await store.last_seq(), leader.epoch if leader else 0


async def _refuse_in_use(settings: Settings, manifest: Mapping[str, Any], again: bool) -> None:
    where = store_location(settings.database)
    if (await _stand(settings.database))[0]:
        raise _in_use(f"The log {where} holds events already")
    if again:
        return
    for name in manifest["files"]:
        place = _place(settings.home, settings.home / RESTORING, name)
        if place.exists():
            raise _in_use(f"{place} is there already")


def _in_use(why: str) -> RefusedError:
    return RefusedError(
        f"{why}, and a backup is only restored into an empty home; nothing was changed.",
        code="backup.not_empty",
        hint="Name an empty home with --home, or an empty database with --db.",
    )
