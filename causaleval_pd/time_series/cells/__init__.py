"""Cells of lagged graphs: the value, its bytes, its text."""
