"""Every workspace against the port: what is inside works, links included; what leads out is refused with a sentence.

The same suite runs on the folder itself and on a copy-on-write view of it.
"""

import asyncio
import fcntl
import os
import re
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from beforehand.adapters.files import DiskWorkspace, OverlayWorkspace
from beforehand.adapters.files.paths import MAX_BYTES
from beforehand.model.errors import ChangedSinceError, Fault
from beforehand.ports.tool import Workspace, file_state

KINDS: dict[str, Callable[[Path], Workspace]] = {
    "disk": DiskWorkspace,
    "overlay": lambda root: OverlayWorkspace(DiskWorkspace(root)),
    "overlay of overlay": lambda root: OverlayWorkspace(OverlayWorkspace(DiskWorkspace(root))),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """
    outside/secret.txt
    root/a.txt, root/sub/b.txt, and links: in -> sub, alias -> a.txt, out -> ../outside, leak -> ../outside/secret.txt,
    broken -> nowhere, loop -> loop, far -> sub/../../outside; a pipe and a socket
    """
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret")
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "sub" / "b.txt").write_text("b")
    for name, target in {
        "in": "sub",
        "alias": "a.txt",
        "out": "../outside",
        "leak": "../outside/secret.txt",
        "absolute_out": str(outside / "secret.txt"),
        "absolute_in": str(root / "sub" / "b.txt"),
        "broken": "nowhere",
        "broken_out": "../outside/not-yet",
        "loop": "loop",
        "far": "sub/../../outside",
        "device": "/dev/zero",
    }.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        previous = Path.cwd()
        os.chdir(root)
        server.bind("socket")
        os.chdir(previous)
    return root


@pytest.fixture(params=KINDS)
def workspace(request: pytest.FixtureRequest, root: Path) -> Workspace:
    return KINDS[request.param](root)


async def refusal(work: object) -> Fault:
    with pytest.raises(Fault) as caught:
        await work  # type: ignore[misc]
    says = caught.value.says
    assert re.fullmatch(r".+[.]", says, re.DOTALL), f"not a whole sentence: {says}"
    assert len(says) < 400
    says.encode("utf-8")
    return caught.value


HOSTILE = {
    "climbs": "../outside/secret.txt",
    "climbs in the middle": "sub/../../outside/secret.txt",
    "climbs and comes back": "sub/../a.txt",
    "absolute": "/etc/passwd",
    "two slashes": "//etc/passwd",
    "home": "~/secret.txt",
    "home of root": "~root/secret.txt",
    "empty": "",
    "NUL": "a.txt\0.png",
    "broken Unicode": "a\ud800.txt",
    "escaped byte": "a\udcff.txt",
    "long name": "n" * 300,
    "long path": "/".join(["d" * 200] * 30),
    "long in bytes": "ä" * 200,
    "through a file": "a.txt/b",
    "through a link to a file": "alias/b",
    "link out": "leak",
    "absolute link out": "absolute_out",
    "through a link out": "out/secret.txt",
    "link that climbs out inside": "far/secret.txt",
    "circle": "loop",
    "through a circle": "loop/a",
    "to a device": "device",
    "pipe": "pipe",
    "socket": "socket",
    "folder": "sub",
    "folder by link": "in",
    "the workspace": ".",
    "trailing slash": "a.txt/",
    "kept name": ".beforehand-0011.tmp",
    "number": 5,
}


