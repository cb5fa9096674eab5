"""The file tools: what they do, what they call destructive, and what they show beforehand."""

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from beforehand.adapters.files import DiskWorkspace, OverlayWorkspace
from beforehand.adapters.tools import ToolRegistry
from beforehand.adapters.tools.builtin import register
from beforehand.model.errors import Fault
from beforehand.ports.plugin import PluginRegistry
from beforehand.ports.tool import Judgement, Preview, ToolContext, Unknown

LATER = Unknown("the value of step_1")


class Bench:
    """A workspace with the built-in tools, and a preview that keeps what was previewed before."""

    def __init__(self, root: Path) -> None:
        plugins = PluginRegistry()
        register(plugins)
        self.root = root
        self.box = ToolRegistry(plugins.tools)
        self.logged: list[str] = []
        self.real = ToolContext("run/step/1", DiskWorkspace(root), log=self.logged.append)
        self.view = OverlayWorkspace(DiskWorkspace(root))

    async def run(self, tool: str, **args: Any) -> Any:
        return await self.box.get(tool).run({name.rstrip("_"): value for name, value in args.items()}, self.real)

    async def judge(self, tool: str, **args: Any) -> Judgement:
        return await self.box.get(tool).judge({name.rstrip("_"): value for name, value in args.items()}, self.real)

    async def preview(self, tool: str, **args: Any) -> Preview:
        given = {name.rstrip("_"): value for name, value in args.items()}
        return await self.box.get(tool).preview(given, ToolContext("preview", self.view))

    def files(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.root)): p.read_bytes() for p in self.root.rglob("*") if p.is_file()}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "image").write_bytes(b"\x89PNG\0\xff")
    (tmp_path / "sub").mkdir()
    return Bench(tmp_path)


def test_declarations(bench: Bench) -> None:
    declared = {spec.name: (spec.effect, spec.destructive, spec.asks_person) for spec in bench.box.specs()}
    assert declared == {
        "ask_person": ("pure", "never", True),
        "copy_file": ("idempotent", "judged", False),
        "delete_file": ("idempotent", "always", False),
        "http_get": ("pure", "never", False),
        "list_dir": ("pure", "never", False),
        "read_file": ("pure", "never", False),
        "wait": ("pure", "never", False),
        "write_file": ("idempotent", "judged", False),
    }
    for spec in bench.box.specs():
        Draft202012Validator.check_schema(spec.input_schema)
        assert spec.input_schema["additionalProperties"] is False
        assert spec.input_schema["required"] == list(spec.input_schema["properties"])
        assert all(schema["description"] for schema in spec.input_schema["properties"].values())
        assert spec.source == "built-in"
        assert spec.output.endswith(".")


async def test_reading(bench: Bench) -> None:
    assert await bench.run("read_file", path="a.txt") == "one\ntwo\n"
    assert await bench.run("list_dir", path=".") == ["a.txt", "image", "sub"]
    assert await bench.run("list_dir", path="sub/") == []
    with pytest.raises(Fault, match="not UTF-8 text: byte 0 of 6"):
        await bench.run("read_file", path="image")


@pytest.mark.parametrize(
    ("content", "written"),
    [
        ("text\r\n", b"text\r\n"),
        ("", b""),
        ("ä\0", "ä\0".encode()),
        (5, b"5"),
        (2.5, b"2.5"),
        (True, b"true"),
        (None, b"null"),
        (["b", "ä"], '["b","ä"]'.encode()),
        ({"b": 1, "a": {"d": 1, "c": 2}}, b'{"a":{"c":2,"d":1},"b":1}'),
    ],
)
async def test_what_is_written(bench: Bench, content: Any, written: bytes) -> None:
    assert await bench.run("write_file", path="n/x", content=content) == {"path": "n/x", "bytes": len(written)}
    assert (bench.root / "n" / "x").read_bytes() == written


async def test_content_that_cannot_be_written(bench: Bench) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for content in ("\ud800", ["\ud800"], deep, {1: object()}):
        with pytest.raises(Fault):
            await bench.run("write_file", path="x", content=content)
    assert not (bench.root / "x").exists()


async def test_copying(bench: Bench) -> None:
    value = await bench.run("copy_file", from_="image", to="sub/copy")
    assert value == {"from": "image", "to": "sub/copy", "bytes": 6}
    assert (bench.root / "sub" / "copy").read_bytes() == b"\x89PNG\0\xff"
    for source, target in (("a.txt", "a.txt"), ("missing", "x"), ("sub", "x"), ("a.txt", "sub")):
        with pytest.raises(Fault):
            await bench.run("copy_file", from_=source, to=target)


async def test_a_delete_carried_out_again_is_done(bench: Bench) -> None:
    assert await bench.run("delete_file", path="a.txt") == {"path": "a.txt", "deleted": True}
    assert await bench.run("delete_file", path="a.txt") == {"path": "a.txt", "deleted": False}
    assert bench.logged == ["'a.txt' was already gone."]
    with pytest.raises(Fault, match="is a folder"):
        await bench.run("delete_file", path="sub")


async def test_a_first_delete_of_a_missing_file_fails(bench: Bench) -> None:
    for attempt in (bench.judge, bench.run):
        with pytest.raises(Fault, match="There is no file 'nope' in the workspace"):
            await attempt("delete_file", path="nope")


async def test_a_file_that_appears_after_its_delete_was_judged_is_kept(bench: Bench) -> None:
    with pytest.raises(Fault):
        await bench.judge("delete_file", path="nope")
    (bench.root / "nope").write_text("new")
    with pytest.raises(Fault):
        await bench.run("delete_file", path="nope")
    assert (bench.root / "nope").read_text() == "new"


