"""Simultaneous limits of skill: what they widen, what they refuse, and that they cover together."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.cubes.simultaneous_skill import simultaneous_level

HOW = {"by": ["algorithm", "n"], "n_draws": 50, "rng": 7}
LIMITS = ["skill_low", "skill_high"]


@pytest.fixture(scope="module")
def cube():
    return ce.cube(ce.datasets.runs().query("density == 0.2"), ["shd", "adjacency_f1"], **HOW)


@pytest.mark.slow
def test_limits_widen_and_nothing_else_changes(cube):
    single, wide = ce.summary(cube), ce.summary(cube, simultaneous=True, rng=3)
    known = single["skill_low"].notna()
    assert known.all() and (wide["skill_low"] < single["skill_low"]).all()
    assert (wide["skill_high"] > single["skill_high"]).all()
    assert (single["ci_level"] == 0.95).all()
    [level] = wide["ci_level"].unique()
    assert 0.95 < level <= 0.95 ** (1 / len(wide)) + 0.002
    changed = [*LIMITS, "ci_level"]
    pd.testing.assert_frame_equal(single.drop(columns=changed), wide.drop(columns=changed))
    pd.testing.assert_frame_equal(wide[LIMITS], ce.summary(cube, level=level)[LIMITS])


@pytest.mark.slow
def test_the_history_has_the_seed_that_repeats_the_table(cube):
    first = ce.summary(cube, simultaneous=True)
    record = first.attrs["causaleval_pd_history"][-1]
    assert record["simultaneous"] is True
    pd.testing.assert_frame_equal(first, ce.summary(cube, simultaneous=True, rng=record["seed"]))
    assert "seed" not in ce.summary(cube).attrs["causaleval_pd_history"][-1]


@pytest.mark.slow
def test_a_table_of_runs_gives_the_summary_of_its_cube(cube):
    runs = ce.datasets.runs().query("density == 0.2")
    found = runs.ceval.summary(["shd", "adjacency_f1"], simultaneous=True, **HOW)
    pd.testing.assert_frame_equal(found, ce.summary(cube, simultaneous=True, rng=7))


@pytest.mark.slow
def test_strata_that_are_copies_need_no_more_than_one():
    runs = ce.datasets.runs().query("density == 0.2 and n == 100 and algorithm == 'pc'")
    copies = pd.concat([runs.assign(copy=i) for i in range(4)], ignore_index=True)
    how = {"by": ["copy"], "n_draws": 20, "rng": 1}
    related = ce.cube(copies, ["shd"], **how)
    assert ce.summary(related, simultaneous=True, rng=2)["ci_level"].max() < 0.965
    apart = ce.cube(copies, ["shd"], cluster=None, **how)
    assert ce.summary(apart, simultaneous=True, rng=2)["ci_level"].tolist() == pytest.approx([0.95**0.25] * 4)


@pytest.mark.slow
def test_strata_without_limits_do_not_count(cube):
    alone = cube.sel(algorithm=["pc"], n=cube["n"][:1])
    few = alone.isel(replicate=slice(0, 3))
    assert ce.summary(few, simultaneous=True, rng=1)[[*LIMITS, "ci_level"]].isna().all(axis=None)
    assert simultaneous_level(few, ["shd"], 0.9, 1) == 0.9
    assert simultaneous_level(alone, ["shd"], 0.9, 1) == 0.9
    without = ce.cube(ce.datasets.runs(), ["shd"], by=["n"], n_draws=None)
    assert ce.summary(without, simultaneous=True)["ci_level"].isna().all()


def test_lazy_cubes_and_tables_are_refused(cube):
    with pytest.raises(ValueError, match=r"simultaneous=True looks at all strata together, .* by cube.compute\(\)"):
        ce.summary(cube.chunk(), simultaneous=True)
    dd = pytest.importorskip("dask.dataframe")
    lazy = dd.from_pandas(ce.datasets.runs(), npartitions=2)
    with pytest.raises(ValueError, match="summary of a dask table has no setting simultaneous"):
        lazy.ceval.summary(["shd"], simultaneous=True, **HOW)
    with pytest.raises(TypeError, match="simultaneous must be True or False"):
        ce.summary(cube, simultaneous="no")


NODES = list("ABCDE")
PAIRS = list(itertools.combinations(NODES, 2))


def graph(rng, n_edges):
    order = [PAIRS[i] for i in rng.choice(len(PAIRS), n_edges, replace=False)]
    turned = [pair if turn else pair[::-1] for pair, turn in zip(order, rng.random(n_edges) < 0.5, strict=True)]
    return "; ".join([*NODES, *(f"{a} -> {b}" for a, b in turned)])


@pytest.mark.slow
def test_limits_cover_together_in_30_strata_of_guesses():
    """Guesses have skill 0 in every stratum; single limits miss it somewhere, simultaneous ones hold it together."""
    rng, n_repeats = np.random.default_rng(11), 30
    together, single = 0, 0
    for _ in range(n_repeats):
        truths = [graph(rng, 4) for _ in range(20)]
        rows = [(truth, graph(rng, 4), s) for s in range(30) for truth in truths]
        table = pd.DataFrame(rows, columns=["truth", "estimate", "s"])
        made = ce.cube(table, ["shd"], by=["s"], n_draws=20, rng=5, keep_draws=False)
        for simultaneous in (True, False):
            found = ce.summary(made, simultaneous=simultaneous, rng=1)
            held = bool(((found["skill_low"] <= 0) & (found["skill_high"] >= 0)).all())
            together, single = together + (held and simultaneous), single + (held and not simultaneous)
    assert together >= 25
    assert single < 18
