"""Negative controls: closed forms, draws, p-values, skill, and the source's numbers."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce

FIVE = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> D; D -> E"
SEVEN = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> E"


@pytest.fixture
def runs():
    return pd.DataFrame({"truth": [FIVE] * 3, "estimate": [SEVEN, None, "A -- B; C; D; E"]}, index=["x", "y", "z"])


@pytest.fixture
def larger(runs):
    """Six nodes, whose controls are not listed."""
    return runs + "; F"


def test_columns_their_order_and_types(runs):
    scored = ce.with_controls(runs, ["shd"], n_draws=50, rng=7, columns="full")
    parts = ["", "_control_mean", "_control_mean_se", "_control_low", "_control_high", "_p", "_skill"]
    parts += ["_mean_method", "_p_method", "_p_se", "_p_at_floor"]
    expected = [f"shd{part}" for part in [*parts, "_control_undefined"]]
    origin = ["control_null", "control_kind", "control_seed", "n_draws"]
    assert list(scored.columns) == ["truth", "estimate", *expected, *origin]
    assert scored["control_kind"].tolist()[::2] == ["dag", "cpdag"] and pd.isna(scored["control_kind"].iloc[1])
    assert (scored["control_seed"] == 7).all() and (scored["control_null"] == "edges").all()
    assert scored.loc["y", expected].isna().all()
    pd.testing.assert_frame_equal(scored, runs.ceval.with_controls(["shd"], n_draws=50, rng=7, columns="full"))


def test_short_columns_are_some_of_the_full_ones(runs):
    short = ce.with_controls(runs, ["shd", "v_structure_f1"], n_draws=50, rng=7)
    parts = ["", "_control_mean", "_control_low", "_control_high", "_p", "_skill", "_p_method"]
    expected = [f"{m}{part}" for m in ("shd", "v_structure_f1") for part in parts]
    expected += ["control_null", "control_kind", "control_seed", "n_draws"]
    assert [c for c in short.columns if c not in runs.columns] == expected
    full = ce.with_controls(runs, ["shd", "v_structure_f1"], n_draws=50, rng=7, columns="full")
    pd.testing.assert_frame_equal(short, full[short.columns])
    with ce.set_options(engine="threads"):
        threads = ce.with_controls(runs, ["shd", "v_structure_f1"], n_draws=50, rng=7, columns="short")
    pd.testing.assert_frame_equal(short, threads)
    for columns in ("long", None, ["shd"]):
        with pytest.raises(ValueError, match="unknown choice of columns .*known are 'short', 'full'"):
            ce.with_controls(runs, ["shd"], columns=columns)


def test_draws_may_be_a_whole_float(runs):
    found = ce.with_controls(runs, ["shd"], n_draws=50.0, rng=7)
    wanted = ce.with_controls(runs, ["shd"], n_draws=50, rng=7)
    pd.testing.assert_frame_equal(found, wanted)


def test_skeleton_metrics_are_exact(runs):
    scored = ce.with_controls(runs, ["adjacency_precision", "adjacency_recall"], rng=7, columns="full").loc["x"]
    assert scored["adjacency_precision_control_mean"] == pytest.approx(0.8, abs=1e-14)
    assert scored["adjacency_precision_control_low"] == 5 / 7
    assert scored["adjacency_precision_control_high"] == 1
    assert scored["adjacency_recall_control_mean"] == pytest.approx(0.7, abs=1e-14)
    assert (scored["adjacency_recall_control_low"], scored["adjacency_recall_control_high"]) == (0.625, 0.875)
    assert scored["adjacency_precision_p"] == pytest.approx(stats.hypergeom.sf(5, 10, 8, 7), rel=1e-12)
    assert scored["adjacency_precision_p_method"] == scored["adjacency_precision_mean_method"] == "exact"
    assert scored["adjacency_precision_p_se"] == 0


def test_shd_of_dags_has_an_exact_mean_and_a_simulated_p(larger):
    scored = ce.with_controls(larger, ["shd"], n_draws=400, rng=7, columns="full")
    row = scored.loc["x"]
    assert row["shd_control_mean"] == pytest.approx(8 + 7 - 1.5 * 8 * 7 / 15)
    assert (row["shd_mean_method"], row["shd_p_method"]) == ("exact", "simulated")
    assert scored.loc["z", "shd_mean_method"] == "simulated"
    assert row["shd_skill"] == pytest.approx(1 - row["shd"] / row["shd_control_mean"])
    b = row["shd_p"] * 401 - 1
    assert b == pytest.approx(round(b))


def test_exact_never_draws_and_refuses_what_it_cannot(larger):
    dags = larger.iloc[[0]]
    exact = ce.with_controls(dags, ["shd", "adjacency_f1"], method="exact", rng=7).iloc[0]
    assert exact["shd_control_mean"] == pytest.approx(9.4) and np.isnan(exact["shd_p"])
    assert not np.isnan(exact["adjacency_f1_p"]) and exact["n_draws"] == 0
    with pytest.raises(ValueError, match=r"v_structure_recall has no closed form .* method='auto'"):
        ce.with_controls(dags, ["v_structure_recall"], method="exact", rng=7)
    with pytest.raises(ValueError, match="shd has no closed form"):
        ce.with_controls(larger.iloc[[2]], ["shd"], method="exact", rng=7)


def test_simulation_agrees_with_the_closed_forms(runs):
    names = ["shd", "adjacency_precision", "adjacency_f1", "directed_tp", "skeleton_hd"]
    exact = ce.with_controls(runs.iloc[[0]], names, rng=7, n_draws=10, columns="full").iloc[0]
    drawn = ce.with_controls(runs.iloc[[0]], names, rng=7, n_draws=20_000, method="simulate", columns="full").iloc[0]
    for name in names:
        assert drawn[f"{name}_mean_method"] == "simulated"
        spread = drawn[f"{name}_control_high"] - drawn[f"{name}_control_low"]
        assert drawn[f"{name}_control_mean"] == pytest.approx(exact[f"{name}_control_mean"], abs=4 * spread / 3.5 / 141)
        if exact[f"{name}_p_method"] == "exact":
            assert drawn[f"{name}_p"] == pytest.approx(exact[f"{name}_p"], abs=4 * drawn[f"{name}_p_se"] + 1e-4)


@pytest.mark.slow
def test_same_seed_same_bits_in_any_order_and_chunking(larger, monkeypatch):
    many = pd.concat([larger] * 5, ignore_index=True)
    names = ["shd", "orientation_precision"]
    whole = ce.with_controls(many, names, n_draws=64, rng=7)
    shuffled = ce.with_controls(many.sample(frac=1, random_state=1), names, n_draws=64, rng=7).sort_index()
    pd.testing.assert_frame_equal(whole, shuffled)
    part = ce.with_controls(many.iloc[4:9], names, n_draws=64, rng=7)
    pd.testing.assert_frame_equal(whole.iloc[4:9], part)
    monkeypatch.setattr("causaleval_pd.tables.simulate.CHUNK_BYTES", 3000)
    pd.testing.assert_frame_equal(whole, ce.with_controls(many, names, n_draws=64, rng=7))
    assert not whole["shd_p"].equals(ce.with_controls(many, names, n_draws=64, rng=8)["shd_p"])


def test_undefined_controls_are_excluded_and_counted():
    runs = pd.DataFrame({"truth": ["A -> B; C; D; E"], "estimate": ["C -> B; A -> B; D; E"]})
    name, how = "orientation_precision", {"n_draws": 2000, "rng": 7, "columns": "full"}
    scored = ce.with_controls(runs, [name], **how).iloc[0]
    missed = stats.hypergeom.pmf(0, 10, 1, 2)
    error = np.sqrt(missed * (1 - missed) / 2000)
    assert scored[f"{name}_control_undefined"] == pytest.approx(missed, abs=4 * error)
    assert scored[f"{name}_control_mean"] == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(2000 * (1 - missed)))
    with ce.set_options(zero_division=1):
        assert ce.with_controls(runs, [name], **how).iloc[0][f"{name}_control_undefined"] == 0
    nothing = pd.DataFrame({"truth": ["A -> B; C"], "estimate": ["A; B; C"]})
    scored = ce.with_controls(nothing, ["adjacency_precision", "shd"], rng=7, n_draws=20, columns="full").iloc[0]
    assert np.isnan(scored["adjacency_precision_p"]) and scored["adjacency_precision_control_undefined"] == 1
    assert (scored["shd_p"], scored["shd_control_mean"], scored["shd_skill"]) == (1, 1, 0)


def test_degenerate_nulls_have_p_one_and_no_skill():
    runs = pd.DataFrame({"truth": ["A; B; C"], "estimate": ["A; B; C"]})
    scored = ce.with_controls(runs, ["shd", "adjacency_fp"], rng=7, n_draws=20).iloc[0]
    assert (scored["shd_p"], scored["adjacency_fp_p"]) == (1, 1)
    assert np.isnan(scored["shd_skill"]) and np.isnan(scored["adjacency_fp_skill"])
    full = pd.DataFrame({"truth": ["A -> B; B -> C"], "estimate": ["A -> B; B -> C; A -> C"]})
    assert ce.with_controls(full, ["adjacency_recall"], rng=7)["adjacency_recall_p"].iloc[0] == 1
    single = pd.DataFrame({"truth": ["A"], "estimate": ["A"]})
    assert ce.with_controls(single, ["shd"], rng=7, n_draws=20)["shd_p"].iloc[0] == 1


def test_metrics_that_controls_cannot_have_are_refused(declare):
    @declare()
    def dags_only(pairs):
        return pairs.counts.fp

    runs = pd.DataFrame({"truth": [FIVE], "estimate": [SEVEN]})
    assert ce.with_controls(runs, ["dags_only"], rng=7, n_draws=5)["dags_only_p"].notna().all()
    with pytest.raises(ValueError, match="dags_only applies to dag, but controls of class cpdag were asked for"):
        ce.with_controls(runs, ["dags_only"], rng=7, n_draws=5, control_kind="cpdag")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_draws": 0}, "n_draws must be a positive integer, found 0"),
        ({"n_draws": 2.5}, "n_draws must be a positive integer"),
        ({"level": 95}, "level must lie between 0 and 1, found 95"),
        ({"level": "95"}, "level must lie between 0 and 1, found '95'"),
        ({"metrics": []}, "no metrics were named"),
        ({"method": "closed"}, "unknown method 'closed'; known are 'auto', 'exact', 'simulate'"),
        (
            {"null": "edge"},
            "unknown null 'edge' for field 'graph'; did you mean 'edges'. .* models: edges, permutation",
        ),
    ],
)
def test_settings_are_checked(runs, settings, message):
    with pytest.raises(ValueError, match=message):
        ce.with_controls(runs, **{"metrics": ["shd"], "rng": 7} | settings)


def test_descriptions_and_repeated_keys_are_refused(runs):
    with pytest.raises(ValueError, match="true_density has no direction: .* use evaluate"):
        ce.with_controls(runs, ["true_density"], rng=7)
    twice = pd.concat([runs, runs])
    with pytest.raises(ValueError, match="the index labels repeat"):
        ce.with_controls(twice, ["shd"], rng=7)
    assert len(ce.with_controls(twice.assign(run=range(6)), ["shd"], rng=7, key="run", n_draws=5)) == 6


def test_inputs_are_not_mutated(runs):
    before = runs.copy(deep=True)
    ce.with_controls(runs, ["shd"], rng=7, n_draws=5)
    ce.cube(runs.assign(a=1), ["shd"], by=["a"], rng=7, n_draws=5)
    pd.testing.assert_frame_equal(runs, before)


def test_empty_and_failed_tables_have_the_same_columns(runs):
    whole = ce.with_controls(runs, ["shd"], rng=7, n_draws=5)
    empty = ce.with_controls(runs.iloc[:0], ["shd"], rng=7, n_draws=5)
    failed = ce.with_controls(runs.iloc[[1]], ["shd"], rng=7, n_draws=5)
    assert list(empty.columns) == list(failed.columns) == list(whole.columns)
    assert (empty.dtypes == whole.dtypes).all() and (failed.dtypes == whole.dtypes).all()


@pytest.mark.slow
def test_p_values_of_random_guessing_are_valid():
    rng = np.random.default_rng(5)
    nodes = [f"X{i}" for i in range(6)]
    pairs = list(itertools.combinations(nodes, 2))

    def guess(m):
        rank = dict(zip(nodes, rng.permutation(6), strict=True))
        chosen = [pairs[i] for i in rng.choice(15, m, replace=False)]
        return "; ".join([f"{a} -> {b}" if rank[a] < rank[b] else f"{b} -> {a}" for a, b in chosen] + nodes)

    runs = pd.DataFrame({"truth": [guess(6) for _ in range(1500)], "estimate": [guess(5) for _ in range(1500)]})
    scored = ce.with_controls(runs, ["shd", "adjacency_f1"], n_draws=99, rng=7)
    for name in ("shd_p", "adjacency_f1_p"):
        for alpha in (0.01, 0.05, 0.1, 0.5):
            assert (scored[name] <= alpha).mean() <= alpha + 4 * np.sqrt(alpha * (1 - alpha) / 1500)
    assert (scored["adjacency_f1_p"] <= 0.5).mean() > 0.1
