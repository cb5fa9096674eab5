"""An ask is known by what it asks: its hash follows words, pictures and schema, and nothing else."""

from dataclasses import replace

import pytest

from beforehand.ports.model import Ask, Message

ASK = Ask((Message("user", "hello", (b"picture",)),), system="Be short.", schema={"type": "object", "title": "T"})


def test_the_same_question_has_the_same_hash() -> None:
    same = Ask((Message("user", "hello", (b"picture",)),), system="Be short.", schema={"title": "T", "type": "object"})
    assert same.hash == ASK.hash
    told = replace(ASK, timeout_s=1, max_output_tokens=1, repairs=0, permit=print, check=lambda data: [])
    assert told.hash == ASK.hash


@pytest.mark.parametrize(
    "other",
    [
        replace(ASK, system="Be long."),
        replace(ASK, schema=None),
        replace(ASK, messages=(Message("user", "hello", (b"other picture",)),)),
        replace(ASK, messages=(Message("user", "hello"),)),
        replace(ASK, messages=(Message("assistant", "hello", (b"picture",)),)),
        replace(ASK, messages=(*ASK.messages, Message("user", "and?"))),
    ],
)
def test_another_question_has_another(other: Ask) -> None:
    assert other.hash != ASK.hash


def test_pictures_are_shown_by_their_hash_only() -> None:
    assert "picture" not in repr(ASK) + repr(ASK.wire())
    assert ASK.wire()["messages"][0]["images"][0].startswith("sha256:")
