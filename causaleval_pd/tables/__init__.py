"""Verbs on tables: rows are read as tasks, scored, and matched with controls.

`settings` holds what the verbs are given, `tasks` what they read of a table, `matching` which controls rows get,
`simulate` and `row_summary` what the controls score.
"""
