"""Who looks at the machine's clock, which people set: all others ask the clock they were given, or count ticks."""

import ast
from collections.abc import Iterator
from pathlib import Path

SHOWS_THE_WALL = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.today", "date.today"}
ALLOWED = {
    "app/clock.py": "the one clock, and the one way to ask for the wall's time",
    "app/private_files.py": "the times of files, which the machine's clock writes, too",
    "crafts/fleet/wire_testing.py": "where a test's clock begins",
    "loop/loop.py": "when a span began, which tracing shows beside those of other systems",
}
"""Modules that look at it, each with its reason."""
ASKS_THE_WALL = {
    "app/backup.py": "when a backup was made",
    "app/doctor.py": "whether it can be right",
    "app/ids.py": "ids that sort by time",
    "app/tls.py": "until when a certificate is good",
    "cli/audit.py": "dates that a person gives",
    "cli/token.py": "when a token was made",
    "server/auth.py": "until when somebody is logged in",
    "server/routes/auth.py": "until when somebody is logged in",
}
"""Modules that call `wall_ms`: for labels, and for what people agreed on by the clock."""


def names_used(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            yield f"{node.value.attr}.{node.attr}"
        elif isinstance(node, ast.ImportFrom) and node.module in ("time", "datetime"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Name) and node.id == "wall_ms":
            yield node.id


def users_of(names: set[str], repository: Path) -> set[str]:
    source = repository / "src" / "beforehand"
    return {str(path.relative_to(source)) for path in source.rglob("*.py") if names & set(names_used(path))}


def test_only_named_modules_look_at_the_machines_clock(repository: Path) -> None:
    assert users_of(SHOWS_THE_WALL, repository) == set(ALLOWED)


def test_only_named_modules_ask_for_the_time_of_the_wall(repository: Path) -> None:
    assert users_of({"wall_ms"}, repository) - {"app/clock.py"} == set(ASKS_THE_WALL)


def test_every_way_to_look_at_it_is_seen(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    for line in ("import time\nnow = time.time()", "from time import time", "clock = datetime.datetime.now"):
        module.write_text(line)
        assert SHOWS_THE_WALL & set(names_used(module)), line
