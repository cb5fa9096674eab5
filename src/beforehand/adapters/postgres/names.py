r"""Names as Postgres can hold them: its texts have no NUL, which a name in the log may have.

Nearly every name is kept as it is; a NUL is kept as `\0` and a backslash as two.
"""

import re

_ESCAPED = re.compile(r"\\(.)")


def kept_name(name: str) -> str:
    if "\0" not in name and "\\" not in name:
        return name
    return name.replace("\\", "\\\\").replace("\0", "\\0")


def kept_or_none(name: str | None) -> str | None:
    return None if name is None else kept_name(name)


def true_name(kept: str | None) -> str | None:
    """The name as it was given."""
    if kept is None or "\\" not in kept:
        return kept
    return _ESCAPED.sub(lambda found: "\0" if found[1] == "0" else found[1], kept)
