"""What may go through the log: JSON values, as a replay would give them back.

A tool's value is taken as the JSON it comes to, so that the live state and the replayed one are the same thing, and
tools get copies of what the state holds.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from pydantic_core import from_json, to_json

from beforehand.model.errors import Fault

MAX_VALUE_BYTES = 16 * 1024 * 1024
SHORT = 1000
"""A text of so many characters is small enough, whatever is in it."""


def json_value(value: Any, tool: str) -> Any:
    """The value as plain JSON data; a Fault when it is none, or too large for the log."""
    if value is None or value is True or value is False:
        return value
    if type(value) is str and len(value) <= SHORT and value.isascii():
        return value
    try:
        written = to_json(value, inf_nan_mode="constants")
        taken = value if type(value) in (str, int) else _read_back(value, written)
    except (ValueError, TypeError, RecursionError) as error:
        raise Fault(f"The tool {tool} gave a value that is not JSON: {writable(str(error))}.") from error
    if len(written) > MAX_VALUE_BYTES:
        raise Fault(f"The tool {tool} gave {len(written)} bytes; {MAX_VALUE_BYTES} is the most a step may give.")
    return taken


def _read_back(value: Any, written: bytes) -> Any:
    """What was written, read again, unless a number in it has no JSON."""
    suspicious = b"NaN" in written or b"Infinity" in written
    if suspicious and written != to_json(value, inf_nan_mode="null"):
        raise ValueError("a number in it is not finite")
    return from_json(written)


def own_copy(args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments that a tool may change without changing what the run knows."""
    for value in args.values():
        if isinstance(value, dict | list):
            return deepcopy(dict(args))
    return dict(args)


def writable(text: str) -> str:
    """A sentence as the log can hold it; half characters, as odd file names have them, become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
