"""The HTTP face: runs, streams, approvals, the gate, and a console for people (docs/http.md).

Nothing here decides what may be published. A request becomes a run of the store, an engine keeps
runs driven, and what goes out is read back from the journal: every stream is a fold of it.
"""
