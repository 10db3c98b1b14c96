"""Deciding about candidates and memories: what a person asks for, and what becomes of it."""
