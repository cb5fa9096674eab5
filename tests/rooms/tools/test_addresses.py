"""Which addresses are of the open internet, and which hosts a user has named."""

import pytest

from beforehand.adapters.tools.addresses import AllowedHosts, is_public
from beforehand.adapters.tools.builtin import allowed_hosts

CLOSED = """
    127.0.0.1 127.255.255.254 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1
    192.0.0.8 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.7 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255
    ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd12:3456::1 ff02::1 fec0::1 2001:db8::1 100::1
    ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 2002:7f00:1:: 2002:c0a8:101::
    64:ff9b::127.0.0.1 64:ff9b::a00:1 64:ff9b:1::7f00:1 2001:0:7f00:1::1 ::127.0.0.1
    nonsense 127.1 0x7f000001
"""
OPEN = "1.1.1.1 8.8.8.8 93.184.216.34 2606:4700::1111 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808"


@pytest.mark.parametrize("address", CLOSED.split())
def test_closed(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OPEN.split())
def test_open(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("named", "host", "port", "admitted"),
    [
        ("localhost", "localhost", 80, True),
        ("localhost", "LOCALHOST.", 8080, True),
        ("Printer.local:631", "printer.local", 631, True),
        ("printer.local:631", "printer.local", 80, False),
        ("printer.local", "sub.printer.local", 80, False),
        ("127.0.0.1:8000", "127.0.0.1", 8000, True),
        ("127.0.0.1", "localhost", 80, False),
        ("::1", "::1", 80, True),
        ("[::1]:8000", "::1", 8000, True),
        ("[::1]:8000", "::1", 80, False),
        ("", "", 80, False),
    ],
)
def test_named_hosts(named: str, host: str, port: int, admitted: bool) -> None:
    assert AllowedHosts([named]).admits(host, port) is admitted


def test_hosts_from_a_setting() -> None:
    assert allowed_hosts("a, b:80 c,,") == ["a", "b:80", "c"]
    assert allowed_hosts(["a", "b"]) == ["a", "b"]
    assert allowed_hosts("") == []
