"""What of the tokens' file is not in the log yet, whatever a crash, an older version or a person left there."""

from typing import Any

from beforehand.app.token_verbs import FOUND, unrecorded
from beforehand.app.tokens import Kept, Note
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
