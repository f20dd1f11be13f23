"""Lagged graphs in the verbs: tables, cubes, comparisons, placebos, dask and messages."""

import dask.dataframe as dd
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    """Guesses and good estimates of random graphs over four variables."""
    rng = np.random.default_rng(4)
    names = "ABCD"

    def links(share):
        return {(a, b, lag) for a in names for b in names for lag in (1, 2) if rng.random() < share}

    def cell(found):
        return "lags 0..2: A -> B; " + "; ".join([f"{a}@-{lag} -> {b}" for a, b, lag in sorted(found)] + list(names))

    rows = []
    for number in range(8):
        true = links(0.2)
        rows.append((number, "good", cell(true), cell(true ^ links(0.05))))
        rows.append((number, "guess", cell(true), cell(links(0.2))))
    table = pd.DataFrame(rows, columns=["data_set", "algorithm", "truth", "estimate"])
    return table.assign(**{side: ce.lagged_column(table[side]) for side in ("truth", "estimate")})


def test_default_metrics_and_null(runs):
    found = runs.ceval.with_controls(n_draws=30, rng=1)
    assert (found["control_null"] == "edges").all() and (found["control_kind"] == "ts_dag").all()
    assert ce.time_series.LAGGED.default_metrics[0] in found
    good, guess = (found.loc[found["algorithm"] == name, "lagged_f1_p"] for name in ("good", "guess"))
    assert good.max() < 0.01 < guess.median()


@pytest.mark.slow
def test_cubes_of_links(runs):
    cube = runs.ceval.cube(["lagged_f1"], by=["algorithm"], n_draws=40, rng=1)
    tested = cube.ceval.summary("lagged_f1", columns="full").set_index("algorithm")["p_value"]
    assert tested["good"] < 0.01 < tested["guess"]
    [compared] = cube.ceval.compare("algorithm", columns="full").query("metric == 'lagged_f1'").to_dict("records")
    assert compared["p_value"] < 0.01


def test_placebos_relabel_variables(runs):
    placebo = runs.ceval.placebo(rng=3)
    assert placebo["estimate"].lagged.n_links.equals(runs["estimate"].lagged.n_links)
    assert not placebo["estimate"].equals(runs["estimate"])


@pytest.mark.slow
def test_dask_tables(runs):
    import causaleval_pd.dask

    assert causaleval_pd.dask
    whole = runs.ceval.with_controls(["lagged_f1", "window_shd"], null="permutation", n_draws=30, rng=2)
    parts = dd.from_pandas(runs, npartitions=3).ceval.with_controls(
        ["lagged_f1", "window_shd"], null="permutation", n_draws=30, rng=2
    )
    pd.testing.assert_frame_equal(parts.compute(), whole, check_dtype=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:found an estimate without a truth:UserWarning")
def test_rows_with_other_lags_and_classes():
    table = pd.DataFrame(
        {
            "truth": ce.lagged_column(["X@-1 -> Y", "X@-1 -> Y", "X@-3 -> Y; X -> Y", None, "A@-1 -> B; C"]),
            "estimate": ce.lagged_column(
                ["X@-2 -> Y; X -- Y", "lags 1..2: X@-1 -> Y", "X@-1 <-> Y; X o-o Y", "X -> Y", "A -> B; C@-2 -> B"]
            ),
        }
    )
    for null in ("edges", "permutation", "lags"):
        found = table.ceval.with_controls(
            ["lagged_f1", "window_shd", ce.tweak("lagged_f1", links="adjacent", name="adjacent_f1")],
            null=null,
            n_draws=30,
            rng=1,
        )
        assert found["lagged_f1"].isna().tolist() == [False, False, False, True, False]
        assert found["lagged_f1_p"].isna().equals(found["lagged_f1"].isna())
        assert found["window_shd_p"].notna().tolist() == [True, True, True, False, True], null


def test_other_variables_are_refused():
    with pytest.raises(ValueError, match=r"row 0.*only in the truth: \['Y'\]; only in the estimate: \['Z'\]"):
        pd.DataFrame({"truth": ce.lagged_column(["X -> Y"]), "estimate": ce.lagged_column(["X -> Z"])}).ceval.evaluate()
    with pytest.raises(ValueError, match="only in the truth"):
        ce.lagged_f1("X -> Y", "X -> Z")
    with pytest.raises(TypeError, match="needs a truth and an estimate"):
        ce.lagged_f1("X -> Y", None)


def test_texts_are_read_where_metrics_are_named():
    table = pd.DataFrame({"truth": ["X@-1 -> Y"], "estimate": ["X@-1 -> Y; Y -> X"]})
    assert table.ceval.evaluate(["lagged_f1"])["lagged_f1"].item() == 1


def test_users_null_models():
    def turned(estimate, rng):
        codes = estimate.codes.copy()
        if rng.random() < 0.5:
            codes[1:] = codes[1:].transpose(0, 2, 1)
        return ce.LaggedGraph(estimate.nodes, codes, estimate.min_lag, estimate.kind)

    table = pd.DataFrame({"truth": ce.lagged_column(["X@-1 -> Y"]), "estimate": ce.lagged_column(["X@-1 -> Y"])})
    found = table.ceval.with_controls(["lagged_f1"], null=turned, n_draws=200, rng=1)
    assert found["lagged_f1_control_mean"].item() == pytest.approx(0.5, abs=0.15)
    with pytest.raises(ValueError, match="row 0 .*: null 'other' returned 'lags 0..5: X@-5 -> Y'"):
        null = ce.null_model(lambda estimate, rng: "X@-5 -> Y", name="other")
        table.ceval.with_controls(["lagged_f1"], null=null, n_draws=20, rng=1)


def test_options_of_null_models():
    table = pd.DataFrame({"truth": ce.lagged_column(["X@-1 -> Y"]), "estimate": ce.lagged_column(["X@-1 -> Y"])})
    with pytest.raises(ValueError, match="self_links must be 'kept' or 'pooled'"):
        table.ceval.with_controls(["lagged_f1"], null=ce.null_model("edges", self_links="some"), n_draws=20)
    with pytest.raises(ValueError, match="leave control_kind out"):
        table.ceval.with_controls(["lagged_f1"], control_kind="dag", n_draws=20)


def test_figure():
    ax = ce.plot.lagged_graph("X@-1 o-> Y; X o-o Y; Y@-2 -> Y", "X@-1 -> Y; X o-o Y; X@-2 -> Y")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["in both (1)", "extra (2)", "missing (2)"]
    assert len(ax.patches) == 5
    assert [label.get_text() for label in ax.get_xticklabels()] == ["t - 2", "t - 1", "t"]
    alone = ce.plot.lagged_graph("lags 1..2: X@-1 -> Y")
    assert alone.get_legend() is None and len(alone.patches) == 1
    assert "lags 1 to 2 were searched" in alone.figure.findobj(lambda x: getattr(x, "get_gid", str)() == "caption")[
        0
    ].get_text().replace("\n", " ")
    with pytest.raises(ValueError, match="only in the truth"):
        ce.plot.lagged_graph("X -> Y", "X -> Z")
    column = ce.lagged_column(["X -> Y", "Y -> X"])
    for call in (lambda: ce.plot.lagged_graph(column), lambda: ce.as_graph(ce.graph_column(["X -> Y"]))):
        with pytest.raises(TypeError, match=r"found a column, expected one .*as column\.iloc\[0\]"):
            call()
    mpl.pyplot.close("all")
