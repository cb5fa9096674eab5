"""Commands in words: one line whose first word is the verb; everything else is refused and never searched."""

import pytest

from beforehand.crafts.agent.core.command_text import LONGEST_TEXT, Command, command_lines, read_command
from beforehand.model.reason import Reason

SIT = "start sitting on bed1"
COMMANDS = [
    ('start("sitting on bed1")', SIT),
    ("start('sitting on bed1')", SIT),
    ("start(“sitting on bed1”)", SIT),
    ("start(‘sitting on bed1’)", SIT),
    ("start(„sitting on bed1“)", SIT),
    ("start(«sitting on bed1»)", SIT),
    ("start(sitting on bed1)", SIT),
    ("start sitting on bed1", SIT),
    ('start "sitting on bed1"', SIT),
    ("START(sitting on bed1)", SIT),
    ("Start (sitting on bed1)", SIT),
    ('  start(  "sitting on bed1"  )  ', SIT),
    ('start("sitting on bed1").', SIT),
    ('start("sitting on bed1");', SIT),
    ('start("sitting on bed1") # to rest', SIT),
    ('start("sitting on bed1")# to rest', SIT),
    ('start(action="sitting on bed1")', SIT),
    ('`start("sitting on bed1")`', SIT),
    ('```\nstart("sitting on bed1")\n```', SIT),
    ('```python\nstart("sitting on bed1")\n```', SIT),
    ('```start("sitting on bed1")```', SIT),
    ('```python start("sitting on bed1")```', SIT),
    ('\n\nstart("sitting on bed1")\n\n', SIT),
    ('# first rest\nstart("sitting on bed1")', SIT),
    ('start("walking to (3, 4)")', "start walking to (3, 4)"),
    ("start(walking to (3, 4))", "start walking to (3, 4)"),
    ('start("saying :)")', "start saying :)"),
    ('start("saying :) stop")', "start saying :) stop"),
    ('start("saying #1")', "start saying #1"),
    ('start("saying (a (b) c)")', "start saying (a (b) c)"),
    ("start(saying it's late)", "start saying it's late"),
    ('stop("dancing")', "stop dancing"),
    ("stop dancing", "stop dancing"),
    ("STOP('dancing')", "stop dancing"),
    ("skip(2)", "skip 2"),
    ("skip(2.5)", "skip 2.5"),
    ("skip( 2 )", "skip 2"),
    ("skip 2", "skip 2"),
    ("skip", "skip 1"),
    ("skip()", "skip 1"),
    ("Skip().", "skip 1"),
    ("skip(soon)", "skip 1"),
    ("skip(two)", "skip 1"),
    ("skip(2,5)", "skip 1"),
    ("skip(2s)", "skip 2"),
    ("skip(2 seconds)", "skip 2"),
    ("skip(1 second)", "skip 1"),
    ("skip(seconds=3)", "skip 3"),
    ('skip("3")', "skip 3"),
    ("skip(0)", "skip 0"),
    ("skip(60)", "skip 60"),
    ("skip(61)", "skip 60"),
    ("skip(1e9)", "skip 60"),
    ("skip(5, wake_on=done)", "skip 5 done"),
    ('skip(5, wake_on="change")', "skip 5 change"),
    ("skip(wake_on=stuck)", "skip 1 stuck"),
    ("skip(5, WAKE_ON = Failed)", "skip 5 failed"),
    ("end()", "end"),
    ("end", "end"),
    ("END();", "end"),
    ("end.", "end"),
    ("end() # all done", "end"),
    ("skip(-1)", "XX"),
    ("skip(-0.001)", "XX"),
    ("skip(nan)", "XX"),
    ("skip(inf)", "XX"),
    ("skip(-inf)", "XX"),
    ("skip(1e999)", "XX"),
    ("skip(5, wake_on=lunch)", "XX"),
    ("end(now)", "XX"),
    ("end of story", "XX"),
    ("", "XX"),
    ("   \n ", "XX"),
    ("# nothing", "XX"),
    ("```\n```", "XX"),
    ("start", "XX"),
    ("start()", "XX"),
    ('start("")', "XX"),
    ("stop()", "XX"),
    ('start("sitting on bed1"', "XX"),
    ("start sitting on bed1)", "XX"),
    ("begin(sitting on bed1)", "XX"),
    ("started(sitting)", "XX"),
    ("start_action(sitting)", "XX"),
    ("start = sitting", "XX"),
    ("I will start(dancing)", "XX"),
    ('Sure!\nstart("dancing")', "XX"),
    ('- start("dancing")', "XX"),
    ('1. start("dancing")', "XX"),
    ("{'command': 'end()'}", "XX"),
    ("停止", "XX"),
]


def shown(command: Command | Reason) -> str:
    if isinstance(command, Reason):
        return "XX"
    if command.verb == "skip":
        return " ".join(filter(None, ["skip", f"{command.seconds:g}", command.wake_on]))
    return f"{command.verb} {command.action}".strip()


@pytest.mark.parametrize(("text", "means"), COMMANDS)
def test_a_line_is_a_command_or_is_refused(text: str, means: str) -> None:
    assert shown(read_command(text)) == means


def test_the_table_is_as_long_as_was_promised() -> None:
    assert len({text for text, _ in COMMANDS}) >= 60


@pytest.mark.parametrize(
    "text",
    [
        'start("dancing") stop("dancing")',
        'start("dancing"); end()',
        'start("dancing"); end',
        'start("dancing"); skip',
        'start("dancing") skip',
        "start dancing; skip(2)",
        "start dancing; end",
        'start("dancing"), skip(2)',
        'start("dancing")\nskip(2)',
        'start("dancing")\n\nend()',
        '```\nstart("dancing")\nskip(2)\n```',
    ],
)
def test_of_two_commands_the_first_is_read_and_the_reply_says_so(text: str) -> None:
    command = read_command(text)
    assert isinstance(command, Command)
    assert (command.verb, command.action) == ("start", "dancing")
    assert command.note == "One command at a time: only the first one was run."


def test_the_seconds_of_a_skip_are_its_own() -> None:
    command = read_command("skip 2; end()")
    assert isinstance(command, Command)
    assert (command.seconds, bool(command.note)) == (2.0, True)


def test_prose_after_a_command_is_no_second_one() -> None:
    command = read_command('start("dancing")\nThis will cheer me up.')
    assert isinstance(command, Command)
    assert command.note == ""


def test_a_refusal_says_what_a_command_is() -> None:
    reason = read_command("let us dance")
    assert isinstance(reason, Reason)
    assert reason.says == "'let us dance' is not a command."
    assert "start(" in reason.try_next


def test_a_very_long_command_is_refused_and_not_cut() -> None:
    reason = read_command("start saying " + "a" * LONGEST_TEXT)
    assert isinstance(reason, Reason)
    assert str(LONGEST_TEXT) in reason.says


def test_a_very_long_reply_is_read_in_no_time() -> None:
    assert shown(read_command("start(dancing)\n" + "and then (more) " * 200_000)) == "start dancing"
    assert shown(read_command("(" * 1_000_000)) == "XX"


def test_a_file_keeps_every_line_that_says_something() -> None:
    text = '# rest\n```python\n\n```start("dancing")```\n`skip(2)`  # a while\n  # twice\nplease stop\n```\n'
    assert command_lines(text) == ['```start("dancing")```', "`skip(2)`  # a while", "please stop"]
