"""The Merkle tree: RFC 6962's own definition, every proof up to 40 leaves, and the public vectors."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.proof.merkle import (
    EMPTY_ROOT,
    Frontier,
    ProofError,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    leaf_hashes,
    node_from_tiles,
    node_hash,
    root_of,
    split_hashes,
    tile_root,
    tiles_for,
    verify_consistency,
    verify_inclusion,
)

LEAVES = [leaf_hash(b"leaf %d" % number) for number in range(700)]
MOST = 40


@cache
def defined(start: int, end: int) -> bytes:
    """The root as RFC 6962 defines it, by recursion."""
    if start == end:
        return EMPTY_ROOT
    if end - start == 1:
        return LEAVES[start]
    split = 1
    while split * 2 < end - start:
        split *= 2
    return node_hash(defined(start, start + split), defined(start + split, end))


def node(level: int, index: int) -> bytes:
    return defined(index << level, (index + 1) << level)


def test_hashes_are_those_of_the_rfc() -> None:
    assert sha256(b"").digest() == EMPTY_ROOT
    assert leaf_hash(b"x") == sha256(b"\0x").digest()
    assert leaf_hashes([b"x", b""]) == [leaf_hash(b"x"), leaf_hash(b"")]
    assert node_hash(b"l" * 32, b"r" * 32) == sha256(b"\1" + b"l" * 32 + b"r" * 32).digest()


@pytest.mark.parametrize("size", [*range(80), 255, 256, 257, 511, 700])
def test_root_is_the_defined_one(size: int) -> None:
    assert root_of(LEAVES[:size]) == defined(0, size)


@given(st.lists(st.integers(0, 90), max_size=8))
def test_a_frontier_gives_the_same_root_however_leaves_arrive(counts: list[int]) -> None:
    edge, size = Frontier(), 0
    for count in counts:
        batch = LEAVES[size : size + count]
        if count == 1:
            edge.append(batch[0])
        else:
            edge.extend(batch)
        size += len(batch)
        assert edge.size == size
        assert edge.root() == defined(0, size)
        restored = Frontier.from_hashes(size, edge.hashes)
        assert restored.root() == edge.root()
        edge = restored


def test_a_copied_frontier_grows_alone() -> None:
    edge = Frontier()
    edge.extend(LEAVES[:5])
    twin = edge.copy()
    twin.append(LEAVES[5])
    assert (edge.size, edge.root()) == (5, defined(0, 5))
    assert (twin.size, twin.root()) == (6, defined(0, 6))


@pytest.mark.parametrize(
    ("size", "hashes"),
    [(0, [b"x" * 32]), (3, [b"x" * 32]), (2, [b"x" * 31]), (-1, []), (-2, [b"x" * 32] * 2)],
)
def test_a_frontier_is_not_restored_from_what_does_not_fit(size: int, hashes: list[bytes]) -> None:
    with pytest.raises(ProofError):
        Frontier.from_hashes(size, hashes)


def test_every_leaf_is_proven_in_every_tree() -> None:
    for size in range(1, MOST + 1):
        for index in range(size):
            proof = inclusion_proof(index, size, node)
            verify_inclusion(LEAVES[index], index, size, proof, defined(0, size))


def test_every_tree_is_proven_to_begin_every_larger_one() -> None:
    for second in range(MOST + 1):
        for first in range(second + 1):
            proof = consistency_proof(first, second, node)
            verify_consistency(first, second, proof, defined(0, first), defined(0, second))
            assert proof or first in (0, second)


def refuses(check: Callable[..., None], *claim: object) -> str:
    """The words of refusal; anything but a refusal in words fails."""
    with pytest.raises(ProofError) as refused:
        check(*claim)
    words = str(refused.value)
    assert words
    assert len(words) < 120
    return words


@pytest.mark.parametrize(("index", "size"), [(0, 2), (2, 5), (4, 5), (12, 23), (39, 40)])
def test_an_inclusion_proof_with_any_byte_changed_is_refused(index: int, size: int) -> None:
    proof, root = inclusion_proof(index, size, node), defined(0, size)
    for number, item in enumerate(proof):
        for at in range(32):
            bad = item[:at] + bytes([item[at] ^ 1]) + item[at + 1 :]
            changed = [*proof[:number], bad, *proof[number + 1 :]]
            refuses(verify_inclusion, LEAVES[index], index, size, changed, root)
    for at in range(32):
        bad = LEAVES[index][:at] + bytes([LEAVES[index][at] ^ 128]) + LEAVES[index][at + 1 :]
        refuses(verify_inclusion, bad, index, size, proof, root)
        bad = root[:at] + bytes([root[at] ^ 128]) + root[at + 1 :]
        refuses(verify_inclusion, LEAVES[index], index, size, proof, bad)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (3, 7), (4, 7), (6, 8), (23, 40), (32, 40)])
def test_a_consistency_proof_with_any_byte_changed_is_refused(first: int, second: int) -> None:
    proof = consistency_proof(first, second, node)
    roots = defined(0, first), defined(0, second)
    for number, item in enumerate([*proof, *roots]):
        for at in range(32):
            parts = [*proof, *roots]
            parts[number] = item[:at] + bytes([item[at] ^ 1]) + item[at + 1 :]
            refuses(verify_consistency, first, second, parts[:-2], *parts[-2:])


@pytest.mark.parametrize("size", [1, 2, 7, 8, 13])
def test_proofs_of_other_places_and_lengths_are_refused(size: int) -> None:
    root = defined(0, size)
    for index in range(size):
        proof = inclusion_proof(index, size, node)
        for other in range(size):
            if other != index:
                refuses(verify_inclusion, LEAVES[index], other, size, proof, root)
        assert "long" in refuses(verify_inclusion, LEAVES[index], index, size, [*proof, root], root)
        if proof:
            assert "short" in refuses(verify_inclusion, LEAVES[index], index, size, proof[:-1], root)
            assert "short" in refuses(verify_inclusion, LEAVES[index], index, size, [], root)


@pytest.mark.parametrize(
    "claim",
    [
        (LEAVES[0], 1, 1, [], LEAVES[0]),
        (LEAVES[0], -1, 1, [], LEAVES[0]),
        (LEAVES[0], 0, 0, [], EMPTY_ROOT),
        (LEAVES[0], 0, 1 << 70, [], EMPTY_ROOT),
        (LEAVES[0], True, 2, [LEAVES[1]], defined(0, 2)),
        (LEAVES[0], 0.0, 2, [LEAVES[1]], defined(0, 2)),
        (LEAVES[0], "0", 2, [LEAVES[1]], defined(0, 2)),
        (LEAVES[0][:31], 0, 1, [], LEAVES[0][:31]),
        (None, 0, 1, [], LEAVES[0]),
        (LEAVES[0], 0, 1, [], LEAVES[0].hex()),
        (LEAVES[0], 0, 2, None, defined(0, 2)),
        (LEAVES[0], 0, 2, [None], defined(0, 2)),
        (LEAVES[0], 0, 2, LEAVES[1], defined(0, 2)),
        (LEAVES[0], 0, (1 << 63) - 1, [LEAVES[1]] * 62, defined(0, 2)),
    ],
)
def test_what_is_no_inclusion_claim_at_all_is_refused_in_words(claim: tuple[object, ...]) -> None:
    refuses(verify_inclusion, *claim)


@pytest.mark.parametrize(
    "claim",
    [
        (2, 1, [], defined(0, 2), defined(0, 1)),
        (1, 1, [], defined(0, 1), defined(0, 2)),
        (1, 1, [LEAVES[0]], defined(0, 1), defined(0, 1)),
        (0, 1, [], LEAVES[0], LEAVES[0]),
        (0, 1, [LEAVES[0]], EMPTY_ROOT, LEAVES[0]),
        (0, 0, [], EMPTY_ROOT, LEAVES[0]),
        (1, 2, [], defined(0, 1), defined(0, 2)),
        (-1, 2, [], defined(0, 1), defined(0, 2)),
        (1, None, [], defined(0, 1), defined(0, 2)),
        (1, 2, [LEAVES[1]], b"", defined(0, 2)),
    ],
)
def test_what_is_no_consistency_claim_at_all_is_refused_in_words(claim: tuple[object, ...]) -> None:
    refuses(verify_consistency, *claim)


def test_no_proof_is_made_of_what_is_not_there() -> None:
    for index, size in [(0, 0), (3, 3), (-1, 3)]:
        with pytest.raises(ProofError):
            inclusion_proof(index, size, node)
    for first, second in [(2, 1), (-1, 1)]:
        with pytest.raises(ProofError):
            consistency_proof(first, second, node)


def tiles_of(size: int) -> dict[tuple[int, int], bytes]:
    """The tiles of a tree, each level's hashes made from the full tiles below it."""
    tiles: dict[tuple[int, int], bytes] = {}
    for tile in tiles_for(size):
        if tile.level == 0:
            part = LEAVES[tile.number * 256 : tile.number * 256 + tile.width]
        else:
            below = range(tile.number * 256, tile.number * 256 + tile.width)
            part = [tile_root(tiles[tile.level - 1, number]) for number in below]
        tiles[tile.level, tile.number] = b"".join(part)
    return tiles


