"""Tests, ranks, effects and their intervals on arrays, one sample per row along the last axis; words of results."""
