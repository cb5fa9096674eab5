"""A look at a broker before it is used, and why there is no line to one: told in sentences, without a broker."""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from beforehand.adapters.vda5050 import checkup
from beforehand.adapters.vda5050.checkup import Found, check_broker
from beforehand.adapters.vda5050.lines import broker_of, client_of, why_no_line
from beforehand.model.broker import Broker
from beforehand.model.errors import BadInputError, UnavailableError

NOW = 1_767_268_800_000
PLAIN, SECURE = Broker("broker", 1883), Broker("broker", 8883, True)
STATE = {
    "headerId": 1,
    "timestamp": "2026-01-01T12:00:00Z",
    "version": "2.1.0",
    "serialNumber": "7",
    "orderId": "",
    "lastNodeId": "A",
    "nodeStates": [],
    "actionStates": [],
    "driving": False,
    "loads": [],
    "operatingMode": "AUTOMATIC",
    "agvPosition": {"x": 0, "y": 0, "theta": 0, "mapId": "m", "positionInitialized": True},
    "batteryState": {"batteryCharge": 80, "charging": False},
}
SHEET = {"typeSpecification": {"seriesName": "F1"}, "protocolFeatures": {"agvActions": [{"actionType": "pick"}]}}


def vehicle(*states: dict[str, Any], major: str = "v2", connection: str | None = "ONLINE", **more: Any) -> Found:
    found = Found("uagv", major, "acme", "7")
    if connection is not None:
        found.hear("connection", json.dumps({"connectionState": connection}).encode(), NOW, 0.0)
    for number, state in enumerate(states):
        found.hear("state", json.dumps({**STATE, **state}).encode(), NOW + 1_000 * number, float(number))
    for topic, document in more.items():
        found.hear(topic, json.dumps(document).encode(), NOW, 0.0)
    return found


def test_a_vehicle_that_is_well_is_told_with_what_a_scene_would_say_of_it() -> None:
    found = vehicle({}, {}, factsheet=SHEET)
    shown = found.wire()
    assert (shown["version"], shown["connection"], shown["operatingMode"]) == ("2.1.0", "ONLINE", "AUTOMATIC")
    assert (shown["nodeId"], shown["battery"], shown["charging"], shown["loads"]) == ("A", 0.8, False, 0)
    assert (shown["statesHeard"], shown["stateIntervalMs"]) == (2, 1_000)
    assert (shown["series"], shown["actions"]) == ("F1", ["pick"])
    assert (shown["orderId"], shown["orderActive"], shown["errors"]) == (None, False, [])
    assert shown["link"] == {"kind": "vda5050", "manufacturer": "acme", "serial": "7", "version": "2.1.0"}
    assert found.troubles() == ["acme/7 does not know the drop that orders ask for."]


def test_a_vehicle_that_nothing_is_heard_of_is_shown_without_what_is_not_known() -> None:
    shown = vehicle(connection=None).wire()
    for name in ("version", "connection", "nodeId", "battery", "loads", "orderActive", "stateIntervalMs", "actions"):
        assert shown[name] is None
    assert shown["link"] == {"kind": "vda5050", "manufacturer": "acme", "serial": "7"}
    other = Found("fleet", "v2", "acme", "7")
    assert other.entry["interface"] == "fleet"


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({"agvPosition": {**STATE["agvPosition"], "positionInitialized": False}}, "does not know where it is"),
        ({"agvPosition": None, "lastNodeId": ""}, "does not say where it is"),
        ({"orderId": "x", "driving": True}, "carries out the order x"),
        ({"operatingMode": "MANUAL"}, "operating mode is MANUAL"),
    ],
)
def test_what_stands_in_the_way_of_using_it_is_told(state: dict[str, Any], says: str) -> None:
    [told] = vehicle(state).troubles()
    assert says in told
    assert told.startswith("acme/7")
    assert vehicle({}).troubles() == []


