"""The cube: an xarray Dataset of runs and their controls over strata, replicates and draws.

`schema` declares its variables. `cube` reads the runs (`runs`), lays them out (`strata`), scores them (`scores`) and
puts the cube together (`assembly`). `reading` and `summary` read a cube; `lazy` makes one of dask tables.
"""
