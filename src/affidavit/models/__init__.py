"""The only door to a model: audit, memory, cost, attempts, breaker, hand-over (H6, H8, K3, K7)."""
