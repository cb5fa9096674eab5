"""A copy-on-write view of a workspace: previews write here, and nothing underneath changes.

Reading sees what was written through the view first. A file whose new content cannot be known yet (it depends on a
step that has not run) is marked so, and reading it says why instead of showing the old content.
"""

from typing import Protocol, runtime_checkable

from beforehand.adapters.files import paths
from beforehand.adapters.files.diff import file_diff
from beforehand.adapters.files.paths import Kind
from beforehand.model.errors import Fault
from beforehand.ports.tool import Workspace


class UnknownContentFault(Fault):
    """The content of a file depends on something a preview cannot know; `why` tells on what."""

    code = "file.unknown_content"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"What {paths.shown(path)} will hold is not known yet: it depends on {why}.", untouched=True)
        self.why = why


@runtime_checkable
class _Resolving(Protocol):
    """A workspace that can also tell where links lead and what lies at a path."""

    async def canonical(self, path: str, *, follow_last: bool = True) -> str: ...
    async def kind(self, path: str) -> Kind | None: ...


class OverlayWorkspace:
    def __init__(self, under: Workspace) -> None:
        self._under = under
        self._changed: dict[str, bytes | str | None] = {}
        """By canonical path: the new content, why it is unknown (text), or None for deleted."""

    def describe(self) -> str:
        return f"a preview of {self._under.describe()}"

    async def canonical(self, path: str, *, follow_last: bool = True) -> str:
        paths.clean(path, folder=True)
        if not isinstance(self._under, _Resolving):
            return "/".join(paths.clean(path, folder=True)) or "."
        if not follow_last:
            return await self._under.canonical(path, follow_last=False)
        own = await self._under.canonical(path, follow_last=False)
        return own if own in self._changed else await self._under.canonical(path)

    async def kind(self, path: str) -> Kind | None:
        """What lies at the path in this view; None when nothing does."""
        key = await self.canonical(path)
        if key in self._changed:
            if self._changed[key] is not None:
                return "file"
        elif self._file_above(key):
            return None
        if self._children(key):
            return "folder"
        return None if key in self._changed else await self._kind_under(key)

    async def exists(self, path: str) -> bool:
        return await self.kind(path) is not None

    async def read(self, path: str) -> bytes:
        paths.clean(path)
        key = await self.canonical(path)
        held = self._changed.get(key)
        if isinstance(held, bytes):
            return held
        if isinstance(held, str):
            raise UnknownContentFault(path, held)
        kind = await self.kind(path)
        if kind is None:
            raise paths.through_a_file(path) if await self._through_file(key) else paths.missing(path)
        if kind != "file":
            raise paths.not_a_file(path, kind)
        return await self._under.read(key)

    async def write(self, path: str, content: bytes) -> None:
        if len(content) > paths.MAX_BYTES:
            raise paths.too_large(path, len(content))
        self._changed[await self._writable(path)] = content

    async def write_unknown(self, path: str, why: str) -> None:
        """The file will be written, but with what is not known before `why` has happened."""
        self._changed[await self._writable(path)] = why

    async def delete(self, path: str) -> None:
        paths.clean(path)
        kind = await self.kind(path)
        if kind is None:
            raise paths.missing(path)
        if kind != "file":
            raise paths.not_a_file(path, kind)
        self._changed[await self.canonical(path, follow_last=False)] = None

    async def entries(self, path: str) -> list[str]:
        key = await self.canonical(path)
        kind = await self.kind(path)
        if kind is None:
            raise paths.no_folder(path)
        if kind != "folder":
            raise paths.not_a_folder(path)
        names = set(await self._under.entries(key)) if await self._kind_under(key) == "folder" else set()
        above = "" if key == "." else f"{key}/"
        names -= {gone.removeprefix(above) for gone, held in self._changed.items() if held is None}
        return sorted(names | self._children(key))

    def changes(self) -> list[str]:
        """The paths that were written or deleted through this view, sorted."""
        return sorted(self._changed)

    async def diff(self, path: str) -> str:
        """What all changes through this view together do to one file, as a unified diff; '' when nothing changed."""
        key = await self.canonical(path)
        after = self._changed.get(key)
        if key not in self._changed:
            return ""
        if isinstance(after, str):
            return f"File {key} will be written; its content depends on {after}\n"
        before = await self._under.read(key) if await self._kind_under(key) == "file" else None
        return file_diff(key, before, after)

    async def _writable(self, path: str) -> str:
        paths.clean(path)
        key = await self.canonical(path)
        kind = await self.kind(path)
        if kind in ("folder", "other"):
            raise paths.not_a_file(path, kind)
        if await self._through_file(key):
            raise paths.through_a_file(path)
        return key

    async def _through_file(self, key: str) -> bool:
        if self._file_above(key):
            return True
        parts = key.split("/")
        for end in range(1, len(parts)):
            above = "/".join(parts[:end])
            if above in self._changed or self._children(above):
                continue
            if await self._kind_under(above) in ("file", "other"):
                return True
        return False

    def _file_above(self, key: str) -> bool:
        parts = key.split("/")
        return any(self._changed.get("/".join(parts[:end])) is not None for end in range(1, len(parts)))

    def _children(self, key: str) -> set[str]:
        """The names this view has put into a folder, folders with `/`."""
        above = "" if key == "." else f"{key}/"
        found = set()
        for written, held in self._changed.items():
            if held is not None and written.startswith(above):
                name, slash, _ = written[len(above) :].partition("/")
                found.add(name + slash)
        return found

    async def _kind_under(self, key: str) -> Kind | None:
        if isinstance(self._under, _Resolving):
            return await self._under.kind(key)
        return "file" if await self._under.exists(key) else None
