"""Formulas: models as values, how they are read and written, and the truth tables on which they are evaluated."""
