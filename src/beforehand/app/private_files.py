"""Files of the home that are nobody else's business: the folder is its owner's alone, and so is every file in it."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from threading import get_native_id

from beforehand.model.errors import UnavailableError

FOLDER, FILE = 0o700, 0o600
OURS = ("log.db", "log.mark", "tokens.json", "session.", "trusted.json", "secrets")
"""What the files of a home are called, or begin with; crafts keep theirs in folders of it."""
SIGNS = ("log.db", "tokens.json")
"""What tells a home from another folder."""


DRAFT = ".new"
"""How the name of what is being written ends."""
OLD_DRAFT_S = 600.0
PATIENCE_S, LOOK_S = 10.0, 0.005
"""How long one waits for another process that changes a file, and how often one looks."""
STEP_NS = 1_000
RESTORING = "restoring"
"""A folder in the home while a backup is being restored into it."""


def refuse_half_restored(folder: Path) -> None:
    """UnavailableError where restoring a backup was begun and did not come to its end."""
    if os.path.exists(folder / RESTORING):  # noqa: PTH110  False, where it may not be looked for
        raise UnavailableError(
            f"Restoring a backup into {folder} was begun and has not ended, so the home is not whole.",
            code="home.half_restored",
            hint="Restore it again: beforehand db restore FILE",
        )


def refuse_read_only(folder: Path) -> None:
    """UnavailableError where nothing can be written."""
    if not os.access(folder, os.W_OK):
        raise UnavailableError(
            f"{folder} is read-only for this process, so nothing was changed there.",
            code="store.read_only",
            hint="Make the folder writable, or name another home.",
        )


def make_home(folder: Path) -> None:
    """Make the home, or close one that older code left open; a folder that is no home yet but in use is left alone."""
    folder.mkdir(parents=True, exist_ok=True, mode=FOLDER)
    names = [entry.name for entry in folder.iterdir()]
    if not names or any(sign in names for sign in SIGNS):
        _close(folder, FOLDER)
    for name in names:
        if name.startswith(OURS):
            _close(folder / name, FOLDER if (folder / name).is_dir() else FILE)


def _close(path: Path, mode: int) -> None:
    with suppress(OSError):  # somebody else's: theirs to close
        if not path.is_symlink() and path.stat().st_mode & 0o077:
            path.chmod(mode)


def read_private(path: Path) -> bytes:
    """What the file holds; nothing when it is not there."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def stamp_of(path: Path) -> tuple[int, int, int] | None:
    """What tells one writing of a file from the next; None when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def change_private(home: Path, name: str, become: Callable[[bytes], bytes]) -> bytes:
    """Make a file of the home what `become` makes of what it holds; no other process changes one meanwhile."""
    with _turn_in(home):
        before = read_private(home / name)
        after = become(before)
        if after != before:
            write_private(home / name, after)
    return after


@contextmanager
def _turn_in(home: Path) -> Iterator[None]:
    """Have the files of a home to oneself, among all processes; it ends with the process at the latest.

    The folder itself is locked, so that no file more lies in it. UnavailableError where another process keeps it too
    long, such as one that was stopped in the middle.
    """
    make_home(home)
    folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(folder, home)
        yield
    finally:
        os.close(folder)


def _lock(folder: int, home: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                raise UnavailableError(
                    f"Another process is changing files of {home} and does not come to its end.",
                    code="home.busy",
                    hint="Try again. If it stays so, look for a `beforehand` command that hangs, and end it.",
                ) from None
            time.sleep(LOOK_S)
        except OSError as error:
            says = f"The folder {home} cannot be locked: {error.strerror}."
            raise UnavailableError(says, code="home.no_locks", hint="Put the home on a local disk.") from error


def write_private(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Put the content under the name in one instant, for its owner only; `durable` false does not wait for the disk.

    Every draft has a name of its own, so that two writers never write into one. The time of the file rises with every
    writing, also where the clock stands still or goes back: its stamp is never one that it had before.
    """
    make_home(path.parent)
    refuse_read_only(path.parent)
    _clear_drafts(path)
    draft = Path(f"{path}.{get_native_id()}{DRAFT}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE), "wb") as file:
        file.write(content)
        file.flush()
        before = stamp_of(path)
        now = max(time.time_ns(), before[2] + STEP_NS if before else 0)
        os.utime(file.fileno(), ns=(now, now))
        if durable:
            os.fsync(file.fileno())
    draft.replace(path)


def _clear_drafts(path: Path) -> None:
    """Take away what a killed process left of its writing this file."""
    for draft in path.parent.glob(f"{escape(path.name)}.*{DRAFT}"):
        with suppress(OSError):
            if time.time() - draft.stat().st_mtime > OLD_DRAFT_S:
                draft.unlink()
