"""Cubes of dask tables.

Words for pieces, here and in `cubes`:

partition
    Some rows of a dask table. Rows are scored a partition at a time, once those that have to meet are in one.
block
    A rectangle of a cube's cells, a slice of each dimension, that is held in memory at once: one chunk of a lazy cube,
    or the strata whose rows of a table are made together.
share
    What one partition holds of one block: positions of cells within the block, and values.
"""
