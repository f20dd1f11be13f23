"""Printed values of all kinds get limits of p and a verdict: cases of the specification, through the verb."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce


def judge(metric: str, value: object, **columns: object) -> pd.Series:
    """Return what is said of one printed value, without the metric's name."""
    constant = columns.pop("constant", ())
    digits = columns.pop("digits", None)
    table = pd.DataFrame({name: pd.Series([x]) for name, x in ({metric: value} | columns).items()})
    row = ce.from_published(table, metric, constant=constant, digits=digits).iloc[0]
    return row.filter(regex=f"^{metric}_").rename(lambda name: name.removeprefix(f"{metric}_"))


SACHS = {"n_nodes": 11, "true_edges": 20, "n_runs": 1}


@pytest.mark.parametrize(
    ("edges", "shd", "kind", "low", "high"),
    [
        (16, 22, "dag", 0.0061, 0.1730), (16, 22, "cpdag", 7.9e-7, 0.3338), (24, 23, "cpdag", 0, 0.1582),
        (33, 30, "dag", 0.0105, 0.3176), (32, 35, "cpdag", 0.0022, 0.9625),
    ],
)  # fmt: skip
def test_distances_without_the_true_graph(edges, shd, kind, low, high):
    """Cases 6 and 7: too little is known to judge estimates of the Sachs network."""
    row = judge("shd", shd, estimated_edges=edges, kind=kind, **SACHS)
    # what the distance of a network needs at least is impossible for PC, whose p of .0059 the bound does not reach
    assert row["p_low"] == pytest.approx(low, rel=0.02, abs=1e-7)
    assert row["p_high"] == pytest.approx(high, abs=1e-4)
    assert row["p_method"] == "bound" and np.isnan(row["p"])
    assert row["verdict"].startswith("cannot be judged: needs") and "true graph" in row["verdict"]


def test_twenty_nodes_need_no_true_graph():
    """Case 8."""
    twenty = {"n_nodes": 20, "true_edges": 28, "n_runs": 1, "kind": "cpdag"}
    for metric, value in (("directed_tp", 23), ("shd", 8)):
        row = judge(metric, value, estimated_edges=26, **twenty)
        assert row["p_high"] == pytest.approx(9.4e-22, rel=0.01)
        assert row["verdict"] == "better"
    for metric, value in (("directed_tp", 5), ("shd", 78)):
        assert judge(metric, value, estimated_edges=60, **twenty)["p_high"] == pytest.approx(0.9765, abs=1e-4)


@pytest.mark.parametrize(
    ("n_nodes", "true", "edges", "runs", "shd", "p", "verdict"),
    [
        (10, 15, "12.0", 10, "16.0", 0.00297, "better"),
        (10, 15, "12.0", 10, "17.5", 0.0746, "cannot be judged"),
        (20, 20, "22.4", 5, "30.2", 3.5e-7, "better"),
        (10, 15, "11.44", 1000, "10.085", np.finfo(float).tiny, "better"),
        (10, 30, "13.37", 1000, "27.333", 1, "cannot be judged"),
    ],
)
def test_mean_distances(n_nodes, true, edges, runs, shd, p, verdict):
    """Cases 9 to 12."""
    numbers = {"n_nodes": n_nodes, "true_edges": true, "estimated_edges": edges, "n_runs": runs, "kind": "cpdag"}
    row = judge("shd", shd, constant="true_edges", **numbers)
    assert row["p_high"] == pytest.approx(p, rel=0.02)
    assert row["verdict"].startswith(verdict)
    # where true edges vary, nothing follows from the means
    unknown = judge("shd", shd, **numbers)
    assert np.isnan(unknown["p_high"]) and "constant='true_edges'" in unknown["verdict"]


@pytest.mark.parametrize(
    ("value", "candidates", "true", "runs", "high", "low"),
    [
        ("0.72", 9, 6, 1, 0.1905, 0.1310), ("0.62", 20, 4, 10, 0.01384, 0.00856), ("0.65", 90, 15, 1, 0.03874, 0.02954),
        ("0.57", 90, 15, 5, 0.03817, 0.02043), ("0.80", [6, 6, 7], [2, 3, 2], None, 0.023968, 0.021111),
        ("0.66", 9, 3, 4, 0.069515, 0.069515), ("0.69", "16", "13", 1, 0.1821, 0.1482),
    ],
)  # fmt: skip
def test_mean_auroc_without_ties(value, candidates, true, runs, high, low):
    """Cases 13 to 18."""
    numbers = {"candidates": candidates, "true_candidates": true, "n_graphs": runs}
    row = judge("auroc", value, tied=False, **numbers)
    assert (row["p_high"], row["p_low"]) == (pytest.approx(high, rel=2e-3), pytest.approx(low, rel=2e-3))
    assert row["p"] == row["p_high"] and row["control_mean"] == 0.5
    assert row["skill"] == pytest.approx(2 * float(value) - 1)
    # ties may make p larger
    unknown = judge("auroc", value, **numbers)
    assert unknown["p"] == row["p"] and unknown["p_high"] > row["p_high"] and unknown["p_low"] == 0
    assert "tie" in unknown["needed"]


