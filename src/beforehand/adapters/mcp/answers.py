"""What goes back to an MCP client: words for people and models, the same as data, and never more than a client takes.

Whoever calls too much at once is told what was left off, so that nothing is missing silently.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beforehand.model.errors import BeforehandError
from beforehand.ports.mcp import McpAnswer

if TYPE_CHECKING:
    from mcp_types import CallToolResult

MOST_CHARACTERS = 120_000
"""Of an answer's data, written as JSON; about as much as the smaller models can read."""
MOST_WORDS = 20_000
"""Characters of the answer in words."""
_LONGEST_TEXT = 20_000
_MOST_ITEMS = 1_000
_LEAST = 5


def answered(answer: McpAnswer) -> "CallToolResult":
    return _result(answer.says, fitting(answer.data), is_error=False)


def refused(error: BeforehandError) -> "CallToolResult":
    """An error as a client can act on it: sentences, and every problem and the nearest names as data."""
    problems = [problem.wire() for problem in error.problems]
    told: dict[str, Any] = {"code": error.code, "says": error.says}
    told |= {"hint": error.hint} if error.hint else {}
    told |= {"problems": problems} if problems else {}
    told |= {"nearest": list(error.nearest)} if error.nearest else {}
    told |= {name: value for name, value in error.extra.items() if name not in told}
    return _result(sentences(error), fitting(told), is_error=True)


def sentences(error: BeforehandError) -> str:
    """The error, each of its problems on a line of its own, and what to do."""
    lines = [error.says]
    for problem in error.problems:
        where = f"{problem.path}: " if problem.path and not problem.says.startswith(problem.path) else ""
        line = f"- {where}{problem.says} {problem.try_next}".rstrip()
        lines += [line] if problem.says != error.says or where else []
    return "\n".join([*lines, *([error.hint] if error.hint else [])])


def _result(says: str, data: dict[str, Any], *, is_error: bool) -> "CallToolResult":
    """Many clients hand only the texts on to their model, so the data is among them."""
    from mcp_types import CallToolResult, TextContent

    texts = [_cut(says, MOST_WORDS)] + ([json.dumps(data, ensure_ascii=False)] if data else [])
    content: list[Any] = [TextContent(type="text", text=text) for text in texts]
    return CallToolResult(content=content, structured_content=data, is_error=is_error)


def fitting(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data, with the ends of its longest lists and texts left off until it fits; `leftOff` says where and what."""
    items, text = _MOST_ITEMS, _LONGEST_TEXT
    while True:
        left: dict[str, int] = {}
        shown = {name: _shortened(value, name, items, text, left) for name, value in data.items()}
        if left:
            shown["leftOff"] = dict(list(left.items())[:20])
        if items <= _LEAST or len(json.dumps(shown, ensure_ascii=False)) <= MOST_CHARACTERS:
            return shown
        items, text = items // 2, text // 2


def _shortened(value: Any, path: str, items: int, text: int, left: dict[str, int]) -> Any:
    if isinstance(value, str) and len(value) > text:
        left[path] = len(value) - text
        return _cut(value, text)
    if isinstance(value, list | tuple):
        if len(value) > items:
            left[path] = len(value) - items
        return [_shortened(item, f"{path}[{at}]", items, text, left) for at, item in enumerate(value[:items])]
    if isinstance(value, Mapping):
        kept = list(value.items())
        if len(kept) > items:
            left[path] = len(kept) - items
        return {str(key): _shortened(item, f"{path}.{key}", items, text, left) for key, item in kept[:items]}
    return value


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
