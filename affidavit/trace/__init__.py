"""Answers about what happened, from what was recorded alone."""
