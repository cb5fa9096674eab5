"""Misspelt commands and options are answered with what was probably meant, and far-off guesses never appear."""

import contextlib
import io
import re

import pytest

from beforehand.cli.near import near_words, slips_between

MEANT = {
    "pln": ["plan"],
    "pla": ["plan"],
    "plans": ["plan"],
    "chekc": ["check"],
    "prevew": ["preview"],
    "preveiw": ["preview"],
    "prev": ["preview"],
    "rn": ["run"],
    "rnu": ["run"],
    "RUN": ["run"],
    "sumbit": ["submit"],
    "tempalte": ["template"],
    "templates": ["template"],
    "inobx": ["inbox"],
    "scenes": ["scene"],
    "docter": ["doctor"],
    "dotcor": ["doctor"],
    "confg": ["config"],
    "plugin": ["plugins"],
    "toekn": ["token"],
    "verison": ["version"],
    "taks": ["tasks"],
    "steams": ["streams"],
    "completions": ["completion"],
    "pu": ["up"],
    "simualte": ["fleet simulate"],
    "simulate": ["fleet simulate"],
    "sim": ["fleet simulate"],
    "hold": ["fleet hold", "robots hold"],
    "answr": ["inbox answer"],
    "inbox answr": ["inbox answer"],
    "inbox show-all": [],
    "runs cancle X": ["runs cancel"],
    "runs stop X": [],
    "robots out_of_service RB-01": ["robots out-of-service"],
    "robots relase RB-01": ["robots release"],
    "tasks handback T": ["tasks hand-back"],
    "fleet robots": ["robots"],
    "fleet simulte x": ["fleet simulate"],
    "streams on S": [],
    "completion bahs": ["completion bash"],
    "config trsut": ["config trust"],
    "deploy": [],
    "help": [],
    "start": [],
    "serve": [],
    "list": [],
    "kubectl": [],
    "x": [],
    "zzzzzzzzzz": [],
    "agentic": [],
    "delete": [],
    "create": [],
    "install": [],
    "execute": [],
    "🤖": [],
    "it's": [],
}


def told(line: str) -> str:
    from beforehand.cli.commands import call

    err = io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        assert call(line.split()) == 2
    return err.getvalue()


@pytest.mark.parametrize(("line", "meant"), MEANT.items(), ids=MEANT)
def test_a_misspelt_command_is_answered_with_what_was_meant(line: str, meant: list[str]) -> None:
    said = told(line)
    guesses = re.findall(r"`beforehand ([^`]*)`", said.split("See `")[0])
    assert guesses == meant
    if not meant:
        assert "Commands: " in said
        assert "Did you mean" not in said


def test_there_are_enough_of_both() -> None:
    assert sum(bool(meant) for meant in MEANT.values()) >= 25
    assert sum(not meant for meant in MEANT.values()) >= 10


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run --resumee x", "Unknown option --resumee. Did you mean `--resume`?"),
        ("plan --sceen s", "Did you mean `--scene`?"),
        ("check p --outptu json", "Did you mean `--output`?"),
        ("robots hold --scen x RB", "Did you mean `--scene`?"),
        ("doctor --frobnicate", "Options: --output, --home, --db, --help."),
        ("doctor -z", "Options: --output"),
        ("doctor --home", "requires an argument"),
    ],
)
def test_a_misspelt_option_is_answered_with_what_was_meant(line: str, said: str) -> None:
    assert said in told(line).replace("\n", " ")


def test_a_slip_is_a_letter_left_out_put_in_mistaken_or_swapped() -> None:
    assert [slips_between("plan", word) for word in ("plan", "pln", "plaan", "plin", "paln")] == [0, 1, 1, 1, 1]
    assert slips_between("", "plan") == 4
    assert near_words("", ["plan"]) == []
