"""What a write or a delete changes in one file, as a unified diff.

The lines that stay the same at both ends are set aside first, so that a small change in a long file costs little;
where what is left is still long it is shown as replaced, which is a true diff if not the shortest.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from beforehand.model.words import counted

CONTEXT = 3
MATCH_LINES = 3000
"""Up to so many changed lines the shortest difference is looked for; beyond that the time would grow too much."""
MAX_DIFF_CHARS = 256 * 1024

Opcode = tuple[str, int, int, int, int]


def file_diff(path: str, before: bytes | None, after: bytes | None) -> str:
    """The unified diff from one content to the other; None is a file that is not there, and equal contents give ''."""
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    if old is None or new is None:
        return f"Binary file {path} {_change(before, after)}\n"
    head = [
        f"--- {'/dev/null' if before is None else 'a/' + path}\n",
        f"+++ {'/dev/null' if after is None else 'b/' + path}\n",
    ]
    return _cut("".join([*head, *_hunks(old, new)]))


def _change(before: bytes | None, after: bytes | None) -> str:
    if before is None:
        return f"is new: {counted(len(after or b''), 'byte')}"
    if after is None:
        return f"is deleted: {counted(len(before), 'byte')}"
    return f"changes: {counted(len(before), 'byte')} become {counted(len(after), 'byte')}"


def _lines(content: bytes | None) -> list[str] | None:
    """The lines with their ends, or None when the content is no text."""
    if not content:
        return []
    if b"\0" in content:
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = [line + "\n" for line in text.split("\n")]
    if text.endswith("\n"):
        return lines[:-1]
    lines[-1] = lines[-1][:-1]
    return lines


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for group in _grouped(_opcodes(old, new)) if old != new else ():
        first, last = group[0], group[-1]
        yield f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_line(" ", line) for line in old[i1:i2])
            else:
                yield from (_line("-", line) for line in old[i1:i2])
                yield from (_line("+", line) for line in new[j1:j2])


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_end, new_end = len(old) - tail, len(new) - tail
    middle = _middle(old[head:old_end], new[head:new_end])
    shifted = [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in middle]
    return [("equal", 0, head, 0, head), *shifted, ("equal", old_end, len(old), new_end, len(new))]


def _middle(old: Sequence[str], new: Sequence[str]) -> Sequence[Opcode]:
    if len(old) + len(new) > MATCH_LINES:
        return [("replace", 0, len(old), 0, len(new))]
    return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())


def _grouped(opcodes: Sequence[Opcode]) -> Iterator[list[Opcode]]:
    """Changes with the lines around them; those that lie close together share a group."""
    group: list[Opcode] = []
    for index, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        last = index == len(opcodes) - 1
        if group and (last or i2 - i1 > 2 * CONTEXT):
            keep = min(CONTEXT, i2 - i1)
            yield [*group, ("equal", i1, i1 + keep, j1, j1 + keep)]
            group = []
        if not last:
            keep = i2 - i1 if group else min(CONTEXT, i2 - i1)
            group.append(("equal", i2 - keep, i2, j2 - keep, j2))


def _span(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _line(sign: str, line: str) -> str:
    return sign + line if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"


def _cut(diff: str) -> str:
    if len(diff) <= MAX_DIFF_CHARS:
        return diff
    kept = diff[: diff.rindex("\n", 0, MAX_DIFF_CHARS) + 1]
    return f"{kept}… {diff.count(chr(10)) - kept.count(chr(10))} more lines of this difference are not shown\n"
