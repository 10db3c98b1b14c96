"""The demo: three synthetic sessions of our own, each telling a story, and a store copy somebody tampered with."""

from __future__ import annotations

from sample_sessions.demo import DemoResult, DemoSession, build

__all__ = ["DemoResult", "DemoSession", "build"]
