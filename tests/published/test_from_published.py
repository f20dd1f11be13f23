"""Printed tables get the controls that enumeration of all random graphs gives, and name what is missing."""

import itertools
import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy

import causaleval_pd as ce

NODES = ["A", "B", "C", "D"]
PAIRS = list(itertools.combinations(range(4), 2))
DOCS = Path(__file__).parents[2] / "docs"
TRUTH = "A -> B; B -> C; C -> D; A -> D"


def printed(**columns: object) -> pd.DataFrame:
    """Return a table of one row: four nodes and one run unless named otherwise."""
    row = {"n_nodes": 4, "true_edges": 4, "estimated_edges": 3, "n_runs": 1} | columns
    return pd.DataFrame({name: pd.Series([x]) for name, x in row.items()})


def only(found: pd.DataFrame, ending: str) -> object:
    """Return the one value of the column `shd_...`, of whatever metric."""
    return found.filter(regex=f"_{ending}$").iloc[0, 0]


@cache
def skeletons(metric: str, n_edges: int) -> tuple[float, ...]:
    """Return a skeleton metric of every skeleton with this number of edges."""
    names = [f"{NODES[i]} -> {NODES[j]}" for i, j in PAIRS]
    graphs = ["; ".join(chosen) for chosen in itertools.combinations(names, n_edges)]
    table = pd.DataFrame({"truth": TRUTH, "estimate": ce.graph_column(graphs, nodes=NODES)})
    table["truth"] = ce.graph_column([TRUTH] * len(table), nodes=NODES)
    return tuple(table.ceval.evaluate([metric])[metric])


@cache
def dags(metric: str, n_edges: int) -> tuple[float, ...]:
    """Return a metric of every skeleton with this number of edges along every order of the nodes."""
    graphs = []
    for order in itertools.permutations(range(4)):
        for chosen in itertools.combinations(PAIRS, n_edges):
            graphs.append("; ".join(f"{NODES[order[i]]} -> {NODES[order[j]]}" for i, j in chosen))
    counts = pd.Series(graphs).value_counts()
    column = ce.graph_column(counts.index.tolist(), nodes=NODES)
    table = pd.DataFrame({"truth": ce.graph_column([TRUTH] * len(column), nodes=NODES), "estimate": column})
    return tuple(np.repeat(table.ceval.evaluate([metric])[metric].to_numpy(), counts.to_numpy()))


@pytest.mark.parametrize("metric", ["adjacency_precision", "adjacency_f1", "adjacency_jaccard", "adjacency_tp"])
def test_one_run_has_the_law_of_all_skeletons(metric):
    values = np.array(skeletons(metric, 3))
    for value in np.unique(values):
        found = ce.from_published(printed(**{metric: round(value, 3)}), digits=3)
        assert only(found, "control_mean") == pytest.approx(values.mean())
        assert only(found, "p") == pytest.approx((values >= value - 1e-9).mean())
        assert [only(found, x) for x in ("p_method", "mean_method", "p_se")] == ["exact", "exact", 0.0]
        assert pd.isna(only(found, "needed"))


def test_small_values_are_good_where_the_metric_says_so():
    values = np.array(skeletons("skeleton_hd", 3))
    found = ce.from_published(printed(skeleton_hd=3))
    assert only(found, "p") == pytest.approx((values <= 3).mean())
    assert only(found, "skill") == pytest.approx(1 - 3 / values.mean())


def test_a_mean_of_runs_is_convolved():
    laws = [skeletons("adjacency_precision", n) for n in (2, 3, 3)]
    means = np.array([np.mean(x) for x in itertools.product(*laws)])
    observed = np.mean([1.0, 2 / 3, 1.0])
    table = printed(estimated_edges=[2, 3, 3], n_runs=3, adjacency_precision=round(observed, 4))
    found = ce.from_published(table, constant="true_edges")
    assert only(found, "control_mean") == pytest.approx(means.mean())
    assert only(found, "p") == pytest.approx((means >= observed - 1e-9).mean())
    assert only(found, "p_method") == "exact convolution"


def test_constant_edges_are_those_of_every_run():
    means = np.array([np.mean(x) for x in itertools.product(skeletons("adjacency_recall", 3), repeat=3)])
    table = printed(n_runs=3, adjacency_recall=0.6667)
    found = ce.from_published(table, constant=["true_edges", "estimated_edges"])
    assert only(found, "p") == pytest.approx((means >= 2 / 3 - 1e-9).mean())
    # a whole number may be the mean of other numbers
    unknown = ce.from_published(table)
    assert np.isnan(only(unknown, "p"))
    assert "edges of each run" in only(unknown, "needed")


