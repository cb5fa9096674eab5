"""Files that scenes name: checked by the craft whose scenes name them, kept with the tokens, known by their hash.

A file is called `FOLDER/NAME.SUFFIX`; the folder says of which form it is. Every version stays kept under its hash. The
log has the name and the hash of each, never what is in it.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from beforehand.app.craft import FileForm
from beforehand.app.crafts import load_crafts
from beforehand.app.documents import parse
from beforehand.app.runtime import Runtime
from beforehand.model.errors import BadInputError, NotFoundError, TooLargeError
from beforehand.model.event import iso
from beforehand.model.reason import Problem
from beforehand.model.words import counted
from beforehand.ports.private_files import PrivateFiles

FOLDER = "files"
SAVED = "sceneFileSaved"
MOST_BYTES = 1024 * 1024
MOST_FILES = 1000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
INDEX = f"{FOLDER}/index.json"


def forms() -> tuple[FileForm, ...]:
    return tuple(form for craft in load_crafts().by_name.values() for form in craft.file_forms)


def form_of(name: str) -> FileForm:
    """The form of a file of this name; BadInputError where no scene could name it so."""
    folder, _, rest = name.partition("/")
    form = next((one for one in forms() if one.folder == folder), None)
    if form is None:
        folders = [one.folder for one in forms()]
        raise BadInputError.unknown("folder", folder[:80], folders, code="file.folder", plural="folders of files")
    if not _NAME.fullmatch(rest) or not rest.endswith(form.suffix) or rest == form.suffix:
        says = f"{name[:120]!r} cannot be the name of a {form.says}."
        hint = f"It is {folder}/NAME{form.suffix}, of letters, digits, dots, dashes and underscores."
        raise BadInputError(says, code="file.name", hint=hint)
    return form


def check_file(name: str, document: Any) -> bytes:
    """The file as it is kept; BadInputError with everything that is wrong with it."""
    form = form_of(name)
    content = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    if len(content) > MOST_BYTES:
        raise TooLargeError(f"{name} is larger than {MOST_BYTES // 1024 // 1024} MiB.")
    problems: list[Problem] = list(form.check(document))
    if problems:
        says = f"{name} has {counted(len(problems), 'problem')}: {problems[0].says}"
        raise BadInputError(says, code="file.invalid", problems=problems, hint="Correct it and send it again.")
    return content


async def save_file(runtime: Runtime, name: str, document: Any) -> dict[str, Any]:
    """Keep a file, or its next version; the same content again changes nothing."""
    content = check_file(name, document)
    async with runtime.turns[FOLDER]:
        known = await asyncio.to_thread(kept, runtime.files)
        sha256 = hashlib.sha256(content).hexdigest()
        if name in known and known[name]["sha256"] == sha256:
            return {"name": name, **known[name]}
        entry = {"sha256": sha256, "bytes": len(content), "form": form_of(name).says, "savedAt": iso(runtime.now())}
        await asyncio.to_thread(_write, runtime.files, name, content, entry)
        data = {"name": name, **entry}
        await runtime.log(SAVED, data, owner=f"file:{name}", fileId=name)
        return data


def _write(files: PrivateFiles, name: str, content: bytes, entry: Mapping[str, Any]) -> None:
    """The content first: a name in the index always has its content."""
    files.write(f"{FOLDER}/{entry['sha256']}", content)
    files.change(INDEX, lambda index: _with(_index(index), name, entry))


def _with(known: Mapping[str, Any], name: str, entry: Mapping[str, Any]) -> bytes:
    if name not in known and len(known) >= MOST_FILES:
        raise TooLargeError(f"The home keeps {MOST_FILES} files already.")
    return json.dumps({**known, name: entry}, sort_keys=True).encode()


def kept(files: PrivateFiles) -> dict[str, dict[str, Any]]:
    """The files there are, by name: hash, bytes, form and when each was saved."""
    return _index(files.read(INDEX))


def _index(raw: bytes) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(raw) if raw else {}
    return found


def list_files(files: PrivateFiles) -> list[dict[str, Any]]:
    return [{"name": name, **entry} for name, entry in sorted(kept(files).items())]


def get_file(files: PrivateFiles, name: str) -> dict[str, Any]:
    """A file with what is in it; NotFoundError with the names there are."""
    known = kept(files)
    if name not in known:
        raise NotFoundError.unknown("file", name, known, code="file.unknown")
    return {"name": name, **known[name], "document": _document(files, known[name], name)}


def documents(files: PrivateFiles) -> dict[str, Any]:
    """Every file by name, as its document."""
    return {name: _document(files, entry, name) for name, entry in kept(files).items()}


def all_kept(files: PrivateFiles) -> dict[str, bytes]:
    """The contents of the files by what they are kept under, and last the list of them, all as of one moment."""
    raw = files.read(INDEX)
    names = [f"{FOLDER}/{entry['sha256']}" for entry in json.loads(raw).values()] if raw else []
    return {**{name: files.read(name) for name in names}, **({INDEX: raw} if raw else {})}


def _document(files: PrivateFiles, entry: Mapping[str, Any], name: str) -> Any:
    return parse(files.read(f"{FOLDER}/{entry['sha256']}"), name)
