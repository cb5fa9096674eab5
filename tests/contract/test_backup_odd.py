"""Backup files that nobody's `db backup` wrote: each is refused in words, in little memory, and nothing is changed."""

import gzip
import hashlib
import io
import json
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.contract.test_backup import contents, filled, settings_of

from beforehand.app.backup import back_up
from beforehand.app.restore import restore
from beforehand.model.errors import BadInputError, RefusedError

Files = dict[str, bytes]
Change = Callable[[dict[str, Any], Files], None]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import asyncio

    folder = tmp_path_factory.mktemp("whole")

    async def make() -> None:
        settings = settings_of(folder / "home")
        await (await filled(settings)).close()
        await back_up(settings, folder / "b.tar.gz")

    asyncio.run(make())
    return folder / "b.tar.gz"


def opened(whole: Path) -> tuple[dict[str, Any], Files]:
    with tarfile.open(whole) as tar:
        found = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    return json.loads(found.pop("manifest.json")), found


def written(place: Path, manifest: Any, files: Mapping[str, bytes], *others: tarfile.TarInfo) -> Path:
    raw = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    with tarfile.open(place, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name, data in [("manifest.json", raw), *files.items()]:
            add(tar, name, data)
        for other in others:
            tar.addfile(other)
    return place


def add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def listed(manifest: dict[str, Any], files: Files, name: str, data: bytes = b"mine") -> None:
    """The backup holds one more file, and lists it as it should."""
    files[name] = data
    manifest["files"][name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def without(name: str) -> Change:
    return lambda manifest, files: manifest.pop(name) and None


def told(**values: Any) -> Change:
    return lambda manifest, files: manifest.update(values)


def named(name: str) -> Change:
    return lambda manifest, files: listed(manifest, files, name)


def entry(**values: Any) -> Change:
    return lambda manifest, files: manifest["files"]["home/tokens.json"].update(values)


def no_log(manifest: dict[str, Any], files: Files) -> None:
    del manifest["files"]["log/log.db"], files["log/log.db"]


def file_and_folder(manifest: dict[str, Any], files: Files) -> None:
    listed(manifest, files, "home/tokens.json/inner")


def two_settings(manifest: dict[str, Any], files: Files) -> None:
    listed(manifest, files, "home/beforehand.toml", b"port = 1")
    listed(manifest, files, "settings/beforehand.toml", b"port = 2")


def other_log(manifest: dict[str, Any], files: Files) -> None:
    listed(manifest, files, "log/log.db", b"not a log at all")


ODD: dict[str, tuple[Change, str]] = {
    "no files": (without("files"), "has no 'files'"),
    "no epoch": (without("epoch"), "has no 'epoch'"),
    "no lastSeq": (without("lastSeq"), "has no 'lastSeq'"),
    "no leftOut": (without("leftOut"), "has no 'leftOut'"),
    "files a list": (told(files=["log/log.db"]), "'files' in its manifest is not an object"),
    "epoch a text": (told(epoch="7"), "'epoch' in its manifest is not a whole number"),
    "epoch true": (told(epoch=True), "'epoch' in its manifest is not a whole number"),
    "epoch huge": (told(epoch=10**40), "'epoch' in its manifest is not"),
    "epoch negative": (told(epoch=-1), "'epoch' in its manifest is not 0 or more"),
    "lastSeq NaN": (told(lastSeq=float("nan")), "'lastSeq' in its manifest is not a whole number"),
    "left out a number": (told(leftOut=[1]), "'0' of 'leftOut' in its manifest is not text"),
    "an escape": (told(createdAt="\x1b[2J"), "'createdAt' in its manifest is not what it can be"),
    "no format": (without("format"), "no backup of Beforehand"),
    "format a number": (told(format=1), "no backup of Beforehand"),
    "newer": (told(format="beforehand-backup-9"), "a newer Beforehand made it"),
    "size negative": (entry(size=-1), "is not 0 or more"),
    "size text": (entry(size="x"), "is not a whole number"),
    "size wrong": (entry(size=3), "not as long as it is listed"),
    "sum short": (
        entry(sha256="ab"),
        "'sha256' of 'home/tokens.json' of 'files' in its manifest is not what it can be",
    ),
    "sum wrong": (entry(sha256="0" * 64), "is not what was backed up"),
    "up": (named("home/../../up"), "no place inside a home"),
    "absolute": (named("/etc/passwd"), "no place inside a home"),
    "absolute inside": (named("home//etc/passwd"), "no place inside a home"),
    "other kind": (named("usr/x"), "no place inside a home"),
    "home itself": (named("home"), "no place inside a home"),
    "NUL": (named("home/a\0b"), "characters that no name may have"),
    "line": (named("home/a\nb"), "characters that no name may have"),
    "surrogate": (named("home/\udc80"), "characters that no name may have"),
    "long": (named("home/" + "x" * 300), "too long for a name"),
    "deep": (named("home/" + "x/" * 80 + "x"), "too long for a name"),
    "the log": (named("home/log.db"), "the log's own"),
    "its WAL": (named("home/log.db-wal"), "the log's own"),
    "upper case": (named("home/LOG.DB"), "the log's own"),
    "wide": (named("home/ｌｏｇ.db"), "the log's own"),
    "its mark": (named("home/log.db.mark"), "the log's own"),
    "its lock": (named("home/log.db.lock"), "the log's own"),
    "its archive": (named("home/log.db.archive/x"), "the log's own"),
    "restoring": (named("home/restoring/log/log.db"), "the log's own"),
    "a log's WAL": (named("log/log.db-wal"), "no part of a log"),
    "odd part": (named("log/log.db.archive/../../x"), "no part of a log"),
    "other settings": (named("settings/x.toml"), "no settings file"),
    "no log": (no_log, "there is no log in it"),
    "file and folder": (file_and_folder, "both as a file and as a folder"),
    "two settings": (two_settings, "two files that would become beforehand.toml"),
    "other log": (other_log, "its log is"),
}


@pytest.mark.parametrize("case", ODD)
async def test_an_odd_manifest_is_refused_in_words(case: str, whole: Path, tmp_path: Path) -> None:
    change, says = ODD[case]
    manifest, files = opened(whole)
    change(manifest, files)
    await refused(written(tmp_path / "odd", manifest, files), tmp_path, says)


async def refused(file: Path, tmp_path: Path, says: str) -> None:
    with pytest.raises(BadInputError) as refusal:
        await restore(settings_of(tmp_path / "new"), file)
    assert says in refusal.value.says
    assert refusal.value.says.isprintable()
    assert refusal.value.says.endswith("Nothing was changed.")
    assert not (tmp_path / "new").exists()


RAW: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"{nonsense", "is no JSON"),
    "a list": (b"[]", "no backup of Beforehand"),
    "no UTF-8": (b"\xff\xfe", "is no JSON"),
    "deep": (b"[" * 200_000 + b"]" * 200_000, "nested too deeply"),
    "very many": (b"[" + b"0," * 5_000_000 + b"0]", "lists more than"),
    "a name twice": (b'{"format": "beforehand-backup-1", "files": {"a": 1, "a": 2}}', "cannot be read"),
    "a long number": (b'{"format": "beforehand-backup-1", "epoch": ' + b"9" * 9000 + b"}", "is no JSON"),
}


