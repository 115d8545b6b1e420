"""What several test rooms share: a run on a store, facts in one line, an incident folder."""