def test_many_graphs_bound_auroc_whatever_scores_tie():
    """Cases 14 and 15."""
    numbers = {"candidates": 20, "true_candidates": 4, "n_graphs": 10}
    assert judge("auroc", "0.62", **numbers)["p_high"] == pytest.approx(0.2413, abs=1e-4)
    row = judge("auroc", "0.52", candidates=90, true_candidates=15, n_graphs=50)
    assert row["p_high"] == pytest.approx(0.09829, rel=0.01) and row["p_method"] == "normal bound"


def test_auroc_of_two_scores_has_a_hypergeometric_law():
    n, k, ones = 20, 6, 8
    hits = np.arange(7)
    values = 0.5 + (hits / k - (ones - hits) / (n - k)) / 2
    for hit, value in zip(hits, values, strict=True):
        row = judge("auroc", value, candidates=n, true_candidates=k, estimated_candidates=ones, n_graphs=1, digits=6)
        assert row["p"] == pytest.approx(stats.hypergeom.sf(hit - 1, n, k, ones))
    unknown = judge("auroc", 0.7, candidates=n, true_candidates=k, n_graphs=1, tied=True)
    assert "estimated_candidates" in unknown["needed"]


def test_missing_sizes_of_rankings_give_wider_limits():
    known = judge("auroc", "0.70", candidates=90, true_candidates=15, n_graphs=20)
    no_true = judge("auroc", "0.70", candidates=90, n_graphs=20)
    nothing = judge("auroc", "0.70", n_graphs=20)
    assert known["p_high"] < no_true["p_high"] < nothing["p_high"] < 1
    unknown = judge("auroc", "0.70", candidates=90, true_candidates=15)
    least = int(unknown["needed"].split(": ")[1].split()[0])
    rankings = {"candidates": 90, "true_candidates": 15}
    fewer, enough = (judge("auroc", "0.70", n_graphs=r, **rankings)["p_high"] for r in (least - 1, least))
    assert fewer > 0.05 >= enough
    assert "true_candidates" in judge("average_precision", 0.5, candidates=90, n_graphs=5)["needed"]


@pytest.mark.parametrize(
    ("value", "candidates", "true", "runs", "mean", "high", "low"),
    [
        ("0.70", 6, 2, 2, 0.526667, 0.151111, 0.146667),
        ("0.65", [6, 7, 8], [2, 3, 2], None, 0.513665, 0.135510, 0.121905),
    ],
)
def test_mean_average_precision(value, candidates, true, runs, mean, high, low):
    """Cases 19 and 20."""
    numbers = {"candidates": candidates, "true_candidates": true, "n_graphs": runs}
    row = judge("average_precision", value, tied=False, **numbers)
    assert row["control_mean"] == pytest.approx(mean, abs=1e-6)
    assert (row["p_high"], row["p_low"]) == (pytest.approx(high, abs=1e-6), pytest.approx(low, abs=1e-6))


@pytest.mark.slow
def test_large_rankings_and_many_questions_take_seconds():
    """Sizes at which exact laws would take hours: limits of them, or a word about it."""
    one = judge("average_precision", "0.05", candidates=9900, true_candidates=300, n_graphs=1)
    assert one["p_method"] == "Pearson III" and one["p_high"] < 1e-4
    large = judge("average_precision", "0.05", candidates=990_000, true_candidates=3000, n_graphs=1)
    assert "takes too long" in large["needed"]
    many = judge("accuracy", "0.60", n_questions=1_000_000, true_yes=600_000)
    assert many["p_high"] > 0.9 and many["p_low"] < 1e-9


