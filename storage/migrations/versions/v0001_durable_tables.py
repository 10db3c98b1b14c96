"""The durable tables of schema 1, and the triggers that stop an accident.

The triggers are a seat belt, not security: whoever owns the file can drop them. What was recorded is proven by hashes.
"""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    """
CREATE TABLE store_key (
    name TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (name)
)
 WITHOUT ROWID,
 STRICT
    """,
    """
CREATE TABLE ledger_entry (
    idx INTEGER NOT NULL,
    id TEXT NOT NULL,
    entry BLOB NOT NULL,
    leaf BLOB NOT NULL,
    PRIMARY KEY (idx),
    UNIQUE (id)
)
 STRICT
    """,
    """
CREATE TABLE tile (
    level INTEGER NOT NULL,
    n INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (level, n)
)
 WITHOUT ROWID,
 STRICT
    """,
    """
CREATE TABLE segment (
    entry INTEGER NOT NULL,
    source INTEGER NOT NULL,
    start INTEGER NOT NULL,
    size INTEGER NOT NULL,
    line INTEGER NOT NULL,
    records INTEGER NOT NULL,
    cuts BLOB NOT NULL,
    data BLOB NOT NULL,
    digest BLOB NOT NULL,
    salts BLOB NOT NULL,
    commits BLOB NOT NULL,
    PRIMARY KEY (entry)
)
 STRICT
    """,
    """
CREATE INDEX segment_by_source ON segment (source, start)
    """,
    """
CREATE TABLE payload (
    "commit" BLOB NOT NULL,
    salt BLOB NOT NULL,
    sha256 BLOB NOT NULL,
    media TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY ("commit")
)
 STRICT
    """,
    """
CREATE INDEX payload_by_digest ON payload (sha256)
    """,
    """
CREATE TABLE payload_chunk (
    "commit" BLOB NOT NULL,
    no INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY ("commit", no)
)
 STRICT
    """,
)

TRIGGERS = (
    """
CREATE TRIGGER ledger_gapless BEFORE INSERT ON ledger_entry
WHEN NEW.idx <> (SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry)
BEGIN SELECT raise(ABORT, 'ledger entries are numbered without a gap'); END
    """,
    """
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger_entry
BEGIN SELECT raise(ABORT, 'ledger entries never change'); END
    """,
    """
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger_entry
BEGIN SELECT raise(ABORT, 'ledger entries are never deleted'); END
    """,
    """
CREATE TRIGGER tile_no_update BEFORE UPDATE ON tile
BEGIN SELECT raise(ABORT, 'tiles never change'); END
    """,
    """
CREATE TRIGGER tile_no_delete BEFORE DELETE ON tile
BEGIN SELECT raise(ABORT, 'tiles are never deleted'); END
    """,
    """
CREATE TRIGGER segment_no_update
BEFORE UPDATE OF entry, source, start, size, line, records, cuts, commits ON segment
BEGIN SELECT raise(ABORT, 'of a segment only bytes and salts can be withheld'); END
    """,
    """
CREATE TRIGGER segment_no_delete BEFORE DELETE ON segment
BEGIN SELECT raise(ABORT, 'segments are never deleted'); END
    """,
    """
CREATE TRIGGER payload_no_update BEFORE UPDATE ON payload
BEGIN SELECT raise(ABORT, 'payloads never change'); END
    """,
    """
CREATE TRIGGER payload_chunk_no_update BEFORE UPDATE ON payload_chunk
BEGIN SELECT raise(ABORT, 'payloads never change'); END
    """,
)


def upgrade() -> None:
    """Create them."""
    for statement in (*TABLES, *TRIGGERS):
        op.execute(statement)
