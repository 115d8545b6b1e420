"""What the outside must provide, as Protocols. Each says what is true once a call has returned.

Adapters implement these and know nothing else of the product but `contract`.
`affidavit.testing.conformance` holds one check a port, which every adapter passes.
"""
