"""Documents, hostile or not: what comes back is plain data, or a sentence says why not."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.app.documents import MAX_BYTES, MAX_DEPTH, parse, plain, read_file
from beforehand.model.errors import BadInputError, BeforehandError, NotFoundError, TooLargeError

DEEP = "[" * 100_000
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "document.empty"),
        (b"  \n\t ", "document.empty"),
        (b"\xff\xfe\x00a", "document.encoding"),
        (b"a\x00b", "document.encoding"),
        (b"{", "document.syntax"),
        (b"a: [1", "document.syntax"),
        (b"a: b: c", "document.syntax"),
        (b"!!python/object/apply:os.system ['true']", "document.syntax"),
        (DEEP.encode(), "document.depth"),
        (("{'a': " * 200 + "1" + "}" * 200).encode(), "document.depth"),
        (b'{"a": NaN}', "document.number"),
        (b"a: .inf", "document.number"),
        (b'{"a": 1e999}', "document.number"),
        (b"{[1]: 2}", "document.key"),
        (b"a: !!binary aGk=", "document"),
        (b"a: !!set {x, y}", "document"),
    ],
)
def test_what_is_no_plain_data_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(BadInputError) as refused:
        parse(raw, "It")
    assert refused.value.code in (code, "document.syntax", "document.key")
    assert refused.value.says.startswith("It ")
    assert refused.value.says.endswith(".")


def test_an_alias_bomb_does_not_go_off() -> None:
    with pytest.raises(TooLargeError):
        parse(BOMB, "The bomb")


def test_size_is_bounded() -> None:
    with pytest.raises(TooLargeError):
        parse(b"x" * (MAX_BYTES + 1), "It")


def test_json_and_yaml_give_the_same_plain_data() -> None:
    expected = {"a": [1, 2.5, None, True], "7": "x", "true": "y", "day": "2026-01-01"}
    assert parse("{a: [1, 2.5, null, true], 7: x, true: y, day: 2026-01-01}", "It") == expected
    assert parse("\ufeff" + json.dumps(expected), "It") == expected
    assert parse("nested: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1), "It")


def test_files_that_cannot_be_read_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no file"):
        read_file(str(tmp_path / "none.yaml"))
    with pytest.raises(BadInputError, match="folder"):
        read_file(str(tmp_path))
    with pytest.raises(BadInputError):
        read_file("a\0b")
    (tmp_path / "good.yaml").write_text("a: 1")
    assert read_file(str(tmp_path / "good.yaml")) == {"a": 1}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=60)
@given(JSON)
def test_json_comes_back_as_it_went_in(value: Any) -> None:
    text = json.dumps(value)
    if "\\u0000" not in text:
        assert parse(text, "It") == value
    assert plain(value, "It") == value


@settings(max_examples=150)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_whatever_break_it(raw: bytes) -> None:
    with suppress(BeforehandError):
        json.dumps(parse(raw, "It"), allow_nan=False)


@pytest.mark.parametrize("text", ['{"a": 1, "b": {"c": 1, "c": 2}}', "a: 1\nb:\n  c: 1\n  c: 2\n", "- {c: 1, c: 1}\n"])
def test_a_key_given_twice_is_told_and_not_lost(text: str) -> None:
    with pytest.raises(BadInputError, match="the key 'c' twice") as refused:
        parse(text, "it")
    assert refused.value.code == "document.duplicate"


def test_a_key_over_a_merged_one_is_no_second_one() -> None:
    text = "base: &b {a: 1}\nx: {deep: {mid: &m {<<: *b, a: 2}}}\ntop: {<<: *m}\n"
    assert parse(text, "it") == {"base": {"a": 1}, "x": {"deep": {"mid": {"a": 2}}}, "top": {"a": 2}}


def test_odd_numbers_stay_for_who_reports_them_with_their_place() -> None:
    assert parse("a: .inf", "it", odd_numbers=True) == {"a": float("inf")}
    with pytest.raises(BadInputError):
        parse("a: .inf", "it")
