"""The file: one run's answer with everything that it rests on, checkable by anyone, offline (A5).

`document` is the format, `seal` makes it, `recheck` verifies it, `card` shows it.
Version 0 is not signed: it shows that nothing was changed by accident, and that result, citations
and journal fit each other; it cannot show who recorded them.
"""
