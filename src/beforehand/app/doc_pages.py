"""The documentation that comes with the package, page by page."""

from pathlib import Path

from beforehand.model.errors import NotFoundError

_HERE = Path(__file__).resolve()
_PLACES = (_HERE.parents[1] / "docs", _HERE.parents[3] / "docs")
"""Inside an installed package, and beside the source."""


def doc_pages() -> dict[str, str]:
    """The title of every page, by its name."""
    return {name: _title(path) for name, path in _files().items()}


def doc_page(name: str) -> str:
    """A page's text; NotFoundError with the pages there are."""
    files = _files()
    if name not in files:
        raise NotFoundError.unknown("page", name, files)
    return files[name].read_text(encoding="utf-8")


def _files() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in _PLACES:
        for path in sorted(folder.glob("*.md")):
            found.setdefault(path.stem, path)
    return found


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line.lstrip("# ").strip() for line in lines if line.startswith("# ")), path.stem)
