"""Text or JSON of a tool's result, read into typed facts (T5, C13); pure, bounded and total.

`result.read_result` is the one door. It asks what kind of answer this is (`answers`), picks the
reader of its shape (`documents`, `series`, `traces`, `tables`, `logs`, `reports`, …), and bounds
what the reader found (`bounds`). A reader never raises, never drops a line silently, and never
interprets: what it does not understand stays quotable text.
"""
