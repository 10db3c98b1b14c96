"""What replaced files mean for what was read from them: nothing is dropped, what they no longer say is marked.

A file that was replaced or cut is read again as a new revision. A record that stands in both is the same record. One
that stands in older revisions only, of this file or of any other, is *superseded*. Until a new revision is read to its
end, what it has not come to yet counts as superseded too.
"""

from __future__ import annotations

from typing import Final

from storage.numbers import BLOCK_BITS, RECORD_BITS

_ENTRY: Final = RECORD_BITS + BLOCK_BITS

_NEWER: Final = "SELECT 1 FROM source newer WHERE newer.key = held.key AND newer.revision > held.revision"

_REPLACED: Final = "EXISTS (SELECT 1 FROM source WHERE revision > 1)"
"""Whether any file was ever replaced: where none was, no event need be looked at."""

SUPERSEDED: Final = f"""({_REPLACED}
 AND EXISTS (SELECT 1 FROM segment part JOIN source held ON held.no = part.source
 WHERE part.entry = e.n >> {_ENTRY} AND EXISTS ({_NEWER}))
 AND NOT EXISTS (SELECT 1 FROM copied c JOIN segment part ON part.entry = c.n >> {_ENTRY}
 JOIN source held ON held.no = part.source
 WHERE c.original = e.n >> {BLOCK_BITS} << {BLOCK_BITS} AND NOT EXISTS ({_NEWER})))"""
"""Of ``event e``: whether its record stands in no newest revision of any file."""

REPLACED_SESSIONS: Final = """(SELECT held.session FROM source newer JOIN source held ON held.key = newer.key
 AND held.revision < newer.revision WHERE newer.revision > 1 AND held.session IS NOT NULL)"""
"""Numbers of the sessions of which a file was replaced."""
