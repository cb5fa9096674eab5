"""What leads to a robot, as sentences and as the lines that the command line prints."""

import pytest

from beforehand.crafts.fleet.record_tables import link_rows
from beforehand.crafts.fleet.sentences import link_says
from beforehand.ports.robot import LinkStanding


@pytest.mark.parametrize(
    ("kind", "stands", "says"),
    [
        ("sim", None, "RB-01 is simulated."),
        ("rosbridge", None, "The link rosbridge does not say whether RB-01 answers."),
        ("robokit", LinkStanding("h"), "RB-01 has not been heard yet."),
        ("robokit", LinkStanding("h", True), "RB-01 answers."),
        ("vda5050", LinkStanding("h", False), "RB-01 does not answer."),
    ],
)
def test_whether_a_robot_answers_is_a_sentence(kind: str, stands: LinkStanding | None, says: str) -> None:
    assert link_says("RB-01", kind, stands) == says


def test_only_what_is_known_has_a_line() -> None:
    told = {"kind": "robokit", "says": "RB-01 answers.", "at": "host, port 1", "sinceTsMs": 0, "control": ""}
    assert link_rows(told) == [
        ("kind", "robokit"),
        ("at", "host, port 1"),
        ("answers", "RB-01 answers. Since 1970-01-01T00:00:00.000Z."),
        ("control", "nobody"),
    ]
    assert link_rows({"kind": "sim", "says": "RB-01 is simulated."}) == [
        ("kind", "sim"),
        ("answers", "RB-01 is simulated."),
    ]
    trouble = {"kind": "robokit", "says": "No.", "trouble": "Gone.", "troubleTsMs": 0}
    assert link_rows(trouble)[-1] == ("last trouble", "Gone. At 1970-01-01T00:00:00.000Z.")
