"""Colour codes that programs print for a terminal."""

from __future__ import annotations

import re

COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
"""What a program prints to change the colour and weight of what follows (ECMA-48, SGR): it says nothing itself."""
