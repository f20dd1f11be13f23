"""`ddf.ceval`: the verbs as methods of dask tables."""

from __future__ import annotations

from typing import NoReturn

import dask.dataframe as dd
from dask.dataframe.extensions import register_dataframe_accessor

from ..accessors import CubeAccessor, FrameAccessor, no_verb
from ..contract.options import method
from ..cubes.lazy.lazy_cube import cube
from ..execution.files import to_parquet
from .of_rows import evaluate, with_controls


@register_dataframe_accessor("ceval")
class DaskAccessor:
    """Verbs on a dask table of runs, `ddf.ceval`: those of `df.ceval`, lazy, and `to_parquet`.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run per row; nothing is read before a verb is called.
    """

    def __init__(self, table: dd.DataFrame) -> None:
        self._object = table

    def __repr__(self) -> str:
        names = ", ".join(map(str, self._object.columns))
        return (
            f"<lazy verbs on a dask table of runs in {self._object.npartitions} partitions (columns: {names}): "
            "evaluate, with_controls, cube, to_parquet>"
        )

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse verbs of pandas tables that need all rows, such as `pool`, by name."""
        if not name.startswith("_") and hasattr(FrameAccessor, name):
            raise AttributeError(
                f"a dask table has no verb {name!r}, which needs all rows; use table.compute().ceval.{name}(...), or "
                "table.map_partitions where each partition has all rows that belong together"
            )
        if not name.startswith("_") and hasattr(CubeAccessor, name):
            raise AttributeError(
                f"a dask table has no verb {name!r}, which is one of cubes; use "
                f"table.ceval.cube(metrics, by=[...]).compute().ceval.{name}"
            )
        raise no_verb("a dask table", type(self), name)

    evaluate = method(evaluate)
    with_controls = method(with_controls)  # type: ignore[arg-type]
    cube = method(cube)  # type: ignore[arg-type]
    to_parquet = method(to_parquet)
