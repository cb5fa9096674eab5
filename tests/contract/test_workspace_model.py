"""A preview sees what a run would see: any series of reads and writes answers the same on the view and on the disk."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.adapters.files import DiskWorkspace, OverlayWorkspace
from beforehand.model.errors import Fault
from beforehand.ports.tool import Workspace

NAMES = st.sampled_from(["a", "b", "d", "to_a", "to_d", "broken"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
CONTENT = st.sampled_from([b"", b"one\n", b"two\n", b"\0"])
OPERATIONS = st.one_of(
    st.tuples(st.just("read"), PATHS),
    st.tuples(st.just("exists"), PATHS),
    st.tuples(st.just("delete"), PATHS),
    st.tuples(st.just("entries"), st.one_of(PATHS, st.just("."))),
    st.tuples(st.just("write"), PATHS, CONTENT),
)


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    yield folder
    shutil.rmtree(folder)


def furnish(root: Path) -> Path:
    """a, d/a, d/b, to_a -> a, to_d -> d, d/to_a -> ../a, broken -> d/new"""
    if root.exists():
        shutil.rmtree(root)
    (root / "d").mkdir(parents=True)
    for name in ("a", "d/a", "d/b"):
        (root / name).write_text(name)
    for name, target in {"to_a": "a", "to_d": "d", "d/to_a": "../a", "broken": "d/new"}.items():
        (root / name).symlink_to(target)
    return root


async def answer(workspace: Workspace, operation: tuple[Any, ...]) -> Any:
    try:
        found = await getattr(workspace, operation[0])(*operation[1:])
        # A link whose target has become a folder in the view is listed as it was, without the slash.
        return sorted(name.rstrip("/") for name in found) if operation[0] == "entries" else found
    except Fault as fault:
        return f"refused: {fault.code}"


ANY_PATH = st.lists(
    st.one_of(st.sampled_from(["..", ".", "", "/", "a", "d", "to_a", "out", "~", "\0"]), st.text(max_size=5)),
    max_size=6,
).map("/".join)


@settings(max_examples=300)
@given(path=ANY_PATH, operation=st.sampled_from(["read", "exists", "delete", "entries", "write"]))
def test_no_path_whatever_leads_out(scratch: Path, path: str, operation: str) -> None:
    """Everything above the root is as before, and every refusal is a Fault."""
    root = furnish(scratch / "fuzzed" / "root")
    guarded = scratch / "fuzzed" / "outside"
    guarded.mkdir(exist_ok=True)
    (guarded / "a").write_text("guarded")
    (root / "out").symlink_to("../outside")
    asyncio.run(answer(DiskWorkspace(root), (operation, path, b"x") if operation == "write" else (operation, path)))
    assert sorted(entry.name for entry in (scratch / "fuzzed").iterdir()) == ["outside", "root"]
    assert [(entry.name, entry.read_text()) for entry in guarded.iterdir()] == [("a", "guarded")]


@settings(max_examples=150)
@given(operations=st.lists(OPERATIONS, max_size=12))
def test_view_and_disk_answer_alike(scratch: Path, operations: list[tuple[Any, ...]]) -> None:
    real = DiskWorkspace(furnish(scratch / "real"))
    under = furnish(scratch / "under")
    view = OverlayWorkspace(DiskWorkspace(under))

    async def compare() -> None:
        for operation in operations:
            assert await answer(view, operation) == await answer(real, operation), operation

    asyncio.run(compare())
    assert (under / "a").read_text() == "a"
    assert sorted(p.name for p in (under / "d").iterdir()) == ["a", "b", "to_a"]
