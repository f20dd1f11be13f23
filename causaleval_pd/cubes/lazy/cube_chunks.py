"""The arrays of a lazy cube: what was scored in each partition, cut by blocks of cells and merged there."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import pandas as pd
import xarray as xr
from dask.delayed import delayed
from numpy.typing import NDArray

from ...tables.stratum_draws import coarsen, value_table

#: variables that are summed over the rows of a stratum
_SUMS = ("n_obs", "_control_sum", "_control_count")


class _Place(NamedTuple):
    """A part of the cube: which levels of each dimension, strata in the order of the cube's cells."""

    sizes: dict[str, int]
    block: dict[str, slice]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(part.stop - part.start for part in self.block.values())

    def cells(self, stratum: NDArray[np.int64], *replicate: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of cells within this part, -1 outside."""
        strata = [size for name, size in self.sizes.items() if name != "replicate"]
        codes = [*(np.unravel_index(stratum, strata) if strata else ()), *replicate]
        inside = np.ones(len(stratum), bool)
        for code, part in zip(codes, self.block.values(), strict=True):
            inside &= (code >= part.start) & (code < part.stop)
        at = [np.where(inside, c - part.start, 0) for c, part in zip(codes, self.block.values(), strict=True)]
        return np.where(inside, np.ravel_multi_index(at, self.shape) if at else 0, -1)


def chunked_variables(
    scored: Sequence[Any],
    kind: str,
    template: xr.Dataset,
    lengths: Mapping[Hashable, int],
    grid: Sequence[dict[str, slice]],
    token: str,
) -> dict[Hashable, xr.Variable]:
    """Make the variables over rows, or those over strata, of merged pieces of what was scored in each partition."""
    like = {name: x for name, x in template.data_vars.items() if ("replicate" in x.dims) == (kind == "rows")}
    dims = list(grid[0])
    last = {name: [dim for dim in x.dims if dim not in dims] for name, x in like.items()}
    fills = {name: (x.dtype, [lengths[dim] for dim in last[name]]) for name, x in like.items()}
    blocks = [_Place({dim: lengths[dim] for dim in dims}, block) for block in grid]
    cut = [delayed(_cut)(part, kind, blocks, dask_key_name=f"cut-{kind}-{token}-{i}") for i, part in enumerate(scored)]
    chunks: dict[Hashable, list[tuple[dict[str, slice], da.Array]]] = {name: [] for name in like}
    for i, block in enumerate(blocks):
        pieces = [
            delayed(operator.getitem)(part, i, dask_key_name=f"{kind}-{token}-{i}-{j}") for j, part in enumerate(cut)
        ]
        merge = delayed(_merge_rows if kind == "rows" else _merge_strata)
        chunk = merge(pieces, block, fills, dask_key_name=f"merge-{kind}-{token}-{i}")
        for name, (dtype, shape) in fills.items():
            one = delayed(operator.getitem)(chunk, name, dask_key_name=f"{name}-part-{token}-{i}")
            array = da.from_delayed(one, (*block.shape, *shape), dtype, name=f"{name}-{token}-{i}")
            chunks[name].append((block.block, array))
    variables = {}
    for name, x in like.items():
        # how a number was found is not known before it is
        attrs = {word: value for word, value in x.attrs.items() if word != "method"}
        variables[name] = xr.Variable((*dims, *last[name]), _grid(chunks[name], dims), attrs).transpose(*x.dims)
    return variables


def _cut(scored: Mapping[str, Any], kind: str, blocks: Sequence[_Place]) -> list[Any]:
    """Cut the numbers of a partition into those of each block: positions within it, and values."""
    where, values = scored[kind]
    pieces = []
    for block in blocks:
        cells = block.cells(*where)
        mine = np.flatnonzero(cells >= 0)
        pieces.append((cells[mine], {name: x[mine] for name, x in values.items()}))
    return pieces


_Pieces = Sequence[tuple[NDArray[np.int64], dict[Hashable, NDArray[Any]]]]
_Fills = Mapping[Hashable, tuple[np.dtype[Any], list[int]]]


def _merge_rows(pieces: _Pieces, block: _Place, fills: _Fills) -> dict[Hashable, NDArray[Any]]:
    """Put the rows of all partitions into a block of cells."""
    n_cells = int(np.prod(block.shape))
    runs = np.bincount(np.concatenate([cells for cells, _ in pieces]), minlength=n_cells)
    if (runs > 1).any():
        raise ValueError(
            f"{int((runs > 1).sum())} places of the cube have several runs, of one stratum and one replicate; "
            "name a column that tells them apart by replicate=, or add one to by="
        )
    merged = {}
    for name, (dtype, last) in fills.items():
        whole = np.full((n_cells, *last), np.nan if dtype.kind == "f" else 0, dtype)
        for cells, values in pieces:
            whole[cells] = values[name]
        merged[name] = whole.reshape((*block.shape, *last))
    return merged


def _merge_strata(pieces: _Pieces, block: _Place, fills: _Fills) -> dict[Hashable, NDArray[Any]]:
    """Add up what the partitions say of the strata of a block."""
    n_cells = int(np.prod(block.shape))
    merged = {}
    for name, (dtype, last) in fills.items():
        if str(name).endswith(_SUMS):
            whole = np.zeros((n_cells, *last), dtype)
            for cells, values in pieces:
                whole[cells] += values[name]
            merged[name] = whole.reshape((*block.shape, *last))
        elif str(name).endswith("_control_value"):
            weight = str(name).removesuffix("value") + "weight"
            tables = _add_tables(pieces, name, weight, (n_cells, *last))
            merged |= {x: table.reshape((*block.shape, *last)) for x, table in zip((name, weight), tables, strict=True)}
    return merged


def _add_tables(pieces: _Pieces, value: Hashable, weight: Hashable, shape: tuple[int, ...]) -> Iterator[NDArray[Any]]:
    """Merge the tables of control values of every stratum (and null model)."""
    values, weights = np.full(shape, np.nan), np.zeros(shape)
    for place in np.ndindex(shape[:-1]):
        found = []
        for cells, parts in pieces:
            for row in np.flatnonzero(cells == place[0]):
                mine = (row, *place[1:])
                found.append(value_table(parts[value][mine], parts[weight][mine]))
        table = pd.concat(found) if found else pd.Series(dtype=np.float64)
        table = coarsen(table.groupby(level=0).sum()) if len(table) else table
        values[place][: len(table)], weights[place][: len(table)] = table.index.to_numpy(np.float64), table.to_numpy()
    return iter((values, weights))


def _grid(chunks: Sequence[tuple[dict[str, slice], da.Array]], dims: Sequence[str], axis: int = 0) -> da.Array:
    """Put the chunks of a variable together, one dimension after the other."""
    if axis == len(dims):
        [(_, array)] = chunks
        return array
    starts = sorted({block[dims[axis]].start for block, _ in chunks})
    slabs = [[chunk for chunk in chunks if chunk[0][dims[axis]].start == start] for start in starts]
    return da.concatenate([_grid(slab, dims, axis + 1) for slab in slabs], axis)