def test_accuracy_beside_coins_and_shuffled_answers():
    """Cases 23 to 26."""
    coin = judge("accuracy", 0.6, n_questions=100, digits=2)
    assert coin["p"] == pytest.approx(0.02844, abs=1e-5)
    assert (coin["verdict"], coin["p_method"]) == ("better than a coin", "coin")
    assert "true_yes" in coin["needed"]
    half = judge("accuracy", 0.6, n_questions=100, true_yes=50, digits=2)
    assert half["p_high"] == pytest.approx(0.03567, abs=1e-5) and half["verdict"] == "better"
    for right, p in ((69, 1), (70, 1), (72, 0.08788), (75, 0.002807), (80, 5.14e-6)):
        row = judge("accuracy", right / 100, n_questions=100, true_yes=70, digits=2)
        assert row["p_high"] == pytest.approx(p, rel=1e-3)
    answered = judge("accuracy", "0.70", n_questions=100, true_yes=70, answered_yes=70)
    assert answered["p"] == pytest.approx(0.005, abs=5e-4)
    no = judge("accuracy", "0.8466", n_questions=1160, true_yes=178)
    assert no["p_high"] == 1 and no["verdict"].startswith("cannot be judged: needs")
    assert judge("accuracy", "0.8534", n_questions=1160, true_yes=178)["p_high"] == pytest.approx(3.4e-7, rel=0.02)


@pytest.mark.parametrize(("right", "coin"), [(99, 0.3058), (92, 0.6942), (94, 0.5861), (109, 0.0249), (107, 0.0475)])
def test_a_standard_error_gives_the_number_of_questions(right, coin):
    """Case 26."""
    share = right / 190
    row = judge("accuracy", share, accuracy_se=math.sqrt(share * (1 - share) / 189))
    assert row["p"] == pytest.approx(coin, abs=1e-4)
    assert row["verdict"] == ("better than a coin" if coin <= 0.05 else "not better than a coin")


@pytest.mark.parametrize(("right", "p"), [(50, 0.083169), (55, 0.009458), (60, 0.000483)])
def test_accuracy_of_three_classes(right, p):
    """Case 28."""
    row = judge("accuracy", right / 120, class_counts=[60, 30, 30], answered_counts="50, 40, 30", digits=4)
    assert row["p"] == pytest.approx(p, abs=1e-6) and row["p_method"] == "exact"
    assert "answered_counts" in judge("accuracy", 0.5, class_counts=[60, 30, 30])["verdict"]
    # guesses among three classes are not those of a coin
    unknown = judge("accuracy", 0.5, n_questions=120, answered_counts=[50, 40, 30])
    assert "class_counts" in unknown["verdict"] and np.isnan(unknown["p"]) and np.isnan(unknown["control_mean"])
    # answers that name no class are never right
    refused = judge("accuracy", right / 120, class_counts=[60, 30, 30], answered_counts=[50, 40, 10], digits=4)
    assert refused["p"] < row["p"]


def test_directions_of_a_chain_and_a_fork():
    """Cases 1 to 4, without the graphs."""
    four = {"n_nodes": 4, "true_edges": 3, "n_runs": 1}
    for edges, shd, dag, any_class, low in ((3, 1, 0.025, 0.05, 0), (3, 2, 0.275, 0.5, 0.025), (4, 2, 0.1, 0.2, 0)):
        directed = judge("shd", shd, estimated_edges=edges, kind="dag", **four)
        assert (directed["p_high"], directed["p_low"]) == pytest.approx((dag, low))
        assert judge("shd", shd, estimated_edges=edges, kind="cpdag", **four)["p_high"] == pytest.approx(any_class)
        assert judge("shd", shd, estimated_edges=edges, **four)["p_high"] == pytest.approx(any_class)
    for metric in ("directed_tp", "directed_recall", "directed_precision"):
        value = 3 if metric == "directed_tp" else "1.00"
        assert judge(metric, value, estimated_edges=3, kind="dag", **four)["p_high"] == pytest.approx(0.025)


def test_p_with_the_true_graph_lies_within_the_limits():
    truth = "A -> B; B -> C; C -> D"
    four = {"n_nodes": 4, "true_edges": 3, "n_runs": 1}
    for convention in ("any difference 1", "reversal 2", "cdt", "tetrad"):
        for edges in (3, 4):
            for shd in range(1, 5):
                columns = four | {"estimated_edges": edges, "kind": "dag", "shd_convention": convention}
                try:
                    known = judge("shd", shd, truth=truth, **columns)
                except ValueError:
                    continue
                limits = judge("shd", shd, **columns)
                assert limits["p_low"] - 1e-9 <= known["p"] <= limits["p_high"] + 1e-9
                assert known["p_low"] == known["p_high"] == known["p"]