@pytest.mark.slow
def test_the_mean_of_a_distance_is_exact_from_numbers_alone():
    for n_edges in (2, 3, 4):
        found = ce.from_published(printed(kind="dag", estimated_edges=n_edges, shd=4))
        assert only(found, "control_mean") == pytest.approx(np.mean(dags("shd", n_edges)))
        assert np.isnan(only(found, "p"))
        assert "true graph" in only(found, "needed")


def test_linear_means_are_exact_at_mean_numbers_of_edges_and_others_approximate():
    table = printed(kind="dag", n_runs=2, estimated_edges=2.5, shd=4, directed_recall=0.3, adjacency_f1=0.5)
    found = ce.from_published(table, constant="true_edges").iloc[0]
    # three quarters of the runs may have two edges, or all of them 2 or 4: the mean is the same
    for metric in ("shd", "directed_recall"):
        exact = np.mean([np.mean(dags(metric, n)) for n in (1, 4)])
        assert found[f"{metric}_control_mean"] == pytest.approx(exact)
        assert found[f"{metric}_mean_method"] == "exact"
    assert found["adjacency_f1_mean_method"] == "approximate"
    between = np.mean([np.mean(skeletons("adjacency_f1", n)) for n in (2, 3)])
    assert found["adjacency_f1_control_mean"] == pytest.approx(between)
    assert "exact mean" in found["adjacency_f1_needed"]
    # where both numbers vary, the mean depends on how they vary together
    assert ce.from_published(table)["shd_mean_method"].tolist() == ["approximate"]


def test_a_known_truth_gives_p_of_one_run():
    values = np.array(dags("shd", 3))
    table = printed(kind="dag", shd=3, v_structure_recall=np.nan, truth=TRUTH)
    found = ce.from_published(table.drop(columns=["n_nodes", "true_edges"]), n_draws=4000, rng=1)
    # graphs of four nodes are listed; Table 6 below is simulated
    assert only(found, "p") == pytest.approx((values <= 3).mean())
    assert only(found, "p_method") == "exact"
    assert found["v_structure_recall_mean_method"].notna().all(), "a mean without a printed value"
    again = ce.from_published(table, n_draws=4000, rng=1)
    assert again["shd_p"].tolist() == found["shd_p"].tolist(), "same seed, same bits"


@pytest.mark.slow
def test_a_mean_of_runs_on_one_truth_has_the_law_of_its_sum():
    values, counts = np.unique(dags("shd", 3), return_counts=True)
    law = np.array([1.0])
    for _ in range(30):
        law = np.convolve(law, np.bincount(values.astype(int), counts) / counts.sum())
    mean = round(float(np.mean(dags("shd", 3))) - 0.5, 1)
    exact = law[: round(30 * (mean + 0.05)) + 1].sum()
    table = printed(kind="dag", shd=mean, truth=TRUTH, n_runs=30)
    found = ce.from_published(table, constant="estimated_edges", n_draws=4000, rng=1)
    assert only(found, "p_method") == "simulated"
    assert abs(only(found, "p") - exact) < 4 * only(found, "p_se") + 1 / 4000
    many = ce.from_published(table.assign(n_runs=3000), constant="estimated_edges", rng=1)
    assert only(many, "p_method") == "normal"


def test_a_skewed_mean_of_runs_keeps_its_level():
    # shared v-structures are rare: ten runs are far from a normal law
    truth = "A -> C; B -> C; D; E; F"
    runs, draws = 10, 2000
    table = printed(kind="dag", truth=truth, n_runs=runs, estimated_edges=3, n_nodes=6, true_edges=2, v_structure_tp=0)
    tables = pd.concat([table.assign(v_structure_tp=x / runs) for x in (1, 2)], ignore_index=True)
    found = ce.from_published(tables, constant="estimated_edges", n_draws=draws, rng=1, digits=3)
    # skeletons with A - C, B - C and one more edge, but not A - B, and C the last of the three: the number is binomial
    share = 12 / 455 / 3
    exact = scipy.stats.binom.sf([0, 1], runs, share)
    assert (abs(found["v_structure_tp_p"] - exact) < 4 * found["v_structure_tp_p_se"] + 1 / draws).all()


