"""Making and changing the shape of a store. Loads SQLModel and Alembic, so only migrating and rebuilding come here.

A new store is made from ``new_store.sql``, which holds what comes out of all that; ``python -m storage.schema`` writes
it anew after a change (``--check`` tells whether that is needed).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.dialects import sqlite
from sqlalchemy.pool import StaticPool
from sqlalchemy.schema import CreateIndex, CreateTable

from storage.driver import Connection, sqlite3
from storage.folds import INDEXES
from storage.store import NEW_STORE
from storage.tables import FOLDS, SQLModel

__all__ = ["FOLDS", "create_folds", "migrate", "statements"]

SEARCH_INDEX = "CREATE VIRTUAL TABLE {prefix}ix_text USING fts5(text, content='', tokenize='unicode61')"
"""Full text of every event, contentless: rowid = -n, so that the newest come first."""

SEARCH_ERASES = "INSERT INTO {prefix}ix_text({prefix}ix_text, rank) VALUES('secure-delete', 1)"


def migrate(connection: Connection) -> None:
    """Bring the durable tables to the newest schema, in one transaction of the given connection."""
    engine = create_engine("sqlite://", creator=lambda: connection, module=sqlite3, poolclass=StaticPool)
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    connection.execute("BEGIN IMMEDIATE")
    try:
        with engine.connect() as bound:
            config.attributes["connection"] = bound
            command.upgrade(config, "head")
            bound.commit()
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if connection.in_transaction:
        connection.execute("COMMIT")


def statements(names: tuple[str, ...], prefix: str = "", suffix: str = "") -> list[str]:
    """``CREATE`` statements of tables and their indexes as SQLModel declares them.

    ``prefix`` goes before each table's name, ``suffix`` behind each index's (two generations of a table stand side
    by side while one is rebuilt, and an index cannot be renamed).
    """
    dialect = sqlite.dialect()
    found = []
    for name in names:
        table = SQLModel.metadata.tables[name]
        create = str(CreateTable(table).compile(dialect=dialect)).strip()
        found.append(re.sub(rf"^CREATE TABLE {name} ", f"CREATE TABLE {prefix}{name} ", create))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            create = str(CreateIndex(index).compile(dialect=dialect)).strip()
            found.append(
                create.replace(f"INDEX {index.name} ON {name} ", f"INDEX {index.name}{suffix} ON {prefix}{name} ")
            )
    return found


def create_folds(connection: Connection, prefix: str = "", suffix: str = "", *, search: bool = True) -> None:
    """Create empty fold and index tables."""
    for statement in statements((*FOLDS, *INDEXES), prefix, suffix):
        connection.execute(statement)
    if search:
        connection.execute(SEARCH_INDEX.format(prefix=prefix))
        connection.execute(SEARCH_ERASES.format(prefix=prefix))


def new_store() -> str:
    """The statements that make a new store's tables: the migrations' and the declared ones, as SQLite keeps them."""
    connection = sqlite3.connect(":memory:")
    connection.isolation_level = None
    try:
        migrate(connection)
        create_folds(connection)
        query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'ix_text_*' ORDER BY rowid"
        made = [re.sub(r"\s*\n", "\n", sql) for (sql,) in connection.execute(query).fetchall()]
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    finally:
        connection.close()
    made += [f"INSERT INTO alembic_version VALUES('{version}')", SEARCH_ERASES.format(prefix="")]
    return "\n\n".join(f"{statement.strip()};" for statement in made) + "\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        NEW_STORE.write_text(new_store(), encoding="utf-8")
    elif NEW_STORE.read_text(encoding="utf-8") != new_store():
        sys.exit(f"{NEW_STORE.name} is not what the tables are declared as: run python -m storage.schema")
