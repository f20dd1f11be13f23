"""Tables of a lazy cube are those of the same cube in memory, and nothing is loaded before they are computed."""

from __future__ import annotations

import functools

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.contract.history import call
from causaleval_pd.cubes import lazy_tables
from causaleval_pd.cubes.reading import strata_table

METRICS = ["shd", "orientation_precision"]
RUNS = ce.datasets.runs().query("replicate < 8").reset_index(drop=True)
RUNS.loc[[4, 17, 200], "estimate"] = None
BY = ["algorithm", "density", "n"]


KINDS = ["draws", "sums", "nulls"]


@functools.cache
def made(kind: str) -> xr.Dataset:
    """Return the cube of a kind; a fixture that is parametrized beside another argument is made for every test."""
    null = ["edges", "erdos_renyi"] if kind == "nulls" else "edges"
    found = ce.cube(RUNS, METRICS, by=BY, n_draws=40, rng=7, keep_draws=kind == "draws", null=null)
    return found.isel(n=[0, 1], density=[0, 2])


@pytest.fixture(params=KINDS)
def cube(request) -> xr.Dataset:
    return made(request.param).copy()


def refuse(*arguments, **settings):
    raise AssertionError("something was computed")


VERBS = {
    "summary": lambda c: ce.summary(c),
    "summary of means": lambda c: ce.summary(c, "shd", interval="mean_ci", level=0.9),
    "test_controls": lambda c: ce.test_controls(c, adjust="holm", missing="worst"),
    "compare": lambda c: ce.compare(c, "algorithm"),
    "compare strata": lambda c: ce.compare(c, "algorithm", by="all"),
    "compare another": lambda c: ce.compare(c, "n", "shd", by="algorithm", paired=False, adjust="bh"),
    "compare excess": lambda c: ce.compare(c, "algorithm", by="density", on="excess", missing="worst"),
    "compare jointly": lambda c: ce.compare(c, "algorithm", by="all", test="max_t", rng=3),
    "rank_test": lambda c: ce.rank_test(c, "algorithm", adjust="holm"),
}


#: verbs that read controls, which each kind of cube has in its own variables; to the others all kinds are the same
CONTROLLED = [
    "summary",
    "summary of means",
    "test_controls",
    "compare excess",
]
#: one of the verbs that resample, one of those that compare, and the verbs of sums are quick
SLOW = {
    "draws": {*CONTROLLED},
    "sums": {*CONTROLLED} - {"summary of means", "test_controls"},
    "nulls": {*VERBS} - {"compare", "compare jointly", "rank_test"},
}
#: the kind of which the others are tested too, because its null models are a dimension
PAIRS = [
    pytest.param(kind, verb, id=f"{kind}-{name}", marks=[pytest.mark.slow] * (name in SLOW[kind]))
    for kind in KINDS
    for name, verb in VERBS.items()
    if name in CONTROLLED or kind == "nulls"
]


@pytest.mark.slow
@pytest.mark.parametrize(("cube", "verb"), PAIRS, indirect=["cube"])
def test_tables_are_lazy_and_agree(cube, verb, monkeypatch):
    monkeypatch.setattr(lazy_tables, "BLOCK_BYTES", 20_000)
    wanted = verb(cube)
    assert len(wanted)
    with dask.config.set(scheduler=refuse):
        table = verb(cube.chunk({"algorithm": 2, "density": 1, "replicate": 5}))
    assert isinstance(table, dd.DataFrame)
    found = table.compute(scheduler="synchronous")
    assert list(table.dtypes.items()) == list(found.dtypes.items())
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12, atol=1e-12)


def test_blocks_are_bounded():
    sizes = {"a": 3, "b": 40, "c": 7}
    for n_bytes in (1, 100, 5000, 10**9):
        cut = lazy_tables.split(sizes, n_bytes, 100)
        cells = [np.prod([place.stop - place.start for place in block.values()]) for block in cut]
        assert sum(cells) == 3 * 40 * 7
        assert max(cells) * n_bytes / (3 * 40 * 7) <= 100 or max(cells) == 1


@pytest.mark.slow
def test_one_stratum_of_one_metric_is_loaded_at_a_time(cube, monkeypatch):
    monkeypatch.setattr(lazy_tables, "BLOCK_BYTES", 1)
    seen = []

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        seen.append((dict(part.sizes), [x for x in METRICS if x in part]))
        return strata_table(part, metric=name)

    names = ["density", "n"]
    how = {"strata": names, "whole": ["algorithm"], "made": call("verb", {})}
    lazy_tables.tabulate(cube.chunk(), METRICS, rows, pd.concat, **how).compute()
    assert len(seen) == len(METRICS) * (1 + 4)
    assert all(sizes["density"] == sizes["n"] == 1 and len(metrics) == 1 for sizes, metrics in seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cube", [pytest.param(kind, marks=[pytest.mark.slow] * (kind != "sums")) for kind in KINDS], indirect=True
)
def test_figures_of_a_lazy_cube(cube):
    lazy = cube.chunk({"algorithm": 1})
    if "null" not in cube.dims:
        grid = lazy.ceval.plot.strata("shd", x="density", hue="algorithm", col="n")
        assert grid.axes.size == 2
    one = lazy.sel(density=[0.2], n=[100])
    assert len(one.ceval.plot.critical_difference("shd", "algorithm").texts)


@pytest.mark.slow
def test_what_is_wrong_with_a_lazy_cube_is_said():
    here = RUNS.query("algorithm != 'lingam'")
    apart = here[(here["algorithm"] == "pc") == (here["replicate"] < 4)]
    lazy = ce.cube(apart, ["shd"], by=BY, n_draws=None, replicate="replicate").chunk({"algorithm": 1})
    with pytest.raises(ValueError, match="unknown dimension 'n_nodes'"):
        ce.compare(lazy, "n_nodes")
    for verb in (ce.compare, ce.rank_test):
        with pytest.raises(ValueError, match="no replicate in common"):
            verb(lazy, "algorithm").compute()