def test_runs_with_undefined_ratios_name_what_they_were_counted_as():
    table = printed(kind="dag", truth=TRUTH, n_runs=5, v_structure_precision=0.4)
    found = ce.from_published(table, constant="estimated_edges", rng=1)
    assert np.isnan(only(found, "p"))
    assert "zero_division" in only(found, "needed")
    assert only(ce.from_published(table, constant="estimated_edges", rng=1, zero_division=0.0), "p") > 0


def test_rounding_that_matters_is_named_beside_a_truth():
    table = printed(kind="dag", truth=TRUTH, directed_f1=0.3)
    assert "more digits" in only(ce.from_published(table, digits=0, rng=1), "needed")
    assert pd.isna(only(ce.from_published(table.assign(directed_f1=2 / 7), rng=1), "needed"))


@pytest.mark.slow
def test_numbers_are_read_as_they_are_printed():
    cells = ["0.67 ± 0.00", r"$\mathbf{0.67}\pm 0.0$", "**0.67** (0.00)", "67 %", r"67\,\%", "0.67*", "0.67 +/- .0"]
    plain = ce.from_published(printed(n_runs=1, adjacency_precision=0.67))
    for cell in cells:
        found = ce.from_published(printed(n_runs=1, adjacency_precision=cell))
        assert only(found, "p") == only(plain, "p"), cell
    text = printed(n_runs="2", n_nodes="4", adjacency_precision="0.67 ± 0.02", estimated_edges="3.0 ± 0.5")
    numbers = printed(n_runs=2, estimated_edges=3.0, adjacency_precision=0.67)
    pd.testing.assert_series_equal(
        ce.from_published(text)["adjacency_precision_control_mean"],
        ce.from_published(numbers)["adjacency_precision_control_mean"],
    )
    for nothing in ("-", "--", "n/a", "", "\u2014", None):
        assert np.isnan(only(ce.from_published(printed(adjacency_precision=nothing)), "p"))


def test_text_has_all_its_digits():
    numbers = {"n_nodes": 10, "true_edges": 20, "estimated_edges": 30}
    exact = ce.skeleton_test([14, 15], 20, 30, 10)
    table = pd.concat([printed(**numbers, adjacency_precision=x) for x in ("0.5", "0.500")])
    assert ce.from_published(table)["adjacency_precision_p"].tolist() == pytest.approx(exact)


def test_what_follows_a_mean_has_to_be_named():
    edges = ["true_edges", "estimated_edges"]
    table = printed(kind="dag", n_runs=9, shd="3.00 ± 0.50")
    unclear = ce.from_published(table, constant=edges)
    assert np.isnan(only(unclear, "p"))
    assert "spread=" in only(unclear, "needed")
    sd = printed(kind="dag", n_runs=9, shd="3.00", shd_sd="0.50")
    stated = ce.from_published(sd, constant=edges)
    assert only(ce.from_published(table, constant=edges, spread="sd"), "p") == only(stated, "p")
    three = ce.from_published(sd.assign(shd_sd="1.500"), constant=edges)
    assert only(ce.from_published(table, constant=edges, spread="se"), "p") == pytest.approx(only(three, "p"), rel=0.1)
    with pytest.raises(ValueError, match="spread"):
        ce.from_published(table.assign(shd_sd=0.5), constant=edges, spread="sd")
    with pytest.raises(ValueError, match="spread"):
        ce.from_published(table, spread="variance")


def test_a_mean_may_be_as_far_off_as_its_edges_are_rounded():
    table = printed(n_nodes=10, n_runs=7, true_edges=20, estimated_edges=13.4, adjacency_tp=13.43)
    assert np.isfinite(only(ce.from_published(table, constant="true_edges"), "control_mean"))
    with pytest.raises(ValueError, match="between"):
        ce.from_published(table.assign(estimated_edges="13.400", n_runs=None), constant="true_edges")


def test_a_printed_deviation_adds_a_t_test():
    rng = np.random.default_rng(1)
    runs = rng.integers(2, 5, 12).astype(float)
    # the deviation may be divided by the number of runs, or by one less: the first gives the larger p
    table = printed(kind="dag", n_runs=12, shd=runs.mean(), shd_sd=runs.std())
    found = ce.from_published(table, constant=["true_edges", "estimated_edges"])
    mean = only(found, "control_mean")
    assert only(found, "p") == pytest.approx(scipy.stats.ttest_1samp(runs, mean, alternative="less").pvalue)
    assert only(found, "p_method") == "t"
    cut = table.assign(shd=round(runs.mean(), 1), shd_sd=round(runs.std(), 1))
    rounded = ce.from_published(cut, constant=["true_edges", "estimated_edges"])
    assert only(rounded, "p") >= only(found, "p")
    # of means of numbers of edges the deviation of the differences is not known
    assert np.isnan(only(ce.from_published(table), "p"))


