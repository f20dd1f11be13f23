"""Tests, ranks, effect sizes and resampling on arrays, one sample a row along the last axis."""
