"""Where logs go while a command works: standard error, without tracebacks unless they are asked for."""

import logging
import sys
from typing import Any

_debug = False


def set_debug(on: bool) -> None:
    global _debug
    _debug = on


def is_debug() -> bool:
    return _debug


def quiet_logs(*, level: int = logging.WARNING) -> None:
    """Send log lines of Beforehand to standard error; other libraries' only with --debug."""
    import structlog

    def without_traceback(logger: Any, name: str, event: Any) -> Any:
        if not _debug:
            event.pop("exc_info", None)
            event.pop("stack_info", None)
        return event

    logging.basicConfig(stream=sys.stderr, level=logging.INFO if _debug else logging.CRITICAL + 1)
    structlog.configure(
        processors=[
            without_traceback,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if _debug else level),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
