"""Where log lines go: standard error, pretty on a terminal and JSON elsewhere, other libraries' lines among them."""

import logging
import sys
from typing import Any

import structlog

from beforehand.model.secrets import without_secrets
from beforehand.ports.log import this_request


def configure_logs(level: int = logging.INFO, *, pretty: bool | None = None) -> None:
    """Set the process's logs up, once; `pretty` follows the terminal unless it is said."""
    pretty = sys.stderr.isatty() if pretty is None else pretty
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        _with_what_it_is_about,
        _without_secrets,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if pretty else "iso", utc=not pretty),
    ]
    last: list[Any] = (
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if pretty
        else [
            structlog.processors.format_exc_info,
            _without_secrets,
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(ensure_ascii=True),
        ]
    )
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    house = logging.getLogger("beforehand")
    house.handlers = []
    house.propagate = True
    house.setLevel(level)
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)


def _without_secrets(logger: Any, method: str, line: Any) -> Any:
    """A line of the log never holds a secret, whoever wrote it."""
    return {name: without_secrets(value) if isinstance(value, str) else value for name, value in line.items()}


def _with_what_it_is_about(logger: Any, method: str, line: Any) -> Any:
    """The keywords of a line of the house, and the id of the request it belongs to."""
    line.update(getattr(line.get("_record"), "about", {}))
    if correlation_id := this_request.get():
        line.setdefault("correlation_id", correlation_id)
    return line
