"""What file tools never reach: the installation's own files, by path, by name, through links and as hard links."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path


class Closed:
    """Files and folders that are closed, wherever they lie, and names that are closed in every folder."""

    def __init__(self, root: str, closed: Iterable[Path], names: Iterable[str]) -> None:
        self._root = root
        self._paths = tuple(os.path.realpath(path) for path in closed)
        self._names = frozenset(name.casefold() for name in names)

    def covers(self, whole: str) -> bool:
        """Whether a resolved path is closed."""
        if any(is_within(whole, path) for path in self._paths):
            return True
        below = whole.removeprefix(self._root)
        return any(part.casefold() in self._names for part in below.split("/"))

    def holds(self, found: os.stat_result) -> bool:
        """Whether a file with several names is one of the closed ones under another name."""
        return any((one.st_dev, one.st_ino) == (found.st_dev, found.st_ino) for one in self._files())

    def _files(self) -> Iterator[os.stat_result]:
        for path in (*self._paths, *(f"{self._root}/{name}" for name in self._names)):
            with suppress(OSError):
                yield Path(path).stat()
            for folder, _, names in os.walk(path):
                for name in names:
                    with suppress(OSError):
                        yield Path(folder, name).stat()


def is_within(whole: str, folder: str) -> bool:
    return whole == folder or whole.startswith(folder.rstrip("/") + "/")
