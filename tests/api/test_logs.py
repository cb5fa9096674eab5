"""Log lines: one JSON object each where nobody looks at a terminal, with the correlation id of the request."""

import json
import subprocess
import sys

SCRIPT = """
import logging, sys
import structlog
from beforehand.app.logs import configure_logs
from beforehand.ports.log import Log, answering

configure_logs(pretty=sys.argv[1] == "pretty")
with structlog.contextvars.bound_contextvars(correlation_id="order-1"):
    structlog.get_logger("beforehand.test").info("it happened", run="r1", text="ü\\ud800\\n")
    try:
        raise ValueError("no")
    except ValueError:
        structlog.get_logger("beforehand.test").exception("it broke")
logging.getLogger("uvicorn.error").warning("from a %s", "library")
logging.getLogger("uvicorn.error").info("chatter")
structlog.get_logger("beforehand.test").debug("detail")
log = Log("beforehand.test")
with answering("order-2"):
    log.info("of the house", run="r2")
    try:
        raise KeyError("lost")
    except KeyError:
        log.exception("broke in the house", run="r2")
log.debug("detail of the house")
"""


def lines(mode: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, mode], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_elsewhere_than_on_a_terminal_every_line_is_json() -> None:
    shown = [json.loads(line) for line in lines("json")]
    happened, broke, library, house, bug = shown
    assert happened["correlation_id"] == broke["correlation_id"] == "order-1"
    assert happened["run"] == "r1"
    assert happened["level"] == "info"
    assert "ValueError: no" in broke["exception"]
    assert library["level"] == "warning"
    assert "from a library" in library.values()
    assert (house["message"], house["level"], house["run"]) == ("of the house", "info", "r2")
    assert house["correlation_id"] == bug["correlation_id"] == "order-2"
    assert (bug["level"], "KeyError: 'lost'" in bug["exception"]) == ("error", True)


def test_on_a_terminal_lines_are_for_people() -> None:
    text = "\n".join(lines("pretty"))
    assert "it happened" in text
    assert "order-1" in text
    assert "ValueError: no" in text
    assert "from a library" in text
    assert "of the house" in text
    assert "KeyError: 'lost'" in text
    assert "chatter" not in text
    assert "detail" not in text
