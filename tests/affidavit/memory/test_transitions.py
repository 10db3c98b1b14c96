"""The state machine: what it names is all there is."""

from itertools import product

from affidavit.memory.transitions import DECIDES, OPEN, RECORD_STATES, TRANSITIONS, ends, verbs

CANDIDATE = (*OPEN, "expired", "approved", "rejected", "merged", "withdrawn")
STORE = ("revoke", "deprecate", "renew")
GATE = ("approve", "reject", "rewrite", "rescope", "ask", "merge", "withdraw")


def test_what_is_decided_stays_decided():
    for status, verb in product(("approved", "rejected", "merged", "withdrawn", "expired"), GATE):
        allowed = ("pending",) if (status, verb) == ("expired", "rewrite") else ()
        assert ends("candidate", status, verb) == allowed, (status, verb)


def test_an_open_candidate_can_be_decided_about_and_nothing_of_the_store_can_be_done_with_it():
    for status, verb in product(OPEN, GATE):
        assert len(ends("candidate", status, verb)) == 1
    for status, verb in product(CANDIDATE, STORE):
        assert ends("candidate", status, verb) == ()


def test_only_a_pending_one_can_pass_by_itself():
    assert [status for status in CANDIDATE if ends("candidate", status, "auto-approve")] == ["pending"]


def test_of_a_memory_only_the_active_one_changes_and_any_can_be_forgotten():
    for status, verb in product(RECORD_STATES, ("rewrite", "rescope", "revoke", "deprecate", "merge")):
        assert bool(ends("memory", status, verb)) == (status == "active"), (status, verb)
    assert [status for status in RECORD_STATES if ends("memory", status, "renew")] == [
        "active",
        "expired",
        "deprecated",
    ]
    assert all(ends("memory", status, "forget") == ("revoked",) for status in RECORD_STATES)


def test_words_nobody_knows_lead_nowhere():
    for thing, status, verb in product(("candidate", "memory", "other"), (*CANDIDATE, *RECORD_STATES, "?"), ("?", "")):
        assert ends(thing, status, verb) == ()
    assert set(DECIDES) <= {verb for _, _, verb in TRANSITIONS}
    assert "approve" in verbs("candidate", "pending")