def test_rounding_that_matters_is_named():
    table = printed(n_nodes=10, true_edges=20, estimated_edges=30, adjacency_precision=0.5)  # printed with one digit
    exact = ce.skeleton_test([14, 15, 16], 20, 30, 10)
    found = ce.from_published(table)
    assert only(found, "p") == pytest.approx(exact[0])
    assert f"{exact[2]:.2g}" in only(found, "needed")
    assert only(ce.from_published(table, digits=3), "p") == pytest.approx(exact[1])
    assert pd.isna(only(ce.from_published(table, digits={"adjacency_precision": 3}), "needed"))


def test_missing_numbers_are_named():
    table = pd.concat([printed(shd=4), printed(shd=4, estimated_edges=np.nan), printed(shd=4, kind="cpdag")])
    needed = ce.from_published(table.drop(columns="n_runs"))["shd_needed"]
    for word, text in zip(["'kind'", "estimated_edges", "true graph"], needed, strict=True):
        assert word in text
    alone = ce.from_published(printed(adjacency_recall=0.5).drop(columns="n_runs"))
    assert "n_runs" in only(alone, "needed")


def test_undefined_ratios_are_not_guessed():
    table = printed(estimated_edges=[0, 3], true_edges=[4, 4], n_runs=2, adjacency_precision=0.83)
    assert "zero_division" in only(ce.from_published(table), "needed")
    found = ce.from_published(table, zero_division=1.0)
    assert only(found, "control_mean") == pytest.approx((1 + 4 / 6) / 2)
    assert only(found, "p") == pytest.approx(np.mean(np.array(skeletons("adjacency_precision", 3)) >= 0.6))


def test_the_table_is_kept_and_the_call_remembered():
    table = printed(shd=4, kind="dag", paper="A").set_axis(["row"])
    before = table.copy(deep=True)
    found = ce.from_published(table, rng=3)
    pd.testing.assert_frame_equal(table, before)
    pd.testing.assert_frame_equal(found[table.columns], table)
    assert found.attrs["causaleval_pd_history"][-1]["verb"] == "from_published"
    with pytest.raises(ValueError, match="shd_control_mean"):
        ce.from_published(found)
    assert len(ce.from_published(table.iloc[:0])) == 0


@pytest.mark.slow
def test_the_numbers_of_table_6_are_those_of_the_graphs():
    runs = ce.datasets.sachs_estimates()
    nodes = list(ce.datasets.sachs().columns)
    runs["truth"] = ce.graph_column([ce.datasets.sachs_truth(20)] * 4, nodes=nodes)
    names = ["shd", "adjacency_precision"]
    graphs = runs.ceval.with_controls(names, n_draws=4000, rng=7, control_kind="kind", columns="full")
    table = runs.ceval.evaluate(names).drop(columns="estimate")
    table = table.assign(estimated_edges=runs["estimate"].graph.n_edges, n_runs=1)
    found = ce.from_published(table, n_draws=4000, rng=8)
    for name in names:
        close = 5 * np.hypot(graphs[f"{name}_p_se"], found[f"{name}_p_se"]) + 1e-9
        assert (abs(graphs[f"{name}_p"] - found[f"{name}_p"]) < close).all()
        assert found[f"{name}_p_method"].astype(str).tolist() == graphs[f"{name}_p_method"].astype(str).tolist()
        np.testing.assert_allclose(found[f"{name}_control_mean"], graphs[f"{name}_control_mean"], rtol=0.01)
    assert json.dumps(found.attrs["causaleval_pd_history"][-1])


