"""Reading a fault script: every problem at once, in sentences."""

import pytest

from beforehand.adapters.sim.faults import read_faults
from beforehand.model.errors import BadInputError


def problems(document, robot_ids=None):
    with pytest.raises(BadInputError) as caught:
        read_faults(document, robot_ids)
    return {problem.path: problem for problem in caught.value.problems}


def test_faults_come_in_order_of_time():
    late = {"atS": 20, "robotId": "R1", "fault": "blocked", "forS": 3}
    early = {"at_s": 2.5, "robot_id": "R2", "fault": "late_ack", "delay_s": 1}
    assert [fault.robot_id for fault in read_faults([late, early])] == ["R2", "R1"]
    assert [fault.robot_id for fault in read_faults({"faults": [late, early]})] == ["R2", "R1"]
    assert read_faults([]) == []


def test_every_problem_is_told_at_once_unknown_names_first():
    found = problems(
        [
            {"atS": -1, "robotId": "R9", "fault": "ofline"},
            {"robotId": 3, "fault": "blocked", "forS": float("nan"), "why": "x"},
            7,
            {"atS": "3", "robotId": "R1", "fault": "low_battery", "level": 2},
        ],
        ["R1", "R2"],
    )
    first, second, last = ("atS", "robotId", "fault"), ("atS", "robotId", "forS", "why"), ("atS", "level")
    wrong = [f"[0].{key}" for key in first] + [f"[1].{key}" for key in second] + [f"[3].{key}" for key in last]
    assert set(found) == {*wrong, "[2]"}
    assert "offline" in found["[0].fault"].nearest
    assert found["[0].robotId"].nearest == ("R1", "R2")
    assert all(problem.says.endswith(".") for problem in found.values())
    codes = [problem.code for problem in found.values()]
    assert codes == sorted(codes, key=lambda code: code != "faults.unknown_name")


@pytest.mark.parametrize(
    "document", [None, "offline", 3, {}, {"faults": 3}, {"faults": [], "x": 1}, [[]], [{1: 2}], [None]]
)
def test_any_document_gets_sentences(document):
    assert all(problem.says for problem in problems(document).values())


def test_a_robot_the_scene_does_not_have_is_refused(drive):
    unknown = {"atS": 1, "robotId": "RX", "fault": "offline"}
    with pytest.raises(BadInputError, match="RX"):
        drive([unknown])
    with pytest.raises(BadInputError, match="RX"):
        drive().sim.inject(read_faults([unknown])[0], 0)
