"""The way to a Temporal server: an encrypted line where the address says so, and large values compressed."""

import asyncio
import os
import socket
import zlib
from collections.abc import Sequence
from dataclasses import replace

from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import DataConverter, PayloadCodec
from temporalio.service import RPCError, TLSConfig

from beforehand.adapters.temporal.address import Address, Encryption
from beforehand.adapters.temporal.faults import unreachable
from beforehand.model.errors import UnavailableError

CONNECT_S = 10.0
LARGE_BYTES = 4_096
_ENCODING, _COMPRESSED = "encoding", b"binary/zlib"


class Compressed(PayloadCodec):
    """Values above a few kilobytes take less room in histories; small ones stay readable there."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [_packed(payload) if len(payload.data) > LARGE_BYTES else payload for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        packed = _COMPRESSED
        return [_unpacked(one) if one.metadata.get(_ENCODING) == packed else one for one in payloads]


def _packed(payload: Payload) -> Payload:
    return Payload(metadata={_ENCODING: _COMPRESSED}, data=zlib.compress(payload.SerializeToString(), 1))


def _unpacked(payload: Payload) -> Payload:
    inner = Payload()
    inner.ParseFromString(zlib.decompress(payload.data))
    return inner


def converter() -> DataConverter:
    return replace(DataConverter.default, payload_codec=Compressed())


async def connect(address: Address, identity: str) -> Client:
    """A client; UnavailableError where the server does not answer, or has no such namespace."""
    try:
        async with asyncio.timeout(CONNECT_S):
            return await Client.connect(
                address.target,
                namespace=address.namespace,
                data_converter=converter(),
                identity=identity,
                tls=False if address.encryption is None else _tls(address.encryption),
                api_key=address.api_key,
            )
    except (RuntimeError, RPCError, TimeoutError) as error:
        raise unreachable(address, error) from error
    except ValueError as error:
        raise UnavailableError(
            f"{address.target!r} is no address of a Temporal server: {error}.",
            code="temporal.address",
            hint="Give it as host:port, in BEFOREHAND_TEMPORAL.",
        ) from error


def _tls(encryption: Encryption) -> TLSConfig:
    return TLSConfig(
        server_root_ca_cert=encryption.authorities,
        client_cert=encryption.certificate,
        client_private_key=encryption.key,
    )


def identity_of(role: str) -> str:
    """Who this process is, as the server shows it."""
    return f"beforehand-{role}@{socket.gethostname()}:{os.getpid()}"
