"""``affidavit queue``; it stands beside the list of all candidates."""

from console.commands.candidates import queue_command

__all__ = ["queue_command"]