async def test_a_call_that_will_be_refused_is_not_destructive(bench: Bench) -> None:
    for path in ("../x", "/etc/passwd", "sub", "a.txt/b", ""):
        assert not (await bench.judge("write_file", path=path, content="x")).destructive
        assert not (await bench.judge("copy_file", from_="a.txt", to=path)).destructive
    assert not (await bench.judge("write_file", path="a.txt", content="\ud800")).destructive
    assert not (await bench.judge("copy_file", from_="missing", to="new")).destructive
    assert (await bench.judge("copy_file", from_="missing", to="a.txt")).destructive


async def test_what_is_destructive(bench: Bench) -> None:
    fresh = await bench.judge("write_file", path="new.txt", content="x")
    assert (fresh.destructive, fresh.says) == (False, "Writes a new file 'new.txt'.")
    over = await bench.judge("write_file", path="a.txt", content="one\n2\n")
    assert over.destructive
    assert over.evidence["diff"] == "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    same = await bench.judge("write_file", path="a.txt", content="one\ntwo\n")
    assert (same.destructive, same.evidence["diff"]) == (True, "")
    assert not (await bench.judge("copy_file", from_="a.txt", to="b.txt")).destructive
    assert (await bench.judge("copy_file", from_="a.txt", to="image")).destructive
    gone = await bench.judge("delete_file", path="a.txt")
    assert gone.destructive
    assert gone.evidence["diff"] == "--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
    assert bench.files() == {"a.txt": b"one\ntwo\n", "image": b"\x89PNG\0\xff"}


async def test_overwriting_something_too_large_to_compare_is_still_judged(bench: Bench) -> None:
    with (bench.root / "big").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert (await bench.judge("write_file", path="big", content="x")).destructive
    assert (await bench.judge("delete_file", path="big")).destructive
    shown = await bench.preview("write_file", path="big", content="x")
    assert not shown.problems
    assert (await bench.preview("read_file", path="big")).value == "x"


async def test_previews_build_on_one_another_and_change_nothing(bench: Bench) -> None:
    before = bench.files()
    written = await bench.preview("write_file", path="a.txt", content="one\n2\n")
    assert written.diff == "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert written.value == {"path": "a.txt", "bytes": 6}
    again = await bench.preview("write_file", path="a.txt", content="one\n3\n")
    assert again.diff is not None
    assert "-2\n+3\n" in again.diff
    copied = await bench.preview("copy_file", from_="a.txt", to="new/b.txt")
    assert copied.diff == "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,2 @@\n+one\n+3\n"
    assert (await bench.preview("read_file", path="new/b.txt")).value == "one\n3\n"
    assert (await bench.preview("list_dir", path=".")).value == ["a.txt", "image", "new", "sub"]
    deleted = await bench.preview("delete_file", path="a.txt")
    assert deleted.diff == "--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-3\n"
    assert (await bench.preview("read_file", path="a.txt")).problems
    assert (await bench.preview("delete_file", path="a.txt")).problems == (
        "There is no file 'a.txt' in the workspace.",
    )
    unchanged = await bench.preview("write_file", path="new/b.txt", content="one\n3\n")
    assert (unchanged.says, unchanged.diff) == ("Leaves 'new/b.txt' as it is.", "")
    assert bench.files() == before


async def test_previews_say_what_they_depend_on(bench: Bench) -> None:
    shown = await bench.preview("write_file", path="a.txt", content=LATER)
    assert shown.says == "Overwrites 'a.txt'; its content depends on the value of step_1."
    assert isinstance(shown.value, Unknown)
    read = await bench.preview("read_file", path="a.txt")
    assert isinstance(read.value, Unknown)
    assert "the value of step_1" in read.says
    assert not read.problems
    copied = await bench.preview("copy_file", from_="a.txt", to="b.txt")
    assert copied.says == "Writes a new file 'b.txt'; its content depends on the value of step_1."
    assert "b.txt" in (await bench.preview("list_dir", path=".")).value
    nested = await bench.preview("write_file", path="c.txt", content={"rows": [1, LATER]})
    assert "the value of step_1" in nested.says
    settled = await bench.preview("write_file", path="a.txt", content="known")
    assert settled.value == {"path": "a.txt", "bytes": 5}
    assert not (await bench.preview("delete_file", path="b.txt")).problems
    for tool, args in {
        "read_file": {"path": LATER},
        "list_dir": {"path": LATER},
        "write_file": {"path": LATER, "content": "x"},
        "copy_file": {"from": "a.txt", "to": LATER},
        "delete_file": {"path": LATER},
        "wait": {"seconds": LATER},
        "http_get": {"url": LATER},
        "ask_person": {"question": LATER},
    }.items():
        preview = await bench.preview(tool, **args)
        assert "depends on the value of step_1." in preview.says
        assert isinstance(preview.value, Unknown)


async def test_a_preview_given_a_real_folder_writes_nothing(bench: Bench) -> None:
    shown = await bench.box.get("write_file").preview({"path": "a.txt", "content": "x"}, bench.real)
    assert shown.diff
    assert bench.files()["a.txt"] == b"one\ntwo\n"


async def test_previews_of_what_would_fail(bench: Bench) -> None:
    for tool, args in {
        "read_file": {"path": "../x"},
        "list_dir": {"path": "a.txt"},
        "write_file": {"path": "sub", "content": "x"},
        "copy_file": {"from": "missing", "to": "x"},
        "wait": {"seconds": -1},
        "http_get": {"url": "ftp://example.org/"},
    }.items():
        preview = await bench.preview(tool, **args)
        assert len(preview.problems) == 1, tool
        assert preview.says.startswith(f"{tool} would fail: ")
