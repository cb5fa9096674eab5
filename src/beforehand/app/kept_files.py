"""What every server of an installation must know alike and is no part of the log: tokens, the key of sessions, files
that scenes name. It lies in the home, or, where the log is in a database, beside that."""

from collections.abc import Callable, Hashable
from pathlib import Path

from beforehand.app.private_files import change_private, read_private, stamp_of, write_private
from beforehand.app.settings import Settings
from beforehand.app.stores import shared_files
from beforehand.loop.edge import refuse_unled
from beforehand.ports.private_files import PrivateFiles
from beforehand.ports.store import Store


class HomeFiles:
    """The private files of a home. Satisfies `ports.private_files.PrivateFiles`."""

    are_shared = False

    def __init__(self, home: Path) -> None:
        self._home = home

    def stamp(self, name: str) -> Hashable:
        return stamp_of(self._home / name)

    def read(self, name: str) -> bytes:
        return read_private(self._home / name)

    def read_all(self, prefix: str) -> dict[str, bytes]:
        names = [str(path.relative_to(self._home)) for path in sorted(self._home.rglob("*")) if path.is_file()]
        return {name: self.read(name) for name in names if name.startswith(prefix)}

    def change(self, name: str, become: Callable[[bytes], bytes]) -> bytes:
        return change_private(self._home, name, become)

    def write(self, name: str, content: bytes) -> None:
        write_private(self._home / name, content)

    def write_soon(self, name: str, content: bytes) -> None:
        write_private(self._home / name, content, durable=False)

    def keep_up(self) -> None: ...

    def close(self) -> None: ...


class LedFiles:
    """The same for what machines' links and controllers keep: nothing is written by a process that does not lead."""

    def __init__(self, files: PrivateFiles, store: Store) -> None:
        self._files = files
        self._store = store
        self.are_shared = files.are_shared
        self.stamp, self.read, self.read_all = files.stamp, files.read, files.read_all
        self.keep_up, self.close = files.keep_up, files.close

    def change(self, name: str, become: Callable[[bytes], bytes]) -> bytes:
        refuse_unled(self._store)
        return self._files.change(name, become)

    def write(self, name: str, content: bytes) -> None:
        refuse_unled(self._store)
        self._files.write(name, content)

    def write_soon(self, name: str, content: bytes) -> None:
        if self._store.lead_left_s() > 0:
            self._files.write_soon(name, content)


def files_of(settings: Settings) -> PrivateFiles:
    """Where an installation keeps its private files."""
    return shared_files(settings.database) or HomeFiles(settings.home)


def bring_along(home: Path, files: PrivateFiles) -> None:
    """Put what a home keeps into a database that never had any: a home that moved there keeps its tokens and files."""
    for name, content in known_to_all(HomeFiles(home)).items():
        if files.stamp(name) is None:
            files.change(name, lambda kept, brought=content: kept or brought)  # type: ignore[misc]


def known_to_all(files: PrivateFiles) -> dict[str, bytes]:
    """The tokens, the key of sessions and the files that scenes name, as far as there are any."""
    from beforehand.app.scene_files import all_kept
    from beforehand.app.tokens import ENDED, KEPT, KEY

    own = {name: files.read(name) for name in (KEPT, KEY, ENDED) if files.stamp(name) is not None}
    return own | all_kept(files)
