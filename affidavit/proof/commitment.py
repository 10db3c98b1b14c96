"""Salted commitments: they prove bytes while the bytes are there and tell nothing once they are erased.

A commitment is HMAC-SHA-256 (RFC 2104) keyed by 32 random bytes over the exact bytes. Whoever holds salt and
bytes can check it; with the salt gone the bytes cannot be found by guessing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from affidavit.proof.merkle import leaf_hashes, root_of

SALT_SIZE = 32
"""Bytes of a salt."""

COMMITMENT_SIZE = 32
"""Bytes of a commitment."""

# HMAC pads a 32-byte key with zeros to SHA-256's block of 64 bytes and XORs it with 0x36 and 0x5c.
_INNER_KEY = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_KEY = bytes(byte ^ 0x5C for byte in range(256))
_INNER_PAD = b"\x36" * 32
_OUTER_PAD = b"\x5c" * 32


def commit(salt: bytes, data: bytes) -> bytes:
    """The commitment to ``data`` under a salt of exactly 32 bytes; ``ValueError`` for any other length."""
    return commit_all(salt, (data,))[0]


def commit_all(salts: bytes, records: Sequence[bytes]) -> list[bytes]:
    """The commitments to many records; ``salts`` holds 32 bytes for each, in order.

    The same value as :func:`hmac.digest`, written out because preparing all keys at once takes a quarter off
    the time, and this runs over every byte on import and on verify.
    """
    if len(salts) != SALT_SIZE * len(records):
        raise ValueError(f"{len(records)} records need {SALT_SIZE * len(records)} bytes of salt, not {len(salts)}")
    inner = salts.translate(_INNER_KEY)
    outer = salts.translate(_OUTER_KEY)
    inner_pad, outer_pad, digest = _INNER_PAD, _OUTER_PAD, sha256
    return [
        digest(
            outer[at : at + 32]
            + outer_pad
            + digest(inner[at : at + 32] + inner_pad + record).digest()
        ).digest()
        for at, record in zip(range(0, len(salts), 32), records, strict=True)
    ]  # fmt: skip


def segment_root(commitments: Iterable[bytes]) -> bytes:
    """The RFC 6962 root whose leaves are a segment's commitments, in order."""
    return root_of(leaf_hashes(commitments))
