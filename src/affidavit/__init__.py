"""Affidavit runs an incident-diagnosis agent inside a harness and publishes only what it can trace.

What may be read by a user is what the harness can trace, statement by statement, to tool results
that it recorded itself; everything else comes out as a bounded, honest fallback.
"""

__version__ = "0.1.0.dev0"

__all__ = ["__version__"]
