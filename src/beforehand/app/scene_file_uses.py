"""Which scenes name which files: what would be missed if a file went, and what is missed already.

A scene names a file wherever a text in it has the form of a file's name. Beside the names stands what the scene's check
says now: a file that changed or never came may have made a scene wrong that was right when it was saved.
"""

from collections.abc import Iterator
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.app.scene_files import forms, kept
from beforehand.app.scenes import findings


async def file_uses(runtime: Runtime) -> list[dict[str, Any]]:
    """Every saved scene that names a file, with what its check finds."""
    known = kept(runtime.files)
    return [
        {
            "scene": row["name"],
            "files": [{"name": name, "kept": name in known} for name in names],
            "problems": findings(runtime, row["document"])["problems"],
        }
        for row in await runtime.store.rows("scene")
        if (names := sorted(set(_named_in(row["document"]))))
    ]


def _named_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if any(value.startswith(f"{form.folder}/") and value.endswith(form.suffix) for form in forms()):
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _named_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named_in(inner)
