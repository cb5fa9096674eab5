"""A write is whole or not at all, whatever instant its process is killed at; the next write sweeps what it left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from beforehand.adapters.files import DiskWorkspace

OLD, NEW = b"old " * 1000, b"new " * 300_000

WRITER = """
import asyncio, os, sys
from pathlib import Path
from beforehand.adapters.files import DiskWorkspace

root, function, nth, side = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
real, calls = getattr(os, function), 0

def stop_here():
    print("here", flush=True)
    sys.stdin.read()

def watched(*args, **kwargs):
    global calls
    calls += 1
    mine = calls == nth
    if mine and side == "before":
        stop_here()
    if function == "write" and mine and side == "middle":
        real(args[0], args[1][:100_000])
        stop_here()
    result = real(*args, **kwargs)
    if mine and side == "after":
        stop_here()
    return result

setattr(os, function, watched)
asyncio.run(DiskWorkspace(Path(root)).write("folder/file.txt", b"new " * 300_000))
print("done", flush=True)
"""

POINTS = [
    ("write", 1, "before", OLD),
    ("write", 1, "middle", OLD),
    ("write", 1, "after", OLD),
    ("fchmod", 1, "after", OLD),
    ("fsync", 1, "before", OLD),
    ("fsync", 1, "after", OLD),
    ("rename", 1, "before", OLD),
    ("rename", 1, "after", NEW),
    ("fsync", 2, "after", NEW),
]


def start(root: Path, *point: str) -> "subprocess.Popen[bytes]":
    """A process that writes the file and stops at the given point until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), *point], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


@pytest.mark.parametrize(("function", "nth", "side", "expected"), POINTS, ids=[f"{p[2]} {p[0]} {p[1]}" for p in POINTS])
async def test_kill_9_leaves_the_old_or_the_new_content(
    tmp_path: Path, function: str, nth: int, side: str, expected: bytes
) -> None:
    file = tmp_path / "folder" / "file.txt"
    file.parent.mkdir()
    file.write_bytes(OLD)
    writer = start(tmp_path, function, str(nth), side)
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"here\n"
    finally:
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
    assert file.read_bytes() == expected
    workspace = DiskWorkspace(tmp_path)
    assert await workspace.entries("folder") == ["file.txt"]
    await workspace.write("folder/other.txt", b"x")
    assert sorted(entry.name for entry in file.parent.iterdir()) == ["file.txt", "other.txt"]


async def test_a_file_still_being_written_is_not_swept(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    writer = start(tmp_path, "fsync", "1", "after")
    try:
        assert writer.stdout is not None
        assert writer.stdin is not None
        assert writer.stdout.readline() == b"here\n"
        await DiskWorkspace(tmp_path).write("folder/other.txt", b"x")
        assert len([entry for entry in (tmp_path / "folder").iterdir() if entry.suffix == ".tmp"]) == 1
        writer.stdin.close()
        assert writer.stdout.readline() == b"done\n"
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()  # type: ignore[union-attr]
    assert (tmp_path / "folder" / "file.txt").read_bytes() == NEW