@pytest.mark.parametrize("path", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_paths_are_refused_for_files(workspace: Workspace, root: Path, path: str) -> None:
    for work in (workspace.read(path), workspace.write(path, b"overwritten"), workspace.delete(path)):
        fault = await refusal(work)
        assert fault.untouched
        assert not fault.transient
    assert (root.parent / "outside" / "secret.txt").read_text() == "secret"
    assert sorted(entry.name for entry in (root.parent / "outside").iterdir()) == ["secret.txt"]
    assert (root / "a.txt").read_text() == "a"


FOLDER_REFUSED = [
    name for name in HOSTILE if name not in ("folder", "folder by link", "the workspace", "trailing slash")
]


@pytest.mark.parametrize("name", [*FOLDER_REFUSED, "a file", "missing"])
async def test_hostile_paths_are_refused_for_listings(workspace: Workspace, name: str) -> None:
    path = {"a file": "a.txt", "missing": "nowhere/at/all"}.get(name) or HOSTILE[name]
    await refusal(workspace.entries(path))


async def test_a_link_that_would_create_a_file_outside_is_refused(workspace: Workspace, root: Path) -> None:
    fault = await refusal(workspace.write("broken_out", b"x"))
    assert fault.code == "file.link_out"
    assert not (root.parent / "outside" / "not-yet").exists()


async def test_listings_show_links_without_following_those_that_lead_out(workspace: Workspace) -> None:
    names = await workspace.entries(".")
    assert names == sorted(names)
    assert {"sub/", "in/", "alias", "a.txt", "out", "leak", "far", "loop", "broken"} <= set(names)


async def test_links_that_stay_inside_work(workspace: Workspace) -> None:
    assert await workspace.read("alias") == b"a"
    assert await workspace.read("in/b.txt") == b"b"
    assert await workspace.read("absolute_in") == b"b"
    assert await workspace.entries("in") == ["b.txt"]
    await workspace.write("alias", b"new a")
    await workspace.write("in/c.txt", b"c")
    await workspace.write("broken", b"found")
    assert await workspace.read("a.txt") == b"new a"
    assert await workspace.entries("sub/") == ["b.txt", "c.txt"]
    assert await workspace.read("nowhere") == b"found"


async def test_deleting_a_link_leaves_what_it_led_to(workspace: Workspace) -> None:
    await workspace.delete("alias")
    assert not await workspace.exists("alias")
    assert await workspace.read("a.txt") == b"a"
    await workspace.write("alias", b"a file of its own")
    assert await workspace.read("a.txt") == b"a"
    assert await workspace.read("alias") == b"a file of its own"


async def test_write_read_delete(workspace: Workspace) -> None:
    await workspace.write("new/deep/file.bin", b"\0\xff")
    assert await workspace.read("./new//deep/./file.bin") == b"\0\xff"
    assert await workspace.entries("new") == ["deep/"]
    assert await workspace.exists("new/deep")
    await workspace.delete("new/deep/file.bin")
    assert not await workspace.exists("new/deep/file.bin")
    assert (await refusal(workspace.read("new/deep/file.bin"))).code == "file.missing"
    assert (await refusal(workspace.delete("new/deep/file.bin"))).code == "file.missing"


async def test_a_deleted_file_can_become_a_folder(workspace: Workspace) -> None:
    await workspace.delete("a.txt")
    await workspace.write("a.txt/inner", b"x")
    assert await workspace.entries("a.txt") == ["inner"]
    assert "a.txt/" in await workspace.entries(".")


async def test_names_of_every_sort(workspace: Workspace) -> None:
    for name in ("ä ö.txt", "новый", "-rf", "new\nline", " ", "a\\b", "..hidden", "...", "%2e%2e", "C:x", "x~", "CON"):
        await workspace.write(name, name.encode())
        assert await workspace.read(name) == name.encode()
        assert name in await workspace.entries(".")


async def test_size_limit(workspace: Workspace, root: Path) -> None:
    await workspace.write("full", b"x" * MAX_BYTES)
    assert (await refusal(workspace.write("over", b"x" * (MAX_BYTES + 1)))).code == "file.too_large"
    assert not await workspace.exists("over")
    with (root / "big").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert (await refusal(workspace.read("big"))).code == "file.too_large"


async def test_missing_workspace_is_said(tmp_path: Path) -> None:
    workspace = DiskWorkspace(tmp_path / "nowhere")
    for work in (workspace.read("a"), workspace.write("a", b""), workspace.entries(".")):
        await refusal(work)
    assert not (tmp_path / "nowhere").exists()


async def test_a_root_behind_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to(root)
    workspace = DiskWorkspace(tmp_path / "door")
    await workspace.write("in/x", b"x")
    assert (root / "sub" / "x").read_bytes() == b"x"


async def test_closed_folders(root: Path) -> None:
    workspace = DiskWorkspace(root, closed=[root / "sub"])
    for work in (
        workspace.read("sub/b.txt"),
        workspace.read("in/b.txt"),
        workspace.write("sub/x", b""),
        workspace.entries("in"),
    ):
        await refusal(work)
    assert await workspace.read("a.txt") == b"a"


async def test_a_closed_folder_round_the_workspace_closes_it(root: Path) -> None:
    for folder in (root, root.parent):
        assert (await refusal(DiskWorkspace(root, closed=[folder]).read("a.txt"))).code == "file.closed"


async def test_closed_files_are_closed_by_every_name(root: Path, tmp_path: Path) -> None:
    """By their path, a link, a hard link, and before they are there."""
    home, log = tmp_path / "home", root / "data" / "log.db"
    home.mkdir()
    log.parent.mkdir()
    (home / "tokens.json").write_text("{}")
    log.write_text("log")
    os.link(home / "tokens.json", root / "twin.json")
    os.link(log, root / "twin.db")
    (root / "linked.db").symlink_to(log)
    files = DiskWorkspace(root, closed=[home, log, root / "data" / "log.db-wal"])
    for path in ("data/log.db", "twin.json", "twin.db", "linked.db", "data/log.db-wal"):
        for attempt in (files.read(path), files.write(path, b"x"), files.delete(path)):
            assert (await refusal(attempt)).code == "file.closed", path
    assert log.read_text() == "log"
    assert (home / "tokens.json").read_text() == "{}"
    assert (root / "twin.db").samefile(log)
    assert (root / "linked.db").is_symlink()
    await files.write("data/mine.txt", b"mine")
    assert await files.read("data/mine.txt") == b"mine"


async def test_a_closed_name_is_closed_in_every_folder(root: Path) -> None:
    files = DiskWorkspace(root, closed_names=["beforehand.toml"])
    (root / "beforehand.toml").write_text("port = 1")
    os.link(root / "beforehand.toml", root / "copy.txt")
    (root / "other").symlink_to("beforehand.toml")
    (root / "sub" / "Beforehand.TOML").symlink_to("../a.txt")
    for path in ("beforehand.toml", "deep/er/beforehand.toml", "copy.txt", "other"):
        assert (await refusal(files.write(path, b"x"))).code == "file.closed", path
    for path in ("beforehand.toml", "copy.txt", "other", "sub/Beforehand.TOML"):
        assert (await refusal(files.delete(path))).code == "file.closed", path
    assert not (root / "deep").exists()
    assert (root / "beforehand.toml").read_text() == "port = 1"


async def test_a_neighbour_with_a_longer_name_is_outside(root: Path) -> None:
    neighbour = root.with_name("root-too")
    neighbour.mkdir()
    (neighbour / "x").write_text("x")
    (root / "next").symlink_to("../root-too/x")
    assert (await refusal(DiskWorkspace(root).read("next"))).code == "file.link_out"


async def test_writing_keeps_the_mode_and_new_files_follow_the_umask(root: Path) -> None:
    workspace = DiskWorkspace(root)
    (root / "a.txt").chmod(0o754)
    await workspace.write("a.txt", b"changed")
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o754
    umask = os.umask(0o027)
    try:
        await workspace.write("fresh", b"x")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((root / "fresh").stat().st_mode) == 0o640


async def test_hard_links_outside_are_not_written_through(root: Path) -> None:
    secret = root.parent / "outside" / "secret.txt"
    os.link(secret, root / "twin")
    await DiskWorkspace(root).write("twin", b"mine")
    assert secret.read_text() == "secret"


async def test_a_link_swapped_in_meanwhile_is_not_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the deed the folder becomes a link that leads out."""
    workspace = DiskWorkspace(root)
    resolve = DiskWorkspace._resolve

    def swapped(self: DiskWorkspace, *args: object, **kwargs: object) -> tuple[str, ...]:
        parts = resolve(self, *args, **kwargs)  # type: ignore[arg-type]
        if (root / "sub").is_dir() and not (root / "sub").is_symlink():
            (root / "sub").rename(root / "moved")
            (root / "sub").symlink_to("../outside")
        return parts

    monkeypatch.setattr(DiskWorkspace, "_resolve", swapped)
    await refusal(workspace.write("sub/secret.txt", b"overwritten"))
    (root / "sub").unlink()
    (root / "moved").rename(root / "sub")
    await refusal(workspace.read("sub/secret.txt"))
    assert (root.parent / "outside" / "secret.txt").read_text() == "secret"


async def test_overlay_never_touches_what_lies_under(root: Path) -> None:
    def picture() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in root.rglob("*") if p.is_file() and not p.is_symlink()}

    before = picture()
    overlay = OverlayWorkspace(DiskWorkspace(root))
    await overlay.write("a.txt", b"x")
    await overlay.write("alias", b"y")
    await overlay.delete("sub/b.txt")
    await overlay.write("n/e/w", b"z")
    await overlay.write_unknown("later", "the value of step_1")
    assert picture() == before
    assert overlay.changes() == ["a.txt", "later", "n/e/w", "sub/b.txt"]


async def test_overlay_diffs(root: Path) -> None:
    overlay = OverlayWorkspace(DiskWorkspace(root))
    assert await overlay.diff("a.txt") == ""
    await overlay.write("a.txt", b"first\n")
    await overlay.write("alias", b"a\nb\n")
    assert await overlay.diff("a.txt") == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"
    )
    await overlay.write("n.txt", b"new\n")
    assert await overlay.diff("n.txt") == "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+new\n"
    await overlay.delete("sub/b.txt")
    assert (await overlay.diff("sub/b.txt")).startswith("--- a/sub/b.txt\n+++ /dev/null\n")
    await overlay.write("image", b"\0\1")
    assert await overlay.diff("image") == "Binary file image is new: 2 bytes\n"
    await overlay.write_unknown("later", "the value of step_1")
    assert "the value of step_1" in await overlay.diff("later")
    assert "the value of step_1" in (await refusal(overlay.read("later"))).says


async def test_a_change_is_made_only_over_what_was_looked_at(workspace: Workspace) -> None:
    seen, other = file_state(b"a"), file_state(b"other")
    for work in (
        workspace.write("a.txt", b"new", over=other),
        workspace.write("a.txt", b"new", over=file_state(None)),
        workspace.write("alias", b"new", over=other),
        workspace.write("new.txt", b"new", over=seen),
        workspace.delete("a.txt", over=other),
    ):
        assert isinstance(await refusal(work), ChangedSinceError)
    assert await workspace.read("a.txt") == b"a"
    assert not await workspace.exists("new.txt")
    await workspace.write("new.txt", b"new", over=file_state(None))
    await workspace.write("a.txt", b"b", over=seen)
    await workspace.delete("a.txt", over=file_state(b"b"))
    assert not await workspace.exists("a.txt")
    assert (await refusal(workspace.delete("a.txt", over=seen))).code == "file.missing"


async def test_of_many_that_write_one_new_file_at_once_a_single_one_does(root: Path) -> None:
    """By whatever name, and through whichever workspace."""
    spaces = [DiskWorkspace(root), DiskWorkspace(root)]
    names = ("sub/new.txt", "in/new.txt")
    absent = file_state(None)
    writes = (spaces[n % 2].write(names[n // 2 % 2], str(n).encode(), over=absent) for n in range(40))
    ends = await asyncio.gather(*writes, return_exceptions=True)
    written = [place for place, end in enumerate(ends) if end is None]
    assert len(written) == 1
    assert all(end is None or isinstance(end, ChangedSinceError) for end in ends)
    assert (root / "sub" / "new.txt").read_text() == str(written[0])


async def test_another_process_that_changes_the_folder_is_waited_for(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers may share a workspace: what one has just written is not taken for what the other looked at."""
    workspace, waits, goes_on = DiskWorkspace(root), threading.Event(), threading.Event()

    def waiting(_: float) -> None:
        waits.set()
        goes_on.wait(60)

    monkeypatch.setattr("beforehand.adapters.files.workspace.sleep", waiting)
    (root / "shared.txt").write_text("old")
    for change in (
        lambda: workspace.write("shared.txt", b"mine", over=file_state(b"old")),
        lambda: workspace.delete("shared.txt", over=file_state(b"old")),
    ):
        waits.clear()
        goes_on.clear()
        other = os.open(root, os.O_RDONLY)
        fcntl.flock(other, fcntl.LOCK_EX)
        changing = asyncio.ensure_future(change())
        assert await asyncio.to_thread(waits.wait, 60)
        (root / "shared.txt").write_text("theirs")
        os.close(other)
        goes_on.set()
        with pytest.raises(ChangedSinceError):
            await changing
        assert (root / "shared.txt").read_text() == "theirs"
    monkeypatch.setattr("beforehand.adapters.files.workspace._BUSY_S", -1)
    other = os.open(root, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with pytest.raises(Fault, match="locked for too long") as refused:
        await workspace.write("shared.txt", b"mine")
    assert refused.value.transient
    os.close(other)
    await workspace.write("shared.txt", b"mine")
    assert (root / "shared.txt").read_text() == "mine"
