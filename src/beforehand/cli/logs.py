"""Where logs go while a command works: standard error, without tracebacks unless they are asked for."""

import logging
import sys

_debug = False


def set_debug(on: bool) -> None:
    global _debug
    _debug = on


def is_debug() -> bool:
    return _debug


def quiet_logs(*, level: int = logging.WARNING) -> None:
    """Send log lines of the house to standard error; other libraries' only with --debug."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO if _debug else logging.CRITICAL + 1)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(KeysAndValues())
    house = logging.getLogger("beforehand")
    house.handlers = [handler]
    house.propagate = False
    house.setLevel(logging.DEBUG if _debug else level)


class KeysAndValues(logging.Formatter):
    """`level='warning' event='a plug-in is missing' plugin='lamps'`, on one line."""

    def format(self, record: logging.LogRecord) -> str:
        shown = {"level": record.levelname.lower(), "event": record.getMessage(), **getattr(record, "about", {})}
        if _debug and record.exc_info:
            shown["exception"] = self.formatException(record.exc_info)
        return " ".join(f"{key}={value!r}" for key, value in shown.items())
