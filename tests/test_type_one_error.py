"""Type I error: tables whose algorithm is random guessing must not be found better than random guessing.

Size is looked at beside power, because a test that never rejects keeps every level. Run as a script, this file prints
the sizes of the randomisation test from 2,000 tables each; the tests take fewer.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.controls import find_null
from causaleval_pd.field import get_field
from causaleval_pd.null import Matching

D, M = 7, 21
TABLES = 1000
ALPHAS = (0.01, 0.05, 0.10)
TIERS = ce.null_model("knowledge", tiers=[["X0", "X1", "X2"], ["X3", "X4", "X5", "X6"]], name="knowledge")
NULLS = ["edges", "permutation", "orientation", "dags", "degree", "erdos_renyi", "scale_free", "small_world", TIERS]


def matrices(n, m, rng, order=None):
    """Adjacency matrices of n random DAGs with m edges each (uniform skeleton x uniform order)."""
    upper = np.zeros((n, D, D), bool)
    rows, columns = np.triu_indices(D, 1)
    chosen = np.argsort(rng.random((n, M)), axis=1)[:, :m]
    upper[np.arange(n)[:, None], rows[chosen], columns[chosen]] = True
    rank = np.argsort(rng.random((n, D)), axis=1) if order is None else np.tile(order, (n, 1))
    return upper[np.arange(n)[:, None, None], rank[:, :, None], rank[:, None, :]]


def column(graphs):
    return ce.graph_column(graphs, encoding="row->column", nodes=[f"X{i}" for i in range(D)])


def guesses(null, n, rng):
    """Estimates that are one draw of the null model themselves, from streams that the tests do not use."""
    base = column(matrices(n, 8, rng))
    field = get_field("graph")
    truth = column(matrices(n, 9, rng))
    [(rows, pairs)] = field.batches(truth, base, None)
    model = find_null(field, null)
    keys = rng.integers(2**63, size=n).astype(np.uint64)
    drawn = model.match(Matching(truth, base, None, None, model.options))(rows, pairs, keys).draw(0, 1).estimate
    from causaleval_pd.graphs.planes import marks_from_planes

    return truth, column(marks_from_planes(drawn.planes, D).astype(bool))


def most_rejections(n, alpha):
    """So many rejections of n tests of level alpha are exceeded once in 10,000 times."""
    return stats.binom.ppf(0.9999, n, alpha)


def randomisation_tests(null, b, tables, metrics):
    """Randomisation tests of tables of b random guesses."""
    truth, estimate = guesses(null, tables * b, np.random.default_rng(b))
    runs = pd.DataFrame({"truth": truth, "estimate": estimate, "table": np.repeat(np.arange(tables), b)})
    runs["run"] = np.tile(np.arange(b), tables)
    settings = {"by": ["table"], "replicate": "run", "n_draws": 99, "rng": 7, "null": null, "keep_draws": False}
    return ce.cube(runs, metrics, **settings).ceval.test_controls()


@pytest.mark.slow
@pytest.mark.parametrize("b", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("null", NULLS, ids=lambda null: getattr(null, "name", null))
def test_the_randomisation_test_keeps_its_level(null, b):
    # the bounds are those of the number of tables, of which there are fewer with many rows
    tables = max(50, TABLES // max(1, b // 2))
    found = randomisation_tests(null, b, tables, ["shd", "adjacency_f1"])
    for _, part in found.groupby("metric"):
        assert len(part) == tables
        for alpha in ALPHAS:
            assert (part["p_value"] <= alpha).sum() <= most_rejections(tables, alpha)


@pytest.mark.slow
def test_size_stands_beside_power():
    """With twenty rows a stratum the size comes close to the level, and better estimates are found."""
    rng = np.random.default_rng(1)
    tables, b = 300, 20
    truth, estimate = guesses("edges", tables * b, rng)
    runs = pd.DataFrame({"truth": truth, "estimate": estimate, "table": np.repeat(np.arange(tables), b)})
    runs["run"] = np.tile(np.arange(b), tables)
    # every third estimate is right
    better = runs.assign(estimate=runs["estimate"].where(runs["run"] % 3 > 0, runs["truth"]))
    rejected = {}
    for name, table in (("size", runs), ("power", better)):
        cube = ce.cube(table, ["shd"], by=["table"], replicate="run", n_draws=99, rng=7, keep_draws=False)
        rejected[name] = (cube.ceval.test_controls()["p_value"] <= 0.05).mean()
    assert stats.binom.ppf(1e-4, tables, 0.05) <= rejected["size"] * tables <= most_rejections(tables, 0.05)
    assert rejected["power"] > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("b", [1, 2, 5, 20, 100])
def test_paired_tests_against_the_first_control_keep_their_level(b):
    tables = max(50, TABLES // max(1, b // 2))
    for null in NULLS if b == 5 else ["edges", "permutation"]:
        truth, estimate = guesses(null, tables * b, np.random.default_rng(b))
        runs = pd.DataFrame({"truth": truth, "estimate": estimate, "table": np.repeat(np.arange(tables), b)})
        runs["run"] = np.tile(np.arange(b), tables)
        settings = {"by": ["table"], "replicate": "run", "n_draws": 2, "rng": 7, "keep_draws": True, "null": null}
        cube = ce.cube(runs, ["shd"], **settings)
        for method in ("wilcoxon", "sign", "t"):
            p = cube.ceval.test_controls(method=method)["p_value"]
            for alpha in ALPHAS:
                assert (p <= alpha).sum() <= most_rejections(tables, alpha), (null, method, alpha)


@pytest.mark.slow
@pytest.mark.parametrize("null", NULLS, ids=lambda null: getattr(null, "name", null))
def test_row_p_values_keep_their_level(null):
    truth, estimate = guesses(null, TABLES, np.random.default_rng(9))
    runs = pd.DataFrame({"truth": truth, "estimate": estimate})
    for settings in ({}, {"stop_after": 6}, {"share_draws": True}):
        found = ce.with_controls(runs, ["shd", "adjacency_tp"], n_draws=99, null=null, rng=7, **settings)
        for name in ("shd_p", "adjacency_tp_p"):
            p = found[name]
            for alpha in (*ALPHAS, 0.5):
                # rows that share draws are not independent of one another: their bound is wider
                slack = 3 if settings.get("share_draws") else 1
                most = TABLES * alpha + slack * (most_rejections(TABLES, alpha) - TABLES * alpha)
                assert (p <= alpha).sum() <= most, (settings, name, alpha)


if __name__ == "__main__":
    for model in NULLS:
        for rows_each in (1, 2, 5, 20, 100):
            p = randomisation_tests(model, rows_each, 2000, ["shd"])["p_value"]
            sizes = "  ".join(f"{alpha:.2f}: {(p <= alpha).mean():.4f}" for alpha in ALPHAS)
            over = [alpha for alpha in ALPHAS if (p <= alpha).sum() > most_rejections(2000, alpha)]
            name, told = getattr(model, "name", model), "too large" if over else ""
            print(f"{name:12} {rows_each:3} rows a table   {sizes}   {told}")
