"""What is found wrong while a document is read by hand: one pass finds everything, and every problem has its path.

Values are shown shortened, and nothing here recurses, so a hostile document costs no more than a plain one.
"""

import math
from collections.abc import Iterable
from typing import Any

from beforehand.model.reason import Problem, unknown

MOST_PROBLEMS = 500
Number = int | float


class Paper:
    """Problems as they are found, and the small questions every reader asks."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, path: str, says: str, *, code: str = "scene.invalid", nearest: tuple[str, ...] = ()) -> None:
        if len(self.problems) == MOST_PROBLEMS:
            code, path, says, nearest = "scene.more", "", f"There are more than {MOST_PROBLEMS} problems.", ()
        if len(self.problems) <= MOST_PROBLEMS:
            self.problems.append(Problem(code=code, about=path, says=says, path=path, nearest=nearest))

    def shown(self, value: Any) -> str:
        """A value as a sentence can hold it: short, and never a whole tree."""
        if isinstance(value, str):
            return f"'{value[:60]}'"
        if value is None or isinstance(value, bool):
            return "null" if value is None else str(value).lower()
        if isinstance(value, float) or (isinstance(value, int) and abs(value) < 10**30):
            return str(value)
        return {dict: "a mapping", list: "a list", int: "a very large number"}.get(type(value), "something else")

    def mapping(self, value: Any, path: str, keys: Iterable[str], what: str) -> dict[str, Any] | None:
        """The value as a mapping with known keys, camelCase spellings read as snake_case."""
        if not isinstance(value, dict):
            self.add(path, f"{what} must be a mapping, not {self.shown(value)}.")
            return None
        allowed = tuple(keys)
        spelled = {camel(key): key for key in allowed}
        found: dict[str, Any] = {}
        for key, inner in value.items():
            name = spelled.get(key, key) if isinstance(key, str) else key
            where = f"{path}.{str(key)[:60]}" if path else str(key)[:60]
            if name not in allowed:
                told = unknown("key", key, allowed, inside=f"{what[0].lower()}{what[1:]}")
                self.add(where, told.says, code="scene.unknown_key", nearest=told.nearest)
            elif name in found:
                self.add(where, f"{what} gives {name} twice, in two spellings.", code="scene.duplicate")
            else:
                found[name] = inner
        return found

    def entries(self, value: Any, path: str, *, needed: bool = False) -> list[tuple[str, Any]]:
        """The items of a list with their paths; nothing for a missing one unless it is needed."""
        if value is None and not needed:
            return []
        if not isinstance(value, list | tuple):
            shown = "missing" if value is None else self.shown(value)
            self.add(path, f"{path} must be a list, and is {shown}.")
            return []
        return [(f"{path}[{at}]", item) for at, item in enumerate(value)]

    def name(self, value: Any, path: str, what: str) -> str | None:
        if isinstance(value, str) and value.strip() == value and value and value.isprintable() and len(value) <= 200:
            return value
        if value is None:
            self.add(path, f"{what} needs a name.")
        elif isinstance(value, bool | int | float):
            self.add(path, f"{what} has the name {self.shown(value)}; names are text, so put it in quotes.")
        else:
            rule = "a name is 1 to 200 printable characters without outer spaces"
            self.add(path, f"{what} has the name {self.shown(value)}; {rule}.")
        return None

    def optional_name(self, value: Any, path: str, what: str) -> str | None:
        return None if value is None or value == "" else self.name(value, path, what)

    def number(self, value: Any, path: str, what: str, *, least: float | None = None) -> Number | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.add(path, f"{what} must be a number, not {self.shown(value)}.")
            return None
        if (isinstance(value, int) and abs(value) > 10**18) or not math.isfinite(value):
            self.add(path, f"{what} must be an ordinary number, not {self.shown(value)}.", code="scene.bad_number")
            return None
        if least is not None and value < least:
            self.add(path, f"{what} must be {least:g} or more, not {value}.", code="scene.bad_number")
            return None
        return value

    def unique(self, names: list[tuple[str, str]], what: str) -> dict[str, str]:
        """Every name with its first path; a second one is a problem."""
        seen: dict[str, str] = {}
        for path, name in names:
            if name in seen:
                self.add(path, f"The {what} {name} is already given at {seen[name]}.", code="scene.duplicate")
            seen.setdefault(name, path)
        return seen

    def known(self, name: str | None, path: str, what: str, names: dict[str, str]) -> None:
        if name is None or name in names:
            return
        told = unknown(what, name, names)
        self.add(path, told.says, code=f"scene.unknown_{what}", nearest=told.nearest)


def camel(key: str) -> str:
    """A key in camelCase, whichever way it is written."""
    head, *rest = key.split("_")
    return head + "".join(part.title() for part in rest)
