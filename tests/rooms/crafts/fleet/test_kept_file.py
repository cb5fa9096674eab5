"""What a link keeps: a line for a robot, everything at last, and nothing that a crash can spoil."""

import json
from pathlib import Path

import pytest

from beforehand.crafts.fleet import kept_file
from beforehand.crafts.fleet.kept_file import KeptFile


def test_what_is_kept_of_one_robot_costs_one_line_and_leaves_the_others(tmp_path: Path) -> None:
    file = KeptFile(tmp_path / "folder" / "scene.json")
    file.keep({"RB-01": {"order": "a"}, "RB-02": {"order": "b"}})
    file.keep({"RB-01": {"order": "c"}})
    lines = (tmp_path / "folder" / "scene.json").read_text().splitlines()
    assert [json.loads(line) for line in lines][1:] == [{"RB-01": {"order": "c"}}]
    assert KeptFile(tmp_path / "folder" / "scene.json").kept == {"RB-01": {"order": "c"}, "RB-02": {"order": "b"}}


def test_a_file_that_grows_long_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_file, "LONG_B", 200)
    file = KeptFile(tmp_path / "scene.json")
    file.keep({"RB-01": 0, "RB-02": 0})
    for number in range(1000):
        file.keep({"RB-01": number})
    assert (tmp_path / "scene.json").stat().st_size < 400
    assert KeptFile(tmp_path / "scene.json").kept == {"RB-01": 999, "RB-02": 0}


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_line_cut_off_by_a_crash_is_passed_over_and_what_follows_counts(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "scene.json"
    file = KeptFile(path)
    file.keep({"RB-01": 1, "RB-02": 1})
    file.keep({"RB-02": 2222222})
    path.write_bytes(path.read_bytes()[:-cut])
    after = KeptFile(path)
    assert after.kept in ({"RB-01": 1, "RB-02": 1}, {"RB-01": 1, "RB-02": 2222222})
    after.keep({"RB-02": 3})
    assert KeptFile(path).kept == {"RB-01": 1, "RB-02": 3}


def test_nothing_is_kept_of_what_nobody_can_read(tmp_path: Path) -> None:
    path = tmp_path / "scene.json"
    assert KeptFile(path).kept is None
    for text in (b"nonsense", b"[]", b"\xff\xfe\n3\n", b"[" * 100_000):
        path.write_bytes(text)
        assert KeptFile(path).kept is None
