"""What records state of their session: title, folder, branch, version. The latest counts, whichever is read first.

Most records state what the one before them did. That costs a comparison; it is written down when another states
something else, and at the end of a batch.
"""

from __future__ import annotations

from affidavit.session.prepare import SUMMARY_CELLS
from affidavit.session.state import SessionState
from affidavit.text.marks import marked

LONGEST = 4_096
"""Characters that are kept of what is stated; of a title :data:`SUMMARY_CELLS`."""


def heard(state: SessionState, facts: dict[str, str], sort: int) -> None:
    """A record at ``sort`` states something other than the one before it."""
    settle(state)
    state.stated = facts
    state.stated_since = state.stated_until = sort


def settle(state: SessionState) -> None:
    """Take in what was last stated, where nothing later in time was. Of first prompts the earliest counts."""
    since, until, known = state.stated_since, state.stated_until, state.facts_at
    for key, value in (state.stated or {}).items():
        at = known.get(key)
        if key == "title.prompt":
            if at is not None and at <= since:
                continue
            known[key] = since
        else:
            if at is not None and at > until:
                continue
            known[key] = until
        state.facts[key] = marked(value[: SUMMARY_CELLS if key.startswith("title.") else LONGEST])
