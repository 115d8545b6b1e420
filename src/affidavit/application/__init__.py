"""What a user asks for, and how a run answers it: somebody's report at the gate, one chat turn."""
