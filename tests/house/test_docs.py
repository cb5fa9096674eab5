"""Every command, option, setting and HTTP call stands in the documentation; an undocumented one is not finished."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

METHODS = {"get", "put", "post", "patch", "delete"}


@pytest.fixture(scope="module")
def cli_page(repository: Path) -> str:
    return (repository / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def http_page(repository: Path) -> str:
    return (repository / "docs" / "http.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def commands() -> Any:
    """All commands but those of crafts from other packages, which document their own."""
    from typer.main import get_command

    from beforehand.app.craft_commands import OURS, listed_commands
    from beforehand.cli.commands import app

    group: Any = get_command(app)
    for brought in listed_commands():
        if not any(module.startswith(OURS) for module in brought.modules):
            del group.commands[brought.name]
    return group


def command_names(command: object, words: tuple[str, ...] = ()) -> Iterator[str]:
    """`fleet simulate`, `inbox answer` …: every command that is not a group, hidden ones left out."""
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(words)
        return
    for name, child in below.items():
        if not getattr(child, "hidden", False):
            yield from command_names(child, (*words, name))


def test_every_command_is_documented(cli_page: str, commands: Any) -> None:
    names = list(command_names(commands))
    assert names
    assert [name for name in names if not re.search(rf"beforehand {re.escape(name)}(?![\w-])", cli_page)] == []


def long_options(command: Any) -> set[str]:
    """Every option of every command, spelled out: `--scene`, `--yes` …; hidden ones left out."""
    below = getattr(command, "commands", {}).values()
    own = {
        name
        for parameter in command.params
        if not getattr(parameter, "hidden", False)
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    }
    return own.union(*(long_options(child) for child in below if not child.hidden))


def test_every_option_is_documented(cli_page: str, commands: Any) -> None:
    options = long_options(commands)
    assert "--scene" in options
    assert sorted(option for option in options if not re.search(rf"{option}(?![\w-])", cli_page)) == []


def test_options_in_the_documentation_exist(repository: Path, commands: Any) -> None:
    there = long_options(commands) | {"--help"}
    pages = [repository / "README.md", *(repository / "docs").glob("*.md")]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines() if "beforehand " in line]
    named = {option for line in lines for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", line)}
    assert named
    assert sorted(named - there) == []


def test_every_setting_is_documented(repository: Path) -> None:
    from beforehand.app.settings import KNOWN, PREFIX

    page = (repository / "docs" / "settings.md").read_text(encoding="utf-8")
    documented = set(re.findall(rf"`{PREFIX}(\w+)`", page))
    assert documented == {setting.name.upper() for setting in KNOWN}


def test_the_index_lists_every_page(repository: Path) -> None:
    index = (repository / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {page.name for page in (repository / "docs").glob("*.md")} - {"index.md"}
    assert sorted(page for page in pages if f"]({page})" not in index) == []


def without_parameter_names(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


def documented_calls(page: str) -> set[str]:
    """`GET /runs/{}` for every call named in the page; `GET|PATCH` and `pause|resume` stand for one call each."""
    calls = set()
    page = page.replace("\\|", "|")  # a bar inside a table
    for methods, path in re.findall(r"`((?:GET|PUT|POST|PATCH|DELETE)(?:\|[A-Z]+)*) (/[^`\s?]*)", page):
        *front, last = path.split("/")
        for method in methods.split("|"):
            for end in last.split("|"):
                calls.add(f"{method} {without_parameter_names('/'.join([*front, end]))}")
    return calls


def is_documented(call: str, documented: set[str]) -> bool:
    """A parameter may stand for words the page spells out, as in `/runs/{id}/pause`."""
    pattern = re.compile(re.escape(call).replace(r"\{\}", "[^/]+"))
    return any(pattern.fullmatch(known) for known in documented)


def test_every_http_call_is_documented(http_page: str, repository: Path) -> None:
    schema = json.loads((repository / "docs" / "openapi.json").read_text(encoding="utf-8"))
    calls = {
        f"{method.upper()} {without_parameter_names(path.removeprefix('/api/v1'))}"
        for path, operations in schema["paths"].items()
        if path.startswith("/api/v1")
        for method in operations
        if method in METHODS
    }
    assert calls
    documented = documented_calls(http_page)
    assert sorted(call for call in calls if not is_documented(call, documented)) == []


def test_every_tool_for_mcp_clients_is_documented(repository: Path) -> None:
    from beforehand.app.crafts import load_crafts
    from beforehand.cli.mcp.offer import offer_of

    page = (repository / "docs" / "mcp.md").read_text(encoding="utf-8")
    tools = offer_of(load_crafts(built_in_only=True), lambda request: None).tools  # type: ignore[arg-type, return-value]
    listed = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert listed == tools.keys()
