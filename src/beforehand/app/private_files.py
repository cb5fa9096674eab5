"""Files of the home that are nobody else's business: the folder is its owner's alone, and so is every file in it."""

import os
from contextlib import suppress
from pathlib import Path

from beforehand.model.errors import UnavailableError

FOLDER, FILE = 0o700, 0o600
OURS = ("log.db", "log.mark", "tokens.json", "session.", "trusted.json", "secrets")
"""What the files of a home are called, or begin with; crafts keep theirs in folders of it."""
SIGNS = ("log.db", "tokens.json")
"""What tells a home from another folder."""


RESTORING = "restoring"
"""A folder in the home while a backup is being restored into it."""


def refuse_half_restored(folder: Path) -> None:
    """UnavailableError where restoring a backup was begun and did not come to its end."""
    if (folder / RESTORING).exists():
        raise UnavailableError(
            f"Restoring a backup into {folder} was begun and has not ended, so the home is not whole.",
            code="home.half_restored",
            hint="Restore it again: beforehand db restore FILE",
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


def write_private(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Put the content under the name in one instant, for its owner only; `durable` false does not wait for the disk."""
    make_home(path.parent)
    draft = Path(f"{path}.new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE), "wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    draft.replace(path)
