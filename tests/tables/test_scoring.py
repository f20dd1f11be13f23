"""Scores of rows: distinct pairs once, rows that a metric cannot have named or missing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.pairs import PairError
from causaleval_pd.tables import scoring
from causaleval_pd.tables.scoring import score_rows, scoring_work
from causaleval_pd.tables.settings import Cells
from causaleval_pd.tables.tasks import read_tasks


def test_costly_metrics_run_once_per_distinct_pair(declare):
    seen = []

    @declare(costly=True)
    def costly(pairs):
        seen.append(pairs.n)
        return pairs.counts.fp + 10 * pairs.counts.fn

    runs = pd.DataFrame({"truth": ["A -> B; C", "A; B; C", "A -> B; C"], "estimate": ["A -> B; C"] * 3})
    values = ce.evaluate(runs, ["costly"])["costly"].tolist()
    # the first pair is scored again, to see that its value depends on nothing else
    assert seen == [2, 1]
    assert values == [0.0, 1.0, 0.0]


RUNS = pd.DataFrame({"truth": ["A -> B; C"] * 5, "estimate": ["A -- B; C"] * 4 + ["A -> B; C"]}, index=list("vwxyz"))


@pytest.fixture
def dags_only(declare):
    """A metric of DAGs that cannot be computed for the pairs of some rows."""

    @declare(costly=True)
    def dags_only(pairs):
        faulty = np.flatnonzero(pairs.counts.true_edges == 2)
        if len(faulty):
            raise PairError(faulty, "two edges are too many")
        return pairs.counts.fp + 10 * pairs.counts.fn

    return dags_only


def task(table, *metrics):
    return read_tasks(table, list(metrics), Cells())[0][0]


def test_rows_of_other_kinds_are_named_three_of_many(dags_only):
    message = (
        r"dags_only applies to dag, not to row 0 \(index 'v'\), row 1 .*, row 2 .*, where truth is a dag and estimate "
        r"a cpdag; and 1 more rows \(4 of 5 rows\); leave these rows out, or pass invalid='nan'"
    )
    with pytest.raises(ValueError, match=message):
        score_rows(task(RUNS, dags_only), "raise", RUNS.index)
    found = score_rows(task(RUNS, dags_only, "shd"), "nan", RUNS.index)
    np.testing.assert_array_equal(found["dags_only"], [np.nan] * 4 + [0])
    assert not np.isnan(found["shd"]).any()


def test_pairs_that_a_metric_cannot_have_are_named_by_row_also_among_equal_ones(dags_only):
    runs = pd.DataFrame({"truth": ["A -> B; C", "A -> B; B -> C"] * 3, "estimate": ["A -> B; C"] * 6})
    with pytest.raises(ValueError, match=r"^dags_only: row 1 .*, row 3 .*, row 5 \(index 5\): two edges are too many"):
        score_rows(task(runs, dags_only), "raise", runs.index)
    found = score_rows(task(runs, dags_only), "nan", runs.index)["dags_only"]
    np.testing.assert_array_equal(found, [0, np.nan] * 3)


def test_any_number_of_pairs_that_a_metric_refuses_one_by_one(declare):
    @declare()
    def without_edges(pairs):
        edges = np.flatnonzero(pairs.counts.true_edges)
        if len(edges):
            raise PairError(edges[:1], "has an edge")
        return pairs.counts.fp

    runs = pd.DataFrame({"truth": ["A -> B"] * 1500 + ["A; B"], "estimate": ["A -> B"] * 1501})
    values = ce.evaluate(runs, ["without_edges"], invalid="nan")["without_edges"]
    assert values.dropna().to_dict() == {1500: 1.0}


def test_controls_that_a_metric_cannot_have_name_their_row(declare):
    @declare()
    def near_only(pairs):
        far = np.flatnonzero(pairs.counts.fn == 2)
        if len(far):
            raise PairError(far, "two errors are too many")
        return pairs.counts.fn

    runs = pd.DataFrame({"truth": ["A; B; C; D", "A -> B; C -> D"], "estimate": ["A -> B; C; D", "A -> B; C -> D"]})
    with pytest.raises(ValueError, match=r"^near_only: row 1 \(index 'y'\): two errors are too many"):
        runs.set_axis(["x", "y"]).ceval.with_controls(["near_only"], null="edges", method="simulate", n_draws=50, rng=1)


def test_rows_are_named_in_order_whatever_their_nodes(dags_only):
    """Graphs on the same nodes are scored together."""
    runs = pd.DataFrame({"truth": ["A -> B; C", "A -> B"] * 2, "estimate": ["A -- B; C", "A -- B"] * 2})
    with pytest.raises(ValueError, match=r"not to row 0 .*, row 1 .*, row 2 .*; and 1 more rows \(4 of 4 rows\)"):
        score_rows(task(runs, dags_only), "raise", runs.index)


def test_failed_rows_and_tables_without_rows_have_no_scores():
    failed = RUNS.assign(estimate=pd.array([None] * 5, dtype="str"))
    assert np.isnan(score_rows(task(failed, "shd"), "raise", RUNS.index)["shd"]).all()
    assert score_rows(task(RUNS.iloc[:0], "shd"), "raise", RUNS.index[:0])["shd"].shape == (0,)


def test_invalid_is_one_of_two_words():
    with pytest.raises(ValueError, match="invalid must be 'raise' or 'nan', found 'drop'"):
        score_rows(task(RUNS, "shd"), "drop", RUNS.index)


def test_costly_metrics_count_a_hundredfold():
    [batch] = task(RUNS, "shd").batches()
    plain = scoring_work([ce.shd], batch.pairs)
    assert scoring_work([replace(ce.shd, costly=True)], batch.pairs) - 1 == pytest.approx(100 * (plain - 1))
    assert scoring_work([], batch.pairs) == 1.0


def test_columns_that_are_the_same_count_do_not_share_memory():
    names = ce.metric_set(ce.get_metric("shd"), again=ce.get_metric("shd"), fp=ce.get_metric("adjacency_fp"))
    scored = ce.evaluate(RUNS, names)
    scored.loc["v", "shd"] = 7.0
    assert scored.loc["v", ["again", "fp"]].tolist() == [1.0, 0.0]
    assert not np.shares_memory(scored["shd"].to_numpy(), scored["again"].to_numpy())


def test_rows_beyond_the_first_part_are_scored_alike(declare, monkeypatch):
    @declare()
    def sometimes_a_view(pairs):
        extra = pairs.counts.fp
        return extra.copy() if pairs.n == 1 else extra

    runs = pd.DataFrame({"truth": ["A -> B; C", "A; B; C", "A -> B; C"], "estimate": ["A -> B; C", "A -> B; C", None]})
    runs = pd.concat([runs, runs, runs.iloc[:1]], ignore_index=True)
    names = ["adjacency_tp", "adjacency_tn", "shd", "adjacency_recall", "sometimes_a_view"]
    expected = ce.evaluate(runs, names)[names]
    known = expected[runs["estimate"].notna()].reset_index(drop=True)
    for size in (1, 2, 3, 4):
        monkeypatch.setattr(scoring, "PART_ROWS", size)
        pd.testing.assert_frame_equal(ce.evaluate(runs, names)[names], expected)
        pd.testing.assert_frame_equal(ce.evaluate(runs.dropna(ignore_index=True), names)[names], known)


def test_a_shifted_view_of_counts_is_copied(declare):
    @declare()
    def turned_round(pairs):
        return pairs.counts.fp[::-1]

    # the first pair has the same value alone
    runs = pd.DataFrame({"truth": "A; B; C", "estimate": ["A -> B; C", "A; B; C", "A -> B -> C", "A -> B; C"]})
    assert ce.evaluate(runs, ["turned_round"])["turned_round"].tolist() == [1.0, 2.0, 0.0, 1.0]


def test_counts_stay_whole_beside_metrics_that_hand_on_some_of_them(declare, monkeypatch):
    @declare()
    def doubled(pairs):
        # the counts themselves where all are 0
        return pairs.counts.fp if not pairs.counts.fp.any() else 2 * pairs.counts.fp

    for counts in ([0, 0, 1, 2], [1, 2, 0, 0]):
        estimates = [["A; B; C", "A -> B; C", "A -> B -> C"][n] for n in counts]
        runs = pd.DataFrame({"truth": "A; B; C", "estimate": estimates})
        for size in (1, 2, 4):
            monkeypatch.setattr(scoring, "PART_ROWS", size)
            scored = ce.evaluate(runs, ["doubled", "adjacency_fp"])
            assert scored["adjacency_fp"].tolist() == counts and scored["doubled"].tolist() == [2 * n for n in counts]
