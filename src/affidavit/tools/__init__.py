"""The only door to the world: catalogue, boundary, projection, redaction, readers.

Nothing else executes a tool, and nothing else writes the ledger (T2).
"""
