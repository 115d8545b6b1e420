"""The public face in Python: typed tools, one call, one typed answer (H1).

tooling    @tool: a function with typed arguments and typed evidence becomes a registered tool
evidence   what such a function may return
result     what a run came to
harness    Harness(…).run(…): everything else engages by itself
"""
