"""nulls."""
