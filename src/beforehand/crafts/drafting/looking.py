"""A workspace looked at for a draft, through the same door as file tools: what they may not reach is not there."""

from collections.abc import AsyncIterator

from beforehand.adapters.files.workspace import DiskWorkspace
from beforehand.crafts.drafting.core.snapshot import (
    DEEPEST,
    HEAD_BYTES,
    MOST_LOOKED_AT,
    Seen,
    Snapshot,
    bounded,
    head_of,
    is_shown,
)
from beforehand.model.errors import Fault


async def look_at(workspace: DiskWorkspace) -> Snapshot:
    """What a model may be shown of a folder, nearer files first."""
    files: list[Seen] = []
    left_out = looked_at = 0
    async for path in _paths(workspace):
        looked_at += 1
        if looked_at > MOST_LOOKED_AT or (seen := None if path is None else await _seen(workspace, path)) is None:
            left_out += 1
        else:
            files.append(seen)
    return bounded(files, left_out)


async def _paths(workspace: DiskWorkspace) -> AsyncIterator[str | None]:
    """Files level by level; None for what is not shown."""
    level = [""]
    for depth in range(DEEPEST):
        below: list[str] = []
        for folder in level[:MOST_LOOKED_AT]:
            for name in await _entries(workspace, folder or "."):
                path = f"{folder}{name}"
                if not is_shown(name) or (name.endswith("/") and depth == DEEPEST - 1):
                    yield None
                elif name.endswith("/"):
                    below.append(path)
                else:
                    yield path
        level = below


async def _entries(workspace: DiskWorkspace, folder: str) -> list[str]:
    try:
        return await workspace.entries(folder)
    except Fault:  # closed to file tools, or gone meanwhile
        return []


async def _seen(workspace: DiskWorkspace, path: str) -> Seen | None:
    try:
        size, content = await workspace.head(path, HEAD_BYTES)
    except Fault:
        return None
    return Seen(path, size, head_of(content, size))
