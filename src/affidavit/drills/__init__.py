"""Fault drills: each fault is injected through the public API, and the real chain has to catch it.

    scene    a small shop: its tools, its agent (a scripted model), its reports
    faults   the table: what is injected, and what must come of it (S4 section 6 and beyond)
    drill    one fault driven to its end: status, outcome, timeline, and whether it was caught
    telling  a run's journal as the lines of a golden timeline

`run_drill(name)` is what the command line and the service call. Nothing here is in the way of a
real run: a fault can be injected in a drill only (H11).
"""
