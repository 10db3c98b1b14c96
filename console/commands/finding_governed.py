"""From what a person typed to the one candidate or memory it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from affidavit.session.address import CandidateAddress, MemoryAddress, parse
from console.commands.call import Refused

if TYPE_CHECKING:
    from storage.archive import Archive
    from storage.folds.governed_rows import CandidateRow, MemoryRow


class Named(NamedTuple):
    """A candidate or a memory, and the version that was named, if one was."""

    candidate: CandidateRow | None
    memory: MemoryRow | None
    version: int | None


def find(archive: Archive, name: str, *, candidates: bool = True, memories: bool = True) -> Named:
    """What a bare id, the beginning of one, or an address names; raises :class:`Refused`."""
    wanted: str = name
    version: int | None = None
    if name.startswith(("candidate/", "memory/")):
        address = parse(name)
        if isinstance(address, CandidateAddress):
            wanted, version, memories = address.id, address.version, False
        elif isinstance(address, MemoryAddress):
            wanted, version, candidates = address.id, address.version, False
    elif "@" in name and name.rpartition("@")[2].isdigit():
        wanted, version = name.rpartition("@")[0], int(name.rpartition("@")[2])
    found = [Named(row, None, version) for row in archive.governed.find_candidates(wanted)] if candidates else []
    if memories:
        found += [Named(None, row, version) for row in archive.governed.find_memories(wanted)]
    if not found:
        what = " or ".join(word for word, meant in (("candidate", candidates), ("memory", memories)) if meant)
        raise Refused(f"there is no {what} {name!r} in this store", "affidavit candidates lists what there is")
    if len(found) > 1:
        lines = [f"candidate/{one.candidate.id}  {one.candidate.native}" for one in found if one.candidate]
        lines += [f"memory/{one.memory.id}" for one in found if one.memory]
        raise Refused(f"{name!r} could be any of these:", "\n".join(lines[:10]))
    return found[0]
