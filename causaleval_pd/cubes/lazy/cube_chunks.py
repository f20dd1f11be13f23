"""The arrays of a lazy cube: the scores of each partition cut into shares, and the shares of each block merged."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import xarray as xr
from dask.delayed import delayed
from numpy.typing import NDArray

from ..schema import IDENTITIES, Variable, declared

#: bytes of a block of a lazy cube; one run of all its draws may take more
BLOCK_BYTES = 64 * 2**20


class _Block(NamedTuple):
    """A block of the cube: the sizes of the cube's strata and replicates, and the levels of each in this block."""

    sizes: dict[str, int]
    levels: dict[str, slice]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(part.stop - part.start for part in self.levels.values())

    def cells(self, stratum: NDArray[np.int64], replicate: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of cells within this block, -1 outside."""
        strata = [size for name, size in self.sizes.items() if name != "replicate"]
        codes = [*(np.unravel_index(stratum, strata) if strata else ()), replicate]
        inside = np.ones(len(stratum), bool)
        for code, part in zip(codes, self.levels.values(), strict=True):
            inside &= (code >= part.start) & (code < part.stop)
        at = [np.where(inside, c - part.start, 0) for c, part in zip(codes, self.levels.values(), strict=True)]
        return np.where(inside, np.ravel_multi_index(at, self.shape) if at else 0, -1)


def chunked_variables(
    scored: Sequence[Any],
    template: xr.Dataset,
    lengths: Mapping[Hashable, int],
    grid: Sequence[dict[str, slice]],
    token: str,
) -> dict[Hashable, xr.Variable]:
    """Return the variables of a lazy cube, and what tells its runs apart, from the scores of partitions."""
    identities = {name: IDENTITIES[str(name)] for name in row_identities(template)}
    variables = declared(template) | identities
    like = {name: template[name] for name in variables}
    dims = list(grid[0])
    last = {name: [dim for dim in x.dims if dim not in dims] for name, x in like.items()}
    parts = {name: _Part(variables[name], x.dtype, [lengths[dim] for dim in last[name]]) for name, x in like.items()}
    blocks = [_Block({dim: lengths[dim] for dim in dims}, block) for block in grid]
    cut = [delayed(_cut)(one, blocks, dask_key_name=f"cut-{token}-{i}") for i, one in enumerate(scored)]
    chunks: dict[Hashable, list[tuple[dict[str, slice], da.Array]]] = {name: [] for name in like}
    for i, block in enumerate(blocks):
        shares = [
            delayed(operator.getitem)(one, i, dask_key_name=f"share-{token}-{i}-{j}") for j, one in enumerate(cut)
        ]
        merged = delayed(_merge)(shares, block, parts, dask_key_name=f"merge-{token}-{i}")
        for name, part in parts.items():
            one = delayed(operator.getitem)(merged, name, dask_key_name=f"{name}-part-{token}-{i}")
            array = da.from_delayed(one, (*block.shape, *part.last), part.dtype, name=f"{name}-{token}-{i}")
            chunks[name].append((block.levels, array))
    arrays = {}
    for name, x in like.items():
        # the method of a number is known once it is computed
        attrs = {word: value for word, value in x.attrs.items() if word != "method"}
        arrays[name] = xr.Variable((*dims, *last[name]), _grid(chunks[name], dims), attrs).transpose(*x.dims)
    return arrays


def row_identities(cube: xr.Dataset) -> list[str]:
    """Return the coordinates of a cube that differ from run to run."""
    return [name for name in ("truth_id", "cluster_id", "run_weight") if name in cube.coords]


def split(sizes: Mapping[str, int], n_bytes: int) -> list[dict[str, slice]]:
    """Cut an array into blocks of a bounded size, or of one level of every dimension, the first ones first."""
    cuts = []
    left = n_bytes / BLOCK_BYTES
    for size in sizes.values():
        # all blocks but the last are equal, as Zarr's chunks have to be
        step = max(1, int(size / max(left, 1)))
        cuts.append([slice(a, min(a + step, size)) for a in range(0, max(size, 1), step)])
        left *= step / max(size, 1)
    return [dict(zip(sizes, block, strict=True)) for block in itertools.product(*cuts)]


class _Part(NamedTuple):
    """A variable: its declaration, type, the sizes of its dimensions besides strata and replicates."""

    variable: Variable
    dtype: np.dtype[Any]
    last: list[int]

    def empty(self, n_cells: int) -> NDArray[Any]:
        return np.full((n_cells, *self.last), self.variable.fill, self.dtype)


_Shares = Sequence[tuple[NDArray[np.int64], dict[Hashable, NDArray[Any]]]]
_Parts = Mapping[Hashable, _Part]


def _cut(scored: Mapping[str, Any], blocks: Sequence[_Block]) -> list[Any]:
    """Cut the scores of a partition into its share of each block: positions within the block, and values."""
    where, values = scored["places"], scored["values"]
    shares = []
    for block in blocks:
        cells = block.cells(*where)
        mine = np.flatnonzero(cells >= 0)
        shares.append((cells[mine], {name: x[mine] for name, x in values.items()}))
    return shares


def _merge(shares: _Shares, block: _Block, parts: _Parts) -> dict[Hashable, NDArray[Any]]:
    """Place the runs of all partitions in the cells of a block."""
    n_cells = int(np.prod(block.shape))
    runs = np.bincount(np.concatenate([cells for cells, _ in shares]), minlength=n_cells)
    if (runs > 1).any():
        raise ValueError(
            f"{int((runs > 1).sum())} places of the cube have several runs, of one stratum and one replicate; "
            "name a column that tells them apart by replicate=, or add one to by="
        )
    merged = {}
    for name, part in parts.items():
        whole = part.empty(n_cells)
        for cells, values in shares:
            whole[cells] = values[name]
        merged[name] = whole.reshape((*block.shape, *part.last))
    return merged


def _grid(chunks: Sequence[tuple[dict[str, slice], da.Array]], dims: Sequence[str], axis: int = 0) -> da.Array:
    """Put the chunks of a variable together, one dimension after the other."""
    if axis == len(dims):
        [(_, array)] = chunks
        return array
    starts = sorted({block[dims[axis]].start for block, _ in chunks})
    slabs = [[chunk for chunk in chunks if chunk[0][dims[axis]].start == start] for start in starts]
    return da.concatenate([_grid(slab, dims, axis + 1) for slab in slabs], axis)
