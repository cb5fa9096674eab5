"""The numbers of Robokit: its ports, its questions, and what its task statuses and refusals mean."""

from typing import Final

PORTS: Final = {"status": 19204, "control": 19205, "task": 19206, "config": 19207, "other": 19210, "push": 19301}
ANSWER_LIMIT_S: Final = 2.0
"""How long an answer may take, unless a scene says otherwise."""
ANSWER: Final = 10_000
"""What is added to a question's number in its answer."""

INFO, RUN, LOCATION, BLOCKED, BATTERY, EMERGENCY, TASK, FORK = 1000, 1002, 1004, 1006, 1007, 1012, 1020, 1028
ALARMS, CONTROL, ALL, ALL_2, ALL_3, TASK_BY_ID, STATIONS = 1050, 1060, 1100, 1101, 1102, 1110, 1301
PAUSE, RESUME, CANCEL, GO_TARGET, GO_TARGET_LIST = 3001, 3002, 3003, 3051, 3066
TAKE_CONTROL, GIVE_CONTROL = 4005, 4006
FORK_HEIGHT, FORK_STOP = 6040, 6041
SET_PUSH, PUSHED = 9300, 19301

WRONG_PORT, UNKNOWN_NUMBER, BAD_JSON, BAD_VERSION, TOO_BIG = 60000, 60001, 60002, 60003, 60004
FRAME_FAULTS: Final = {
    WRONG_PORT: "it does not answer this on this port",
    UNKNOWN_NUMBER: "it does not know this request",
    BAD_JSON: "it cannot read the request",
    BAD_VERSION: "it speaks another version of the protocol",
    TOO_BIG: "the request is too big for it",
}

NONE, WAITING, RUNNING, SUSPENDED, COMPLETED, FAILED, CANCELLED = range(7)
STATUSES: Final = frozenset(range(7))

CONTROL_HELD: Final = 40020
REFUSALS: Final = {
    40000: ("robot.refused", "it cannot do this now"),
    40001: ("robot.refused", "something is missing in the request"),
    40002: ("robot.refused", "something in the request is of the wrong type"),
    40003: ("robot.refused", "something in the request is not allowed"),
    40004: ("robot.refused", "it is in another mode"),
    40012: ("robot.busy", "another system gives it its orders"),
    40016: ("robot.emergency_stop", "its emergency stop is pressed"),
    CONTROL_HELD: ("robot.control", "somebody else has control of it"),
}
UNSUITED: Final = frozenset({40000, 40001, 40002, 40003, UNKNOWN_NUMBER, BAD_JSON})
"""Refusals that may mean that a robot does not know this form of a command."""
