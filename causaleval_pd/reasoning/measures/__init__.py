"""Measures of answers: scores, quantities with standard errors, decisions, classes, effects of chance."""
