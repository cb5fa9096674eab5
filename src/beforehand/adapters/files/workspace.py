"""A workspace on disk that file tools cannot leave, links included, and whose writes are whole or not at all.

A path is first resolved, links and all, and must come out inside the root. Then it is walked again from the root, one
name at a time without following any link, so that a link put there meanwhile is met with a refusal and not followed.
A write goes to a temporary file in the same folder, is synced, and takes the name in one rename.
"""

import asyncio
import errno
import fcntl
import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

from beforehand.adapters.files import paths
from beforehand.adapters.files.closed import Closed, is_within
from beforehand.adapters.files.paths import Kind
from beforehand.model.errors import Fault
from beforehand.ports.tasks import part
from beforehand.ports.tool import file_state

Parts = tuple[str, ...]
ValueT = TypeVar("ValueT")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_CHANGING = threading.Lock()
_BUSY_S = 10.0
_LOOK_S = 0.01


class DiskWorkspace:
    """Files under `root`; `closed` (such as the home's own data) is refused, by whatever name or link it is reached.

    `before_change` is called, in a thread, right before a file gets its content or goes: it raises where this process
    may change nothing any more.
    """

    def __init__(
        self,
        root: Path,
        *,
        closed: Iterable[Path] = (),
        closed_names: Iterable[str] = (),
        before_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._root = os.path.realpath(root)
        self._closed = Closed(self._root, closed, closed_names)
        self._swept: set[Parts] = set()
        self._before_change = before_change

    def describe(self) -> str:
        return self._root

    async def exists(self, path: str) -> bool:
        return await self.kind(path) is not None

    async def kind(self, path: str) -> Kind | None:
        """What lies at the path, links followed; None when nothing does."""
        return await asyncio.to_thread(self._kind, path)

    async def canonical(self, path: str, *, follow_last: bool = True) -> str:
        """The path with its links resolved, so that two names of one file come out the same."""
        parts = await asyncio.to_thread(self._resolve, path, True, follow_last)
        return "/".join(parts) or "."

    async def read(self, path: str) -> bytes:
        return await asyncio.to_thread(self._read, path)

    async def head(self, path: str, most: int) -> tuple[int, bytes]:
        """How many bytes a file has, and the first of them."""
        return await asyncio.to_thread(self._head, path, most)

    async def write(self, path: str, content: bytes, *, over: str | None = None) -> None:
        await _to_the_end(lambda: self._write(path, content, over))

    async def delete(self, path: str, *, over: str | None = None) -> None:
        await _to_the_end(lambda: self._delete(path, over))

    async def entries(self, path: str) -> list[str]:
        """The names in a folder, sorted; folders end with `/`."""
        return await asyncio.to_thread(self._entries, path)

    def _resolve(self, path: str, folder: bool = False, follow_last: bool = True) -> Parts:
        parts = paths.clean(path, folder=folder)
        whole = os.path.realpath(os.path.join(self._root, *parts))  # noqa: PTH118  text in, text out
        self._refuse_outside(path, whole)
        if follow_last or not parts:
            return self._below_root(whole)
        parent = os.path.realpath(os.path.join(self._root, *parts[:-1]))  # noqa: PTH118
        self._refuse_outside(path, parent)
        if self._closed.covers(f"{parent}/{parts[-1]}"):
            raise paths.closed(path)
        return (*self._below_root(parent), parts[-1])

    def _below_root(self, whole: str) -> Parts:
        return Path(whole).relative_to(self._root).parts

    def _refuse_outside(self, path: str, whole: str) -> None:
        if not is_within(whole, self._root):
            raise paths.leads_out(path)
        if self._closed.covers(whole):
            raise paths.closed(path)

    def _refuse_twin(self, path: str, found: os.stat_result) -> None:
        """A hard link is another name of the same file."""
        if found.st_nlink > 1 and self._closed.holds(found):
            raise paths.closed(path)

    @contextmanager
    def _folder(self, path: str, parts: Parts, *, make: bool = False) -> Iterator[int]:
        """The folder's descriptor, reached from the root without following a link; errors become Faults."""
        try:
            fd = os.open(self._root, _FOLDER)
        except OSError as error:
            raise paths.refusal(
                f"The workspace folder {paths.shown(self._root)} cannot be opened: {error.strerror}.",
                "file.no_workspace",
                "Create the folder, or name another workspace.",
            ) from None
        try:
            for part in parts:
                fd = _step_into(fd, part, make)
            yield fd
        except OSError as error:
            raise paths.from_os(path, error) from error
        finally:
            os.close(fd)

    def _kind(self, path: str) -> Kind | None:
        parts = self._resolve(path, folder=True)
        if not parts:
            return "folder"
        try:
            with self._folder(path, parts[:-1]) as fd:
                return _kind_of(_look(parts[-1], fd))
        except Fault as fault:
            if fault.code in ("file.missing", "file.not_folder"):
                return None
            raise

    def _read(self, path: str) -> bytes:
        *folder, name = self._resolve(path) or ("",)
        _refuse_root(path, name)
        with self._folder(path, tuple(folder)) as fd, _plain_file(path, name, fd, os.O_RDONLY) as file:
            found = os.fstat(file)
            self._refuse_twin(path, found)
            if found.st_size > paths.MAX_BYTES:
                raise paths.too_large(path, found.st_size)
            return _read_all(path, file)

    def _head(self, path: str, most: int) -> tuple[int, bytes]:
        *folder, name = self._resolve(path) or ("",)
        _refuse_root(path, name)
        with self._folder(path, tuple(folder)) as fd, _plain_file(path, name, fd, os.O_RDONLY) as file:
            found = os.fstat(file)
            self._refuse_twin(path, found)
            return found.st_size, os.read(file, most)

    def _refuse_changed(self, path: str, over: str | None) -> None:
        """What lies there must be what was looked at; what is no plain file is refused by the change itself."""
        if over is None:
            return
        held: bytes | None = None
        try:
            held = self._read(path)
        except Fault as fault:
            if fault.code == "file.too_large":
                raise paths.changed(path) from None
            if fault.code != "file.missing":
                return
        if file_state(held) != over:
            raise paths.changed(path)

    def _about_to_change(self, path: str, over: str | None) -> None:
        self._before_change()
        self._refuse_changed(path, over)

    def _write(self, path: str, content: bytes, over: str | None) -> None:
        if len(content) > paths.MAX_BYTES:
            raise paths.too_large(path, len(content))
        *folder, name = self._resolve(path) or ("",)
        _refuse_root(path, name)
        with self._folder(path, tuple(folder), make=True) as fd:
            if tuple(folder) not in self._swept:
                _sweep(fd)
                self._swept.add(tuple(folder))
            with suppress(FileNotFoundError):
                self._refuse_twin(path, os.stat(name, dir_fd=fd, follow_symlinks=False))
            _replace(path, name, fd, content, lambda: self._about_to_change(path, over))

    def _delete(self, path: str, over: str | None) -> None:
        *folder, name = self._resolve(path, follow_last=False) or ("",)
        _refuse_root(path, name)
        kind = self._kind(path)
        if kind in ("folder", "other"):
            raise paths.not_a_file(path, kind)
        with self._folder(path, tuple(folder)) as fd:
            if kind is None:
                raise paths.missing(path)
            self._refuse_twin(path, os.stat(name, dir_fd=fd, follow_symlinks=False))
            with _alone(path, fd):
                self._about_to_change(path, over)
                os.unlink(name, dir_fd=fd)
            os.fsync(fd)

    def _entries(self, path: str) -> list[str]:
        parts = self._resolve(path, folder=True)
        if (kind := self._kind(path)) != "folder":
            raise paths.no_folder(path) if kind is None else paths.not_a_folder(path)
        with self._folder(path, parts) as fd:
            names = [name for name in os.listdir(fd) if not paths.is_temporary(name)]  # noqa: PTH208
            if len(names) > paths.MAX_ENTRIES:
                raise paths.refusal(f"The folder {paths.shown(path)} holds {len(names)} entries, too many to list.")
            return sorted(self._label(parts, name, fd) for name in names)

    def _label(self, parts: Parts, name: str, fd: int) -> str:
        """A name as it is listed. Links are looked at only where they stay inside."""
        with suppress(OSError):
            mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                whole = os.path.realpath(os.path.join(self._root, *parts, name))  # noqa: PTH118
                mode = os.lstat(whole).st_mode if is_within(whole, self._root) else mode
            if stat.S_ISDIR(mode):
                return _text(name) + "/"
        return _text(name)


async def _to_the_end(change: Callable[[], ValueT]) -> ValueT:
    """Carry a change out off the loop. Once begun it is finished even if the caller is stopped, then says so."""
    work = part(asyncio.to_thread(change))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        if not work.cancelled():
            work.exception()
        raise


def _text(name: str) -> str:
    """A name the file system holds as bytes that are no text is shown with replacement characters."""
    return os.fsencode(name).decode("utf-8", "replace")


def _refuse_root(path: str, name: str) -> None:
    if not name:
        raise paths.not_a_file(path, "folder")


def _kind_of(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"


def _step_into(fd: int, part: str, make: bool) -> int:
    """Open the next folder and let go of the one before; on an error the one before stays open for its owner."""
    if make:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=fd)
    inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=fd)
    os.close(fd)
    return inner


