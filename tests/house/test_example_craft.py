"""Crafts of other packages: listed without being imported; a broken one is told with a sentence and breaks nothing."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

AFTER_HELP = """
import sys
from beforehand.cli.commands import call
code = call(["--help"])
print("loaded:", *(name for name in sys.modules if name.startswith(("beforehand_example_craft", "beforehand.crafts"))))
sys.exit(code)
"""
GOOD = "from beforehand.app.craft import Craft, Parts\n"
BROKEN = {
    "raises": ("raise RuntimeError('the moon is in the way')", "RuntimeError: the moon is in the way"),
    "is_none": ("CRAFT = 'no craft at all'", "is a str, not a Craft"),
    "not_there": ("", "has no attribute 'CRAFT'"),
    "cannot_open": (GOOD + "CRAFT = Craft('cannot_open', open=lambda runtime: 1 / 0)", "opened: ZeroDivisionError"),
    "name_taken": (
        GOOD + "CRAFT = Craft('cell', open=lambda runtime: Parts())",
        "another craft is called cell already",
    ),
}


def install(folder: Path, name: str, source: str) -> None:
    """A craft as an installed package: a module, and the metadata that names it."""
    (folder / f"craft_{name}.py").write_text(source, encoding="utf-8")
    told = folder / f"craft_{name}-1.0.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: craft_{name}\nVersion: 1.0\n", encoding="utf-8")
    (told / "entry_points.txt").write_text(f"[beforehand.crafts]\n{name} = craft_{name}:CRAFT\n", encoding="utf-8")


@pytest.fixture
def beforehand(tmp_path: Path) -> Any:
    """`beforehand("plugins")` where the packages in `beforehand.packages` are installed too."""
    packages = tmp_path / "packages"
    packages.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}
    path = os.pathsep.join(filter(None, [str(packages), os.environ.get("PYTHONPATH")]))

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "beforehand", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=clean | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=90
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    call.packages = packages  # type: ignore[attr-defined]
    return call


def test_help_lists_its_command_without_importing_it(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", AFTER_HELP], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "greenhouse  Greenhouses: what the tank holds and what each bed got." in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]


def test_its_decisions_stand_apart_from_what_it_does(repository: Path) -> None:
    """Its core is pure: it imports words, and nothing that reads, waits or writes."""
    core = repository / "examples" / "craft" / "src" / "beforehand_example_craft" / "core.py"
    imported = {
        node.module
        for node in ast.walk(ast.parse(core.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert {name for name in imported if name.startswith("beforehand")} <= {
        "beforehand.model.base",
        "beforehand.model.errors",
        "beforehand.model.plan",
        "beforehand.model.reason",
    }


def test_it_is_installed_like_any_package(beforehand: Any) -> None:
    shown = json.loads(beforehand("plugins", "-o", "json").stdout)
    assert "greenhouse" in shown["crafts"]
    (tool,) = [tool for tool in shown["tools"] if tool["name"] == "greenhouse.water"]
    assert (tool["effect"], tool["canProbe"]) == ("physical", True)
    assert shown["missing"] == []


def test_what_joins_a_craft_by_its_own_point_is_listed(beforehand: Any) -> None:
    told = beforehand.packages / "someones_worker-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: someones_worker\nVersion: 1.0\n", encoding="utf-8")
    (told / "entry_points.txt").write_text("[beforehand.workers]\nmoon = nowhere:MOON\n", encoding="utf-8")
    points = json.loads(beforehand("plugins", "-o", "json").stdout)["points"]
    (workers,) = [point for point in points if point["group"] == "beforehand.workers"]
    assert (workers["craft"], "moon" in workers["names"]) == ("rounds", True)
    assert "moon" in beforehand("plugins").stdout


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_craft_is_told_and_spares_the_rest(name: str, beforehand: Any) -> None:
    source, why = BROKEN[name]
    install(beforehand.packages, name, source)
    done = beforehand("plugins", "-o", "json")
    shown = json.loads(done.stdout)
    assert done.returncode == 1
    (told,) = [reason["says"] for reason in shown["missing"]]
    assert why in told
    assert {"cell", "fleet", "greenhouse"} <= set(shown["crafts"])
    assert why in done.stderr


def test_doctor_tells_of_every_broken_craft_and_the_others_work(beforehand: Any) -> None:
    for name, (source, _) in BROKEN.items():
        install(beforehand.packages, name, source)
    done = beforehand("doctor", "-o", "json")
    assert done.returncode == 1
    broken = {one["check"]: one["says"] for one in json.loads(done.stdout)["checks"] if one["state"] == "broken"}
    assert set(broken) == {f"tools: {name}" for name in BROKEN}
    assert all(says.endswith(".") and BROKEN[name.removeprefix("tools: ")][1] in says for name, says in broken.items())
    planned = beforehand("plan", "weld 1", "--scene", "weld_star", "-o", "json")
    assert planned.returncode == 0, planned.stderr


def test_calls_that_cannot_be_loaded_are_left_out() -> None:
    from beforehand.app.craft import Craft, Parts
    from beforehand.app.crafts import Crafts, load_crafts
    from beforehand.server.app import http_parts

    broken = Craft("broken", open=lambda runtime: Parts(), http=lambda: 1 / 0)
    known = load_crafts().by_name
    parts = http_parts(Crafts({"broken": broken, **known}))
    assert parts == http_parts(Crafts(known))
    assert parts