def test_a_vehicle_that_speaks_another_version_or_says_nothing_or_nonsense_is_told() -> None:
    assert vehicle({}, major="v3").troubles() == ["acme/7 speaks v3, and Beforehand 2.0 and 2.1."]
    assert vehicle().troubles() == ["acme/7 is online and did not say how it is."]
    assert vehicle(connection="OFFLINE").troubles() == []
    assert "its state cannot be read" in vehicle(state={"nodeStates": 5}).troubles()[0]


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({"timestamp": "2026-01-01T12:00:05Z"}, "+5.0 s off"),
        ({"timestamp": "noon"}, "gives no time that can be read: 'noon'"),
        ({"serialNumber": "8"}, "calls itself 8"),
        ({"loads": None}, "does not say what it carries"),
    ],
)
def test_what_is_good_to_know_is_noted(state: dict[str, Any], says: str) -> None:
    silent = "did not answer a request for its state"
    notes = vehicle(state).notes()
    assert any(says in note for note in notes)
    assert len(notes) == 2
    assert [silent in note for note in vehicle({"timestamp": "2026-01-01T12:00:02Z"}).notes()] == [True]
    assert vehicle({}, connection="CONNECTIONBROKEN").notes() == ["acme/7 is not there (CONNECTIONBROKEN)."]
    assert vehicle(connection=None).notes() == ["acme/7 is not there (nothing heard)."]


def test_an_answer_to_a_request_says_how_long_the_way_is() -> None:
    found = Found("uagv", "v2", "acme", "7", asked={"q1": 10.0})
    answered = {**STATE, "actionStates": [{"actionId": "q1", "actionStatus": "FINISHED"}]}
    for at_s in (10.25, 11.0):
        found.hear("state", json.dumps(answered).encode(), NOW, at_s)
    assert found.trips_ms == [250.0]
    assert found.wire()["roundTripMs"] == 250.0
    assert found.notes() == []
    assert found.is_there, "it says how it is, whatever is said of its connection"


class Mqtt:
    """A broker with one vehicle on it, which answers requests for its state; the line ends when it has."""

    def __init__(self) -> None:
        self.published: list[tuple[str, Any]] = []
        self.subscribed: list[str] = []
        self._out: asyncio.Queue[Any] = asyncio.Queue()

    async def __aenter__(self) -> "Mqtt":
        return self

    async def __aexit__(self, *_: Any) -> None: ...

    async def subscribe(self, topic: str, qos: int) -> None:
        self.subscribed.append(topic)
        if topic.endswith("connection"):
            self.say("connection", {"connectionState": "ONLINE"})

    async def publish(self, topic: str, payload: bytes) -> None:
        self.published.append((topic, json.loads(payload)))
        asked = json.loads(payload)["actions"][0]
        if asked["actionType"] == "stateRequest":
            done = {"actionId": asked["actionId"], "actionType": "stateRequest", "actionStatus": "FINISHED"}
            self.say("state", {**STATE, "actionStates": [done]})

    def say(self, name: str, document: Any) -> None:
        message = SimpleNamespace(topic=f"uagv/v2/acme/7/{name}", payload=json.dumps(document).encode())
        self._out.put_nowait(message)

    @property
    async def messages(self) -> AsyncIterator[Any]:
        for _ in ("its connection", "its state"):
            yield await self._out.get()


async def test_every_vehicle_that_is_heard_is_asked_and_none_is_told_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Mqtt()
    monkeypatch.setattr(checkup, "client_of", lambda *_, **__: broker)
    found = await check_broker(PLAIN, lambda: NOW)
    [seen] = found.vehicles
    assert (seen.name, seen.wire()["nodeId"], len(seen.trips_ms)) == ("acme/7", "A", 1)
    assert (found.speaks, found.troubles, found.notes) == (True, (), ())
    assert [one.rpartition("/")[2] for one in broker.subscribed] == ["connection", "state", "factsheet"]
    assert {topic for topic, _ in broker.published} == {"uagv/v2/acme/7/instantActions"}
    asked = [document["actions"][0]["actionType"] for _, document in broker.published]
    assert asked == ["stateRequest", "factsheetRequest"]
    assert found.wire()["broker"] == "mqtt://broker:1883"


async def test_a_broker_without_vehicles_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty(Mqtt):
        async def subscribe(self, topic: str, qos: int) -> None: ...

    monkeypatch.setattr(checkup, "client_of", lambda *_, **__: Empty())
    found = await check_broker(PLAIN, lambda: NOW, listen_s=0.01)
    assert (found.speaks, found.vehicles) == (True, ())
    assert found.troubles[0].startswith("No vehicle was heard at mqtt://broker:1883 within 0.01 s")


async def test_that_no_vehicle_is_there_comes_before_what_is_wrong_with_those_that_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Left(Mqtt):
        async def subscribe(self, topic: str, qos: int) -> None:
            if topic.endswith("connection"):
                self.say("connection", {"connectionState": "OFFLINE"})
                self.say("state", {"nodeStates": 5})

    monkeypatch.setattr(checkup, "client_of", lambda *_, **__: Left())
    first, second = (await check_broker(PLAIN, lambda: NOW)).troubles
    assert first.startswith("No vehicle was heard")
    assert "its state cannot be read" in second