def test_names_of_other_tables_are_explained():
    table = printed(shd=4)
    for old, new in (("nodes", "n_nodes"), ("m_true", "true_edges"), ("edges", "estimated_edges"), ("reps", "n_runs")):
        with pytest.raises(ValueError, match=rf"{old!r}: {new!r}"):
            ce.from_published(table.rename(columns={new: old}))
    assert "precision" in ce.from_published(table.assign(precision=0.5), "shd")
    for other, message in (
        (table.assign(precision=0.5), "precision.*adjacency_precision.*rename"),
        (table.rename(columns={"shd": "SHD"}), "SHD.*'shd'"),
        (table.drop(columns="shd"), "no column that is named after a metric"),
        (table.drop(columns="true_edges"), "no column 'true_edges'"),
    ):
        with pytest.raises(ValueError, match=message):
            ce.from_published(other)
    with pytest.raises(ValueError, match="no column 'sid'"):
        ce.from_published(table, "sid")


JUNK = {
    "pairs": ({"estimated_edges": 7}, "6 pairs"), "negative": ({"true_edges": -1}, "from 0"),
    "fraction": ({"estimated_edges": 2.5}, "whole number"), "one node": ({"n_nodes": 1}, "n_nodes"),
    "no runs": ({"n_runs": 0}, "n_runs"),
    "text": ({"estimated_edges": "three"}, "estimated_edges"),
    "infinite": ({"true_edges": float("inf")}, "true_edges"), "class": ({"kind": "tree"}, "kind"),
    "range": ({"adjacency_precision": 1.2}, "between 0 and 1"),
    "impossible ratio": ({"adjacency_precision": 0.8}, "nearest is 0.6666"),
    "too many right": ({"adjacency_tp": 4}, "impossible"),
    "contradiction": ({"adjacency_tp": 2, "adjacency_precision": 0.33, "shd": None}, "contradict"),
    "distance": ({"kind": "dag", "shd": 9}, "impossible"),
    "distance and counts": ({"kind": "dag", "shd": 1, "adjacency_tp": 1}, "contradict"),
    "undefined": ({"estimated_edges": 0, "adjacency_precision": 0.5}, "0/0"),
    "deviation": ({"shd_sd": -1.0, "n_runs": 2}, "negative"), "deviation of one": ({"shd_sd": 1.0}, "n_runs is 1"),
    "lengths": ({"estimated_edges": [1, 2], "n_runs": 3}, "one per run"),
    "both lengths": ({"estimated_edges": [1, 2], "true_edges": [1, 2, 3], "n_runs": None}, "for 3 runs"),
    "mean of counts": ({"adjacency_tp": 4.2, "n_runs": 5, "shd": None}, "between"),
    "mean of runs": ({"adjacency_recall": 0.9, "n_runs": 2, "estimated_edges": [2, 3], "true_edges": [4, 4]},
        "between"),
    "words": ({"shd": "four"}, "not read as a number"),
    "decimal comma": ({"shd": "4,0"}, "not read as a number"),
    "interval": ({"shd": "4 [3, 5]"}, "not read as a number"),
    "index": ({"shd": "4_{1.1}"}, "not read as a number"), "percent": ({"adjacency_precision": 66.7}, "85 %"),
    "truth": ({"truth": TRUTH, "true_edges": 3}, "the truth has 4 edges"),
    "truth's nodes": ({"truth": TRUTH, "n_nodes": 5}, "the truth has 4 nodes"),
    "class without the metric": ({"kind": "dag", "latent_tp": 1, "truth": TRUTH, "shd": None}, "latent_tp .*metrics="),
    "mean of edges": ({"n_runs": 10, "estimated_edges": "3.37", "kind": "dag"},
        r"estimated_edges .*3\.37.*nearest are 3\.3 and 3\.4"),
}  # fmt: skip


@pytest.mark.parametrize("case", JUNK)
def test_junk_rows_are_named(case):
    columns, message = JUNK[case]
    table = pd.concat([printed(shd=4), printed(**{"shd": 4} | columns)], ignore_index=True)
    with pytest.raises((ValueError, TypeError), match=message) as found:
        ce.from_published(table)
    assert "row 1" in str(found.value)


@pytest.mark.parametrize(
    "settings",
    [{"constant": "nodes"}, {"digits": -1}, {"digits": {"sid": 2}}, {"n_draws": 0}, {"level": 95}, {"metrics": "sid"}],
)
def test_settings_are_checked(settings):
    with pytest.raises(ValueError):
        ce.from_published(printed(shd=4, auroc=0.5), **settings)


MARGINS = ("true_edges", "estimated_edges")


