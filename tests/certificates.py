"""Certificates for tests: an authority of one's own, and what it vouches for."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


class Authority:
    def __init__(self, folder: Path, name: str = "Works CA") -> None:
        """Its certificate is `file`; what it issues lies beside it."""
        self._folder = folder
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        basic = x509.BasicConstraints(ca=True, path_length=0)
        made = self._draft(self._name, self._key.public_key(), DAY).add_extension(basic, critical=True)
        self.file = folder / f"{name.replace(' ', '-').lower()}.pem"
        self.file.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def issue(self, *names: str, days: int = 1, file: str = "server", password: str = "") -> tuple[Path, Path]:
        """A certificate for these host names or addresses and its key; with `days` below 0 it has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        made = self._draft(subject, key.public_key(), days * DAY)
        made = made.add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
        certificate, kept = self._folder / f"{file}.pem", self._folder / f"{file}.key"
        certificate.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        locked: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password:
            locked = serialization.BestAvailableEncryption(password.encode())
        form = serialization.PrivateFormat.PKCS8
        kept.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, locked))
        kept.chmod(0o600)
        return certificate, kept

    def _draft(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, until: dt.timedelta
    ) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 3 * DAY)
            .not_valid_after(now + until)
        )


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
