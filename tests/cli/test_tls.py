"""`up` by https, the commands that call it, and what they say of a certificate they do not believe."""

import http.client
import json
import socket
import ssl

import pytest
from tests.certificates import Authority

WAIT = {"steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]}


@pytest.fixture
def authority(tmp_path):
    (tmp_path / "tls").mkdir()
    return Authority(tmp_path / "tls")


def served(cli, authority, *names, **more):
    cert, key = authority.issue(*names)
    shown = {"BEFOREHAND_TLS_CERT": str(cert), "BEFOREHAND_TLS_KEY": str(key)}
    process = cli.start("up", "--no-open", "--port", "0", **shown, **more)
    told = process.stdout.readline()
    assert told.startswith("Beforehand is at https://127.0.0.1:"), told + process.stderr.read()
    return told.split()[-1], shown


def test_commands_find_the_server_by_https(cli, authority):
    url, shown = served(cli, authority, "plant.example.com", "127.0.0.1")
    cli.write("plan.yaml", WAIT)
    own = cli("run", "plan.yaml", "-o", "json", code=0, **shown)
    assert own.document["status"] == "completed"
    assert url in own.err
    by_authority = cli("run", "plan.yaml", "-o", "json", code=0, BEFOREHAND_TLS_CA=str(authority.file))
    assert by_authority.document["status"] == "completed"
    refused = cli("run", "plan.yaml", code=1)
    assert f"The certificate of the server at {url} is not believed" in refused.err
    assert "BEFOREHAND_TLS_CA" in refused.err


def test_the_api_and_the_console_come_encrypted_and_nothing_else_does(cli, authority):
    url, _ = served(cli, authority, "127.0.0.1", BEFOREHAND_TOKEN="sesame")
    port = int(url.rpartition(":")[2])
    trust = ssl.create_default_context(cafile=authority.file)
    call = http.client.HTTPSConnection("127.0.0.1", port, context=trust, timeout=30)
    body = json.dumps({"token": "sesame"})
    call.request("POST", "/api/v1/login", body, {"Content-Type": "application/json", "Origin": url})
    answer = call.getresponse()
    assert answer.status == 200, answer.read()
    assert "Secure" in answer.headers["Set-Cookie"]
    answer.read()
    call.request("GET", "/")
    assert call.getresponse().status == 200
    plain = socket.create_connection(("127.0.0.1", port), 30)
    plain.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert b"HTTP" not in plain.recv(100)
    plain.close()
    spoilt = trust.wrap_socket(socket.create_connection(("127.0.0.1", port), 30), server_hostname="127.0.0.1")
    spoilt.sendall(b"this is no HTTP\r\n\r\n")
    assert spoilt.recv(100).startswith(b"HTTP/1.1 400")
    spoilt.close()


def test_files_that_cannot_be_used_stop_the_start_with_a_sentence(cli, authority):
    cert, _ = authority.issue("localhost")
    told = cli("up", "--no-open", "--port", "0", code=2, BEFOREHAND_TLS_CERT=str(cert))
    assert "are not a certificate and its key" in told.err
    told = cli("doctor", code=1, BEFOREHAND_TLS_CERT=str(cert))
    assert "are not a certificate and its key" in " ".join(told.out.split())


def test_the_doctor_looks_at_the_certificate(cli, authority):
    def found(days):
        cert, key = authority.issue("plant.example.com", days=days)
        shown = {"BEFOREHAND_TLS_CERT": str(cert), "BEFOREHAND_TLS_KEY": str(key)}
        checks = cli("doctor", "-o", "json", **shown).document["checks"]
        return next((check["state"], check["says"]) for check in checks if check["check"] == "tls")

    state, says = found(90)
    assert state == "ok"
    assert "for plant.example.com, until" in says
    assert found(3)[0] == "missing"
    state, says = found(-1)
    assert state == "broken"
    assert "expired" in says