@pytest.mark.parametrize(
    ("columns", "constant", "metric"),
    [
        # 3.37 is no multiple of a tenth; the mean of ten counts is
        ({"kind": "dag", "n_runs": 10, "estimated_edges": 3.1, "shd": "3.37"}, (), "shd"),
        ({"kind": "dag", "n_runs": 10, "estimated_edges": None, "sid": "3.37"}, (), "sid"),
        # three edges in each of four runs: precision has steps of a twelfth
        ({"n_runs": 4, "adjacency_precision": 0.62}, MARGINS, "adjacency_precision"),
        # as many edges on both sides: the distance of a run is even
        ({"n_runs": 5, "true_edges": 3, "skeleton_hd": "3.4"}, MARGINS, "skeleton_hd"),
    ],
)
def test_means_that_no_whole_counts_have_are_refused(columns, constant, metric):
    table = pd.concat([printed(), printed(**columns)], ignore_index=True)
    with pytest.raises(ValueError, match=f"row 1.*: the mean of {metric} .* the nearest .*n_runs"):
        ce.from_published(table, constant=constant)
    # without the number of runs there is nothing to check
    unchecked = table.assign(n_runs=[1, None]).astype({"n_runs": "Int64"})
    ce.from_published(unchecked, constant=constant)


def test_all_impossible_means_are_named_at_once():
    table = pd.concat([printed(kind="dag", n_runs=10, shd=x) for x in ("3.37", "3.40", "4.11")], ignore_index=True)
    with pytest.raises(ValueError, match=r"(?s)row 0.*3\.37.*3\.3 and 3\.4.*row 2.*4\.11") as found:
        ce.from_published(table)
    assert "row 1" not in str(found.value)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 2, 3, 7, 10, 30])
def test_means_of_whole_counts_pass_however_they_are_rounded(runs):
    sums = np.arange(0, 6 * runs + 1)
    for decimals in (0, 1, 2, 3):
        texts = [f"{x / runs:.{decimals}f}" for x in sums]
        # text keeps all digits; single runs have whole numbers
        table = pd.concat([printed(kind="dag", n_runs=runs, estimated_edges=3, sid=x) for x in dict.fromkeys(texts)])
        if runs > 1 or decimals == 0:
            assert len(ce.from_published(table, "sid")) == len(table)


def test_means_are_not_refused_where_the_numbers_of_edges_may_vary():
    assert len(ce.from_published(printed(n_runs=5, true_edges=3, skeleton_hd="3.4"))) == 1
    found = ce.from_published(printed(n_runs=10, estimated_edges=3.1, adjacency_f1="0.337", adjacency_recall="0.337"))
    assert len(found) == 1


def test_a_rounded_mean_number_of_edges_gives_an_approximate_mean():
    dag = {"kind": "dag", "shd": 4, "adjacency_precision": 0.5, "n_nodes": 10}
    known = ce.from_published(printed(n_runs=10, estimated_edges="3.4", **dag), constant="true_edges")
    assert known["shd_mean_method"].tolist() == ["exact"], "only 34 edges in ten runs have the mean 3.4"
    third = ce.from_published(printed(n_runs=3, estimated_edges="3.33", **dag | {"shd": 3}), constant="true_edges")
    listed = printed(n_runs=3, estimated_edges=[3, 3, 4], true_edges=[4, 4, 4], **dag | {"shd": 3})
    whole = ce.from_published(listed, constant="true_edges")
    assert third["shd_mean_method"].tolist() == ["exact"]
    assert only(third[["shd_control_mean"]], "control_mean") == pytest.approx(whole["shd_control_mean"][0])
    for columns in ({"n_runs": 1000, "estimated_edges": "3.4"}, {"n_runs": None, "estimated_edges": "3.4"}):
        rounded = ce.from_published(printed(**columns, **dag), constant="true_edges").iloc[0]
        assert rounded["shd_mean_method"] == "approximate"
        assert "more digits of estimated_edges" in rounded["shd_needed"]
        # precision has the same mean whatever the number of estimated edges
        assert rounded["adjacency_precision_mean_method"] == "exact"
    low, high = (
        only(ce.from_published(printed(n_runs=1000, estimated_edges=x, **dag), "shd", constant="true_edges"), "needed")
        for x in ("3.400", "3.4")
    )
    assert "more digits" not in low
    assert "between" in high


def test_trailing_zeros_of_edges_are_those_of_the_column():
    # 13.0 beside 13.37 was printed as 13.00
    table = pd.concat([printed(n_nodes=10, n_runs=100, kind="dag", estimated_edges=x, shd=9.0) for x in (13.0, 13.37)])
    assert ce.from_published(table, constant="true_edges")["shd_mean_method"].tolist() == ["exact", "exact"]