async def test_a_broker_that_cannot_be_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise ConnectionRefusedError

    monkeypatch.setattr(checkup, "client_of", refuse)
    found = await check_broker(PLAIN, lambda: NOW)
    assert (found.speaks, found.wire()["speaks"]) == (False, None)
    assert found.troubles == ("The broker mqtt://broker:1883 cannot be reached: nothing listens on this port.",)


# -- why there is no line


def certificate_error(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError("no")
    error.verify_code, error.verify_message = code, "said so"
    return error


@pytest.mark.parametrize(
    ("error", "broker", "says"),
    [
        (UnavailableError("It is not installed."), PLAIN, "It is not installed."),
        (certificate_error(10), SECURE, "has expired"),
        (certificate_error(9), SECURE, "not valid yet"),
        (certificate_error(62), SECURE, "for another name than broker"),
        (certificate_error(64), SECURE, "for another name than broker"),
        (certificate_error(20), SECURE, "is not known here; set tls_ca (said so)"),
        (certificate_error(20), Broker("broker", 8883, True, ca="ca.pem"), "not among those in the file of tls_ca"),
        (ssl.SSLError("wrong version"), SECURE, "is 8883 its encrypted port?"),
        (ConnectionResetError("reset"), SECURE, "does not speak TLS as we do"),
        (ConnectionResetError("reset"), PLAIN, "cannot be reached: reset. If its line is encrypted, write mqtts://."),
        (socket.gaierror("no"), PLAIN, "there is no host broker"),
        (ConnectionRefusedError(), PLAIN, "nothing listens on this port"),
        (TimeoutError(), PLAIN, "does not answer as a broker does. If its line is encrypted"),
        (OSError("Operation timed out"), SECURE, "does not answer as a broker does. It may want a certificate of ours"),
        (OSError("odd"), Broker("broker", 8883, True, certificate="us.pem"), "cannot be reached: odd."),
    ],
)
def test_why_there_is_no_line_is_told_in_a_sentence(error: Exception, broker: Broker, says: str) -> None:
    told = why_no_line(error, broker)
    assert says in told
    assert told.endswith((".", "?"))


@pytest.mark.parametrize("code", [4, 5, 134, 135])
def test_who_is_not_let_in_is_told_as_whom(code: int) -> None:
    error = RuntimeError("refused")
    error.rc = code  # type: ignore[attr-defined]
    assert "without a user" in why_no_line(error, PLAIN)
    error.rc = SimpleNamespace(value=code)  # type: ignore[attr-defined]
    assert "does not let us in as line1" in why_no_line(error, Broker("broker", 1883, user="line1"))


def test_the_cause_behind_an_error_of_the_library_counts() -> None:
    error = RuntimeError("the library's own words")
    error.__cause__ = ConnectionRefusedError()
    assert "nothing listens" in why_no_line(error, PLAIN)


def test_what_the_address_does_not_say_comes_from_the_settings() -> None:
    settings = {"broker_user": "us", "broker_password": "p", "tls_ca": "ca.pem", "broker_cert": "c", "broker_key": "k"}
    plain = broker_of("mqtt://broker", lambda url: url, settings.get)
    assert plain == Broker("broker", 1883, user="us", password="p")
    named = broker_of("mqtts://ann:${secret:X}@broker", lambda url: url.replace("${secret:X}", "pw"), settings.get)
    assert named == Broker("broker", 8883, True, "ann", "pw", "ca.pem", "c", "k")
    assert broker_of("http://broker", lambda url: url, settings.get) is None


@pytest.mark.needs("aiomqtt")
def test_files_for_the_line_that_cannot_be_used_are_named_with_their_setting(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    for broker, says, setting in (
        (Broker("b", 8883, True, ca=str(tmp_path / "none")), "cannot be read", "tls_ca"),
        (Broker("b", 8883, True, ca=str(empty)), "does not hold certificates of authorities", "tls_ca"),
        (Broker("b", 8883, True, certificate=str(empty)), "does not hold a certificate and its key", "broker_cert"),
    ):
        with pytest.raises(BadInputError, match=says) as refused:
            client_of(broker)
        assert setting in refused.value.hint
    with pytest.raises(BadInputError, match="needs broker_cert"):
        client_of(Broker("b", 8883, True, private_key=str(empty)))
