"""Log lines: what happened, in words, and what it is about, as keywords.

They go to Python's own `logging`, under names that begin with `beforehand`, so that a program which uses Beforehand
hears them like those of any library. How they look is said where a process begins: `app/logs.py`, `cli/logs.py`.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

this_request: ContextVar[str] = ContextVar("this_request", default="")
"""The correlation id of the request that is being answered; events and log lines carry it."""


@contextmanager
def answering(correlation_id: str) -> Iterator[None]:
    """Whatever happens inside belongs to the request with this id."""
    before = this_request.set(correlation_id)
    try:
        yield
    finally:
        this_request.reset(before)


class Log:
    """The lines of one part of the house: `Log("beforehand.runs").warning("a run stands still", run="r1")`."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, event: str, **about: Any) -> None:
        self._write(logging.DEBUG, event, about)

    def info(self, event: str, **about: Any) -> None:
        self._write(logging.INFO, event, about)

    def warning(self, event: str, **about: Any) -> None:
        self._write(logging.WARNING, event, about)

    def error(self, event: str, exc_info: BaseException | None = None, **about: Any) -> None:
        self._write(logging.ERROR, event, about, exc_info)

    def exception(self, event: str, **about: Any) -> None:
        """An error with the traceback of the exception that is being handled."""
        self._write(logging.ERROR, event, about, True)

    def _write(
        self, level: int, event: str, about: dict[str, Any], exc_info: BaseException | bool | None = None
    ) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, event, exc_info=exc_info, extra={"about": about}, stacklevel=3)
