"""Keeping lines of our own: what this program did is recorded like what any other program writes."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

import orjson

from storage.importing import Importer
from storage.store import Random, Store

OWN_FORMAT = "affidavit"


def record_lines(
    store: Store, name: str, lines: list[dict[str, Any]], *, clock: Callable[[], datetime], random: Random = os.urandom
) -> None:
    """Keep lines of our own as one source called ``name``; once this returns they are durable."""
    data = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    importer = Importer(store, clock=clock, random=random, cancel=threading.Event())
    importer.stream(io.BytesIO(data), OWN_FORMAT, name)
