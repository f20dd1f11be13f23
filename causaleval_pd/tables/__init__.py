"""Verbs on tables: rows are read as tasks, scored, and matched with controls.

`settings` and `context` hold what the verbs are given, `tasks` what they read of a table, `matching` which controls
rows get, `simulate` and `row_summary` what the controls score, `history` which calls made a result.
"""
