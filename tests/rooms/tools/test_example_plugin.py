"""The example plug-in: found by its entry point, its effects counted, its probe true."""

import asyncio
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.files import DiskWorkspace
from beforehand.adapters.tools import ToolRegistry
from beforehand.model.errors import Fault
from beforehand.ports.plugin import PluginRegistry
from beforehand.ports.tool import ToolContext


@pytest.fixture
def box() -> ToolRegistry:
    found = [point for point in entry_points(group="beforehand.plugins") if point.name == "bench"]
    assert found, "the example plug-in is not installed; run make dev"
    plugins = PluginRegistry("bench")
    found[0].load()(plugins)
    return ToolRegistry(plugins.tools)


@pytest.fixture
def target(tmp_path: Path) -> dict[str, Any]:
    return {"path": str(tmp_path / "effects.txt"), "line": "moved"}


def call(tmp_path: Path, key: str, seen: list[float] | None = None) -> ToolContext:
    return ToolContext(key, DiskWorkspace(tmp_path), progress=(seen if seen is not None else []).append)


def test_declarations(box: ToolRegistry) -> None:
    assert {s.name: (s.effect, s.can_probe, s.source) for s in box.specs()} == {
        "bench.append": ("physical", True, "bench"),
        "bench.append_noprobe": ("physical", False, "bench"),
        "bench.count": ("pure", False, "bench"),
    }


async def test_effects_are_counted_and_probed(box: ToolRegistry, tmp_path: Path, target: dict[str, Any]) -> None:
    append, seen = box.get("bench.append"), list[float]()
    assert (await append.probe(target, call(tmp_path, "r/s/1"))).state == "not_begun"
    value = await append.run(target, call(tmp_path, "r/s/1", seen))
    assert value == {**target, "key": "r/s/1"}
    assert (seen[0], seen[-1]) == (0, 100)
    assert (tmp_path / "effects.txt").read_text() == "r/s/1\tmoved\n"
    answer = await append.probe(target, call(tmp_path, "r/s/1"))
    assert (answer.state, answer.value) == ("happened", value)
    assert (await append.probe(target, call(tmp_path, "r/s/10"))).state == "not_begun"
    assert (await append.probe(target | {"probe": False}, call(tmp_path, "r/s/1"))).state == "unknown"
    assert (await box.get("bench.append_noprobe").probe(target, call(tmp_path, "r/s/1"))).state == "unknown"
    assert await box.get("bench.count").run({"path": target["path"]}, call(tmp_path, "k")) == 1


@pytest.mark.parametrize(("side", "lines", "untouched"), [("before", 0, True), ("after", 1, False)])
async def test_told_to_fail(
    box: ToolRegistry, tmp_path: Path, target: dict[str, Any], side: str, lines: int, untouched: bool
) -> None:
    with pytest.raises(Fault, match=f"told to fail {side} the append") as caught:
        await box.get("bench.append").run(target | {"fail": side, "transient": True}, call(tmp_path, "k"))
    assert (caught.value.transient, caught.value.untouched) == (True, untouched)
    assert await box.get("bench.count").run({"path": target["path"]}, call(tmp_path, "k")) == lines


@pytest.mark.parametrize(("side", "lines"), [("before", 0), ("after", 1)])
async def test_told_to_hang(box: ToolRegistry, tmp_path: Path, target: dict[str, Any], side: str, lines: int) -> None:
    hanging = asyncio.Event()

    def seen(percent: float) -> None:
        if percent > 0:
            hanging.set()

    context = ToolContext("k", DiskWorkspace(tmp_path), progress=seen)
    running = asyncio.create_task(box.get("bench.append").run(target | {"hang_s": 3600, "hang": side}, context))
    await hanging.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await box.get("bench.count").run({"path": target["path"]}, context) == lines


@pytest.mark.parametrize("path", ["/etc/effects", "../effects", "link"])
async def test_it_stays_inside_the_workspace(box: ToolRegistry, tmp_path: Path, path: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "link").symlink_to("../effects")
    for attempt in (box.get("bench.append").run, box.get("bench.append").judge, box.get("bench.append").probe):
        with pytest.raises(Fault) as caught:
            await attempt({"path": path, "line": "l"}, call(inner, "k"))
        assert caught.value.untouched
    with pytest.raises(Fault):
        await box.get("bench.count").run({"path": path}, call(inner, "k"))
    assert not (tmp_path / "effects").exists()


async def test_adding_to_anybody_elses_file_is_destructive(box: ToolRegistry, tmp_path: Path) -> None:
    append = box.get("bench.append")
    (tmp_path / "notes.txt").write_text("mine\n")
    (tmp_path / "effects.txt").write_text("r/s/1\tmoved\n")
    for path, destructive in (("notes.txt", True), ("effects.txt", False), ("new.txt", False)):
        judged = await append.judge({"path": path, "line": "l"}, call(tmp_path, "k"))
        assert judged.destructive is destructive, path


async def test_calls_at_once_lose_no_line(box: ToolRegistry, tmp_path: Path) -> None:
    tools = [box.get("bench.append"), box.get("bench.append_noprobe")]
    target = {"path": "effects.txt", "line": "l"}
    await asyncio.gather(*(tools[n % 2].run(target, call(tmp_path, f"k{n}")) for n in range(20)))
    assert len((tmp_path / "effects.txt").read_text().splitlines()) == 20