def test_a_tree_has_the_tiles_its_size_asks_for() -> None:
    assert tiles_for(0) == []
    assert tiles_for(1) == [(0, 0, 1)]
    assert tiles_for(256) == [(0, 0, 256), (1, 0, 1)]
    assert tiles_for(700) == [(0, 0, 256), (0, 1, 256), (0, 2, 188), (1, 0, 2)]
    assert tiles_for(70_000)[-2:] == [(1, 1, 17), (2, 0, 1)]


@given(st.integers(0, 200_000), st.integers(0, 200_000))
def test_growing_writes_the_tiles_that_became_wider(one: int, two: int) -> None:
    since, size = sorted((one, two))
    before = set(tiles_for(since))
    assert tiles_for(size, since) == [tile for tile in tiles_for(size) if tile not in before]


@pytest.mark.parametrize("size", [1, 255, 256, 257, 513, 700])
def test_proofs_made_from_tiles_hold(size: int) -> None:
    tiles = tiles_of(size)
    read = node_from_tiles(lambda level, number: tiles[level, number])
    for index in {0, 1, 254, 255, 256, size // 2, size - 1} & set(range(size)):
        verify_inclusion(LEAVES[index], index, size, inclusion_proof(index, size, read), defined(0, size))
    for first in {1, 2, 255, 256, 300, size} & set(range(size + 1)):
        proof = consistency_proof(first, size, read)
        verify_consistency(first, size, proof, defined(0, first), defined(0, size))


def test_a_tile_too_narrow_or_of_a_wrong_length_is_refused() -> None:
    with pytest.raises(ProofError):
        node_from_tiles(lambda *_: b"".join(LEAVES[:3]))(2, 0)
    with pytest.raises(ProofError):
        node_from_tiles(lambda *_: b"x" * 33)(0, 1)
    with pytest.raises(ProofError):
        tile_root(b"x" * 32 * 255)
    with pytest.raises(ProofError):
        split_hashes(b"x" * 33)
    with pytest.raises(ProofError):
        tiles_for(3, 4)


def decoded(text: str | None) -> bytes:
    return b64decode(text or "")


def test_public_inclusion_vectors(shared: Path) -> None:
    files = sorted((shared / "vectors/merkle/testdata/inclusion").rglob("*.json"))
    assert files
    for file in files:
        case = json.loads(file.read_text("utf-8"))
        proof = [decoded(item) for item in case["proof"] or []]
        claim = decoded(case["leafHash"]), case["leafIdx"], case["treeSize"], proof, decoded(case["root"])
        if case["wantErr"]:
            refuses(verify_inclusion, *claim)
        else:
            verify_inclusion(*claim)


def test_public_consistency_vectors(shared: Path) -> None:
    files = sorted((shared / "vectors/merkle/testdata/consistency").rglob("*.json"))
    assert files
    for file in files:
        case = json.loads(file.read_text("utf-8"))
        proof = [decoded(item) for item in case["proof"] or []]
        roots = decoded(case["root1"]), decoded(case["root2"])
        claim = case["size1"], case["size2"], proof, *roots
        # One vector accepts roots that are no SHA-256 hashes; these are refused for their length.
        if case["wantErr"] or any(len(root) != 32 for root in roots):
            refuses(verify_consistency, *claim)
        else:
            verify_consistency(*claim)


def test_a_public_tiled_log_of_every_size(shared: Path) -> None:
    log = shared / "vectors/tiled-log/testdata/log"
    roots: dict[int, bytes] = {}
    for file in log.glob("checkpoint.*"):
        size, root = file.read_text("utf-8").split("\n")[1:3]
        roots[int(size)] = b64decode(root)
    widest = max(int(file.name) for file in (log / "tile/0/000.p").iterdir())
    tile = (log / f"tile/0/000.p/{widest}").read_bytes()
    read = node_from_tiles(lambda *_: tile)
    leaves = split_hashes(tile)
    assert len(roots) > 10
    for size, root in roots.items():
        assert root_of(leaves[:size]) == root
        for index in range(size):
            verify_inclusion(leaves[index], index, size, inclusion_proof(index, size, read), root)
        for first in range(1, size):
            verify_consistency(first, size, consistency_proof(first, size, read), roots[first], root)
        verify_consistency(0, size, [], EMPTY_ROOT, root)


def test_entries_of_a_public_tiled_log_hash_to_its_leaves(shared: Path) -> None:
    log = shared / "vectors/tiled-log/testdata/log"
    for file in (log / "tile/entries/000.p").iterdir():
        bundle, entries = file.read_bytes(), []
        while bundle:
            length = int.from_bytes(bundle[:2], "big")
            entries.append(bundle[2 : 2 + length])
            bundle = bundle[2 + length :]
        assert b"".join(leaf_hashes(entries)) == (log / f"tile/0/000.p/{file.name}").read_bytes()
