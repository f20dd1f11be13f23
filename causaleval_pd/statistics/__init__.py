"""Tests, ranks, effects and their intervals on arrays, one sample a row along the last axis."""
