"""What can go wrong, and whose it is.

    Exception
      AffidavitError              has a stable code, one plain sentence, and how to mend it
        InputRefused              the user's: bad folder, bad file, bad argument (exit 2)
        ToolFailed                the tool's or its back end's: becomes an ERROR record
        ModelFailed               the model's or its provider's: becomes a failed attempt
        RecordFailed              the store's: nothing was decided, the run stays resumable (L5)
          LeaseLost               another driver owns the run; this one must fall silent
        InternalFault             ours: a broken invariant (D15)
    BaseException
      RunStopped                  no error at all: passes every `except Exception` (K6)
        RunCancelled
        DeadlineReached
        BudgetSpent
        PauseAsked

A stop is a BaseException because a tool, a guard or a library that catches Exception must not be
able to swallow it. Inside a task group it arrives wrapped in a BaseExceptionGroup; only `core`
unwraps it.
"""

from __future__ import annotations


class AffidavitError(Exception):
    """An error that a person will read: a stable code, what is wrong, and how to mend it."""

    code: str = "ERROR"

    def __init__(self, message: str, *, code: str | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.hint = hint


class InputRefused(AffidavitError):
    """Something that the user handed over cannot be used; nothing was started or written."""

    code = "INPUT_REFUSED"


class ToolFailed(AffidavitError):
    """A tool or its back end failed; the code becomes the record's `error_code` (C1)."""

    code = "TOOL_FAILED"


class ModelFailed(AffidavitError):
    """A model or its provider failed; the attempt is recorded and may be repeated (K7).

    `may_retry` says whether the same request may be sent again, `after_s` how long the provider
    asks us to wait first. `billed` says that the provider may have counted tokens although no
    answer came; then the whole reservation counts as spent (K3).
    """

    code = "MODEL_FAILED"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str = "",
        may_retry: bool = False,
        billed: bool = False,
        after_s: float | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.may_retry = may_retry
        self.billed = billed
        self.after_s = after_s


class RecordFailed(AffidavitError):
    """Something needed could not be recorded: nothing is decided, nothing published (L5)."""

    code = "RUN_PERSISTENCE_FAILED"


class LeaseLost(RecordFailed):
    """Another driver holds this run now; whatever this one still does has no effect."""

    code = "LEASE_LOST"


class InternalFault(AffidavitError):
    """An invariant of ours is broken."""

    code = "INTERNAL_FAILURE"


class RunStopped(BaseException):
    """The run may not go on. Not an error, and no `except Exception` sees it (K6)."""


class RunCancelled(RunStopped):
    """Somebody who may do so cancelled the run."""


class DeadlineReached(RunStopped):
    """The run's time is over."""


class BudgetSpent(RunStopped):
    """A limit of the run is reached; `limit` names it, for example `tool_calls`."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class PauseAsked(RunStopped):
    """The run is to wait; it goes on, where it was, when somebody drives it again.

    `reason` is a stable word: asked, stopping, approval, outcome. `wake_at_us` is when it goes on
    by itself (microseconds since 1970 UTC), or None: only when it is called. `waits_for` are the
    calls that a person has to say something about.
    """

    def __init__(
        self,
        reason: str = "asked",
        wake_at_us: int | None = None,
        waits_for: tuple[str, ...] = (),
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wake_at_us = wake_at_us
        self.waits_for = waits_for
