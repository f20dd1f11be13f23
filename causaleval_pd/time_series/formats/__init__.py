"""Formats of lagged graphs: objects and arrays of other tools, links as tables and as text."""