def test_the_costs_of_tetrad_are_those_of_the_case():
    """Cases 2 and 3, with the true chain."""
    columns = {"n_nodes": 4, "truth": "A -> B; B -> C; C -> D", "kind": "dag", "shd_convention": "tetrad", "n_runs": 1}
    assert judge("shd", 2, estimated_edges=3, **columns)["p"] == pytest.approx(0.047917, abs=1e-6)
    assert judge("shd", 2, estimated_edges=4, **columns)["p"] == pytest.approx(0.008333, abs=1e-6)


def test_the_best_of_several_settings_has_a_larger_p():
    sachs = SACHS | {"estimated_edges": 17}
    p = judge("adjacency_tp", 12, **sachs)["p"]
    five = judge("adjacency_tp", 12, n_settings=5, **sachs)
    assert five["p_high"] == pytest.approx(5 * p) and five["p_low"] == p
    assert "n_settings" in judge("adjacency_tp", 12, n_settings=None, **sachs)["verdict"]
    assert judge("adjacency_tp", 5, n_settings=50, **sachs)["p_high"] == 1


def test_many_rows_are_corrected_by_holm():
    row = pd.DataFrame({"adjacency_tp": [11] + 40 * [3], "estimated_edges": 17, **SACHS})
    alone = ce.from_published(row.head(1))
    page = ce.from_published(row)
    p = alone["adjacency_tp_p"][0]
    assert p <= 0.05 < 41 * p
    assert page["adjacency_tp_p_adjusted"][0] == pytest.approx(41 * p)
    verdicts = [table["adjacency_tp_verdict"][0] for table in (alone, page)]
    assert verdicts == ["better", "not better among 41 rows"]


def test_small_and_complete_truths_are_not_judged():
    complete = judge("adjacency_f1", 1, n_nodes=5, true_edges=10, estimated_edges=10, n_runs=1)
    assert complete["verdict"].startswith("cannot be judged: too small") and complete["p"] == 1
    small = judge("adjacency_recall", 1, n_nodes=4, true_edges=1, estimated_edges=1, n_runs=1)
    assert "0.17" in small["verdict"]
    for other in (
        judge("accuracy", 1, n_questions=4, true_yes=2, digits=2),
        judge("auroc", 1, candidates=5, true_candidates=1, n_graphs=1),
    ):
        assert other["verdict"].startswith("cannot be judged: too small")


def test_worse_than_guessing_is_not_better():
    assert judge("auroc", 0.4, candidates=90, true_candidates=15, n_graphs=5)["verdict"] == "not better"
    assert judge("adjacency_tp", 3, estimated_edges=17, **SACHS)["verdict"] == "not better"
    assert judge("shd", 37, estimated_edges=17, kind="dag", **SACHS)["verdict"] == "not better"
    assert judge("accuracy", 0.2, n_questions=100, true_yes=70, digits=2)["verdict"] == "not better"


def test_draws_that_never_reach_the_value_are_bounded_exactly():
    truth = "; ".join(f"X{i} -> X{i + 1}" for i in range(11))
    columns = {"truth": truth, "n_nodes": 12, "estimated_edges": 11, "kind": "cpdag", "n_runs": 1}
    table = pd.DataFrame({"shd": [1], **columns})
    row = ce.from_published(table, n_draws=99, rng=1).iloc[0]
    assert row["shd_p"] == pytest.approx(0.01)
    assert row["shd_p_high"] < 1e-8 and row["shd_verdict"] == "better"


