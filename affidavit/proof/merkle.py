"""The Merkle tree of RFC 6962, section 2.1: roots, a growing frontier, proofs, and tiles of 256 hashes.

A leaf is hashed as ``SHA-256(0x00 || data)``, an inner node as ``SHA-256(0x01 || left || right)``; a tree of
n leaves splits at the largest power of two below n. A *complete* subtree of 2^level leaves that starts at
leaf ``index * 2^level`` is named ``(level, index)``, as in the tiled logs of c2sp.org/tlog-tiles.

Functions that judge what a stranger supplied (``verify_…``) return nothing when the claim holds and raise
:class:`ProofError` with plain words when it does not; they never raise anything else, whatever they get.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

HASH_SIZE = 32
"""Bytes of every hash here."""

TILE_HEIGHT = 8
"""Tree levels that one tile spans."""

TILE_WIDTH = 1 << TILE_HEIGHT
"""Hashes in a full tile."""

EMPTY_ROOT = sha256(b"").digest()
"""The root of a tree without leaves."""

Node = Callable[[int, int], bytes]
"""Gives the hash of the complete subtree ``(level, index)``."""

Range = tuple[int, int]
"""Leaves ``start`` up to but not including ``end``."""


class ProofError(ValueError):
    """A proof does not show what it claims. Its text is for people and names no hash."""


def leaf_hash(data: bytes) -> bytes:
    """The hash of one leaf."""
    return sha256(b"\x00" + data).digest()


def leaf_hashes(items: Iterable[bytes]) -> list[bytes]:
    """The hashes of many leaves, faster than one by one."""
    return [sha256(b"\x00" + item).digest() for item in items]


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return sha256(b"\x01" + left + right).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over leaf hashes, by levels: an odd last hash rises unchanged, which is RFC 6962's split."""
    if not leaves:
        return EMPTY_ROOT
    level: Sequence[bytes] = leaves
    while len(level) > 1:
        odd = level[-1:] if len(level) & 1 else ()
        pairs = iter(level)
        above = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=False)]
        above.extend(odd)
        level = above
    return level[0]


