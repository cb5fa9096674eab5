"""Encrypted lines to a broker: whose certificate is believed, who we are there, and why there is no line."""

import asyncio
import base64
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.vda5050.checkup import check_broker
from beforehand.adapters.vda5050.lines import broker_of
from beforehand.adapters.vda5050.link import VdaLink
from beforehand.adapters.vda5050.robots import VirtualRobots, vda_robots
from beforehand.app.clock import WallClock
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.ports.robot import LinkRequest

from .test_vda5050_link import scene
from .vda5050_rig import Mosquitto, free_port

pytestmark = pytest.mark.needs("mosquitto", "aiomqtt", "asyncua")
SECRET = "sesame-open"


@dataclass(frozen=True)
class Doors:
    """The encrypted ports of one broker, and the files that open them."""

    right: int
    expired: int
    other_name: int
    certified: int
    guarded: int
    ca: str
    other_ca: str
    certificate: str
    key: str


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory, executable: Callable[[str], Path]) -> Iterator[Doors]:
    from .certificates import Authority

    folder = tmp_path_factory.mktemp("tls")
    plant, other = Authority(folder, "plant"), Authority(folder, "other")
    us = plant.sign("beforehand")
    ports = [free_port() for _ in range(5)]
    users = folder / "users"
    users.write_text(f"line1:{hashed(SECRET)}\n")
    here, late, away = plant.sign("127.0.0.1"), plant.sign("127.0.0.1", -1), plant.sign("broker.example")
    lines = []
    for port, shown, more in zip(
        ports,
        (here, late, away, here, here),
        ("", "", "", "require_certificate true\n", f"password_file {users}\n"),
        strict=True,
    ):
        anonymous = "false" if "password" in more else "true"
        lines.append(
            f"listener {port} 127.0.0.1\nallow_anonymous {anonymous}\ncafile {plant.file}\n"
            f"certfile {shown.certificate}\nkeyfile {shown.key}\n{more}"
        )
    broker = Mosquitto(str(executable("mosquitto")), folder, config="".join(lines))
    broker.start()
    yield Doors(*ports, str(plant.file), str(other.file), str(us.certificate), str(us.key))
    broker.stop()


def hashed(password: str) -> str:
    """A password as mosquitto keeps it."""
    salt, rounds = b"twelve bytes", 101
    made = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, rounds, 64)
    return f"$7${rounds}${base64.b64encode(salt).decode()}${base64.b64encode(made).decode()}"


def settings_of(**given: Any) -> Callable[[str], Any]:
    return lambda name: given.get(name)


async def said(port: int, user: str = "", **given: Any) -> str:
    broker = broker_of(f"mqtts://{user}127.0.0.1:{port}", lambda value: value, settings_of(**given))
    assert broker is not None
    found = await check_broker(broker, WallClock().now_ms, listen_s=0.2)
    return found.troubles[0]


HEARD = "No vehicle was heard"


async def test_a_known_authority_and_the_right_name_are_believed(doors: Doors) -> None:
    assert (await said(doors.right, tls_ca=doors.ca)).startswith(HEARD)


async def test_a_certificate_that_cannot_be_believed_is_told_in_a_sentence(doors: Doors) -> None:
    assert "is not known here; set tls_ca" in await said(doors.right)
    assert "is not among those in the file of tls_ca" in await said(doors.right, tls_ca=doors.other_ca)
    assert "its certificate has expired" in await said(doors.expired, tls_ca=doors.ca)
    assert "another name than 127.0.0.1" in await said(doors.other_name, tls_ca=doors.ca)


async def test_files_that_cannot_be_used_are_named(doors: Doors, tmp_path: Path) -> None:
    assert "gone.pem cannot be used for the line to the broker: it cannot be read" in await said(
        doors.right, tls_ca=str(tmp_path / "gone.pem")
    )
    assert "does not hold certificates of authorities" in await said(doors.right, tls_ca=doors.key)
    assert "does not hold a certificate and its key" in await said(
        doors.right, tls_ca=doors.ca, broker_cert=doors.certificate
    )


async def test_a_broker_that_asks_who_we_are_is_told_so_by_a_certificate(doors: Doors) -> None:
    ours = {"tls_ca": doors.ca, "broker_cert": doors.certificate, "broker_key": doors.key}
    assert (await said(doors.certified, **ours)).startswith(HEARD)
    assert "It may want a certificate of ours" in await said(doors.certified, tls_ca=doors.ca)


async def test_a_broker_that_asks_for_a_password_is_told_it_and_nobody_else(doors: Doors) -> None:
    known = {"tls_ca": doors.ca, "broker_user": "line1", "broker_password": SECRET}
    assert (await said(doors.guarded, **known)).startswith(HEARD)
    assert (await said(doors.guarded, f"line1:{SECRET}@", tls_ca=doors.ca)).startswith(HEARD)
    refused = await said(doors.guarded, **{**known, "broker_password": "guess-this"})
    assert "does not let us in as line1" in refused
    assert "guess-this" not in refused
    assert "does not let us in without a user" in await said(doors.guarded, tls_ca=doors.ca)


async def test_robots_are_driven_over_an_encrypted_line_with_a_password_by_reference(doors: Doors) -> None:
    document = scene(f"mqtts://line1:${{secret:BROKER}}@127.0.0.1:{doors.guarded}")
    made = read_fleet(document)

    def filled(value: Any) -> Any:
        return value.replace("${secret:BROKER}", SECRET)

    setting = settings_of(tls_ca=doors.ca)
    broker = broker_of(str(made.settings.broker), filled, setting)
    assert broker is not None
    robots = asyncio.create_task(VirtualRobots(made, vda_robots(made), broker, WallClock()).run())
    request = LinkRequest(made, made.robots, WallClock(), with_secrets=filled, setting=setting)
    link = VdaLink(request)
    try:
        seen = None
        while seen is None:
            seen = await link.read("RB-01")
        assert seen.node_id == "A"
    finally:
        await link.close()
        robots.cancel()
        await asyncio.gather(robots, return_exceptions=True)
    assert SECRET not in repr(replace(broker))