@pytest.mark.parametrize("metric", ["bic", "log_likelihood", "total_effect_mae", "mean_wasserstein", "shd_icpdag"])
def test_metrics_that_take_more_than_graphs_name_it(metric):
    rows = [printed(kind="dag", shd=3, truth=TRUTH), printed(kind="dag", shd=3, n_runs=2, truth=None)]
    table = pd.concat(rows).assign(**{metric: 1.0})
    found = ce.from_published(table, n_draws=20, rng=1)
    assert found[f"{metric}_needed"].str.contains("context").all()
    assert found[f"{metric}_control_mean"].isna().all()
    assert found["shd_p"].notna().tolist() == [True, False]


def test_mean_numbers_of_edges_beside_a_true_dag_give_the_mean_and_beside_a_class_do_not():
    table = printed(kind="dag", n_runs=2, estimated_edges=2.5, shd=4)
    texts = [TRUTH, "A -> B; C -> B; C -> D; A -> D", "A -- B; B -- C; C -- D; A -- D"]
    dag, other, undirected = (
        only(ce.from_published(table.assign(truth=text), constant="true_edges", n_draws=9, rng=1), "control_mean")
        for text in texts
    )
    # the mean is that of any DAG with these numbers of edges
    exact = np.mean([np.mean(dags("shd", n)) for n in (1, 4)])
    assert dag == other == pytest.approx(exact)
    assert np.isnan(undirected)


def test_a_table_of_claims_is_judged_one_metric_at_a_time():
    claims = pd.concat(
        printed(n_nodes=20, true_edges=40, estimated_edges=40, kind="dag", metric=metric, value=value)
        for metric, value in (("adjacency_precision", "0.80"), ("adjacency_recall", "0.60"))
    ).reset_index(drop=True)
    with pytest.raises(ValueError, match="each row is a claim") as message:
        ce.from_published(claims)
    advice = str(message.value).split("from_published(")[1].removesuffix(")")
    judged = ce.from_published(eval(advice, {"table": claims}))  # what the message proposes
    assert judged["adjacency_precision_verdict"].tolist() == ["better"]
    with pytest.raises(ValueError, match="row 1 .*says 'adjacency_recall', but the value is in the column"):
        ce.from_published(claims.rename(columns={"value": "adjacency_precision"}), "adjacency_precision")


def test_a_convention_under_another_name_is_not_ignored():
    table = printed(n_nodes=20, true_edges=40, estimated_edges=40, kind="dag", shd="40", convention="tetrad")
    with pytest.raises(ValueError, match="'convention': 'shd_convention'"):
        ce.from_published(table)
    named = ce.from_published(table.rename(columns={"convention": "shd_convention"}))
    assert named["shd_control_mean"].item() > 100


def test_a_value_that_was_not_printed_needs_nothing_and_has_no_verdict():
    table = pd.concat([printed(n_nodes=20, true_edges=40, estimated_edges=40, kind="dag", shd=x) for x in ("31", None)])
    judged = ce.from_published(table)
    assert judged["shd_verdict"].isna().tolist() == judged["shd_needed"].isna().tolist() == [False, True]


def test_a_missing_column_is_not_said_to_be_one_that_is_there():
    table = printed(n_nodes=20, true_edges=40, adjacency_f1="0.3").drop(columns="estimated_edges", errors="ignore")
    with pytest.raises(ValueError, match="no column 'estimated_edges'; rename the column that has it"):
        ce.from_published(table)
    assert ce.from_published(table.assign(estimated_edges=None))["adjacency_f1_verdict"].str.contains("needs").all()


@pytest.mark.slow
def test_the_page_is_written_by_its_script(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(DOCS))
    import who_beats_guessing as script

    monkeypatch.setattr(script, "FIGURE", tmp_path / "figure.png")
    anew = "write it anew by python docs/who_beats_guessing.py"
    assert script.page() == script.PAGE.read_text(encoding="utf-8"), anew
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    sys.modules.pop("who_beats_guessing")


def test_pages_count_the_shipped_claims():
    claims = ce.datasets.published_results()
    algorithms = claims["method"].str.casefold().nunique()
    for page, text in (
        ("index.md", f"{len(claims):,} printed results of {algorithms} methods"),
        ("../README.md", "6,081"),
    ):
        assert text in (DOCS / page).read_text(encoding="utf-8")
