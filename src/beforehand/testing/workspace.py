"""A workspace in memory, for tools that read and write files."""

from beforehand.model.errors import ChangedSinceError, Fault
from beforehand.ports.tool import file_state


class MemoryWorkspace:
    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files = dict(files or {})

    def describe(self) -> str:
        return "a workspace in memory"

    async def exists(self, path: str) -> bool:
        return path in self.files

    async def read(self, path: str) -> bytes:
        if path not in self.files:
            raise Fault(f"There is no file {path}.", untouched=True)
        return self.files[path]

    async def write(self, path: str, content: bytes, *, over: str | None = None) -> None:
        self._refuse_changed(path, over)
        self.files[path] = content

    async def delete(self, path: str, *, over: str | None = None) -> None:
        if path in self.files:
            self._refuse_changed(path, over)
        if self.files.pop(path, None) is None:
            raise Fault(f"There is no file {path}.", untouched=True)

    async def entries(self, path: str) -> list[str]:
        prefix = "" if path in ("", ".") else path.rstrip("/") + "/"
        return sorted({name.removeprefix(prefix).split("/")[0] for name in self.files if name.startswith(prefix)})

    def _refuse_changed(self, path: str, over: str | None) -> None:
        if over is not None and file_state(self.files.get(path)) != over:
            raise ChangedSinceError(f"{path} has changed since this was looked at.")