class Frontier:
    """The right edge of a growing tree: its complete subtrees, at most one for each bit of its size.

    Enough to append and to give the root, without any of the leaves. ``size`` counts leaves.
    """

    __slots__ = ("_peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self._peaks: dict[int, bytes] = {}  # level -> hash of the complete subtree there

    @classmethod
    def from_hashes(cls, size: int, hashes: Sequence[bytes]) -> Frontier:
        """Restores what :attr:`hashes` gave for ``size`` leaves: largest subtree first.

        Raises :class:`ProofError` if the count or the length of the hashes does not fit the size.
        """
        levels = [level for level in range(size.bit_length() - 1, -1, -1) if size >> level & 1]
        if size < 0 or len(levels) != len(hashes):
            raise ProofError(f"a tree of {size} leaves does not have {len(hashes)} complete subtrees")
        if any(len(item) != HASH_SIZE for item in hashes):
            raise ProofError("a hash of the tree's edge is not 32 bytes long")
        edge = cls()
        edge.size = size
        edge._peaks = dict(zip(levels, map(bytes, hashes), strict=True))
        return edge

    @property
    def hashes(self) -> list[bytes]:
        """The complete subtrees, largest (leftmost) first."""
        return [self._peaks[level] for level in sorted(self._peaks, reverse=True)]

    def copy(self) -> Frontier:
        """An independent frontier of the same tree."""
        twin = Frontier()
        twin.size = self.size
        twin._peaks = dict(self._peaks)
        return twin

    def append(self, leaf: bytes) -> None:
        """Adds one leaf hash."""
        self.extend((leaf,))

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Adds leaf hashes in order."""
        row = list(leaves)
        self.size += len(row)
        level = 0
        while row:
            waiting = self._peaks.pop(level, None)
            if waiting is not None:
                row.insert(0, waiting)
            if len(row) & 1:
                self._peaks[level] = row.pop()
            pairs = iter(row)
            row = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)]
            level += 1

    def root(self) -> bytes:
        """The root of the tree so far."""
        if not self._peaks:
            return EMPTY_ROOT
        smallest, *rest = sorted(self._peaks)
        root = self._peaks[smallest]
        for level in rest:
            root = node_hash(self._peaks[level], root)
        return root


def _split(size: int) -> int:
    """The largest power of two below ``size`` (at least 2)."""
    return 1 << (size - 1).bit_length() - 1


def _inclusion_ranges(index: int, start: int, end: int) -> list[Range]:
    """Subtrees whose hashes prove leaf ``index`` within ``start:end``, deepest first."""
    ranges: list[Range] = []
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start = middle
    ranges.reverse()
    return ranges


def _consistency_ranges(first: int, second: int) -> list[Range]:
    """Subtrees whose hashes prove that ``first`` leaves begin a tree of ``second`` (RFC 6962, 2.1.2)."""
    ranges: list[Range] = []
    start, end, whole = 0, second, True
    while first != end:
        middle = start + _split(end - start)
        if first <= middle:
            ranges.append((middle, end))
            end = middle
        else:
            ranges.append((start, middle))
            start, whole = middle, False
    if not whole:
        ranges.append((start, end))
    ranges.reverse()
    return ranges


def complete_subtrees(start: int, end: int) -> list[tuple[int, int]]:
    """The complete subtrees ``(level, index)`` that make up ``start:end``, a subtree of an RFC 6962 tree."""
    parts: list[tuple[int, int]] = []
    while start < end:
        level = (end - start).bit_length() - 1
        parts.append((level, start >> level))
        start += 1 << level
    return parts


def _hash_of(part: Range, node: Node) -> bytes:
    hashes = [node(level, index) for level, index in complete_subtrees(*part)]
    whole = hashes.pop()
    while hashes:
        whole = node_hash(hashes.pop(), whole)
    return whole


def inclusion_proof(index: int, size: int, node: Node) -> list[bytes]:
    """The hashes that lead from leaf ``index`` to the root of ``size`` leaves, deepest first.

    Raises :class:`ProofError` if there is no such leaf.
    """
    if not 0 <= index < size:
        raise ProofError(f"there is no leaf {index} in a tree of {size}")
    return [_hash_of(part, node) for part in _inclusion_ranges(index, 0, size)]


def consistency_proof(first: int, second: int, node: Node) -> list[bytes]:
    """The hashes that show a tree of ``first`` leaves to be the beginning of one of ``second``.

    Empty when the sizes are equal or ``first`` is 0. Raises :class:`ProofError` if ``first`` is the larger.
    """
    if not 0 <= first <= second:
        raise ProofError(f"a tree of {first} leaves cannot be the beginning of one of {second}")
    if first == 0:
        return []
    return [_hash_of(part, node) for part in _consistency_ranges(first, second)]


def _checked(name: str, value: object) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview) or len(value) != HASH_SIZE:
        raise ProofError(f"{name} is not a hash of 32 bytes")
    return bytes(value)


def _checked_proof(proof: object, wanted: int) -> list[bytes]:
    if not isinstance(proof, list | tuple):
        raise ProofError("the proof is not a list of hashes")
    if len(proof) != wanted:
        word = "short" if len(proof) < wanted else "long"
        raise ProofError(f"the proof is too {word}: {len(proof)} hashes where {wanted} are needed")
    return [_checked("a hash of the proof", item) for item in proof]


def _checked_sizes(*sizes: object) -> None:
    for size in sizes:
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 63:
            raise ProofError("a size or index is not a whole number from 0 to 2^63 - 1")


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Holds if ``leaf`` is the hash of leaf ``index`` in the tree of ``size`` leaves with this ``root``."""
    _checked_sizes(index, size)
    if index >= size:
        raise ProofError(f"there is no leaf {index} in a tree of {size}")
    hash_ = _checked("the leaf", leaf)
    root = _checked("the root", root)
    ranges = _inclusion_ranges(index, 0, size)
    for (start, _), other in zip(ranges, _checked_proof(proof, len(ranges)), strict=True):
        hash_ = node_hash(hash_, other) if start > index else node_hash(other, hash_)
    if hash_ != root:
        raise ProofError("the leaf does not lead to this root")


def verify_consistency(first: int, second: int, proof: Sequence[bytes], first_root: bytes, second_root: bytes) -> None:
    """Holds if the tree of ``first`` leaves with its root is the beginning of that of ``second`` leaves."""
    _checked_sizes(first, second)
    first_root = _checked("the first root", first_root)
    second_root = _checked("the second root", second_root)
    if first > second:
        raise ProofError(f"a tree of {first} leaves cannot be the beginning of one of {second}")
    if first == 0:
        _checked_proof(proof, 0)
        if first_root != EMPTY_ROOT:
            raise ProofError("the first tree is empty, but its root is not the empty tree's")
        if second == 0 and second_root != EMPTY_ROOT:
            raise ProofError("the second tree is empty, but its root is not the empty tree's")
        return
    ranges = _consistency_ranges(first, second)
    hashes = _checked_proof(proof, len(ranges))
    if first == second:
        if first_root != second_root:
            raise ProofError("two trees of one size have different roots")
        return
    old, new = _replay_consistency(first, ranges, hashes, first_root)
    if old != first_root:
        raise ProofError("the proof does not lead to the first root")
    if new != second_root:
        raise ProofError("the proof does not lead to the second root")


def _replay_consistency(first: int, ranges: list[Range], hashes: list[bytes], first_root: bytes) -> tuple[bytes, bytes]:
    """The two roots that the proof's hashes give. When ``first`` is a power of two, its root is the seed."""
    steps = list(zip(ranges, hashes, strict=True))
    if ranges[0][1] <= first:
        old = new = steps.pop(0)[1]
    else:
        old = new = first_root
    for (start, _), other in steps:
        if start >= first:
            new = node_hash(new, other)
        else:
            old, new = node_hash(other, old), node_hash(other, new)
    return old, new


class Tile(NamedTuple):
    """A tile's place: ``level`` counts tiles upwards from the leaves, ``number`` from the left.

    ``width`` is how many hashes it holds: 256 when full. Hash ``i`` of it is the complete subtree
    ``(8 * level, 256 * number + i)``.
    """

    level: int
    number: int
    width: int


def tiles_for(size: int, since: int = 0) -> list[Tile]:
    """Every tile of a tree of ``size`` leaves that a tree of ``since`` leaves does not have as wide already.

    Level by level, left to right, the last of each level possibly partial.
    """
    if not 0 <= since <= size:
        raise ProofError(f"a tree of {since} leaves cannot be the beginning of one of {size}")
    tiles: list[Tile] = []
    level = 0
    while size:
        for number in range(since // TILE_WIDTH, (size + TILE_WIDTH - 1) // TILE_WIDTH):
            width = min(TILE_WIDTH, size - number * TILE_WIDTH)
            if number * TILE_WIDTH + width > since:
                tiles.append(Tile(level, number, width))
        size //= TILE_WIDTH
        since //= TILE_WIDTH
        level += 1
    return tiles


def split_hashes(joined: bytes) -> list[bytes]:
    """A tile's bytes as its hashes. Raises :class:`ProofError` if they are not a whole number of hashes."""
    if len(joined) % HASH_SIZE:
        raise ProofError("a tile's length is not a whole number of hashes")
    return [joined[at : at + HASH_SIZE] for at in range(0, len(joined), HASH_SIZE)]


def tile_root(joined: bytes) -> bytes:
    """The hash that a full tile contributes to the tile above it."""
    if len(joined) != TILE_WIDTH * HASH_SIZE:
        raise ProofError("only a full tile of 256 hashes has a hash in the tile above")
    return root_of(split_hashes(joined))


def node_from_tiles(tile: Callable[[int, int], bytes]) -> Node:
    """Makes a :data:`Node` that reads hashes from tiles.

    ``tile(level, number)`` gives a tile's bytes, as wide as it is. The node raises :class:`ProofError` when a
    tile is too narrow for what a proof needs.
    """

    def node(level: int, index: int) -> bytes:
        above, within = divmod(level, TILE_HEIGHT)
        first = index << within
        joined = tile(above, first // TILE_WIDTH)
        at = first % TILE_WIDTH * HASH_SIZE
        part = joined[at : at + (HASH_SIZE << within)]
        if len(part) != HASH_SIZE << within:
            raise ProofError(f"tile {above}/{first // TILE_WIDTH} holds too few hashes")
        return root_of(split_hashes(part))

    return node
