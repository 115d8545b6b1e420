"""What may the user read? (spec section 10)

`examine` gathers a `Situation` and waits for judge and repairer; `decide` picks one row of the
release table from it, purely; `publish` and `fallback` build what the row allows. Nothing else in
the product builds a public result (L1), and what is built here is never read back (L7).
"""
