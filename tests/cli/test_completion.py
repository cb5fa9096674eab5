"""Shells complete commands, options and names: by the words they ask for, and in a real bash."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BEFOREHAND = Path(sys.executable).parent / "beforehand"


def words(cli: Any, *so_far: str) -> list[str]:
    told = cli("completion", "words", "--", *so_far, code=0).out
    return [line.partition("\t")[0] for line in told.splitlines()]


def test_commands_of_crafts_and_groups_are_completed(cli: Any) -> None:
    assert {"run", "runs", "robots"} <= set(words(cli, "r"))
    assert {"fleet", "tasks", "cell", "up", "completion"} <= set(words(cli, ""))
    assert words(cli, "robots", "ho") == ["hold"]
    assert set(words(cli, "inbox", "")) == {"list", "show", "answer"}
    assert "words" not in words(cli, "completion", "")


def test_options_and_their_values_are_completed(cli: Any) -> None:
    assert "--scene" in words(cli, "plan", "--")
    assert words(cli, "check", "plan.yaml", "--posi") == ["--position"]
    assert words(cli, "check", "-o", "") == ["table", "json"]
    assert words(cli, "plan", "weld 1", "--scene", "weld_s") == ["weld_star"]
    assert "weld_star" not in words(cli, "fleet", "simulate", "")
    assert "weld_star" in words(cli, "cell", "state", "")


@pytest.mark.parametrize("so_far", [("no-such",), ("no-such", ""), ("run", "x", "y", ""), ("version", "")])
def test_where_nothing_fits_nothing_is_offered(cli: Any, so_far: tuple[str, ...]) -> None:
    assert words(cli, *so_far) == []


def test_names_come_from_the_home(cli: Any, step: Any) -> None:
    assert words(cli, "runs", "show", "") == []
    assert not (cli.folder / ".beforehand").exists(), "completing makes no home"
    run = cli("run", cli.plan(step("a", "wait", seconds=0)), "-o", "json", code=0).document
    assert words(cli, "runs", "show", "run_") == [run["runId"]]
    assert words(cli, "run", "--resume", "") == [run["runId"]]
    assert words(cli, "runs", "--home", "elsewhere", "show", "") == []
    assert words(cli, "runs", "show", "--home", "elsewhere", "") == []
    cli("submit", "plan.yaml", code=0)
    (review,) = words(cli, "inbox", "show", "")
    assert review == cli("inbox", "-o", "json").document[0]["id"]


def test_robots_tasks_and_streams_of_active_scenes_are_completed(cli: Any) -> None:
    cli.up("--scene", "line_pick_drop", "--speed", "0.2")
    assert words(cli, "robots", "hold", "") == ["RB-01"]
    assert words(cli, "streams", "enable", "s") == ["stream_pick_drop"]
    assert words(cli, "robots", "hold", "--scene", "") == ["line_pick_drop"]
    assert {"PICK_01", "DROP_01"} <= set(words(cli, "worksites", "set", ""))


def test_a_home_that_cannot_be_read_is_no_noise(cli: Any) -> None:
    (cli.folder / ".beforehand").mkdir()
    (cli.folder / ".beforehand" / "log.db").write_text("this is no log")
    told = cli("completion", "words", "--", "runs", "show", "", code=0)
    assert (told.out, told.err) == ("", "")


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (["beforehand", "fle"], ["fleet"]),
        (["beforehand", "fleet", "simulate", "cross_"], ["cross_dock"]),
        (["beforehand", "robots", "out"], ["out-of-service"]),
        (["beforehand", "check", "--out"], ["--output"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_bash_completes_with_the_script(cli: Any, line: list[str], offered: list[str]) -> None:
    script = cli("completion", "bash", code=0).out
    quoted = " ".join(f"'{word}'" for word in line)
    asking = f"COMP_WORDS=({quoted}); COMP_CWORD={len(line) - 1}; _beforehand beforehand"
    asking += "; printf '%s\\n' \"${COMPREPLY[@]}\""
    path = os.pathsep.join([str(BEFOREHAND.parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n{asking}"],
        cwd=cli.folder,
        env=cli.environment | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.split() == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_is_one_its_shell_can_read(cli: Any, shell: str, tmp_path: Path) -> None:
    script = cli("completion", shell, code=0).out
    assert "completion words --" in script
    program = shutil.which(shell)
    if program is not None:
        (tmp_path / "script").write_text(script, encoding="utf-8")
        subprocess.run([program, "-n", str(tmp_path / "script")], check=True, timeout=60)
