"""What a path inside a workspace may look like, and what is said about one that may not.

A path is relative, uses `/`, and never climbs. These rules look at the text alone; where links lead is the
workspace's to find out. Every refusal is a Fault with a whole sentence.
"""

import errno
import os
from typing import Literal

from beforehand.model.errors import ChangedSinceError, Fault

Kind = Literal["file", "folder", "other"]
"""What lies at a path; `other` is a device, a pipe or a socket."""

MAX_BYTES = 16 * 1024 * 1024
"""The largest file that is read or written."""
MAX_PATH_BYTES = 4000
MAX_NAME_BYTES = 255
MAX_ENTRIES = 50_000

TEMP_PREFIX = ".beforehand-"
TEMP_SUFFIX = ".tmp"

_INSIDE = "Give a path relative to the workspace, such as notes/today.txt."


def shown(path: str) -> str:
    """The path as it stands in a sentence: quoted, control characters made visible, not too long."""
    text = ascii(path) if not path.isprintable() else f"'{path}'"
    return text if len(text) <= 160 else f"{text[:100]}…{text[-40:]}"


def refusal(says: str, code: str = "file.path_refused", hint: str = _INSIDE) -> Fault:
    """Nothing was done, so even a careful caller may try again with another path."""
    return Fault(says, code=code, hint=hint, untouched=True)


def clean(path: object, *, folder: bool = False) -> tuple[str, ...]:
    """The names a path goes through, from the workspace down; empty for the workspace itself."""
    if not isinstance(path, str):
        raise refusal(f"A path must be text, not {type(path).__name__}.")
    if not path:
        raise refusal("The path is empty.", hint='Name a file; "." is the workspace itself.')
    _refuse_unusable_text(path)
    if path.startswith("/"):
        raise refusal(f"The path {shown(path)} is absolute; file tools stay inside the workspace.")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise refusal(f"The path {shown(path)} climbs with '..'; file tools stay inside the workspace.")
    if parts and parts[0].startswith("~"):
        raise refusal(f"The path {shown(path)} begins with '~'; home folders are outside the workspace.")
    _refuse_unusable_names(path, parts)
    if not folder and (not parts or path.endswith(("/", "/."))):
        raise refusal(f"The path {shown(path)} names a folder; a file is needed.", hint="Name a file in it.")
    return parts


def _refuse_unusable_text(path: str) -> None:
    if "\0" in path:
        raise refusal(f"The path {shown(path)} holds a NUL byte; no file can have that name.")
    try:
        size = len(path.encode("utf-8"))
    except UnicodeEncodeError:
        raise refusal(f"The path {shown(path)} is not valid Unicode text.") from None
    if size > MAX_PATH_BYTES:
        raise refusal(f"The path is {size} bytes long; at most {MAX_PATH_BYTES} can be used.")


def _refuse_unusable_names(path: str, parts: tuple[str, ...]) -> None:
    for part in parts:
        size = len(part.encode("utf-8"))
        if size > MAX_NAME_BYTES:
            raise refusal(f"The name {shown(part)} is {size} bytes long; at most {MAX_NAME_BYTES} can be used.")
        if is_temporary(part):
            raise refusal(f"The name in {shown(path)} is kept for files that are being written; choose another.")


def is_temporary(name: str) -> bool:
    return name.startswith(TEMP_PREFIX) and name.endswith(TEMP_SUFFIX)


def missing(path: str) -> Fault:
    return refusal(
        f"There is no file {shown(path)} in the workspace.", "file.missing", "list_dir shows which files there are."
    )


def no_folder(path: str) -> Fault:
    return refusal(
        f"There is no folder {shown(path)} in the workspace.", "file.missing", "list_dir shows what is there."
    )


def not_a_file(path: str, kind: Kind) -> Fault:
    if kind == "folder":
        return refusal(f"{shown(path)} is a folder; a file is needed.", "file.is_folder", "Name a file in it.")
    return refusal(f"{shown(path)} is a device, pipe or socket; only plain files are used.", "file.not_plain")


def not_a_folder(path: str) -> Fault:
    return refusal(f"{shown(path)} is not a folder.", "file.not_folder", "Name a folder, or '.' for the workspace.")


def through_a_file(path: str) -> Fault:
    return refusal(f"The path {shown(path)} goes through something that is not a folder.", "file.not_folder")


def leads_out(path: str) -> Fault:
    return refusal(
        f"The path {shown(path)} follows a link that leads out of the workspace.",
        "file.link_out",
        "Name the file itself, inside the workspace.",
    )


def closed(path: str) -> Fault:
    return refusal(
        f"The path {shown(path)} is one of Beforehand's own files, which are closed to file tools.",
        "file.closed",
        "Name another file; settings are changed by hand.",
    )


def busy(path: str) -> Fault:
    """Another process holds the folder's lock; nothing was done."""
    return Fault(
        f"Another process has kept the folder of {shown(path)} locked for too long, so nothing was changed.",
        code="file.busy",
        hint="End what holds it, or try again.",
        transient=True,
        untouched=True,
    )


def changed(path: str) -> ChangedSinceError:
    return ChangedSinceError(f"{shown(path)} has changed since this was looked at.")


def too_large(path: str, size: int) -> Fault:
    return refusal(
        f"{shown(path)} has {size} bytes; file tools handle at most {MAX_BYTES} (16 MiB).",
        "file.too_large",
        "Split the file, or handle it with a tool made for large files.",
    )


def from_os(path: str, error: OSError) -> Fault:
    """What the operating system said, as a sentence about the path the caller gave."""
    match error.errno:
        case errno.ENOENT:
            return missing(path)
        case errno.ENOTDIR | errno.EEXIST:
            return through_a_file(path)
        case errno.EISDIR:
            return not_a_file(path, "folder")
        case errno.ELOOP:
            return refusal(f"The path {shown(path)} follows links in a circle, or changed meanwhile.", "file.link_loop")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return refusal(
                f"The system does not permit this for {shown(path)}: {os.strerror(error.errno)}.",
                "file.not_permitted",
                "Change the file's permissions, or use another file.",
            )
        case errno.ENAMETOOLONG:
            return refusal(f"The path {shown(path)} is too long for the file system.")
        case errno.ENOSPC | errno.EDQUOT:
            return Fault(f"No space is left to write {shown(path)}.", code="file.no_space", hint="Free some space.")
        case errno.EINTR | errno.EAGAIN | errno.EBUSY | errno.EMFILE | errno.ENFILE | errno.EIO | errno.ESTALE:
            said = os.strerror(error.errno)
            return Fault(f"The file system did not answer for {shown(path)}: {said}.", transient=True, code="file.io")
        case _:
            return Fault(f"The file system refused {shown(path)}: {error.strerror or error}.", code="file.io")
