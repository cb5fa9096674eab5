"""The example scenes that come with the package, and scenes in files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from beforehand.model.errors import NotFoundError

_HERE = Path(__file__).resolve()
_PLACES = (_HERE.parents[1] / "scenes", _HERE.parents[3] / "scenes")
"""Inside an installed package, and beside the source."""


def example_files() -> dict[str, Path]:
    """The example scenes that come with the package, by name."""
    found: dict[str, Path] = {}
    for folder in _PLACES:
        for path in sorted(folder.glob("*.yaml")):
            found.setdefault(path.stem, path)
    return found


def kind_of_example(path: Path) -> str | None:
    """The kind an example names in the line `kind: …`; found without reading the whole document, which may be long."""
    with path.open(encoding="utf-8") as lines:
        named = (line.removeprefix("kind:").strip() for line in lines if line.startswith("kind:"))
        return next(named, None)


def find_document(name_or_file: str, *, files: bool = True) -> Any:
    """The document of an example scene by name, or of a file; NotFoundError with the names there are.

    `files` false opens no file that somebody names: for callers who may not read this machine's.
    """
    from beforehand.app.documents import read_file

    examples = example_files()
    if name_or_file in examples:
        return read_file(str(examples[name_or_file]))
    if files and (name_or_file == "-" or "/" in name_or_file or "." in name_or_file or Path(name_or_file).exists()):
        return read_file(name_or_file, odd_numbers=True)
    raise no_scene(name_or_file, examples, files=files)


def no_scene(name: str, known: Iterable[str], *, files: bool = True) -> NotFoundError:
    """The error for a scene nobody has."""
    return NotFoundError.unknown("scene", name, known, hint="No file has that name either." if files else "")
