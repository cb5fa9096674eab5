"""Every command and every HTTP call stands in the documentation; an undocumented one is not finished."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

METHODS = {"get", "put", "post", "patch", "delete"}


@pytest.fixture(scope="module")
def cli_page(repository: Path) -> str:
    return (repository / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def http_page(repository: Path) -> str:
    return (repository / "docs" / "http.md").read_text(encoding="utf-8")


def command_names(command: object, words: tuple[str, ...] = ()) -> Iterator[str]:
    """`fleet simulate`, `inbox answer` …: every command that is not a group, hidden ones left out."""
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(words)
        return
    for name, child in below.items():
        if not getattr(child, "hidden", False):
            yield from command_names(child, (*words, name))


def test_every_command_is_documented(cli_page: str) -> None:
    from typer.main import get_command

    from beforehand.cli.main import app

    names = list(command_names(get_command(app)))
    assert names
    assert [name for name in names if not re.search(rf"beforehand {re.escape(name)}(?![\w-])", cli_page)] == []


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
