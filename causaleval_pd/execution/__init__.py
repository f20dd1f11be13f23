"""Where work is done: engines, random streams, units of work, resumable files.

Words for pieces of a table:

batch
    Rows whose cells have one signature (as many nodes, the same variables), aligned into one `Pairs`.
unit
    Rows of one or more batches that take about half a second, whatever the engine: what is sent to a thread or worker.
block
    Rows of a unit that are handled at once, so that their draws stay in the processor's cache.
chunk
    The results of a unit.

`cubes.lazy` defines the words for pieces of dask tables and of cubes.
"""
