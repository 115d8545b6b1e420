"""One run: its journal and chain, its budget, its deadline, its cancellation, its attempts."""
