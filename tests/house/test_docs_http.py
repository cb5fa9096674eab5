"""The calls that docs/http.md shows are made in their order, as a reader would, and answer what the page shows."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("curl")
FALLS_AS_IT_WILL = (
    (re.compile(r"\b(run|plan)_[0-9a-z]{14}\b"), r"\1_ID"),
    (re.compile(r'"(now|uptimeS)":[\d.]+'), r'"\1":0'),
    (re.compile(r'"(identity|generation)":"[0-9a-z]{8}"'), r'"\1":""'),
)


def plainly(text: str) -> str:
    for pattern, stands_for in FALLS_AS_IT_WILL:
        text = pattern.sub(stands_for, text)
    return text


def calls(page: str) -> Iterator[tuple[str, str]]:
    """Each `curl` of the page that comes to an end, with the beginning of the answer that is shown below it."""
    for block in re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        for call in re.split(r"^(?=curl )", block, flags=re.MULTILINE)[1:]:
            lines = [line for line in call.splitlines() if not line.startswith("PLAN=")]
            told = "".join(line.lstrip("# ") for line in lines if line.startswith("#"))
            if not call.startswith("curl -sN"):  # a stream stays open
                asked = "\n".join(line for line in lines if not line.startswith("#"))
                yield asked, told.partition("…")[0].rstrip(", ")


@pytest.fixture
def api(tmp_path: Path) -> Iterator[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("BEFOREHAND_")}
    words = [sys.executable, "-m", "beforehand", "up", "--port", "0", "--no-open"]
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(words, cwd=tmp_path, env=clean, **quiet) as server:  # type: ignore[call-overload]
        try:
            line = server.stdout.readline()
            assert line.startswith("Beforehand is at"), line
            yield f"{line.split()[-1]}/api/v1"
        finally:
            server.terminate()


def test_calls_of_the_http_page_answer_what_it_shows(api: str, repository: Path) -> None:
    page = (repository / "docs" / "http.md").read_text(encoding="utf-8")
    plan, run, answered = "", "", 0
    for call, answer in calls(page):
        script = f"API={api} PLAN={plan}\n{re.sub(r'run_[0-9a-z]{14}', run, call)}"
        direct = {**os.environ, "no_proxy": "*"}
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=120, env=direct)
        assert plainly(answer) in plainly(done.stdout), f"{script}\n{done.stdout}\n{done.stderr}"
        assert "command.expired" not in done.stdout
        plan = plan or "".join(re.findall(r'^{"id":"(plan_[0-9a-z]{14})"', done.stdout))
        run = run or "".join(re.findall(r'^{"runId":"(run_[0-9a-z]{14})"', done.stdout))
        answered += answer != ""
    assert plan
    assert run
    assert answered == 3
