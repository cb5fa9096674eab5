"""The one way to read a document: YAML or JSON, from a file or standard input, hostile or not.

What comes back is plain JSON data: text keys, finite numbers, bounded in size and depth, with no aliases left that
could blow up later.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from beforehand.app.yaml12 import GivenTwiceError
from beforehand.model.errors import BadInputError, NotFoundError, TooLargeError

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 2_000_000


def read_file(path: str, *, odd_numbers: bool = False) -> Any:
    """The document in a file; `-` is standard input.

    Raises NotFoundError for a missing file and BadInputError for one that cannot be read.
    With `odd_numbers` infinities and NaN stay in it, for a reader that reports them with their place.
    """
    return parse(_read(path), _called(path), odd_numbers=odd_numbers)


def read_text(path: str) -> str:
    """The text in a file; `-` is standard input. Raises as `read_file` does."""
    return _text(_read(path), _called(path))


def _called(path: str) -> str:
    return "standard input" if path == "-" else path


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {path}.", code="file.missing") from None
    except IsADirectoryError:
        raise BadInputError(f"{path} is a folder, not a file.", code="file.folder") from None
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path!r} cannot be read: {error}.", code="file.unreadable") from None


def parse(raw: bytes | str, name: str, *, odd_numbers: bool = False) -> Any:
    """The document in a text, JSON first, else YAML; BadInputError with the place when it is neither."""
    text = _text(raw, name)
    if not text.strip():
        raise BadInputError(f"{name} is empty.", code="document.empty")
    try:
        value = from_json(text, name)
    except RecursionError:
        raise _too_deep(name) from None
    except ValueError as error:
        value = _yaml(text, name, error)
    return _Plain(name, odd_numbers).take(value, 0)


def from_json(text: str, name: str) -> Any:
    """The value in a JSON text; BadInputError where a key stands twice, ValueError where it is no JSON."""
    try:
        return json.loads(text, object_pairs_hook=_each_once)
    except GivenTwiceError as error:
        raise _twice(name, error) from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise GivenTwiceError(next(key for key, many in Counter(key for key, _ in pairs).items() if many > 1))
    return found


def _text(raw: bytes | str, name: str) -> str:
    if len(raw) > MAX_BYTES:
        raise TooLargeError(f"{name} is larger than {MAX_BYTES // 1024 // 1024} MiB.")
    if isinstance(raw, bytes):
        try:
            raw = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInputError(f"{name} is not UTF-8 text (byte {error.start}).", code="document.encoding") from None
    if "\0" in raw:
        raise BadInputError(f"{name} holds a NUL byte; it is not a text document.", code="document.encoding")
    return raw


def _yaml(text: str, name: str, json_error: ValueError) -> Any:
    import yaml

    from beforehand.app.yaml12 import load

    try:
        return load(text)
    except RecursionError:
        raise _too_deep(name) from None
    except GivenTwiceError as error:
        raise _twice(name, error) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        said = json_error if text.lstrip()[:1] in "{[" else _short(error)
        raise BadInputError(f"{name} is neither JSON nor YAML: {said}.", code="document.syntax") from None
    except (KeyError, AttributeError, TypeError):  # what the library makes of `!!bool maybe`
        says = f"{name} has a value that does not fit the tag (`!!…`) before it; remove the tag."
        raise BadInputError(says, code="document.syntax") from None


def _short(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"{problem}, line {mark.line + 1}, column {mark.column + 1}" if mark is not None else str(problem)


def plain(value: Any, name: str) -> Any:
    """The value as plain JSON data; BadInputError when it cannot be."""
    return _Plain(name).take(value, 0)


class _Plain:
    def __init__(self, name: str, odd_numbers: bool = False) -> None:
        self.name = name
        self.odd_numbers = odd_numbers
        self.nodes = 0

    def take(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise TooLargeError(f"{self.name} holds more than {MAX_NODES} values.")
        if depth > MAX_DEPTH:
            raise _too_deep(self.name)
        match value:
            case None | bool() | str() | int():
                return value
            case float():
                if not math.isfinite(value) and not self.odd_numbers:
                    raise BadInputError(
                        f"{self.name} holds {value}, which is not a finite number.", code="document.number"
                    )
                return value
            case Mapping():
                return {self._key(key): self.take(item, depth + 1) for key, item in value.items()}
            case list() | tuple():
                return [self.take(item, depth + 1) for item in value]
            case datetime() | date():
                return value.isoformat()
            case _:
                raise BadInputError(
                    f"{self.name} holds a {type(value).__name__}, which JSON cannot express.", code="document"
                )

    def _key(self, key: Any) -> str:
        if isinstance(key, str):
            return key
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, int | float):
            return str(key)
        raise BadInputError(f"{self.name} has a key that is not text: {key!r}.", code="document.key")


def _twice(name: str, error: GivenTwiceError) -> BadInputError:
    says = f"{name} gives the key {str(error)[:80]!r} twice in one place{error.where}; keep one of them."
    return BadInputError(says, code="document.duplicate")


def _too_deep(name: str) -> BadInputError:
    return BadInputError(f"{name} is nested more than {MAX_DEPTH} levels deep.", code="document.depth")


def scene_in(document: Any, works_in_scene: Callable[[str], bool]) -> str | None:
    """The scene a plan's document is for: the one it names, else the only one its steps name.

    `works_in_scene` says of a tool whether its argument `scene` names one.
    """
    if not isinstance(document, Mapping):
        return None
    if document.get("scene") is not None or not isinstance(document.get("steps"), list):
        return document["scene"] if isinstance(document.get("scene"), str) else None
    named = scenes_in(document, works_in_scene)
    return named[0] if len(named) == 1 else None


def scenes_in(document: Any, works_in_scene: Callable[[str], bool]) -> list[str]:
    """Every scene that the steps of a plan's document name."""
    steps = document.get("steps") if isinstance(document, Mapping) else None
    named = [_scene_of(step, works_in_scene) for step in steps] if isinstance(steps, list) else []
    return list(dict.fromkeys(name for name in named if name is not None))


def _scene_of(step: Any, works_in_scene: Callable[[str], bool]) -> str | None:
    if not isinstance(step, Mapping) or not works_in_scene(str(step.get("tool"))):
        return None
    args = step.get("args")
    scene = args.get("scene") if isinstance(args, Mapping) else None
    return scene if isinstance(scene, str) and not scene.startswith("$") else None
