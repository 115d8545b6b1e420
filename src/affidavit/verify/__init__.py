"""Is the draft true to the ledger?

closure and evidence ask whether each citation is real (G0 to G11); statements and prose ask whether
the cited facts carry the words (M4, M5); judges give the verdict; support ties the two together.
Nothing here calls a tool, explores, or rewrites (N1).
"""
