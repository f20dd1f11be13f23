"""The verbs on `dask.dataframe` tables: lazy by partitions.

Import this module (or `dask.dataframe` before the package) to have `.ceval` on dask's tables.
"""

from __future__ import annotations

try:
    import dask.dataframe as _frames
except ImportError:
    raise ImportError("tables of dask need dask: pip install 'causaleval_pd[dask]'") from None

from ..cubes.lazy.lazy_cube import cube
from ..execution.files import to_parquet
from .accessor import DaskAccessor
from .of_rows import evaluate, with_controls

__all__ = ["DaskAccessor", "cube", "evaluate", "to_parquet", "with_controls"]
