"""What robots say, in all their ways of saying it: refusals, places, alarms, loads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.adapters.robokit.answers import refusal
from beforehand.adapters.robokit.frame import Frame
from beforehand.adapters.robokit.loads import SENSORS, Load, load_of
from beforehand.adapters.robokit.numbers import PORTS
from beforehand.adapters.robokit.options import RobokitOptions, check_robokit, robokit_address
from beforehand.adapters.robokit.readings import Reading, read_status

OPTIONS = RobokitOptions("forklift-1", PORTS)


def read(status, task=None) -> Reading:
    return read_status(status, task, OPTIONS)


@pytest.mark.parametrize("body", [{}, {"ret_code": 0}, {"ret_code": 0, "err_msg": "moved"}, {"err_msg": ""}, {"a": 1}])
def test_a_yes(body):
    assert refusal(Frame(13051, 1, body)) is None


@pytest.mark.parametrize(
    ("frame", "code", "says"),
    [
        (Frame(13051, 1, {"ret_code": 40020}), "robot.control", "somebody else has control of it (40020)"),
        (Frame(13051, 1, {"ret_code": "40016"}), "robot.emergency_stop", "its emergency stop is pressed (40016)"),
        (Frame(13051, 1, {"ret_code": 40012}), "robot.busy", "another system gives it its orders (40012)"),
        (Frame(13051, 1, {"err_msg": "no such station"}), "robot.refused", "no such station"),
        (Frame(13051, 1, {"ret_code": 41234, "err_msg": "no way"}), "robot.refused", "no way (41234)"),
        (Frame(13051, 1, {"ret_code": -1}), "robot.refused", "it gives no reason (-1)"),
        (Frame(60001, 1), "robot.protocol", "it does not know this request (60001)"),
        (Frame(13051, 1, {"ret_code": 60000}), "robot.protocol", "it does not answer this on this port (60000)"),
    ],
)
def test_every_way_of_saying_no(frame, code, says):
    refused = refusal(frame)
    assert (refused.code, refused.why) == (code, says)


@pytest.mark.parametrize(
    ("status", "load"),
    [
        ({}, None),
        ({"goods_region": {"name": "p", "point": [[0, 0], [1, 0]]}}, Load("loaded", "goods_region")),
        ({"goods_region": {"point": []}}, Load("empty", "goods_region")),
        ({"goods_region": [{"x": 1, "y": 2}]}, Load("loaded", "goods_region")),
        ({"roller_isFull": []}, None),
        ({"roller_isFull": [False, True]}, Load("loaded", "roller_isFull")),
        ({"roller_isFull": [False]}, Load("empty", "roller_isFull")),
        ({"hook_isFull": True}, Load("loaded", "hook_isFull")),
        ({"hook_isFull": 0}, Load("empty", "hook_isFull")),
        ({"fork_pressure_actual": 400}, Load("loaded", "fork_pressure_actual", "low")),
        ({"fork_pressure_actual": 2.5}, Load("empty", "fork_pressure_actual", "low")),
        ({"fork_pressure_actual": True}, None),
        ({"goods_region": {"point": []}, "hook_isFull": True}, Load("empty", "goods_region", "low")),
        ({"hook_isFull": True, "fork_pressure_actual": 1}, Load("loaded", "hook_isFull")),
    ],
)
def test_every_load_sensor(status, load):
    assert load_of(status) == load


def test_a_pressure_is_believed_once_somebody_has_said_from_where_on_it_is_a_load():
    assert load_of({"fork_pressure_actual": 30}, SENSORS, 25) == Load("loaded", "fork_pressure_actual")
    assert load_of({"fork_pressure_actual": 30, "hook_isFull": False}, SENSORS, 25) == Load(
        "empty", "hook_isFull", "low"
    )


def test_a_sensor_that_is_not_believed_says_nothing():
    assert load_of({"hook_isFull": False, "goods_region": {"point": []}}, ()) is None
    assert load_of({"hook_isFull": False, "goods_region": {"point": [1]}}, ("goods_region",)).reading == "loaded"


@pytest.mark.parametrize(
    ("status", "place"),
    [
        ({"current_station": "AP1"}, ("AP1", None)),
        ({"current_station": "", "finished_path": ["LM1", "LM2"], "unfinished_path": ["LM3", "AP1"]}, ("LM2", "LM3")),
        ({"current_station": "", "last_station": "LM7", "target_id": "AP1"}, ("LM7", "AP1")),
        ({"current_station": "AP1", "reloc_status": 2}, (None, None)),
        ({"current_station": "AP1", "reloc_status": 0}, ("AP1", None)),
        ({"current_station": 5, "finished_path": "LM1"}, (None, None)),
    ],
)
def test_where_it_is(status, place):
    found = read(status)
    assert (found.node_id, found.next_node_id) == place


def test_alarms_are_told_in_words_and_only_the_bad_ones():
    found = read(
        {
            "fatals": [{"52200": 1700000000, "desc": "motor is hot."}],
            "errors": [{"code": 52231, "desc": "pallet recognition failed"}, 52111],
            "warnings": [{"code": 54000, "desc": "battery low"}],
        }
    )
    told = "It reports 52200 motor is hot; 52231 pallet recognition failed; 52111. It did not recognise the pallet."
    assert found.error == told
    pressed = read({"emergency": True})
    assert (pressed.blocked, pressed.error) == (True, "Its emergency stop is pressed.")


def test_the_answer_about_the_task_counts_before_the_general_one():
    assert read({"task_status": 2}, {"task_status": 4}).status == 4
    assert read({"task_status": 2}, None).status == 2
    assert [read({"task_status": wrong}).status for wrong in (7, "4", True, None, 4.0)] == [None] * 5


@pytest.mark.parametrize(("level", "battery"), [(0.5, 0.5), (87, 0.87), (1, 1.0), ("full", None), (-1, None)])
def test_batteries_in_parts_of_one_or_in_percent(level, battery):
    assert read({"battery_level": level}).battery == battery


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "task_status",
                "x",
                "errors",
                "goods_region",
                "time",
                "create_on",
                "battery_level",
                "current_station",
                "finished_path",
                "roller_isFull",
                "fork_height",
                "reloc_status",
                "fatals",
            ]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
            max_leaves=6,
        ),
    )
)
def test_no_answer_raises_and_none_but_a_status_is_a_status(status):
    found = read(status)
    assert found.status is None or status["task_status"] == found.status


def test_where_an_order_leads_is_read_from_what_it_does_now():
    assert read({"target_id": "LM1"}, {"target_id": "LM2"}).target == "LM2"
    assert read({"target_id": ""}).target is None


# What a scene says


def test_a_host_is_enough():
    assert check_robokit({"host": "192.168.4.21"}) == []
    assert RobokitOptions.of({"host": "a", "ports": {"status": 5000}}).ports == {**PORTS, "status": 5000}


def test_an_address_of_ipv6_is_a_host():
    assert check_robokit({"host": "fd00::7"}) == check_robokit({"host": "fe80::1%eth0"}) == []


def test_both_spellings_are_read():
    options = {"host": "a", "load_sensors": ["hook_isFull"], "loaded_pressure": 7, "answer_limit_s": 3}
    assert check_robokit(options) == []
    found = RobokitOptions.of(options)
    assert (found.sensors, found.loaded_pressure, found.answer_limit_s) == (("hook_isFull",), 7, 3)


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"host": "a", "answerLimitS": 3, "answer_limit_s": 4}, "answer_limit_s"),
        ({"host": "a", "load_sensors": ["nose"]}, "loadSensors[0]"),
        ({}, "host"),
        ({"host": ""}, "host"),
        ({"host": "robot:19204/x"}, "host"),
        ({"host": "192.168.4.21:19204"}, "host"),
        ({"host": "robot:19204"}, "host"),
        ({"host": "a", "ports": 19204}, "ports"),
        ({"host": "a", "ports": {"statsu": 1}}, "ports.statsu"),
        ({"host": "a", "ports": {"status": 0}}, "ports.status"),
        ({"host": "a", "ports": {"status": True}}, "ports.status"),
        ({"host": "a", "ports": {"status": 19205}}, "ports"),
        ({"host": "a", "password": "x"}, "password"),
        ({"host": "a", "hots": "x"}, "hots"),
        ({"host": "a", "loadSensors": ["nose"]}, "loadSensors[0]"),
        ({"host": "a", "loadSensors": "goods_region"}, "loadSensors"),
        ({"host": "a", "loadedPressure": -1}, "loadedPressure"),
    ],
)
def test_what_is_wrong_with_a_link_is_told_with_its_place(options, path):
    assert [problem.path for problem in check_robokit(options)] == [path]


def test_one_robot_is_known_by_its_host_and_the_port_commands_go_to():
    assert robokit_address({"host": "A."}) == robokit_address({"host": "a", "ports": {"push": 5}})
    assert robokit_address({"host": "a"}) != robokit_address({"host": "a", "ports": {"task": 5}})


@pytest.mark.parametrize(("limit_s", "is_good"), [(0.05, True), (60, True), (0.04, False), (61, False), (True, False)])
def test_how_long_an_answer_may_take_has_limits(limit_s, is_good):
    assert (not check_robokit({"host": "forklift-1", "answerLimitS": limit_s})) is is_good
    options = RobokitOptions.of({"host": " forklift-1 ", "answerLimitS": 7})
    assert (options.host, options.answer_limit_s) == ("forklift-1", 7)
