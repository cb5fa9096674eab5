"""Maps of other systems become scenes: the kind is known by what is in the file, and crafts bring the readers."""

from collections.abc import Sequence
from pathlib import PurePath

from beforehand.app.craft import Craft, Imported, Importer, Source
from beforehand.app.crafts import load_crafts
from beforehand.app.documents import parse, read_text
from beforehand.model.errors import BadInputError
from beforehand.model.reason import name_list
from beforehand.ports.foreign import is_ours, loaded, why
from beforehand.ports.log import Log

log = Log("beforehand.crafts")


def importers() -> tuple[Importer, ...]:
    """Every reader there is."""
    return tuple(one for craft in load_crafts().by_name.values() for one in _brought(craft))


def _brought(craft: Craft) -> Sequence[Importer]:
    try:
        return loaded(craft.importers, ours=is_ours(craft.importers) or craft.importers is tuple)
    except Exception as error:  # somebody else's code: the other readers are there all the same
        log.error("the importers of a craft could not be loaded", craft=craft.name, says=why(error))
        return ()


def import_file(path: str, *, kind: str | None = None, name: str | None = None, starts: str | None = None) -> Imported:
    """The map in a file as a scene; `-` is standard input.

    Raises NotFoundError for a missing file and BadInputError for what is no map that anybody reads.
    """
    text = read_text(path)
    said = "standard input" if path == "-" else PurePath(path).name
    source = Source(
        file=said,
        text=text,
        document=parse(text, said) if text.lstrip()[:1] == "{" else None,
        name=name,
        stem="imported" if path == "-" else PurePath(path).stem or "imported",
        starts=None if starts is None else read_text(starts),
    )
    known = importers()
    reader = _reader(source, kind, known)
    if starts is not None and not reader.starts:
        with_starts = name_list([one.kind for one in known if one.starts])
        says = f"{said} is read as {reader.kind}, and a second file with starts is only read beside {with_starts}."
        raise BadInputError(says, code="import.starts", hint="Leave --starts out.")
    return reader.read(source)


def _reader(source: Source, kind: str | None, known: Sequence[Importer]) -> Importer:
    if kind is not None:
        found = next((one for one in known if one.kind == kind), None)
        if found is None:
            raise BadInputError.unknown("kind of map", kind, [one.kind for one in known], plural="kinds of maps")
        return found
    found = next((one for one in known if one.recognise(source)), None)
    if found is None:
        raise BadInputError(
            f"{source.file} is not a map of a known kind.",
            code="import.unknown",
            hint=f"Known are {name_list([one.says for one in known])}.",
        )
    return found
