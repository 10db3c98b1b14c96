"""Commitments are HMAC-SHA-256, and a segment's root is RFC 6962's over them."""

from __future__ import annotations

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.proof.commitment import commit, commit_all, segment_root
from affidavit.proof.merkle import EMPTY_ROOT, leaf_hash, node_hash

SALT = st.binary(min_size=32, max_size=32)


@given(st.lists(st.tuples(SALT, st.binary(max_size=200)), max_size=6))
def test_a_commitment_is_hmac(pairs: list[tuple[bytes, bytes]]) -> None:
    expected = [hmac.digest(salt, data, "sha256") for salt, data in pairs]
    assert commit_all(b"".join(salt for salt, _ in pairs), [data for _, data in pairs]) == expected
    assert [commit(salt, data) for salt, data in pairs] == expected


@pytest.mark.parametrize("size", [0, 1, 31, 32, 55, 56, 63, 64, 65, 1000, 1 << 20])
def test_a_commitment_is_hmac_at_every_block_edge(size: int) -> None:
    salt, data = bytes(range(32)), b"\xa5" * size
    assert commit(salt, data) == hmac.digest(salt, data, "sha256")


def test_rfc_4231_test_case_2_by_way_of_a_padded_key() -> None:
    # The RFC's key "Jefe" is padded with zeros to the block, so 32 bytes of it give the same value.
    salt = b"Jefe" + b"\0" * 28
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert commit(salt, b"what do ya want for nothing?").hex() == expected


@pytest.mark.parametrize(("salts", "records"), [(31, 1), (33, 1), (0, 1), (32, 0), (32, 2)])
def test_salts_that_do_not_fit_the_records_are_refused(salts: int, records: int) -> None:
    with pytest.raises(ValueError, match="salt"):
        commit_all(b"s" * salts, [b"x"] * records)


def test_a_segment_root_hashes_each_commitment_as_a_leaf() -> None:
    one, two, three = (bytes([number]) * 32 for number in (1, 2, 3))
    assert segment_root([]) == EMPTY_ROOT
    assert segment_root([one]) == leaf_hash(one)
    pair = node_hash(leaf_hash(one), leaf_hash(two))
    assert segment_root([one, two, three]) == node_hash(pair, leaf_hash(three))
