"""May the next step happen? One guard a file; `chain` holds the order. Guards decide, the chain
acts. A guard knows no other guard, no clock and no store: all that it needs is in the state.
"""
