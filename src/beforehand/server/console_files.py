"""The built console: its page for every path that is no call, and its files beside it.

The files hold no data, so they need no token; every call the page makes does. What is under `assets/` carries a hash of
its content in its name and is kept by browsers for good; everything else is asked about again by its tag. Each file is
read and packed once, when it is first asked for, beside the event loop.
"""

import asyncio
import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route
from starlette.types import Scope

FOLDER = Path(__file__).parent / "console"
"""Where the build of `web/` puts it."""
FOR_GOOD = "public, max-age=31536000, immutable"
WORTH_PACKING = 1_000
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".map": "application/json",
    ".webmanifest": "application/manifest+json",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
"""What a file's ending says it is. Not left to the machine's own list, which may lack one or say otherwise."""
PACKED_ALREADY = (".png", ".ico", ".woff2")
NOT_BUILT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Beforehand</title></head>
<body>
<h1>The console is not built</h1>
<p>Run <code>make console</code> in the checkout and load this page again.</p>
<p>The command line and the calls under <code>/api/v1</code> work without it.</p>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class File:
    body: bytes
    packed: bytes | None
    tag: str
    kind: str

    @classmethod
    def read(cls, path: Path) -> "File":
        body = path.read_bytes()
        worth_it = len(body) >= WORTH_PACKING and path.suffix not in PACKED_ALREADY
        packed = gzip.compress(body, mtime=0) if worth_it else None
        kind = KINDS.get(path.suffix, "application/octet-stream")
        return cls(body, packed, hashlib.sha256(body).hexdigest()[:16], kind)


class ConsoleFiles:
    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._read: dict[Path, tuple[int, File]] = {}

    async def answer(self, request: Request) -> Response:
        name = request.path_params["path"]
        file = await self._file(name)
        if file is None and is_file_name(name):
            raise HTTPException(404)
        file = file or await self._file("index.html")
        if file is None:
            return Response(NOT_BUILT, 503, media_type="text/html")
        return answer_with(file, request, for_good=name.startswith("assets/"))

    async def _file(self, name: str) -> File | None:
        """The file of that name, and nothing outside the folder; a build under a running server is seen."""
        try:
            path = (self.folder / name).resolve()
            if not path.is_relative_to(self.folder) or not path.is_file():
                return None
            written = path.stat().st_mtime_ns
            if self._read.get(path, (0,))[0] != written:
                self._read[path] = (written, await asyncio.to_thread(File.read, path))
        except (OSError, ValueError):  # a name no file can have, or a file that a build has just taken away
            return None
        return self._read[path][1]


def is_file_name(name: str) -> bool:
    """Whether a path asks for a file; names of scenes and machines may have a dot in them too."""
    return name.startswith("assets/") or PurePosixPath(name).suffix in KINDS


def answer_with(file: File, request: Request, *, for_good: bool) -> Response:
    packed = file.packed if takes_gzip(request.headers.get("accept-encoding", "")) else None
    tag = f'"{file.tag}{"" if packed is None else "-gzip"}"'
    headers = {"Cache-Control": FOR_GOOD if for_good else "no-cache", "ETag": tag, "Vary": "Accept-Encoding"}
    if has_it(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    if packed is not None:
        headers["Content-Encoding"] = "gzip"
    return Response(packed or file.body, headers=headers, media_type=file.kind)


def takes_gzip(accepted: str) -> bool:
    named = [part.replace(" ", "").lower().partition(";") for part in accepted.split(",")]
    return any(name == "gzip" and weight not in ("q=0", "q=0.0") for name, _, weight in named)


def has_it(given: str, tag: str) -> bool:
    """Whether a browser holds this very content."""
    return tag in (part.strip().removeprefix("W/") for part in given.split(","))


class PageRoute(Route):
    """Everything but calls; an unknown call stays unknown."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if is_call(scope["path"]):
            return Match.NONE, {}
        return super().matches(scope)


def is_call(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def install(app: FastAPI) -> None:
    """Add the console, after every other route."""
    app.router.routes.append(PageRoute("/{path:path}", ConsoleFiles(FOLDER).answer, methods=["GET"]))
