"""Differences between two contents: applying one to the old content gives the new."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.adapters.files.diff import MAX_DIFF_CHARS, file_diff

LINES = st.lists(
    st.sampled_from(["a", "b", "c", "", "  x", "-d", "+e", "\\ No", "@@", "\r", "\x0c", "ä\u2028"]), max_size=30
)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


def applied(before: str, diff: str) -> str:
    """A small patch program: strict about every line and every count."""
    old = re.findall(r"[^\n]*\n|[^\n]+", before)
    lines = re.findall(r"[^\n]*\n", diff)[2:]
    new: list[str] = []
    at = index = 0
    while index < len(lines):
        header = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n", lines[index])
        assert header, lines[index]
        start, count = int(header[1]), int(header[2] or 1)
        new_start, new_count = int(header[3]), int(header[4] or 1)
        begin = start - 1 if count else start
        new += old[at:begin]
        at = begin
        assert len(new) == (new_start - 1 if new_count else new_start)
        index += 1
        taken = given = 0
        while taken < count or given < new_count:
            sign, text = lines[index][0], lines[index][1:]
            index += 1
            if index < len(lines) and lines[index] == "\\ No newline at end of file\n":
                text = text[:-1]
                index += 1
            if sign in " -":
                assert old[at] == text
                at, taken = at + 1, taken + 1
            if sign in " +":
                new.append(text)
                given += 1
    return "".join([*new, *old[at:]])


@settings(max_examples=300)
@given(before=TEXTS, after=TEXTS)
def test_applying_a_difference_gives_the_new_content(before: str, after: str) -> None:
    diff = file_diff("f", before.encode(), after.encode())
    if before == after:
        assert diff == ""
    else:
        assert diff.startswith("--- a/f\n+++ b/f\n")
        assert applied(before, diff) == after


@given(text=TEXTS.filter(bool))
def test_new_and_deleted_files(text: str) -> None:
    new, gone = file_diff("f", None, text.encode()), file_diff("f", text.encode(), None)
    assert new.startswith("--- /dev/null\n+++ b/f\n")
    assert gone.startswith("--- a/f\n+++ /dev/null\n")
    assert applied("", new) == text
    assert applied(text, gone) == ""


def test_a_small_change_in_a_long_file_is_shown_small() -> None:
    lines = [f"line {n}\n" for n in range(100_000)]
    changed = [*lines]
    changed[50_000] = "changed\n"
    diff = file_diff("f", "".join(lines).encode(), "".join(changed).encode())
    assert len(diff.splitlines()) == 11
    assert "@@ -49998,7 +49998,7 @@" in diff


def test_a_long_change_is_still_a_true_difference() -> None:
    before = "".join(f"line {n}\n" for n in range(5000))
    after = "".join(f"line {n}\n" for n in reversed(range(5000)))
    assert applied(before, file_diff("f", before.encode(), after.encode())) == after


def test_a_huge_difference_is_cut_and_says_so() -> None:
    diff = file_diff("f", None, b"x" * 99 + b"\n" + (b"y" * 99 + b"\n") * 10_000)
    assert len(diff) < MAX_DIFF_CHARS + 200
    assert diff.endswith("more lines of this difference are not shown\n")


def test_contents_that_are_no_text() -> None:
    assert file_diff("f", b"\0a", b"\0bc") == "Binary file f changes: 2 bytes become 3 bytes\n"
    assert file_diff("f", b"text", b"\xff") == "Binary file f changes: 4 bytes become 1 byte\n"
    assert file_diff("f", b"\0", None) == "Binary file f is deleted: 1 byte\n"
    assert file_diff("f", None, b"") == "--- /dev/null\n+++ b/f\n"