@pytest.mark.parametrize("case", RAW)
async def test_a_manifest_that_is_no_proper_json_is_refused(case: str, whole: Path, tmp_path: Path) -> None:
    raw, says = RAW[case]
    await refused(written(tmp_path / "odd", raw, opened(whole)[1]), tmp_path, says)


def link(name: str, kind: bytes, to: str = "/etc/passwd") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, to
    return made


async def test_only_plain_files_that_are_listed_once_are_members(whole: Path, tmp_path: Path) -> None:
    manifest, files = opened(whole)
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        await refused(written(tmp_path / "odd", manifest, files, link("home/x", kind)), tmp_path, "no plain file")
    again = written(tmp_path / "odd", manifest, files, tarfile.TarInfo("home/tokens.json"))
    await refused(again, tmp_path, "'home/tokens.json' twice")
    await refused(written(tmp_path / "odd", manifest, files, tarfile.TarInfo("home/x")), tmp_path, "does not list")
    left = {name: data for name, data in files.items() if name != "home/tokens.json"}
    await refused(written(tmp_path / "odd", manifest, left), tmp_path, "'home/tokens.json' is missing in it")
    await refused(lengthened(whole, tmp_path / "odd"), tmp_path, "something follows its end")


def lengthened(whole: Path, place: Path) -> Path:
    place.write_bytes(gzip.compress(gzip.decompress(whole.read_bytes()) + b"more" * 10))
    return place


