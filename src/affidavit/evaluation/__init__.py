"""How good is it? Whole runs against known answers, scored by code."""