@pytest.mark.parametrize(
    ("metric", "columns", "message"),
    [
        ("shd", {"shd": -99}, "codes of failure"),
        ("adjacency_f1", {"adjacency_f1": -1}, "codes of failure"),
        ("accuracy", {"accuracy": 60, "n_questions": 100}, "85 %"),
        ("accuracy", {"accuracy": 0.523, "n_questions": 190}, "nearest are"),
        ("accuracy", {"accuracy": 0.6, "n_questions": 10, "true_yes": 11}, "true_yes is 11"),
        ("accuracy", {"accuracy": "0.61", "n_questions": 100, "true_yes": 70, "answered_yes": 70}, "impossible with"),
        ("accuracy", {"accuracy": 0.6, "n_questions": 10, "class_counts": [3, 3, 3]}, "sum 9"),
        ("accuracy", {"accuracy": 0.6, "class_counts": [5, 5], "answered_counts": [4, 3, 3]}, "same order"),
        ("auroc", {"auroc": 0.72, "candidates": 9, "true_candidates": 9, "n_runs": 1}, "both true and false"),
        ("auroc", {"auroc": "0.70", "candidates": 4, "true_candidates": 2, "n_runs": 1}, "nearest possible"),
        ("auroc", {"auroc": 0.7, "candidates": [4, 5], "true_candidates": [2, 2, 2]}, "once per graph"),
        ("auroc", {"auroc": 0.7, "candidates": [4, 5], "true_candidates": 2, "n_runs": 3}, "once per graph"),
        ("auroc", {"auroc": 0.7, "candidates": 9, "true_candidates": 3, "n_runs": 1, "tied": "no"}, "True or False"),
        ("auroc", {"auroc": 0.7, "n_runs": 2, "n_graphs": 2}, "mean the same"),
        ("average_precision", {"average_precision": 1.5, "candidates": 9}, "between 0 and 1"),
    ],
)
def test_impossible_rows_are_named(metric, columns, message):
    graph = SACHS | {"estimated_edges": 17} if metric in ("shd", "adjacency_f1") else {}
    table = pd.DataFrame({name: pd.Series([x]) for name, x in (graph | columns).items()}).set_axis(["PC"])
    with pytest.raises(ValueError, match=message) as error:
        ce.from_published(table, metric)
    assert "row 0 (index 'PC')" in str(error.value) or message == "mean the same"


@pytest.mark.parametrize(
    ("column", "name"), [("Accuracy", "accuracy"), ("acc", "accuracy"), ("true_counts", "class_counts")]
)
def test_columns_of_answers_under_other_names_are_named(column, name):
    known = {} if name == "accuracy" else {"accuracy": [0.6]}
    table = pd.DataFrame({**known, "n_questions": [10], column: [0.6] if name == "accuracy" else ["3, 3, 4"]})
    with pytest.raises(ValueError, match=f"'{column}': '{name}'"):
        ce.from_published(table)
    assert "accuracy_verdict" in ce.from_published(table.rename(columns={column: name}))


def test_distances_of_another_convention_are_named():
    nine = {"n_nodes": 10, "true_edges": 9, "estimated_edges": 9, "n_runs": 1, "kind": "cpdag"}
    with pytest.raises(ValueError, match=r"between 0 and 18 .*shd_convention='cdt'.*shd_convention='tetrad'"):
        judge("shd", 30, **nine)
    with pytest.raises(ValueError, match="2 are shared it lies between 14 and"):
        ce.from_published(pd.DataFrame({**nine, "adjacency_tp": [2], "shd": [3]}))
    small = {"n_nodes": 10, "true_edges": 2, "estimated_edges": 1, "n_runs": 1, "kind": "cpdag"}
    with pytest.raises(ValueError, match="shd is 3"):
        ce.from_published(pd.DataFrame({**small, "adjacency_tp": [1], "shd": [3]}))
    assert judge("shd", 30, shd_convention="tetrad", **nine)["verdict"] == "not better"
    with pytest.raises(ValueError, match="shd_convention"):
        judge("shd", 3, shd_convention="mine", **nine)


def test_swapped_precision_and_recall_are_named():
    printed = {"adjacency_precision": ["0.60"], "adjacency_recall": ["0.71"]}
    table = pd.DataFrame({**SACHS, "estimated_edges": 17} | printed)
    with pytest.raises(ValueError, match="each other's place"):
        ce.from_published(table)
    swapped = {"adjacency_precision": "adjacency_recall", "adjacency_recall": "adjacency_precision"}
    assert len(ce.from_published(table.rename(columns=swapped))) == 1


def test_tables_may_hold_metrics_of_several_kinds():
    table = pd.DataFrame(
        {**SACHS, "estimated_edges": [17, 17], "adjacency_tp": [12, None], "auroc": ["0.80", None], "candidates": 55}
    ).assign(true_candidates=20)
    page = ce.from_published(table)
    assert page["control_null"].tolist() == ["edges and shuffle"] * 2
    assert page["auroc_p_high"].notna().tolist() == [True, False]
    assert page["auroc_verdict"].isna().tolist() == page["adjacency_tp_verdict"].isna().tolist() == [False, True]


def _tied_ranks(rng: np.random.Generator, shape: tuple[int, ...], share: float) -> np.ndarray:
    """Return scores of which a share is 0."""
    return np.where(rng.random(shape) < share, 0.0, rng.random(shape))


