"""What a person reads at the terminal before answering."""

from beforehand.cli.prompt import evidence_lines


def test_what_was_planned_answered_and_seen_stands_in_three_lines() -> None:
    difference = {
        "planned": {"current_position": "Pos_1", "current_tool": None},
        "reported": {"current_position": "Pos_3", "current_tool": "none"},
        "now": {"current_position": None, "current_tool": "none"},
        "says": ["It is elsewhere."],
    }
    told = evidence_lines({"kind": "inDoubt", "evidence": {"says": "It is elsewhere.", "difference": difference}})
    assert told == [
        "Planned: current position Pos_1, current tool any",
        "Answered: current position Pos_3, current tool none",
        "Seen now: current position not known, current tool none",
    ]


def test_a_drift_without_an_answer_has_no_line_for_one() -> None:
    difference = {"planned": {"current_position": "Home"}, "now": {"current_position": "Pos_3"}, "says": []}
    told = evidence_lines({"kind": "drift", "evidence": {"difference": difference}})
    assert told == ["Planned: current position Home", "Seen now: current position Pos_3"]
