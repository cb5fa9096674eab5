"""Names and addresses of machines."""

import ipaddress


def is_loopback(name: str) -> bool:
    """Whether a host name or address means this machine only."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
