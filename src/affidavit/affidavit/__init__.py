"""The file: one run's answer with everything that it rests on, checkable by anyone, offline (A5).

`document` is the format, `seal` makes it, `recheck` verifies it, `card` and `page` show it. What it
shows is: tamper-evident since recording, by key K; and no more than that.
"""
