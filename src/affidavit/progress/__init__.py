"""Has looking further stopped paying, and what was verifiably seen? (P1 to P4, C5, C11; pure)

`tracker` keeps identities and counters; everything else is read back from the ledger by its one
reader. `saturation` says when to stop, `projector` what was seen, `coverage` what was looked at and
what was not, `leads` where a scan stood out without a cause being established. `wording` is the
only file in which a fact becomes words.
"""
