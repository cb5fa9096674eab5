"""A home on a disk that is mounted read-only, or in a folder of somebody else's: everything that looks works there.

What was committed is found wherever it lies, also where it is in the write-ahead log only, as after a kill.
"""

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import BEFOREHAND, Cli

Mounted = Callable[[Path], Path]
ASKS = {"id": "ask", "tool": "ask_person", "args": {"question": "Red or blue?"}}
LOOKS = (
    ("inbox", "list"),
    ("tasks", "list"),
    ("audit", "verify"),
    ("plan", "weld 1", "--scene", "weld_star"),
    ("agent", "list"),
    ("ask", "how many runs were there"),
)
CHANGES = (
    ("submit", "plan.yaml"),
    ("run", "plan.yaml", "--yes"),
    ("inbox", "answer", "x", "start"),
    ("token", "add", "anna", "--role", "admin"),
    ("db", "migrate"),
    ("up", "--no-open", "--port", "0"),
)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Mounted]:
    """`mounted(home)`: a copy of the home on a disk of its own, which is read-only."""
    place = tmp_path / "disk"

    def mount(home: Path) -> Path:
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)], check=True)
        shutil.copytree(home, place / "home")
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        return place / "home"

    yield mount
    if place.is_mount():
        subprocess.run(["umount", "-l", str(place)], check=True)


def clean(cli: Cli) -> Path:
    """A home that was closed as it should be: one run waits for a person."""
    cli.plan(ASKS)
    cli("run", "plan.yaml", "--yes", code=3)
    return cli.folder / ".beforehand"


def killed(cli: Cli) -> Path:
    """The same as a killed process leaves it: everything is in the write-ahead log, beside it the shared memory."""
    home, copy = clean(cli), cli.folder / "killed"
    with closing(sqlite3.connect(home / "log.db")) as writer, closing(sqlite3.connect(home / "log.db")):
        writer.execute("UPDATE lead SET note = 'in the write-ahead log only'")
        writer.commit()
        shutil.copytree(home, copy)
    assert (copy / "log.db-wal").stat().st_size > 0
    return copy


def copied(cli: Cli) -> Path:
    """The same without the shared memory, as a careful copy of the two files leaves it."""
    home = killed(cli)
    (home / "log.db-shm").unlink()
    return home


@pytest.mark.needs("tmpfs")
@pytest.mark.parametrize("left", [clean, killed, copied])
def test_a_read_only_home_is_read_asked_exported_and_backed_up(
    left: Callable[[Cli], Path], cli: Cli, mounted: Mounted
) -> None:
    home = mounted(left(cli))
    cli.environment["BEFOREHAND_HOME"] = str(home)
    before = {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()}
    for words in LOOKS if left is clean else LOOKS[2:3]:
        cli(*words, code=0)
    [run] = cli("runs", "list", "-o", "json", code=0).document
    assert run["status"] == "waiting"
    cli("db", "backup", "backup.tar.gz", code=0)
    cli("db", "restore", "backup.tar.gz", "--home", "new", code=0)
    assert cli("runs", "list", "-o", "json", "--home", "new", code=0).document[0]["runId"] == run["runId"]
    assert {path.name: path.read_bytes() for path in home.iterdir() if path.is_file()} == before


@pytest.mark.needs("tmpfs")
def test_what_would_change_a_read_only_home_says_that_it_is_read_only(cli: Cli, mounted: Mounted) -> None:
    cli.environment["BEFOREHAND_HOME"] = str(mounted(clean(cli)))
    for words in CHANGES:
        refused = cli(*words, code=2)
        assert "is read-only for this process, so nothing was changed there" in refused.err
    examined = cli("doctor", "-o", "json", code=1).document
    broken = {check["check"]: check["says"] for check in examined["checks"] if check["state"] == "broken"}
    assert "read-only" in broken.pop("home")
    assert set(broken) <= {"disk", "space"}, broken


@pytest.mark.needs("tmpfs")
def test_commits_that_are_in_the_write_ahead_log_only_are_not_missed(cli: Cli, mounted: Mounted) -> None:
    home = mounted(copied(cli))
    cli("db", "copy", str(home), "copy.db", code=0)
    with closing(sqlite3.connect(cli.folder / "copy.db")) as connection:
        assert connection.execute("SELECT note FROM lead").fetchone() == ("in the write-ahead log only",)


def without_privileges(cli: Cli, *words: str) -> "subprocess.CompletedProcess[str]":
    """The command as root who may not pass over what files allow: for another's files it is anybody."""
    drop = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
    command = [*drop, str(BEFOREHAND), *words]
    done = subprocess.run(command, cwd=cli.folder, env=cli.environment, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.needs("root")
def test_a_home_of_somebody_else_is_read_where_that_is_allowed(cli: Cli) -> None:
    home = clean(cli)
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.chown(path, 12345, 12345)
    read = without_privileges(cli, "runs", "list", "-o", "json")
    assert read.returncode == 0, read.stderr
    assert [run["status"] for run in json.loads(read.stdout)] == ["waiting"]
    refused = without_privileges(cli, "submit", "plan.yaml")
    assert refused.returncode == 2
    assert "is read-only for this process" in refused.stderr
    home.chmod(0o700)
    closed = without_privileges(cli, "runs", "list")
    assert closed.returncode == 2
    assert "cannot be opened: Permission denied" in closed.stderr
