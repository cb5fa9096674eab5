"""What of the tokens' file is not in the log yet, whatever a crash, an older version or a person left there."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

from beforehand.app.kept_files import HomeFiles
from beforehand.app.runtime import open_runtime
from beforehand.app.settings import load_settings
from beforehand.app.token_verbs import FOUND, add_token, record_tokens, revoke_token, unrecorded
from beforehand.app.tokens import Kept, Note, Tokens, WriteKey
from beforehand.loop.asked import Asked, asking
from beforehand.model.event import Event


def entry(token: str, role: str = "viewer") -> dict[str, Any]:
    return {"hash": token * 64, "role": role, "createdAt": "then"}


def added(name: str, token: str) -> Note:
    return Note("tokenAdded", name, "viewer", token * 12, "ann", "then")


def revoked(name: str, token: str) -> Note:
    return added(name, token)._replace(kind="tokenRevoked")


def logged(note: Note, *, older: bool = False) -> Event:
    data = {"name": note.name, "role": note.role, "by": note.by}
    return Event(note.kind, {}, data | ({} if older else {"tokenId": note.token_id}), 0, None, "", "tokens")


def missing(events: list[Event], kept: Kept) -> list[tuple[str, str, str]]:
    return [(note.kind, note.name, note.by) for note in unrecorded(events, kept, "now")]


def test_notes_are_told_once_in_their_order() -> None:
    kept = Kept({"a": entry("2")}, (added("a", "1"), revoked("a", "1"), added("a", "2")))
    assert missing([], kept) == [("tokenAdded", "a", "ann"), ("tokenRevoked", "a", "ann"), ("tokenAdded", "a", "ann")]
    assert missing([logged(note) for note in kept.notes[:2]], kept) == [("tokenAdded", "a", "ann")]
    assert missing([logged(note) for note in kept.notes], kept) == []


def test_what_nobody_noted_is_found() -> None:
    assert missing([], Kept({"a": entry("1")})) == [("tokenAdded", "a", FOUND)]
    assert missing([logged(added("a", "1"))], Kept({})) == [("tokenRevoked", "a", FOUND)]
    other = missing([logged(added("a", "1"))], Kept({"a": entry("2")}))
    assert other == [("tokenRevoked", "a", FOUND), ("tokenAdded", "a", FOUND)]
    back = [logged(added("a", "1")), logged(revoked("a", "1"))]
    assert missing(back, Kept({"a": entry("1")})) == [("tokenAdded", "a", FOUND)]


def test_events_of_older_code_know_no_ids() -> None:
    assert missing([logged(added("a", "1"), older=True)], Kept({"a": entry("1")})) == []
    gone = [logged(added("a", "1"), older=True), logged(revoked("a", "1"), older=True)]
    assert missing(gone, Kept({})) == []
    assert missing(gone[:1], Kept({}, (revoked("a", "1"),))) == [("tokenRevoked", "a", "ann")]


class UnnoticedFiles(HomeFiles):
    """Files of which nobody has noticed yet that another server has changed them."""

    def stamp(self, name: str) -> Hashable:
        return "as before"


async def test_what_another_server_has_just_done_is_neither_missed_nor_doubled(tmp_path: Path) -> None:
    settings = load_settings({"db": "memory:", "home": str(tmp_path)}, {}, tmp_path / "none")
    async with open_runtime(settings) as runtime:
        other, here = Tokens(settings), Tokens(settings, UnnoticedFiles(tmp_path))
        other.add("root", "admin", 0, by="ann")
        assert here.any  # from now on it remembers what it has read
        for change in (lambda: other.add("gate", "viewer", 0, by="ann"), lambda: other.revoke("gate", 0, by="ann")):
            change()
            await record_tokens(runtime, other)
            await record_tokens(runtime, here)
        told = [(event.kind, event.data["name"], event.data["by"]) for event in await runtime.store.events()]
    assert told == [("tokenAdded", "root", "ann"), ("tokenAdded", "gate", "ann"), ("tokenRevoked", "gate", "ann")]


async def test_a_write_that_another_server_did_is_not_done_again(tmp_path: Path) -> None:
    """It had noted it in the file, and that came into the log after the key was looked up."""
    settings = load_settings({"db": "memory:", "home": str(tmp_path)}, {}, tmp_path / "none")
    async with open_runtime(settings) as runtime:
        tokens = Tokens(settings)
        tokens.add("root", "admin", runtime.now())
        tokens.add("gate", "viewer", runtime.now(), "ann", WriteKey("k1", "made"))
        await record_tokens(runtime, tokens)
        with asking(Asked("k1", "made")):
            made = await add_token(runtime, tokens, "gate", "viewer")
        assert (made["name"], "token" in made) == ("gate", False)
        tokens.revoke("gate", runtime.now(), "ann", WriteKey("k2", "revoked"))
        await record_tokens(runtime, tokens)
        with asking(Asked("k2", "revoked")):
            assert await revoke_token(runtime, tokens, "gate") == ""
        kinds = [event.kind for event in await runtime.store.events()]
    assert kinds == ["tokenAdded", "tokenAdded", "tokenRevoked"]
