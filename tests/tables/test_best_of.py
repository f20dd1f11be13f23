"""Selection over settings: the best candidate of a group, and the best of their controls in each draw."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.tables.matching import find_null

METRICS = ["shd", "adjacency_f1", "orientation_precision"]
NODES = [f"X{i}" for i in range(7)]


def guess(rng, n_edges):
    pairs = list(itertools.combinations(NODES, 2))
    place = dict(zip(NODES, rng.permutation(7), strict=True))
    chosen = [pairs[i] for i in rng.choice(21, n_edges, replace=False)]
    return "; ".join([f"{a} -> {b}" if place[a] < place[b] else f"{b} -> {a}" for a, b in chosen] + NODES)


@pytest.fixture
def tuned():
    """Two algorithms with three settings on eight data sets of four truths; one run failed."""
    rng = np.random.default_rng(2)
    truths = [guess(rng, 8) for _ in range(4)]
    rows = [
        (a, data, alpha, truths[data // 2], guess(rng, int(alpha * 100)))
        for a, data, alpha in itertools.product("xy", range(8), (0.02, 0.05, 0.1))
    ]
    table = pd.DataFrame(rows, columns=["algorithm", "data", "alpha", "truth", "estimate"])
    table.loc[4, "estimate"] = None
    return table


def best(table, metrics=METRICS, **settings):
    how = {"n_draws": 60, "rng": 5, "key": ["algorithm", "data"], "best_of": "alpha"}
    return ce.with_controls(table, metrics, **(how | settings))


def test_a_group_has_the_best_value_and_its_level(tuned):
    found, scores = best(tuned), ce.evaluate(tuned, METRICS)
    assert found.columns[:4].tolist() == ["algorithm", "data", "truth", "n_candidates"]
    assert len(found) == 16 and (found["n_candidates"] == 3).all() and (found["control_null"] == "permutation").all()
    for name, side in (("shd", 1), ("adjacency_f1", -1), ("orientation_precision", -1)):
        for i, (_, group) in enumerate(scores.groupby(["algorithm", "data"])):
            losses = side * group[name]
            if losses.isna().all():
                assert pd.isna(found[name][i]) and pd.isna(found[f"{name}_chosen"][i])
                continue
            assert found[name][i] == side * losses.min()
            assert found[f"{name}_chosen"][i] == group.loc[losses == losses.min(), "alpha"].min()
    assert (found["shd_chosen"] != found["adjacency_f1_chosen"]).any(), "each metric chooses its own level"


def test_equal_candidates_are_one_candidate(tuned):
    """Relabelled alike, they are equal in every draw."""
    same = pd.concat([tuned.iloc[[0]].assign(alpha=a) for a in (1, 2, 3)])
    parts = ["shd_control_mean", "shd_control_low", "shd_control_high", "shd_p", "shd_skill"]
    pd.testing.assert_frame_equal(best(same.iloc[[0]], ["shd"])[parts], best(same, ["shd"])[parts])


def test_estimates_with_one_key_are_relabelled_alike():
    estimates = ["A -> B; B -> C; D; E; F", "B -> A; B -> C; D; E; F", "A -> B; C -> B; D -> E; F"]
    columns = [ce.graph_column(["A -> B; C; D; E; F"] * 3), ce.graph_column(estimates)]
    [(rows, pairs)] = get_field("graph").batches(*columns, None)
    model = find_null(get_field("graph"), "permutation")
    controls = model.match(Matching(*columns, None, None, model.options))(rows, pairs, np.full(3, 9, np.uint64))
    drawn = controls.draw(0, 50)
    alike = ce.evaluate(
        pd.DataFrame({"truth": columns[1].iloc[[0, 0, 1]].array, "estimate": columns[1].iloc[[1, 2, 2]].array}), ["shd"]
    )["shd"]
    planes = drawn.estimate.planes.reshape(3, 50, 2, -1)
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        graphs = [pd.Series([ce.Graph(tuple("ABCDEF"), "dag", x) for x in planes[at]]) for at in (i, j)]
        shown = ce.evaluate(pd.DataFrame({"truth": graphs[0], "estimate": graphs[1]}), ["shd"])["shd"]
        assert (shown == alike[k]).all()


@pytest.mark.slow
def test_results_do_not_depend_on_order_or_other_rows(tuned, monkeypatch):
    whole = best(tuned)
    by = ["algorithm", "data"]
    named, shuffled = whole.set_index(by), best(tuned.sample(frac=1, random_state=3)).set_index(by)
    pd.testing.assert_frame_equal(named, shuffled.loc[named.index, named.columns])
    few = best(tuned[tuned["data"] < 2])
    pd.testing.assert_frame_equal(few.set_index(by), whole[whole["data"] < 2].set_index(by))
    monkeypatch.setattr("causaleval_pd.tables.best_of.GROUP_BYTES", 4000)
    pd.testing.assert_frame_equal(best(tuned), whole)
    with ce.set_options(engine="threads", n_jobs=2):
        pd.testing.assert_frame_equal(best(tuned), whole)


def test_groups_of_failed_runs_stay(tuned):
    tuned.loc[:2, "estimate"] = None
    found = best(tuned)
    assert found[["shd", "shd_p", "shd_chosen", "control_kind"]].isna().all(axis=1).tolist() == [True] + [False] * 15
    pd.testing.assert_frame_equal(found[1:], best(tuned[3:]).set_axis(range(1, 16)), check_index_type=False)
    none = best(tuned.assign(estimate=ce.graph_column([None] * 48)))
    assert len(none) == 16 and none[["shd", "shd_p", "adjacency_f1_chosen"]].isna().all(axis=None)


def test_groups_by_default_are_the_rows_of_a_truth(tuned):
    part = tuned[(tuned["algorithm"] == "y") & (tuned["data"] % 2 == 0)]
    expected = best(part)
    found = best(part, key=None)
    assert found.columns[:2].tolist() == ["truth", "n_candidates"]
    pd.testing.assert_frame_equal(found, expected.drop(columns=["algorithm", "data"]))
    by_index = best(part.set_index(["algorithm", "data", "alpha"]), key=None)
    pd.testing.assert_frame_equal(by_index, expected)


@pytest.mark.slow
def test_the_best_of_ten_guesses_keeps_its_level():
    """Untuned, the p of the best of ten guesses is at most .05 in a quarter of the truths and more."""
    rng = np.random.default_rng(8)
    n, candidates = 150, 10
    truths = [guess(rng, 8) for _ in range(n)]
    runs = pd.DataFrame({"truth": np.repeat(truths, candidates), "alpha": list(range(candidates)) * n})
    runs["estimate"] = [guess(rng, 8) for _ in range(len(runs))]
    found = ce.with_controls(runs, ["adjacency_f1", "shd"], best_of="alpha", n_draws=99, rng=1)
    most = stats.binom.ppf(0.999, n, 0.05)
    for name, side in (("adjacency_f1", -1), ("shd", 1)):
        assert (found[f"{name}_p"] <= 0.05).sum() <= most
        assert abs(found[f"{name}_skill"].mean()) < 0.05
        plain = ce.with_controls(runs, [name], null="permutation", n_draws=99, rng=1, method="simulate")
        chosen = (side * plain[name]).groupby(np.repeat(range(n), candidates)).idxmin()
        assert (plain.loc[chosen, f"{name}_p"] <= 0.05).sum() > most
    # a candidate that found the truth is still seen
    runs.loc[::candidates, "estimate"] = truths
    assert (ce.with_controls(runs, ["shd"], best_of="alpha", n_draws=99, rng=1)["shd_p"] <= 0.05).mean() > 0.95


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"key": ["algorithm"]}, "row 0 .*and row 6 .*different truths; name the columns"),
        ({"key": None}, r"row 3 .*: its group has the level 0.02 of 'alpha' \(best_of\) twice; name"),
        ({"best_of": "beta"}, r"the table has no column 'beta' \(best_of\)"),
        ({"null": "edges"}, "null='edges' draws them one by one, .*; use null='permutation'"),
        ({"method": "exact"}, "takes no method='exact'"),
        ({"cluster": None}, "relabels all candidates on one truth alike and takes no cluster="),
        ({"cluster": np.array([1.5, 2.0])}, "relabels all candidates on one truth alike and takes no cluster="),
    ],
)
def test_bad_candidates_are_refused(tuned, settings, message):
    with pytest.raises(ValueError, match=message):
        best(tuned, ["shd"], **settings)


def test_metrics_without_direction_and_other_fields_are_refused(tuned):
    with pytest.raises(ValueError, match="has no direction"):
        best(tuned, ["true_density"])
    assert not any(model.joint for model in get_field("answer").nulls.values())


@pytest.mark.parametrize("verb", ["cube", "with_controls"])
def test_candidates_of_a_field_without_joint_controls_are_refused(verb):
    rows = {"truth": [True] * 4, "estimate": [True, False] * 2, "sample": [0, 0, 1, 1], "setting": [0, 1] * 2, "s": 0}
    how = {"best_of": "setting", "key": ["sample"], "n_draws": 19} | ({"by": ["s"]} if verb == "cube" else {})
    with pytest.raises(ValueError, match="no null model of field 'answer' can"):
        getattr(pd.DataFrame(rows).ceval, verb)(["answer_accuracy"], **how)
