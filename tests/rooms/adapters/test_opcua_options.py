"""What a scene may say beside `kind: opcua`."""

from typing import Any

import pytest

from beforehand.adapters.opcua.options import address, check_options
from beforehand.crafts.cell.cells import machines_of
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.model.errors import BadInputError

URL = "opc.tcp://cell-3:4840"
OURS = {"certificate": "us.der", "private_key": "us.pem"}


@pytest.mark.parametrize(
    "options",
    [
        {"url": URL},
        {"url": "opc.tcp://[::1]:4841/path"},
        {"url": URL, "user": "line1", "password": "secret:CELL3"},
        {"url": URL, "certificate": "us.der", "private_key": "us.pem"},
        {"url": URL, **OURS, "server_certificate": "plc.pem"},
        {"url": URL, "certificate": "us.der", "privateKey": "us.pem", "serverCertificate": "plc.pem"},
        {"url": URL, **OURS, "server_certificate": "SHA256:" + "AB:" * 31 + "AB"},
    ],
)
def test_what_is_accepted(options: dict[str, Any]) -> None:
    assert list(check_options(options)) == []


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        ({}, ["url"]),
        ({"url": 5}, ["url"]),
        ({"url": "http://cell-3:4840"}, ["url"]),
        ({"url": "opc.tcp://"}, ["url"]),
        ({"url": "opc.tcp://cell:notaport"}, ["url"]),
        ({"url": "opc.tcp://cell:0"}, ["url"]),
        ({"url": "opc.tcp://me:secret@cell"}, ["url"]),
        ({"url": URL, "user": "me", "password": "in the open"}, ["password"]),
        ({"url": URL, "password": "secret:X"}, ["user"]),
        ({"url": URL, "certificate": "us.der"}, ["private_key"]),
        ({"url": URL, "server_certificate": "plc.pem"}, ["certificate"]),
        ({"url": URL, **OURS, "server_certificate": "sha256:12"}, ["server_certificate"]),
        ({"url": URL, **OURS, "server_certificate": ["plc.pem"]}, ["server_certificate"]),
        ({"url": URL, **OURS, "privateKey": "us.pem"}, ["privateKey"]),
        ({"url": URL, "usr": "me", "user": ""}, ["usr", "user"]),
    ],
)
def test_every_problem_is_told_with_its_key(options: dict[str, Any], paths: list[str]) -> None:
    problems = list(check_options(options))
    assert [problem.path for problem in problems] == paths
    assert all(problem.says.endswith(".") for problem in problems)
    assert not any("in the open" in problem.says for problem in problems)


@pytest.mark.parametrize("url", ["opc.tcp://CELL-3", "opc.tcp://cell-3:4840/", "opc.tcp://cell-3.:4840/x"])
def test_one_server_is_one_machine_however_it_is_written(url: str) -> None:
    assert address({"url": url}) == URL


def test_a_scene_is_known_by_its_controllers_address_and_told_what_is_wrong() -> None:
    document = {"kind": "cell", "name": "line", "positions": ["A"], "controller": {"kind": "opcua", "url": URL}}
    assert list(machines_of(read_cell(document))) == [URL]
    with pytest.raises(BadInputError) as refused:
        read_cell({**document, "controller": "opcua"})
    assert [problem.path for problem in refused.value.problems] == ["controller.url"]
