"""Nothing in the repository knows the machine it was written on, and the files users look for are there."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

SKIPPED = {".git", ".venv", ".venv-bench", "node_modules", "demo", "dist", "build", "__pycache__"}
MACHINE_FOLDERS = ("root", "work", "farm", "home", "Users", "opt")
# Written in parts so that this file does not find itself.
HOSTS = ("pypi" + ".org", "python" + "hosted.org", "registry." + "npmjs", "npm" + "mirror")
REGISTRIES = (*HOSTS, "index" + "-url", "find" + "-links")

MACHINE_PATH = re.compile(r"(?<![\w.$~}>*…-])/(?:" + "|".join(MACHINE_FOLDERS) + r")/[\w.-]+")
REGISTRY = re.compile("|".join(re.escape(host) for host in REGISTRIES))
LOCK_LEAK = re.compile(r"https?:|file:|index-url|find-links|resolved|@ |^-|(?<![\w.])/\w", re.MULTILINE)


def tracked_files(repository: Path) -> Iterator[Path]:
    """What git holds, or everything but caches where there is no git."""
    if shutil.which("git") and (repository / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, cwd=repository, check=True).stdout
        names = (repository / name for name in listed.decode().split("\0") if name)
        yield from (path for path in names if path.is_file())
        return
    for path in repository.rglob("*"):
        parts = path.relative_to(repository).parts
        if path.is_file() and not any(part in SKIPPED or part.startswith(".") for part in parts):
            yield path


def lines_matching(pattern: re.Pattern[str], path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.search(line):
            yield f"{path}:{number}: {line.strip()[:120]}"


def test_no_file_holds_a_path_of_one_machine(repository: Path) -> None:
    found = [hit for path in tracked_files(repository) for hit in lines_matching(MACHINE_PATH, path)]
    assert found == []


def test_no_file_names_a_registry(repository: Path) -> None:
    # The tool that writes the locks is told to leave registries out, by options that name them.
    allowed = {repository / "scripts" / "lock.sh", Path(__file__).resolve()}
    found = [hit for path in tracked_files(repository) if path not in allowed for hit in lines_matching(REGISTRY, path)]
    assert found == []


@pytest.mark.parametrize("name", ["runtime", "console", "dev", "bench"])
def test_locks_are_hashed_and_name_no_place(name: str, repository: Path) -> None:
    text = (repository / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    assert LOCK_LEAK.search(text) is None
    pins = re.findall(r"^([A-Za-z0-9][\w.-]*)==\S+(.*)", text, re.MULTILINE)
    assert pins
    assert [pin for pin, rest in pins if not rest.endswith("\\")] == [], "These are pinned without a hash."


def test_the_lock_of_web_is_hashed_and_names_no_place(repository: Path) -> None:
    """Packages of other platforms too: where the lock lacks one, `npm ci` refuses it there."""
    packages = json.loads((repository / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    asked = packages.pop("")
    assert packages
    assert [name for name, one in packages.items() if not name.startswith("node_modules/") or "resolved" in one] == []
    assert [name for name, one in packages.items() if not one.get("integrity", "").startswith("sha512-")] == []
    wanted = {name for one in [asked, *packages.values()] for name in one.get("optionalDependencies", {})}
    assert sorted(name for name in wanted if not any(held.endswith(f"node_modules/{name}") for held in packages)) == []
    assert "omit-lockfile-registry-resolved=true" in (repository / "web" / ".npmrc").read_text(encoding="utf-8")


def test_no_second_lock_format(repository: Path) -> None:
    assert [path.name for path in tracked_files(repository) if path.name in {"uv.lock", "pylock.toml"}] == []


def test_the_readme_shows_the_two_commands(repository: Path) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8")
    assert "make run" in readme
    assert "make test" in readme


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "CHANGELOG.md", "ARCHITECTURE.md", "LICENSE", "docs/index.md"])
def test_the_files_a_user_looks_for_are_there(name: str, repository: Path) -> None:
    assert (repository / name).read_text(encoding="utf-8").strip()


def test_links_between_the_documents_lead_somewhere(repository: Path) -> None:
    broken = []
    for page in [*repository.glob("*.md"), *(repository / "docs").glob("**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(repository)} -> {target}")
    assert broken == []


def test_ci_runs_make_test_where_nothing_may_be_missing(repository: Path) -> None:
    script = repository / ".ci" / "run"
    text = script.read_text(encoding="utf-8")
    assert "CI=true" in text
    assert "make test" in text
    assert script.stat().st_mode & 0o111, ".ci/run is not executable."