def bomb(place: Path, size: int, *, kind: bytes = tarfile.REGTYPE, name: str = "manifest.json") -> Path:
    """A small file whose one member is very long, and all zeros."""
    head = tarfile.TarInfo(name)
    head.size, head.type = size, kind
    with gzip.open(place, "wb", compresslevel=9) as file:
        file.write(head.tobuf())
        for _ in range(size // 2**22):
            file.write(bytes(2**22))
    return place


MEASURED = """
import asyncio, resource, sys
from pathlib import Path
from beforehand.app.restore import restore
from beforehand.app.settings import load_settings
from beforehand.model.errors import BeforehandError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    asyncio.run(restore(load_settings({"home": sys.argv[2]}, {}, Path(sys.argv[2]) / "none"), Path(sys.argv[1])))
except BeforehandError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error.says)
"""


def test_a_bomb_takes_no_memory(whole: Path, tmp_path: Path) -> None:
    manifest, files = opened(whole)
    size, absurd = 2**28, 2**50
    zeros = bomb(tmp_path / "zeros", size)
    notes = bomb(tmp_path / "notes", size, kind=tarfile.XHDTYPE)
    long_name = bomb(tmp_path / "name", size, kind=tarfile.GNUTYPE_LONGNAME)
    manifest["files"]["home/x"] = {"size": absurd, "sha256": "0" * 64}
    large = written(tmp_path / "large", manifest, files)
    for file, says in (
        (zeros, "its manifest takes 268.4 MB"),
        (notes, "a header in it takes 268435456 bytes"),
        (long_name, "no backup of Beforehand"),
        (large, "no space left"),
    ):
        words = [sys.executable, "-c", MEASURED, str(file), str(tmp_path / "new")]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        kib, _, said = done.stdout.partition(" ")
        assert says in said or (file == long_name and "no plain file" in said), said
        assert int(kib) < 60 * 1024, said
        assert not (tmp_path / "new").exists()


async def test_a_part_of_the_archive_is_opened_no_further_than_it_is_listed(whole: Path, tmp_path: Path) -> None:
    import lzma

    manifest, files = opened(whole)
    (name,) = [name for name in files if ".archive/" in name]
    large = lzma.compress(b'{"format": "beforehand-archive-1"}\n' + b"0" * 2**26, preset=1)
    digest = hashlib.sha256(large).hexdigest()
    first, last = name.split("-")[1:3]
    other = f"log/log.db.archive/events-{first}-{last}-{digest[:12]}.jsonl.xz"
    del manifest["files"][name], files[name]
    listed(manifest, files, other, large)
    change_log(manifest, files, tmp_path, f"UPDATE archive SET sha256 = '{digest}'")
    await refused(written(tmp_path / "odd", manifest, files), tmp_path, "larger than it is listed")


LOGS = {
    "an event is missing": ("DELETE FROM events WHERE seq = 250", "its log has no event 250"),
    "a view": ("CREATE VIEW odd AS SELECT 1", "holds more than tables"),
    "a trigger": (
        "CREATE TRIGGER odd AFTER INSERT ON events BEGIN DELETE FROM events; END",
        "holds more than tables",
    ),
    "an epoch of text": ("PRAGMA ignore_check_constraints = 1; UPDATE lead SET epoch = 'x'", "values that no log has"),
    "an identity": (
        "INSERT OR REPLACE INTO identity (one, id, generation, legacy, place) VALUES (1, '../../x', 'y', 0, '')",
        "has no proper identity",
    ),
    "another end": ("DELETE FROM events WHERE seq > 280", "not as far as it is listed"),
    "no archive": ("DELETE FROM archive", "its log has no event 1"),
}


def change_log(manifest: dict[str, Any], files: Files, tmp_path: Path, statements: str) -> None:
    place = tmp_path / "changed.db"
    place.write_bytes(files["log/log.db"])
    connection = sqlite3.connect(place)
    connection.executescript(statements)
    connection.commit()
    connection.close()
    listed(manifest, files, "log/log.db", place.read_bytes())


@pytest.mark.parametrize("case", LOGS)
async def test_a_log_that_is_not_whole_is_not_put_back(case: str, whole: Path, tmp_path: Path) -> None:
    statements, says = LOGS[case]
    manifest, files = opened(whole)
    change_log(manifest, files, tmp_path, statements)
    await refused(written(tmp_path / "odd", manifest, files), tmp_path, says)


async def test_no_link_in_the_target_is_followed_and_no_file_written_over(whole: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("mine")
    for place, to in (
        ("tokens.json", outside / "new"),
        ("tokens.json", outside / "kept"),
        ("files", outside),
        ("restoring", outside),
        ("beforehand.toml", outside / "new"),
    ):
        home = tmp_path / f"home-{place}-{to.name}"
        home.mkdir()
        (home / place).symlink_to(to)
        manifest, files = opened(whole)
        listed(manifest, files, "settings/beforehand.toml", b"port = 1")
        with pytest.raises(RefusedError, match="nothing was changed"):
            await restore(settings_of(home), written(tmp_path / "b", manifest, files))
        assert [path.name for path in home.iterdir()] == [place]
        assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("kept", "mine")]


async def test_no_member_lies_where_the_log_is_to_be(whole: Path, tmp_path: Path) -> None:
    for name in ("home/mine.db", "home/mine.db-wal", "home/MINE.DB.mark", "home/mine.db.archive/x"):
        manifest, files = opened(whole)
        listed(manifest, files, name)
        target = settings_of(tmp_path / "new", f"sqlite:///{tmp_path / 'new' / 'mine.db'}")
        with pytest.raises(RefusedError, match="would be where the log is to be"):
            await restore(target, written(tmp_path / "odd", manifest, files))
        assert not (tmp_path / "new").exists()


async def test_what_older_backups_hold_beside_is_passed_over(whole: Path, tmp_path: Path) -> None:
    manifest, files = opened(whole)
    listed(manifest, files, "home/log.mark", b"abcdefgh.abcdefgh 00000000000000009999\n")
    await restore(settings_of(tmp_path / "new"), written(tmp_path / "older", manifest, files))
    assert not (tmp_path / "new" / "log.mark").exists()
    assert (await contents(settings_of(tmp_path / "new")))["last"] == 300