def _look(name: str, fd: int) -> int:
    """The mode of what lies there. The path was resolved before, so a link now is a circle or was put there since."""
    mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return mode


@contextmanager
def _plain_file(path: str, name: str, fd: int, flags: int) -> Iterator[int]:
    """Open a file that is one. Looked at before opening, because opening a device can do something by itself."""
    mode = _look(name, fd)
    if not stat.S_ISREG(mode):
        raise paths.not_a_file(path, _kind_of(mode))
    file = os.open(name, flags | _FILE, dir_fd=fd)
    try:
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            raise paths.not_a_file(path, _kind_of(mode))
        yield file
    finally:
        os.close(file)


def _read_all(path: str, file: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while chunk := os.read(file, 1 << 20):
        chunks.append(chunk)
        size += len(chunk)
        if size > paths.MAX_BYTES:
            raise paths.too_large(path, size)
    return b"".join(chunks)


@contextmanager
def _alone(path: str, fd: int) -> Iterator[None]:
    """From the last look at a file of this folder until it has its new content: nobody changes one in between.

    Neither another call here nor, where the file system has locks, another process: workers may share a workspace.
    """
    with _CHANGING:
        _lock(path, fd)
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)


def _lock(path: str, fd: int) -> None:
    give_up = monotonic() + _BUSY_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if monotonic() > give_up:
                raise paths.busy(path) from None
        except OSError:  # no such locks here
            return
        sleep(_LOOK_S)


