"""Outside things behind our ports, one file a thing. Knows ports and contract only.

Nothing is imported here, so that a command pays only for the adapter that it uses.
"""
