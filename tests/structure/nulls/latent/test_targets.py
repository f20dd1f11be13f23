"""Controls of estimates whose truths have latent nodes are compared with the target that the estimates are."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.contract.context import resolve_context
from causaleval_pd.structure.field import GRAPHS

DAGS = ["L -> A; L -> B; A -> C; B -> D; M -> C; M -> E", "A -> B; L -> B; L -> C; C -> D; D -> E; M -> E; M -> A"]
LATENTS = ["L", "M"]
ESTIMATES = ["A o-o B; B o-o C; D; E", "A o-> B; C o-> B; B -> D; E"]


@pytest.mark.parametrize("null", ["edges", "orientation", "permutation", "oracle_skeleton"])
def test_context_gives_what_projected_truths_give(null):
    dags = ce.graph_column(DAGS)
    table = pd.DataFrame({"truth": dags, "estimate": ce.graph_column(ESTIMATES)})
    named = ce.with_controls(
        table, ["shd", "arrowhead_tp"], null=null, n_draws=50, rng=1, context={"latents": LATENTS}, columns="full"
    )
    projected = table.assign(truth=dags.graph.pag(latents=LATENTS))
    found = ce.with_controls(projected, ["shd", "arrowhead_tp"], null=null, n_draws=50, rng=1, columns="full")
    cells = ["truth", "estimate"]
    pd.testing.assert_frame_equal(named.drop(columns=cells), found.drop(columns=cells))
    assert np.isfinite(found["shd_control_mean"]).all() and (found["control_kind"] == "pag").all()


@pytest.fixture
def hidden_by_row():
    """Runs on two DAGs, one of them with other latent nodes in other rows, and a run that failed."""
    dags = ce.graph_column([DAGS[0], DAGS[0], DAGS[1], DAGS[1]])
    estimates = [ESTIMATES[0], "A o-o L; L o-o B; A -> C; M o-> C", ESTIMATES[1], None]
    kinds = ["mixed", "mixed", "pag", None]
    return pd.DataFrame(
        {
            "truth": dags,
            "estimate": ce.graph_column(estimates, kind=kinds),
            "hidden": ["L; M", "D; E", "L; M", "L; M"],
            "algorithm": ["a", "b", "a", "b"],
        }
    )


@pytest.mark.slow
def test_strata_by_sizes_are_those_of_observed_nodes(hidden_by_row):
    context = {"latents": "hidden"}
    sizes = ["n_nodes", "true_edges", "true_density"]
    rows = ce.evaluate(hidden_by_row, sizes, context=context)[sizes].iloc[:3]
    targets = hidden_by_row["truth"].graph.pag(latents=[["L", "M"], ["D", "E"], ["L", "M"], ["L", "M"]])
    assert rows["n_nodes"].tolist() == targets.graph.n_nodes.iloc[:3].tolist()
    assert rows["true_edges"].tolist() == targets.graph.n_edges.iloc[:3].tolist()
    for name in sizes:
        cube = ce.cube(hidden_by_row, ["shd"], by=[name], n_draws=None, context=context)
        # the run that failed is counted where the other run on its truth is
        assert cube[name].to_numpy().tolist() == sorted(rows[name].unique())
        assert int((cube["status"] > 0).sum()) == 4
        lazy = dd.from_pandas(hidden_by_row, npartitions=1).ceval.cube(
            ["shd"], by=[name], n_draws=None, context=context
        )
        assert lazy[name].to_numpy().tolist() == cube[name].to_numpy().tolist()


@pytest.mark.slow
def test_engines_and_dask_tables_have_the_same_controls(hidden_by_row):
    options = {"n_draws": 20, "rng": 1, "context": {"latents": "hidden"}, "control_kind": "pag"}
    names = ["shd", "arrow_claim_precision", "latent_tp"]
    one = ce.with_controls(hidden_by_row, names, **options)
    for engine in ("threads", "dask"):
        with ce.set_options(engine=engine, n_jobs=2):
            pd.testing.assert_frame_equal(ce.with_controls(hidden_by_row, names, **options), one)
    lazy = dd.from_pandas(hidden_by_row, npartitions=3).ceval.with_controls(names, **options).compute()
    for name in names:
        np.testing.assert_allclose(lazy[f"{name}_p"], one[f"{name}_p"])


def test_placebos_relabel_observed_nodes(hidden_by_row):
    context = {"latents": "hidden"}
    made = ce.placebo(hidden_by_row, rng=1, context=context)
    for before, after in zip(hidden_by_row["estimate"][:3], made["estimate"][:3], strict=True):
        own, other = ce.as_graph(before), ce.as_graph(after)
        assert (own.nodes, own.kind, own.n_edges) == (other.nodes, other.kind, other.n_edges)
    assert made["estimate"].isna().tolist() == [False] * 3 + [True]
    assert ce.evaluate(made, ["shd"], context=context)["shd"].notna().tolist() == [True] * 3 + [False]
    with pytest.raises(ValueError, match="row 0 .* and row 1 .* different labels"):
        ce.placebo(hidden_by_row, rng=1, context=context, joint="all")


def test_perfect_estimates_are_what_the_context_compares_with(hidden_by_row):
    context = resolve_context(hidden_by_row, {"latents": "hidden"}, {"graph": GRAPHS.context})
    runs = hidden_by_row[:3]
    perfect = GRAPHS.relabelling.perfect(runs["truth"], runs["estimate"], context.take(slice(3)))
    assert perfect.graph.kind.tolist() == ["pag"] * 3
    scored = ce.evaluate(runs.assign(estimate=perfect), ["shd"], context={"latents": "hidden"})
    assert scored["shd"].eq(0).all()
