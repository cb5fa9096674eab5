"""YAML as people mean it: the core schema of YAML 1.2.

The library's own rules are those of 1.1, where `on`, `off`, `yes` and `no` are truth values (a key `on:` too), `12:30`
is a number of seconds and `010` is eight. Here they are what they look like, and a date stays the text it is.
"""

import re
from functools import cache
from typing import Any

_TAG = "tag:yaml.org,2002:"
_RULES = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
)


class GivenTwiceError(ValueError):
    """A key stands twice in one mapping, so that one of its values would be lost unseen."""

    def __init__(self, key: Any, where: str = "") -> None:
        super().__init__(key)
        self.where = where


def load(text: str) -> Any:
    """The one document in a text; yaml.YAMLError or ValueError when there is none."""
    loader = _loader()(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_twice(node)
        return loader.construct_document(node)
    finally:
        loader.dispose()


@cache
def _loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  the library's own way

    for name, pattern, first in _RULES:
        Loader.add_implicit_resolver(_TAG + name, re.compile(rf"(?:{pattern})\Z"), list(first))
    Loader.add_constructor(_TAG + "int", _whole_number)
    return Loader


def _refuse_twice(root: Any) -> None:
    """Before anything is merged or built, so that a key which overrides a merged one is no second one."""
    import yaml

    todo, known = [root], {id(root)}
    while todo:
        node = todo.pop()
        inside = node.value if isinstance(node, yaml.SequenceNode) else []
        if isinstance(node, yaml.MappingNode):
            _refuse_twice_here(node)
            inside = [one for pair in node.value for one in pair]
        fresh = [one for one in inside if id(one) not in known]
        known.update(map(id, fresh))
        todo += fresh


def _refuse_twice_here(node: Any) -> None:
    seen: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if not isinstance(key.value, str) or key.tag == f"{_TAG}merge":
            continue
        if (key.tag, key.value) in seen:
            raise GivenTwiceError(key.value, f" (line {key.start_mark.line + 1})")
        seen.add((key.tag, key.value))


def _whole_number(loader: Any, node: Any) -> int:
    text: str = loader.construct_scalar(node)
    for sign, base in (("0o", 8), ("0x", 16)):
        if text.startswith(sign):
            return int(text[2:], base)
    return int(text)
