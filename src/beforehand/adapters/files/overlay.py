"""A copy-on-write view of a workspace: previews write here, and nothing underneath changes.

Reading sees what was written through the view first. A file whose new content cannot be known yet (it depends on a
step that has not run) is marked so, and reading it says why instead of showing the old content.
"""

from typing import Protocol, runtime_checkable

from beforehand.adapters.files import paths
from beforehand.adapters.files.diff import file_diff
from beforehand.adapters.files.paths import Kind
from beforehand.model.errors import Fault
from beforehand.ports.tool import Workspace, file_state


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
        self._folders: set[str] = set()
        """Every folder that a write needed; a folder stays when its files go."""

    def describe(self) -> str:
        return f"a preview of {self._under.describe()}"

    async def canonical(self, path: str, *, follow_last: bool = True) -> str:
        """The path with its links resolved, except links that this view has deleted or written over."""
        parts = paths.clean(path, folder=True)
        if not isinstance(self._under, _Resolving):
            return "/".join(parts) or "."
        for end in range(1, len(parts) + 1 if self._changed else 0):
            own = await self._under.canonical("/".join(parts[:end]), follow_last=False)
            if own in self._changed:
                return "/".join([own, *parts[end:]])
        return await self._under.canonical(path, follow_last=follow_last)

    async def kind(self, path: str) -> Kind | None:
        """What lies at the path in this view; None when nothing does."""
        key = await self.canonical(path)
        if self._changed.get(key) is not None:
            return "file"
        if key in self._folders:
            return "folder"
        if key in self._changed or self._file_above(key):
            return None
        return await self._kind_under(key)

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
            raise await self._absent(path, key)
        if kind != "file":
            raise paths.not_a_file(path, kind)
        return await self._under.read(key)

    async def write(self, path: str, content: bytes, *, over: str | None = None) -> None:
        if len(content) > paths.MAX_BYTES:
            raise paths.too_large(path, len(content))
        await self._refuse_changed(path, over)
        self._changed[await self._writable(path)] = content

    async def write_unknown(self, path: str, why: str) -> None:
        """The file will be written, but with what is not known before `why` has happened."""
        self._changed[await self._writable(path)] = why

    async def delete(self, path: str, *, over: str | None = None) -> None:
        paths.clean(path)
        kind = await self.kind(path)
        if kind is None:
            raise await self._absent(path, await self.canonical(path))
        if kind != "file":
            raise paths.not_a_file(path, kind)
        await self._refuse_changed(path, over)
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
        gone = {changed for changed, held in self._changed.items() if held is None and changed.startswith(above)}
        names -= {changed[len(above) :] for changed in gone}
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
        self._folders.update(_above(key))
        return key

    async def _refuse_changed(self, path: str, over: str | None) -> None:
        if over is not None:
            held = await self.read(path) if await self.kind(path) == "file" else None
            if file_state(held) != over:
                raise paths.changed(path)

    async def _absent(self, path: str, key: str) -> Fault:
        return paths.through_a_file(path) if await self._through_file(key) else paths.missing(path)

    async def _through_file(self, key: str) -> bool:
        if self._file_above(key):
            return True
        for above in _above(key):
            if above in self._folders or above in self._changed:
                continue
            if await self._kind_under(above) in ("file", "other"):
                return True
        return False

    def _file_above(self, key: str) -> bool:
        return any(self._changed.get(above) is not None for above in _above(key))

    def _children(self, key: str) -> set[str]:
        """The names this view has put into a folder, folders with `/`."""
        above = "" if key == "." else f"{key}/"
        files = {written for written, held in self._changed.items() if held is not None}
        folders = {f"{folder}/" for folder in self._folders}
        inside = {path[len(above) :] for path in files | folders if path.startswith(above)}
        return {name for name in inside if name and "/" not in name[:-1]}

    async def _kind_under(self, key: str) -> Kind | None:
        if isinstance(self._under, _Resolving):
            return await self._under.kind(key)
        return "file" if await self._under.exists(key) else None


def _above(key: str) -> list[str]:
    """The folders a canonical path goes through, from the top."""
    parts = key.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]