def _replace(path: str, name: str, fd: int, content: bytes, before_change: Callable[[], None]) -> None:
    """Put the content under the name in one instant. Tried again if another process swept the temporary file away."""
    old: os.stat_result | None = None
    with suppress(FileNotFoundError), _plain_file(path, name, fd, os.O_WRONLY) as file:
        old = os.fstat(file)
    for attempt in range(3):
        temporary = f"{paths.TEMP_PREFIX}{os.urandom(8).hex()}{paths.TEMP_SUFFIX}"
        try:
            with _written(temporary, fd, content, old), _alone(path, fd):
                before_change()
                os.rename(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
            os.fsync(fd)
            return
        except FileNotFoundError:
            if attempt == 2:
                raise
        except (OSError, Fault):
            with suppress(OSError):
                os.unlink(temporary, dir_fd=fd)
            raise


@contextmanager
def _written(temporary: str, fd: int, content: bytes, old: os.stat_result | None) -> Iterator[None]:
    """The temporary file, whole and on disk; it stays locked until it has its name, so that no sweep takes it."""
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o666, dir_fd=fd)
    try:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]
        if old is not None:
            with suppress(PermissionError):
                os.fchown(file, old.st_uid, old.st_gid)
            os.fchmod(file, stat.S_IMODE(old.st_mode))
        os.fsync(file)
        yield
    finally:
        os.close(file)


def _sweep(fd: int) -> None:
    """Remove what a killed process left half written in this folder: temporary files that nobody holds."""
    for name in os.listdir(fd):
        if paths.is_temporary(name):
            with suppress(OSError):
                _remove_if_left(name, fd)


def _remove_if_left(name: str, fd: int) -> None:
    if not stat.S_ISREG(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
        return
    file = os.open(name, os.O_RDONLY | _FILE, dir_fd=fd)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(name, dir_fd=fd)
    finally:
        os.close(file)
