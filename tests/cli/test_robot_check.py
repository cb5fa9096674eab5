"""`beforehand robot check` for brokers and OPC UA servers: one command, whatever speaks there."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contract.vda5050_rig import Mosquitto, free_port


@pytest.fixture
def broker(tmp_path: Path, executable: Callable[[str], Path]) -> Iterator[Mosquitto]:
    made = Mosquitto(str(executable("mosquitto")), tmp_path)
    made.start()
    yield made
    made.stop()


def left_behind(broker: Mosquitto, topic: str, **said: Any) -> None:
    """A message that a broker keeps, so that whoever comes later hears it."""
    from paho.mqtt.publish import single

    single(topic, json.dumps(said), retain=True, hostname="127.0.0.1", port=broker.port)


STATE = {
    "headerId": 7,
    "timestamp": "2026-01-01T00:00:00",
    "version": "2.1.0",
    "serialNumber": "AGV-17",
    "orderId": "",
    "lastNodeId": "",
    "operatingMode": "MANUAL",
    "agvPosition": {"x": 1, "y": 2, "theta": 0, "mapId": "m", "positionInitialized": False},
    "errors": [{"errorType": "motor", "errorLevel": "FATAL", "errorDescription": "too hot"}],
}


@pytest.mark.needs("mosquitto", "aiomqtt")
def test_the_vehicles_at_a_broker_are_listed_with_what_is_in_the_way(cli: Any, broker: Mosquitto) -> None:
    """Foreign ones: another interface and version, names that differ, no answer to requests, and one that is gone."""
    left_behind(broker, "plantA/v2/Jung heinrich/17/connection", connectionState="ONLINE")
    left_behind(broker, "plantA/v2/Jung heinrich/17/state", **STATE)
    left_behind(broker, "plantA/v2/old/1/connection", connectionState="CONNECTIONBROKEN")
    left_behind(broker, "plantA/v2/odd/2/connection", connectionState=["?"])
    found = cli("robot", "check", broker.url, "--for", "1", "-o", "json", code=1)
    told = {one["serial"]: one for one in found.document["vehicles"]}
    assert told["17"]["link"] == {
        "kind": "vda5050",
        "manufacturer": "Jung heinrich",
        "serial": "17",
        "version": "2.1.0",
        "interface": "plantA",
    }
    assert (told["17"]["operatingMode"], told["17"]["orderActive"], told["17"]["roundTripMs"]) == (
        "MANUAL",
        False,
        None,
    )
    assert told["17"]["clockOffsetMs"] < -1_000_000
    assert told["1"]["connection"] == "CONNECTIONBROKEN"
    assert "Its operating mode is MANUAL. It reports motor: too hot." in found.err
    assert "Jung heinrich/17 does not know where it is" in found.err
    assert "odd/2: its connection cannot be read" in found.err
    said = " ".join(found.document["notes"])
    assert "calls itself AGV-17 in its messages" in said
    assert "did not answer a request for its state" in said
    assert "old/1 is not there (CONNECTIONBROKEN)." in said


@pytest.mark.needs("mosquitto", "aiomqtt")
def test_a_broker_without_vehicles_is_told(cli: Any, broker: Mosquitto) -> None:
    assert "No vehicle was heard at mqtt://127.0.0.1" in cli("robot", "check", broker.url, "--for", "0.5", code=1).err


@pytest.mark.needs("asyncua")
def test_a_cells_controller_is_looked_at(cli: Any) -> None:
    port = free_port()
    plc = cli.start("robot", "opcua", "--scene", "weld_star", "--port", str(port))
    assert "Put this controller into the scene" in plc.stdout.readline()
    shown = cli("robot", "check", f"opc.tcp://127.0.0.1:{port}").out
    assert "17 of 17 nodes are there" in shown
    assert f'{{"kind": "opcua", "url": "opc.tcp://127.0.0.1:{port}"}}' in shown
    plc.kill()


@pytest.mark.needs("asyncua")
def test_a_controller_that_is_not_there_is_a_sentence(cli: Any) -> None:
    assert "nothing listens" in cli("robot", "check", f"opc.tcp://127.0.0.1:{free_port()}", code=1).err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("http://robot",), "Nothing is known of http://; an address is HOST[:PORT], mqtt://, mqtts:// or opc.tcp://."),
        (("mqtt://",), "A broker is mqtt://host:port or mqtts://host:port."),
        (("mqtt://h:99999",), "A broker is mqtt://host:port"),
        (("opc.tcp://",), "write opc.tcp://host:port"),
        (("opc.tcp://me:sesame@plc",), "A password does not belong in a scene: write secret:NAME."),
        (("opc.tcp://plc", "--certificate", "c.der"), "certificate needs private_key beside it."),
        (("10.0.0.1", "--certificate", "c.der"), "are for opc.tcp:// addresses"),
        (("mqtt://me:${secret:GONE}@h",), "There is no secret 'GONE'."),
    ],
)
def test_bad_addresses_are_a_sentence(cli: Any, words: tuple[str, ...], said: str) -> None:
    assert said in cli("robot", "check", *words, code=2).err
