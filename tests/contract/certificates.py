"""Certificates for tests: authorities of our own, and what they sign."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Signed:
    certificate: Path
    key: Path


class Authority:
    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        made = self._built(self._name, self._key.public_key(), 10).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def sign(self, host: str, days: int = 10) -> Signed:
        """A certificate for a host or an address, valid for so many days; below 0 it has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        names: x509.GeneralName = x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
        built = self._built(name, key.public_key(), days).add_extension(
            x509.SubjectAlternativeName([names]), critical=False
        )
        files = Signed(self._folder / f"{host}{days}.crt", self._folder / f"{host}{days}.key")
        files.certificate.write_bytes(built.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        files.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return files

    def _built(self, name: x509.Name, key: ec.EllipticCurvePublicKey, days: int) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 20 * DAY)
            .not_valid_after(now + days * DAY)
        )
