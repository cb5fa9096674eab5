"""Who may import whom, what `import beforehand` shows, and what the command line leaves unloaded."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import beforehand

MODELS = ("anthropic", "openai", "pydantic_ai")
HEAVY = (
    *MODELS,
    "fastapi",
    "httpx2",
    "jsonschema",
    "mcp",
    "neo4j",
    "numpy",
    "psycopg",
    "scipy",
    "starlette",
    "uvicorn",
)

AFTER = """
import sys
sys.argv = ["beforehand", *{words!r}]
from beforehand.cli.main import main
try:
    main()
except SystemExit as end:
    if end.code not in (0, None):
        raise
print("loaded:", *(name for name in {heavy!r} if name in sys.modules))
"""
PLAN = '{"steps": [{"id": "a", "tool": "wait", "args": {"seconds": 1}}]}'


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


@pytest.mark.parametrize(
    ("words", "says", "also"),
    [
        (["--help"], "Usage", ("asyncio", "pydantic", "rich", "structlog", "yaml")),
        (["check", "plan.json"], "The plan is valid", ("rich", "structlog", "sqlite3")),
        (["plan", "weld 1", "--scene", "weld_star"], "Attach Welder", ("rich", "structlog", "sqlite3")),
        (["scene", "list"], "weld_star", ("rich", "structlog", "yaml")),
        (["inbox", "list"], "Nothing waits", ("rich", "structlog", "yaml")),
    ],
    ids=["help", "check", "plan", "scene list", "inbox list"],
)
def test_a_command_leaves_heavy_modules_unloaded(
    words: list[str], says: str, also: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "plan.json").write_text(PLAN, encoding="utf-8")
    done = python("-c", AFTER.format(words=words, heavy=HEAVY + also), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]


@pytest.mark.parametrize(
    "module", ["beforehand.app.models", "beforehand.app.model_log", "beforehand.testing", "beforehand.server.app"]
)
def test_what_may_ask_a_model_loads_nothing_before_it_does(module: str, tmp_path: Path) -> None:
    done = python("-c", f"import {module}, sys; print(*(n for n in {MODELS!r} if n in sys.modules))", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


@pytest.mark.needs("pydantic_ai")
def test_a_model_that_is_set_is_looked_at_without_loading_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEFOREHAND_MODEL", "openai:some")
    monkeypatch.setenv("BEFOREHAND_MODEL_URL", "http://127.0.0.1:9/v1")
    done = python("-c", AFTER.format(words=["doctor", "-o", "json"], heavy=MODELS), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "openai:some, asked at 127.0.0.1:9." in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["loaded:"]


def test_the_package_itself_loads_nothing(tmp_path: Path) -> None:
    done = python("-c", f"import beforehand, sys; print(*(n for n in {HEAVY!r} if n in sys.modules))", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "")
    done = python("-c", "import beforehand, sys; print(*(n for n in sys.modules if 'beforehand' in n))", cwd=tmp_path)
    assert done.stdout.strip() == "beforehand"


CRAFTS = sorted(path.name for path in (Path(beforehand.__file__).parent / "crafts").iterdir() if path.is_dir())
WORDS_OF_CRAFTS = ("robot", "worksite", "pallet", "forklift", "weld", "sub.?goal", "opentcs", "movingai", "babyai")
"""Things that only a craft has; what all of them move is called a machine."""
NEUTRAL = ("app", "server", "cli", "loop", "engine", "testing")


@pytest.mark.parametrize("room", NEUTRAL)
def test_no_room_but_its_own_names_a_craft(room: str, repository: Path) -> None:
    """Neither in code nor in words: not the craft, not its scenes, tools or planner, nor what it moves."""
    names = [name for name in CRAFTS if not name.startswith("_")]
    assert {"cell", "fleet"} <= set(names)
    theirs = [*names, *WORDS_OF_CRAFTS]
    named = re.compile(rf"(?<![a-z])({'|'.join(theirs)})(?:s|[A-Z_.:/-]|(?![a-z]))", re.IGNORECASE)
    built = repository / "src" / "beforehand" / "server" / "console"  # not a source; web/ has a folder for each craft
    found = [
        f"{path.relative_to(repository)}:{number}: {line.strip()}"
        for path in sorted((repository / "src" / "beforehand" / room).rglob("*"))
        if path.suffix in (".py", ".js", ".css", ".html") and not path.is_relative_to(built)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if named.search(line)
    ]
    assert found == []


def test_a_craft_of_the_console_imports_no_other(repository: Path) -> None:
    """Only `crafts/index.ts` names them; a craft's folder imports from itself and from what is shared."""
    web = repository / "web" / "src"
    names = "|".join(name for name in CRAFTS if not name.startswith("_"))
    named = re.compile(rf"""(?:from|import\()\s*["'](?:@/crafts/|(?:\.\./)+(?:crafts/)?)({names})["'/]""")
    found = [
        f"{path.relative_to(web)}: {found[1]}"
        for path in sorted(web.rglob("*.ts*"))
        if path != web / "crafts" / "index.ts"
        for found in named.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_nothing_else_of_the_console_names_a_craft_or_its_scenes(repository: Path) -> None:
    """Neither in code nor in words: what a craft says, shows and is called comes from its folder."""
    web = repository / "web" / "src"
    kinds = re.compile(r'sceneKind: "(\w+)"')
    crafts = [path.read_text(encoding="utf-8") for path in (web / "crafts").glob("*/craft.ts")]
    names = {name for name in CRAFTS if not name.startswith("_")} | {
        found for text in crafts for found in kinds.findall(text)
    }
    assert {"cell", "fleet", "home"} <= names
    own = "|".join(sorted(names - {"home"}))  # the folder everything is kept in is called a home, too
    named = re.compile(rf"(?<![a-z])({own})s?(?![a-z])|(?-i:[\"']home[\"']|\bhome:)", re.IGNORECASE)
    found = [
        f"{path.relative_to(web)}:{number}: {line.strip()}"
        for path in sorted(web.rglob("*"))
        if path.suffix in (".ts", ".tsx", ".css") and ".test." not in path.name and path.name != "schema.d.ts"
        if not path.is_relative_to(web / "crafts")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if named.search(line)
    ]
    assert found == []
