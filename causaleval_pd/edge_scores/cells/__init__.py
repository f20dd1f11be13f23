"""Cells of edge scores: their bytes, columns of them, and the accessor `series.score`."""
