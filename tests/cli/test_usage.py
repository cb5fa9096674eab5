"""The command line itself: help, versions, usage errors, and what an end looks like."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("fastapi", "mcp", "numpy", "scipy", "httpx2", "uvicorn", "jsonschema", "neo4j", "rich", "structlog", "yaml")

COMMANDS = (
    "up",
    "check",
    "preview",
    "run",
    "template",
    "inbox",
    "scene",
    "doctor",
    "config",
    "plugins",
    "token",
    "version",
)


def test_the_command_starts_without_heavy_libraries() -> None:
    code = f"import sys, beforehand.cli.commands; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_lists_every_command(cli) -> None:
    shown = cli("--help", code=0)
    for command in COMMANDS:
        assert f"\n  {command} " in shown.out
    assert shown.err == ""


@pytest.mark.parametrize(
    "words",
    [
        "up",
        "check",
        "preview",
        "run",
        "template run",
        "inbox answer",
        "scene check",
        "doctor",
        "config show",
        "token add",
    ],
)
def test_every_command_explains_itself(cli, words: str) -> None:
    assert f"Usage: beforehand {words}" in cli(*words.split(), "--help", code=0).out


def test_version(installed) -> None:
    from beforehand import __version__

    assert installed("version", code=0).out == installed("--version", code=0).out == f"beforehand {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnu"], "Did you mean `beforehand run`?"),
        (["inbox", "answr"], "Commands: list, show, answer."),
        (["run", "--resumee", "x"], "--resume"),
        (["check"], "PLAN"),
        (["check", "a", "b"], "See `beforehand check --help`."),
        (["run"], "Name either a PLAN to run or a run to continue (--resume RUNID)."),
        (["run", "p.yaml", "--resume", "r"], "Name either a PLAN"),
        (["run", "--resume", "r", "--workspace", "."], "--scene and --workspace cannot be used with --resume"),
        (["check", "p.yaml", "-o", "xml"], "'-o': 'xml' is not one of 'table', 'json'."),
        (["up", "--speed", "nan"], "The speed must be a number above 0"),
        (["up", "--port", "many"], "Invalid value for '--port': 'many' is not a whole number."),
        (["agent", "run", "studio", "--goal", "x", "--max-steps", "0"], "'--max-steps': '0' is not 1 or more."),
        (["up", "--speed", "fast"], "Invalid value for '--speed': 'fast' is not a number."),
        (["token", "add", "me", "--role", "king"], "Unknown role 'king'. Known roles: admin, operator, viewer."),
        (["inbox", "show", "d1"], "There is no log at"),
        (["run", "--resume", "run_1"], "so the run 'run_1' is unknown"),
        (["template", "run", "t", "nonsense"], "Parameters are written key=value, not 'nonsense'."),
        (["scene", "show", "weld_stra"], "weld_star"),
        ([], "Usage: beforehand"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_told_in_a_sentence(cli, words: list[str], said: str) -> None:
    done = cli(*words, code=2)
    assert said in done.err
    assert done.out == ""
    assert not (cli.folder / ".beforehand").exists()


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ("[{id: a, tool: wait, args: {seconds: 0}}]", 0),
        ("[{id: a, tool: read_file, args: {path: gone}}]", 1),
        ("[{id: a, tool: no_such_tool}]", 2),
        ("[{id: a, tool: ask_person, args: {question: Who}}]", 3),
    ],
)
def test_the_installed_command_ends_with_the_code_of_what_came_of_it(installed, steps: str, code: int) -> None:
    done = installed("run", "-", "-o", "json", given=f"steps: {steps}", code=code)
    assert (done.out == "") == (code == 2)


def test_debug_shows_where_an_error_came_from(cli) -> None:
    process = cli.start("check", "nowhere.yaml", "--debug")
    _, err = process.communicate(timeout=60)
    assert "Traceback" in err
    assert process.returncode == 2


def test_a_reader_that_goes_away_is_no_error(installed) -> None:
    process = installed.start("plugins", "-o", "json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=60) in (0, 1)
    assert process.stderr.read() == ""


@pytest.mark.parametrize(("closed", "code"), [("<&-", 2), (">&-", 0), ("2>&-", 0)])
def test_a_closed_stream_is_no_bug(cli, step, closed: str, code: int) -> None:
    cli.plan(step("a", "wait", seconds=0))
    words = "check -" if closed == "<&-" else "check plan.yaml"
    program = Path(sys.executable).parent / "beforehand"
    done = subprocess.run(
        ["sh", "-c", f"{program} {words} {closed}"],
        cwd=cli.folder,
        env=cli.environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == code
    assert b"itself made an error" not in done.stderr


def test_a_command_that_is_interrupted_while_it_reads_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from beforehand.cli.commands import call

    def interrupted(path: str) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr("beforehand.app.documents._read", interrupted)
    assert call(["check", "-"]) == 130
    assert capsys.readouterr() == ("", "Stopped.\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_says_how_to_go_on(installed, step, number: signal.Signals, code: int) -> None:
    installed.plan(
        step("first", "write_file", path="begun", content=""),
        step("long", "wait", {"dependsOn": ["first"]}, seconds=60),
    )
    process = installed.start("run", "plan.yaml")
    assert process.stderr is not None
    told = []
    for sentence in process.stderr:
        told.append(sentence)
        if "first completed" in sentence:
            process.send_signal(number)
    assert process.wait(timeout=60) == code
    run_id = installed.events()[-1]["about"]["runId"]
    assert f"The run {run_id} can be continued with: beforehand run --resume {run_id}\n" in told
    assert "Traceback" not in "".join(told)
    assert [event["data"]["status"] for event in installed.events() if event["kind"] == "stepUpdated"][-1] == "running"