def _null_rows(kind: str, n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return printed values of random guesses."""
    if kind in ("auroc", "auroc of many"):
        n, k, runs = 20, 4, 5 if kind == "auroc" else 40
        scores = _tied_ranks(rng, (n_rows, runs, n), 0.5)
        ranks = stats.rankdata(scores, axis=-1)[..., :k].sum(-1)
        values = ((ranks - k * (k + 1) / 2) / (k * (n - k))).mean(-1)
        return pd.DataFrame({"auroc": values.round(2), "candidates": n, "true_candidates": k, "n_graphs": runs})
    if kind == "average_precision":
        n, k, runs = 20, 4, 10
        hits = rng.permuted(np.tile(np.arange(n) < k, (n_rows, runs, 1)), axis=-1)
        values = ((hits.cumsum(-1) / np.arange(1, n + 1)) * hits).sum(-1) / k
        table = pd.DataFrame({"average_precision": values.mean(-1).round(2), "candidates": n, "true_candidates": k})
        return table.assign(n_graphs=runs, tied=False)
    if kind == "accuracy":
        truth = np.arange(60) < 40
        answers = rng.random((n_rows, 60)) < rng.choice([0.1, 0.5, 2 / 3, 0.95], n_rows)[:, None]
        return pd.DataFrame({"accuracy": (answers == truth).mean(1).round(2), "n_questions": 60, "true_yes": 40})
    if kind == "classes":
        truth = np.repeat([0, 1, 2], [20, 10, 10])
        right = (rng.permuted(np.tile(np.repeat([0, 1, 2], [25, 10, 5]), (n_rows, 1)), axis=1) == truth).sum(1)
        cells = {"class_counts": "20, 10, 10", "answered_counts": "25, 10, 5"}
        return pd.DataFrame({"accuracy": (right / 40).round(3), **cells})
    # mean numbers of edges and distances of random DAGs beside one DAG with 15 edges
    pairs, true, runs = 45, 15, 8
    edges = rng.integers(5, 25, (n_rows, runs))
    shared = rng.hypergeometric(true, pairs - true, edges)
    reversed_ = rng.binomial(shared, 0.5)
    shd = (true + edges - 2 * shared + reversed_).mean(1)
    table = pd.DataFrame({"n_nodes": 10, "true_edges": true, "estimated_edges": edges.mean(1).round(3)})
    return table.assign(shd=shd.round(3), n_runs=runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["auroc", "auroc of many", "average_precision", "accuracy", "classes", "mean distance"]
)
def test_guesses_are_rarely_called_better(kind):
    n_rows = 4000
    table = _null_rows(kind, n_rows, np.random.default_rng(5))
    page = ce.from_published(table, constant="true_edges")
    p = page.filter(regex="_p_high$").iloc[:, 0]
    assert p.notna().all()
    for level in (0.05, 0.01):
        # three standard errors beyond the level; the bound of many AUROC reaches .0533 and .0107
        allowed = 1.07 * level if kind == "auroc of many" else level
        assert (p <= level).mean() <= allowed + 3 * np.sqrt(level * (1 - level) / n_rows)
    assert (page.filter(regex="_verdict$").iloc[:, 0].str.startswith("better")).mean() <= 2 / n_rows


def test_a_real_difference_is_found_in_each_kind():
    table = _null_rows("accuracy", 50, np.random.default_rng(1)).assign(accuracy=0.95)
    assert (ce.from_published(table)["accuracy_verdict"] == "better").all()
    table = _null_rows("mean distance", 20, np.random.default_rng(1)).assign(shd=6.0, estimated_edges=15.0)
    assert (ce.from_published(table, constant="true_edges")["shd_verdict"] == "better").all()


def claims_of(metric: str, group: str = "simulated") -> pd.DataFrame:
    """Return the shipped claims of one metric, in its own column."""
    claims = ce.datasets.published_results().query("metric == @metric and group == @group")
    named = claims.rename(columns={"value": metric, "convention": f"{metric}_convention"})
    return named.dropna(axis=1, how="all").reset_index(drop=True)


def test_shipped_claims_have_one_schema():
    claims = ce.datasets.published_results()
    always = ["source", "locator", "licence", "group", "condition", "method", "metric", "value", "digits"]
    assert claims[always].notna().all(axis=None)
    assert (claims["value"].str.partition(".")[2].str.len() == claims["digits"]).all()
    assert claims["commit"].notna().equals(claims["licence"] == "MIT")
    assert not claims.duplicated(["source", "condition", "method", "setting", "metric"]).any()
    graphs = claims[claims["group"].isin(["simulated", "agreed"])]
    assert graphs[["n_nodes", "true_edges", "estimated_edges", "n_runs", "kind"]].notna().all(axis=None)
    assert claims.loc[claims["metric"] == "shd", "convention"].notna().all()
    known = claims[claims["truth"].notna()]
    assert len(known) == 6004, "all but Table 5 of Petersen (2025), rankings and questions"
    assert (known["truth"].graph.n_edges == known["true_edges"]).all()
    assert (known["truth"].graph.n_nodes == known["n_nodes"]).all()


def test_the_skeletons_of_a_page_of_results():
    """Case 30, and the leaderboard."""
    page = claims_of("adjacency_f1").drop(columns="truth")
    judged = ce.from_published(page, "adjacency_f1")
    p = judged["adjacency_f1_p"]
    assert (len(page), (p <= 0.05).sum()) == (1564, 1455)
    better = judged["adjacency_f1_verdict"] == "better"
    assert better.sum() == (judged["adjacency_f1_p_adjusted"] <= 0.05).sum() == 1249
    assert (stats.false_discovery_control(p) <= 0.05).sum() == 1454
    assert judged["adjacency_f1_verdict"].str.contains("too small").sum() == 89
    groups = judged.groupby(["condition", "method"])["adjacency_f1_p"]
    best = page.loc[groups.idxmin()].assign(n_settings=groups.size().to_numpy())
    cells = ce.from_published(best, "adjacency_f1")
    wins = (cells["adjacency_f1_verdict"] == "better").groupby(cells["method"]).sum()
    assert wins[["boss", "fges", "pc", "dagma"]].tolist() == [30, 29, 28, 21]


def test_distances_of_a_page_of_results_are_tetrads():
    page = claims_of("shd").query("n_runs == 1")
    judged = ce.from_published(page.drop(columns="truth"), "shd")
    assert (len(page), (judged["shd_p_high"] <= 0.05).sum(), (judged["shd_p_low"] > 0.05).sum()) == (1525, 973, 8)
    with pytest.raises(ValueError, match="shd_convention='tetrad' would allow it"):
        ce.from_published(page.drop(columns=["truth", "shd_convention"]), "shd")
    # with the true graphs p is known, and the limits hold it
    some = page.iloc[::60]
    known = ce.from_published(some, "shd", n_draws=400, rng=1)
    limits = judged.loc[some.index]
    error = 4 * known["shd_p_se"] + 1 / 400
    assert (known["shd_p"] <= limits["shd_p_high"] + error).all()
    assert (known["shd_p"] >= limits["shd_p_low"] - error).all()


@pytest.mark.slow
def test_rankings_and_questions_of_pages_of_results():
    rankings = ce.from_published(claims_of("auroc", "rankings"), "auroc")
    assert not (rankings["auroc_verdict"] == "better").any(), "the numbers of graphs were not printed"
    least = rankings.query("condition == 'Coupled, Default' and method == 'TSCI'")["auroc_needed"].item()
    assert "21 are enough" in least
    questions = ce.from_published(claims_of("accuracy", "questions"), "accuracy")
    assert (questions["accuracy_p"] <= 0.05).sum() == 2
    words = ["not better than a coin"] * 3 + ["not better than a coin among 5 rows"] * 2
    assert questions["accuracy_verdict"].tolist() == words


IMPOSSIBLE = [
    ("lies between 0.45 and 0.55", {"auroc": 0.9, "candidates": 20, "true_candidates": 10, "estimated_candidates": 1}),
    ("lies between 0.5 and 0.5", {"auroc": 0.8, "candidates": 20, "true_candidates": 10, "estimated_candidates": 0}),
    ("both true and false ones", {"auroc": "0.8", "candidates": 5, "true_candidates": 5, "n_runs": None}),
    ("12 can be right", {"accuracy": "0.90", "class_counts": "10,10,10", "answered_counts": "28,1,1"}),
    ("28 can be right", {"accuracy": "1.0", "class_counts": "10,10,10", "answered_counts": "12,9,9"}),
    ("35 can be right", {"accuracy": "0.90", "class_counts": "25,25", "answered_counts": "25,10", "n_questions": 50}),
    ("not one less", {"accuracy": "0.967", "class_counts": "10,10,10", "answered_counts": "10,10,10"}),
    ("write '2450', or a list", {"auroc": "0.9", "candidates": "2,450", "true_candidates": 1}),
    ("write '1234', or a list", {"auroc": "0.9", "candidates": 20, "true_candidates": 4, "n_settings": "1,234"}),
    ("average_precision", {"auroc": 0.7, "AUPRC": 0.5, "candidates": 9, "true_candidates": 3}),
    ("n_settings is one number", {"auroc": "0.9", "candidates": 20, "true_candidates": 4, "n_settings": [3, 100]}),
]


@pytest.mark.parametrize(("words", "row"), IMPOSSIBLE)
def test_values_that_nothing_gives_and_numbers_with_two_meanings_are_refused(words, row):
    with pytest.raises(ValueError, match=words):
        ce.from_published(pd.DataFrame({name: [x] for name, x in {"n_runs": 1, **row}.items()}))


@pytest.mark.parametrize(("auroc", "n", "k", "n_runs"), [("0.639", 2, 1, 36), ("0.55", 20, 4, 35)])
def test_the_bound_for_unknown_ties_is_not_below_the_law_without_ties(auroc, n, k, n_runs):
    row = {"auroc": [auroc], "candidates": n, "true_candidates": k, "n_runs": n_runs}
    judged = ce.from_published(pd.DataFrame(row)).iloc[0]
    assert judged["auroc_p_high"] >= judged["auroc_p"] > 0.05 and judged["auroc_verdict"].startswith("cannot")


def test_single_precision_is_read_as_printed():
    row = {"n_nodes": [10], "true_edges": 15, "estimated_edges": 12, "n_runs": 1}
    single, double = (
        ce.from_published(pd.DataFrame({**row, "adjacency_f1": np.array([0.52], dtype)}))
        for dtype in (np.float32, np.float64)
    )
    assert single["adjacency_f1_p"].item() == double["adjacency_f1_p"].item()


@pytest.mark.parametrize(("metric", "value", "sd"), [("shd", "14.0", "10.0"), ("directed_tp", "12.0", "6.0")])
def test_a_printed_deviation_does_not_replace_a_smaller_bound(metric, value, sd):
    row = {"n_nodes": 20, "true_edges": 20, "estimated_edges": 20, "n_runs": 2, "kind": "dag", metric: value}
    constant = ["true_edges", "estimated_edges"]
    alone, beside = (
        ce.from_published(pd.DataFrame({name: [x] for name, x in table.items()}), constant=constant).iloc[0]
        for table in (row, row | {f"{metric}_sd": sd})
    )
    assert alone[f"{metric}_verdict"] == beside[f"{metric}_verdict"] == "better"
    assert alone[f"{metric}_p_high"] == beside[f"{metric}_p_high"] < 1e-9


def test_deviations_that_no_shares_have_are_refused():
    row = {"n_nodes": 20, "true_edges": 20, "estimated_edges": 20, "n_runs": 10, "kind": "dag"}
    table = pd.DataFrame([row | {"directed_recall": "0.90", "directed_recall_sd": "9.0"}])
    with pytest.raises(ValueError, match="directed_recall_sd is 9, but values from 0 to 1 have less"):
        ce.from_published(table, constant=["true_edges", "estimated_edges"])


def test_accuracies_of_several_runs_ask_whose_questions_they_are():
    row = {"accuracy": ["0.560"], "n_questions": 100, "n_runs": 10}
    with pytest.raises(ValueError, match="n_questions is the number of all answers"):
        ce.from_published(pd.DataFrame(row))
    all_answers = ce.from_published(pd.DataFrame(row | {"n_questions": 1000, "n_runs": 1})).iloc[0]
    assert all_answers["accuracy_p_high"] == pytest.approx(stats.binom.sf(559, 1000, 0.5))


@pytest.mark.parametrize(
    "row",
    [
        {"accuracy": "1.00", "n_questions": 4},
        {"truth": "A -> B; B -> C", "estimated_edges": 2, "n_runs": 1, "kind": "dag", "shd": "0"},
    ],
)
def test_perfect_results_that_guesses_reach_are_too_small(row):
    judged = ce.from_published(pd.DataFrame([row]))
    [verdict] = judged.filter(regex="_verdict$").iloc[0]
    assert verdict.startswith("cannot be judged: too small")


def test_lists_of_edges_may_be_text():
    row = {"n_nodes": 10, "n_runs": 2, "adjacency_f1": "0.60"}
    text, numbers = (
        ce.from_published(pd.DataFrame([row | {"true_edges": t, "estimated_edges": e}]))["adjacency_f1_p"].item()
        for t, e in (("9, 8", "7; 9"), ([9, 8], [7, 9]))
    )
    assert text == numbers
