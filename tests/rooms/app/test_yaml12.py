"""Numbers and words of YAML as its version 1.2 has them."""

from typing import Any

import pytest

from beforehand.app.yaml12 import load


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x1F", 31),
        ("0xff", 255),
        ("0x0", 0),
        ("0o17", 15),
        ("0o0", 0),
        ("0o7", 7),
        ("017", 17),
        ("010", 10),
        ("-12", -12),
        ("+12", 12),
        ("1e3", 1000.0),
        ("0.5", 0.5),
        ("0x", "0x"),
        ("0xG1", "0xG1"),
        ("0o8", "0o8"),
        ("0o", "0o"),
        ("-0x1F", "-0x1F"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("on", "on"),
        ("no", "no"),
        ("true", True),
        ("~", None),
    ],
)
def test_a_scalar_is_what_it_looks_like(text: str, value: Any) -> None:
    found = load(f"value: {text}")["value"]
    assert found == value
    assert type(found) is type(value)
