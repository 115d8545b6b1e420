"""What every conformance check says when it does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from affidavit.contract.errors import AffidavitError


class ConformanceFailed(AssertionError):
    """An adapter does not do what its port promises; the text is the broken promise."""


def require(holds: bool, promise: str, seen: object = "") -> None:
    """Raise `ConformanceFailed` with the promise, and what was seen instead, unless it holds."""
    if not holds:
        raise ConformanceFailed(f"{promise}; seen: {seen!r}" if seen != "" else promise)


@contextmanager
def refusal(error: type[AffidavitError], code: str, promise: str) -> Iterator[None]:
    """The block must raise exactly this kind of error with this code."""
    try:
        yield
    except error as refused:
        require(refused.code == code, f"{promise}, with the code {code}", refused.code)
        require(type(refused) is error, f"{promise}, as {error.__name__}", type(refused))
    else:
        raise ConformanceFailed(f"{promise}; it was accepted")
