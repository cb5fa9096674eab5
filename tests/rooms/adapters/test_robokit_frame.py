"""Frames of Robokit: the maker's own examples, and streams of bytes that hold anything in any pieces."""

import asyncio
import json
import struct
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.adapters.robokit.answers import refusal
from beforehand.adapters.robokit.connection import Connection, _Wire
from beforehand.adapters.robokit.frame import HEADER, LONGEST, Frame, FrameParser, encode

BODIES = st.dictionaries(
    st.text(max_size=8), st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=12), max_size=4
)
FRAMES = st.builds(
    Frame, st.integers(1000, 0xFFFF), st.integers(0, 0xFFFF), BODIES.map(lambda body: body), st.sampled_from((1, 2))
)

DEEP = b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}"


def parsed(*pieces: bytes) -> list[Frame]:
    parser = FrameParser()
    return [frame for piece in pieces for frame in parser.feed(piece)]


@pytest.mark.parametrize(
    ("frame", "wire"),
    [
        (Frame(1000, 1), "5A 01 00 01 00 00 00 00 03 E8 00 00 00 00 00 00"),
        (
            Frame(2002, 1, {"x": 10.0, "y": 3.0, "angle": 0}),
            "5A 01 00 01 00 00 00 1C 07 D2 00 00 00 00 00 00" + b'{"x":10.0,"y":3.0,"angle":0}'.hex(" "),
        ),
        (
            Frame(6040, 1, {"height": 1.2}),
            "5A 01 00 01 00 00 00 0E 17 98 00 00 00 00 00 00" + b'{"height":1.2}'.hex(" "),
        ),
    ],
    ids=["1000", "2002", "6040"],
)
def test_the_makers_examples(frame, wire):
    assert encode(frame) == bytes.fromhex(wire)
    assert parsed(bytes.fromhex(wire)) == [frame]


def test_raw_data_behind_the_json_is_left_out():
    text, raw = b'{"a":1}', b"\x00\x01laser"
    header = HEADER.pack(
        0x5A, 1, 7, len(text) + len(raw), 11100, b"\x00\x00" + struct.pack("!H", len(text)) + b"\x00\x00"
    )
    assert parsed(header + text + raw + encode(Frame(11000, 8))) == [Frame(11100, 7, {"a": 1}), Frame(11000, 8)]


def test_alarms_in_another_encoding_and_numbers_that_are_none_are_read_all_the_same():
    text = '{"desc":"叉车","v":NaN}'.encode("gbk")
    frames = parsed(HEADER.pack(0x5A, 2, 1, len(text), 11050, bytes(6)) + text)
    assert [(frame.number, frame.body["v"]) for frame in frames] == [(11050, None)]


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x5a",
        b"\x5a\x01",
        b"\x5a" * 40,
        HEADER.pack(0x5A, 3, 1, 0, 11000, bytes(6)),
        HEADER.pack(0x5A, 1, 1, LONGEST + 1, 11000, bytes(6)),
        HEADER.pack(0x5A, 1, 1, 0xFFFFFFFF, 11000, bytes(6)),
        HEADER.pack(0x5A, 1, 1, 12, 11000, bytes(6)) + b"not an objec",
        HEADER.pack(0x5A, 1, 1, 12, 11000, bytes(6)) + b'{"half": tru',
        HEADER.pack(0x5A, 1, 1, 6, 11000, bytes(6)) + b"[1, 2]",
        HEADER.pack(0x5A, 1, 1, 3000, 11000, bytes(6)) + b'{"a":' * 600,
        HEADER.pack(0x5A, 1, 1, 7, 11000, bytes(6)) + b" [1, 2]",
        HEADER.pack(0x5A, 1, 1, LONGEST + 1, 11000, bytes(6)) + b"{",
        HEADER.pack(0x5A, 1, 1, len(DEEP), 11000, bytes(6)) + DEEP,
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ],
)
def test_after_garbage_the_next_frame_is_found_and_the_garbage_is_no_message(garbage):
    good = Frame(11020, 9, {"task_status": 2})
    assert parsed(garbage + encode(good) + encode(good)) in ([good, good], [good])
    assert good in parsed(garbage, encode(good), encode(good))


def test_a_frame_that_was_cut_off_costs_nothing_but_itself():
    cut, good = encode(Frame(11020, 1, {"task_status": 4}))[:-3], Frame(11020, 2, {"task_status": 2})
    assert parsed(cut, encode(good), encode(good)) == [good, good]


@given(frames=st.lists(FRAMES, max_size=6), cuts=st.lists(st.integers(0, 400), max_size=8))
def test_frames_come_out_whole_however_the_bytes_are_cut_and_joined(frames, cuts):
    wire = b"".join(map(encode, frames))
    edges = [0, *sorted(min(cut, len(wire)) for cut in cuts), len(wire)]
    assert parsed(*(wire[a:b] for a, b in pairwise(edges))) == frames


@given(pieces=st.lists(st.binary(max_size=80), max_size=10))
def test_bytes_alone_never_raise_and_never_are_a_message_that_was_not_written(pieces):
    for frame in parsed(*pieces):
        assert encode(Frame(frame.number, frame.sequence, {}, frame.version))[:4] in b"".join(pieces)
        assert json.dumps(frame.body)
        refusal(frame)


@given(frame=FRAMES, at=st.integers(0, 10_000), to=st.integers(0, 255), before=st.binary(max_size=30))
def test_one_byte_changed_never_stops_what_comes_after(frame, at, to, before):
    wire = bytearray(encode(frame))
    wire[at % len(wire)] = to
    after = Frame(11020, 77, {"task_status": 2, "fill": "x" * 64})
    parser = FrameParser()
    heard = parser.feed(before + bytes(wire))
    heard += parser.feed(encode(after))
    if after not in heard:  # a length that was made longer swallows what follows, and gives it out again at its end
        heard += parser.feed(encode(after) * (LONGEST // 100))
    assert after in heard


NEAR_MISSES = st.builds(Frame, st.sampled_from((11020, 11100, 13051)), st.sampled_from((6, 7, 8)), BODIES)
NOT_ITS_ANSWER = st.binary(max_size=60) | NEAR_MISSES.filter(
    lambda frame: (frame.sequence, frame.number) != (7, 11020)
).map(encode)


@given(pieces=st.lists(NOT_ITS_ANSWER, max_size=6))
def test_nothing_but_its_own_answer_answers_a_question(pieces):
    """Neither bytes nor frames: an answer to another question, or an older one to the same, is nobody's."""

    async def asked():
        connection = Connection("nowhere", 1)
        answer = asyncio.get_running_loop().create_future()
        connection._waits = (7, 11020, answer)
        wire = _Wire(connection._hear)
        for piece in pieces:
            wire.data_received(piece)
        assert not answer.done()
        _Wire(connection._hear).data_received(encode(Frame(11020, 7, {"task_status": 2})))
        assert answer.result().body == {"task_status": 2}

    asyncio.run(asked())


@settings(max_examples=30)
@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)))
def test_any_json_in_an_answer_is_a_yes_or_a_no_and_never_an_exception(value):
    refusal(Frame(13051, 1, {"ret_code": value, "err_msg": value}))
