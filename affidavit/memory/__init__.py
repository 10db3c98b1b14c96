"""Governance of what an agent may remember: candidates, their checks, decisions about them, and the governed store."""
