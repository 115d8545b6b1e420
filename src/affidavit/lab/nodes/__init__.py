"""The programs of the rig: one process each, standard library only.

They import nothing of the product, so that a small process stays small. A program is a function
that adds routes to a `Node`; `python -m affidavit.lab.nodes` reads which one to run, and with
what, as one JSON line on standard input.
"""
