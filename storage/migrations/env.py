"""Alembic's entry: migrations run on the connection the store hands in, inside its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], target_metadata=None)
context.run_migrations()
