"""Who may import whom, what `import beforehand` shows, and what the command line leaves unloaded."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import beforehand

HEAVY = ("fastapi", "httpx2", "jsonschema", "mcp", "neo4j", "numpy", "pydantic_ai", "scipy", "starlette", "uvicorn")

AFTER_HELP = """
import sys
sys.argv = ["beforehand", "--help"]
from beforehand.cli.main import main
try:
    main()
except SystemExit as end:
    if end.code not in (0, None):
        raise
print("loaded:", *(name for name in {heavy!r} if name in sys.modules))
"""


def python(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, cwd=cwd, check=False)


def test_the_rooms_keep_the_import_contract(repository: Path) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        capture_output=True,
        text=True,
        cwd=repository,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def imported_names(path: Path) -> Iterator[str]:
    """The full names a module imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "." * node.level


def is_below(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


@pytest.mark.parametrize(
    ("room", "allowed"),
    [
        ("model", ("beforehand.model", "pydantic", "pydantic_core")),
        ("ports", ("beforehand.model", "beforehand.ports")),
    ],
)
def test_the_lowest_rooms_stand_on_little(room: str, allowed: tuple[str, ...], repository: Path) -> None:
    unlisted = {
        f"{path.name}: {name}"
        for path in (repository / "src" / "beforehand" / room).rglob("*.py")
        for name in imported_names(path)
        if name.split(".")[0] not in sys.stdlib_module_names and not any(is_below(name, known) for known in allowed)
    }
    assert unlisted == set()


def test_the_package_shows_at_most_25_names() -> None:
    names = [name for name in vars(beforehand) if not name.startswith("_")]
    assert len(getattr(beforehand, "__all__", names)) <= 25


def test_help_leaves_heavy_modules_unloaded(repository: Path) -> None:
    done = python("-c", AFTER_HELP.format(heavy=HEAVY), cwd=repository)
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]
