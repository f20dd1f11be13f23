"""Cubes whose runs are groups of candidates, of which the best counts."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce

NODES = [f"X{i}" for i in range(8)]


def guess(rng, n_edges=8):
    pairs = list(itertools.combinations(NODES, 2))
    place = dict(zip(NODES, rng.permutation(8), strict=True))
    chosen = [pairs[i] for i in rng.choice(28, n_edges, replace=False)]
    return "; ".join([f"{a} -> {b}" if place[a] < place[b] else f"{b} -> {a}" for a, b in chosen] + NODES)


def tuned(n_strata, n_truths, n_levels, seed=1):
    """Random guesses: strata s of truths of their own, each with candidates."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(n_strata):
        for _ in range(n_truths):
            truth = guess(rng)
            rows += [{"s": s, "level": f"l{k}", "truth": truth, "estimate": guess(rng)} for k in range(n_levels)]
    return pd.DataFrame(rows)


@pytest.mark.slow
def test_a_run_of_the_cube_is_a_row_of_the_table_of_groups():
    runs = tuned(2, 3, 4)
    runs.loc[[0, 1, 2, 3, 5], "estimate"] = None
    names = ["shd", "adjacency_f1"]
    how = {"best_of": "level", "n_draws": 40, "rng": 3}
    rows = ce.with_controls(runs, names, columns="full", **how)
    cube = runs.ceval.cube(names, by=["s"], **how)
    assert dict(cube.sizes)["replicate"] == 3 and cube["status"].to_numpy().ravel().tolist() == [2, 1, 1, 1, 1, 1]
    levels = json.loads(cube.attrs["best_of"])
    assert levels == {"column": "level", "levels": ["l0", "l1", "l2", "l3"]}
    truth = cube["truth_id"].to_numpy().ravel()
    assert len(set(truth.tolist())) == 6
    for name in names:
        for part in ("", "_control_mean", "_p"):
            values = cube[f"{name}{part}"].to_numpy().ravel()
            np.testing.assert_allclose(np.sort(values), np.sort(rows[f"{name}{part}"].to_numpy(float)))
        chosen = cube[f"{name}_chosen"].to_numpy().ravel()
        expected = rows[f"{name}_chosen"]
        named = [None if np.isnan(x) else levels["levels"][int(x)] for x in chosen]
        assert sorted(map(str, named)) == sorted(str(None if pd.isna(x) else x) for x in expected)
    np.testing.assert_array_equal(np.sort(cube["n_candidates"].to_numpy().ravel()), np.sort(rows["n_candidates"]))
    table = cube.ceval.summary(columns="full")
    assert table["n_runs"].tolist() == [3] * 4 and table["n_failed"].sum() == 2
    assert cube.ceval.summary(columns="full")["null"].unique().tolist() == ["permutation"]


@pytest.mark.slow
def test_strata_of_the_best_of_guesses_keep_their_level():
    """Also where several algorithms are tuned on one truth, whose runs are relabelled alike."""
    n_strata = 80
    runs = tuned(n_strata, 3, 6)
    again = runs.assign(algorithm="same")
    twice = pd.concat([runs.assign(algorithm="x"), again], ignore_index=True)
    most = stats.binom.ppf(0.999, n_strata, 0.05)
    for table, key in ((runs, None), (twice, ["algorithm", "truth", "level"])):
        cube = table.ceval.cube(["shd"], by=["s"], best_of="level", key=key, n_draws=99, rng=3)
        assert (cube.ceval.summary(columns="full")["p_value"] <= 0.05).sum() <= most
    best = runs.assign(shd=ce.evaluate(runs, ["shd"])["shd"]).sort_values("shd").groupby("truth").head(1)
    plain = best[runs.columns].ceval.cube(["shd"], by=["s"], n_draws=99, rng=3)
    assert (plain.ceval.summary(columns="full")["p_value"] <= 0.05).sum() > most


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": ["s", "level"]}, "by names 'level', of whose levels best_of= takes the best"),
        ({"n_draws": None}, "best_of= compares the best candidates with the best of their controls"),
        ({"values": ["seconds"]}, "takes no values="),
        ({"null": ["permutation", "edges"]}, "null must be one null model here"),
        ({"null": "edges"}, "null='edges' draws them one by one"),
        ({"key": ["s"]}, "are candidates of one group but have different truths"),
    ],
)
def test_bad_cubes_of_candidates_are_refused(settings, message):
    runs = tuned(1, 2, 2).assign(seconds=1.0)
    with pytest.raises(ValueError, match=message):
        runs.ceval.cube(["shd"], **({"by": ["s"], "best_of": "level", "n_draws": 9} | settings))


def test_dask_tables_have_no_candidates():
    import dask.dataframe as dd

    import causaleval_pd.dask  # noqa: F401, which registers the accessor

    runs = tuned(1, 2, 2)
    runs = runs.assign(truth=ce.graph_column(runs["truth"]), estimate=ce.graph_column(runs["estimate"]))
    table = dd.from_pandas(runs, npartitions=1)
    with pytest.raises(TypeError, match="no keyword best_of"):
        table.ceval.with_controls(["shd"], best_of="level")
    with pytest.raises(ValueError, match="has no setting best_of"):
        table.ceval.cube(["shd"], by=["s"], best_of="level")
