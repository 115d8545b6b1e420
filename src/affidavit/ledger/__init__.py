"""The canonical tool truth.

`writer` records calls, and only `tools` may import it. `snapshot` is the immutable view from which
progress and EvidenceGuard read back through one reader (G11, P1). `reader` makes a snapshot from a
run's journal and artifacts.
"""
