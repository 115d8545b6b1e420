"""A small real system to break and record.

Around the product, not in it: nothing of the product imports this room. `plant` says what the
system is made of, `rig` runs it as processes of its own, `faults` is the table of what can be
broken, `recording` writes an incident folder of what the processes said, with the truth beside it.
`python -m affidavit.lab` is the command line. See docs/lab.md.
"""
