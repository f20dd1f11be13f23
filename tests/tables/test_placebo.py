"""Placebos: what relabelling keeps and what it takes away, in every field, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


@pytest.fixture(scope="module")
def runs():
    return ce.datasets.runs().query("density == 0.2")


def test_estimates_keep_their_class_and_edges_and_lose_their_agreement(runs):
    found = runs.ceval.placebo(rng=7)
    pd.testing.assert_frame_equal(found.drop(columns="estimate"), runs.drop(columns="estimate"))
    for what in ("n_edges", "kind"):
        assert (getattr(found["estimate"].graph, what) == getattr(runs["estimate"].graph, what)).all()
    shd = [x.ceval.evaluate(["shd"])["shd"].mean() for x in (runs, found)]
    random = runs.ceval.with_controls(["shd"], null="permutation", n_draws=2, rng=1)["shd_control_mean"].mean()
    assert shd[0] < 0.6 * random and shd[1] == pytest.approx(random, rel=0.1)


def test_estimates_of_a_truth_are_relabelled_alike(runs):
    found = runs.ceval.placebo(rng=7)
    # what two algorithms and sample sizes have in common on a truth does not change
    first, second = (x.sort_values(["replicate", "algorithm", "n"], ignore_index=True) for x in (runs, found))
    for a, b in ((0, 1), (2, 5)):
        pairs = [
            pd.DataFrame({"truth": x["estimate"][a::9].array, "estimate": x["estimate"][b::9].array})
            for x in (first, second)
        ]
        shd = [x.ceval.evaluate(["shd"])["shd"].tolist() for x in pairs]
        assert shd[0] == shd[1]
    # but truths are relabelled apart, unless jointly
    one = runs.query("algorithm == 'pc' and n == 100").head(2)
    same = one.assign(estimate=ce.graph_column([one["estimate"].iloc[0]] * 2, index=one.index))
    assert same.ceval.placebo(rng=7)["estimate"].nunique() == 2
    assert same.ceval.placebo(rng=7, joint="all")["estimate"].nunique() == 1


def test_a_relabelling_depends_on_seed_and_truth_alone(runs):
    found = runs.ceval.placebo(rng=7)
    mixed = runs.sample(frac=0.5, random_state=1)
    assert (mixed.ceval.placebo(rng=7)["estimate"] == found["estimate"].loc[mixed.index]).all()
    assert (runs.ceval.placebo(rng=8)["estimate"] != found["estimate"]).mean() > 0.9


@pytest.mark.slow
def test_all_relabellings_are_equally_likely():
    one = pd.DataFrame({"truth": ["A -> B; C"], "estimate": ["A -> B; C"]})
    drawn = [one.ceval.placebo(rng=s)["estimate"].graph.to_strings().item() for s in range(240)]
    counts = pd.Series(drawn).value_counts()
    assert len(counts) == 6 and ((counts - 40) ** 2 / 40).sum() < 20.5


def test_clusters_of_a_column_share_a_relabelling(runs):
    some = runs.query("algorithm == 'pc' and n == 100").assign(data=lambda x: x["replicate"] // 10)
    same = some.assign(estimate=ce.graph_column([some["estimate"].iloc[0]] * 20, index=some.index))
    assert same.ceval.placebo(rng=7, cluster="data").groupby("data")["estimate"].nunique().tolist() == [1, 1]


def test_failed_runs_stay_failed(runs):
    some = runs.head(6).assign(estimate=lambda x: x["estimate"].where(np.arange(6) != 2))
    assert some.ceval.placebo(rng=1)["estimate"].isna().tolist() == [False, False, True, False, False, False]


def test_networks_formulas_and_answers():
    networks = [
        ce.DiscreteNetwork(
            {"A": [], "B": ["A"], "C": []}, {"A": [p, 1 - p], "B": [[0.9, 0.1], [0.2, 0.8]], "C": [0.5, 0.5]}
        )
        for p in (0.3, 0.6)
    ]
    table = pd.DataFrame({"truth": ce.network_column(networks), "estimate": ce.network_column(networks)})
    # a relabelled network gets parameters as its estimate did
    placebos = [table.ceval.placebo(rng=s, context={"estimator": "joint"}) for s in range(8)]
    found = [one.ceval.evaluate(["edit_distance"])["edit_distance"].sum() for one in placebos]
    assert min(found) >= 0 and max(found) > 0
    formulas = pd.DataFrame({"truth": ["A*b+C<->E", "A+B<->E"], "estimate": ["A*b+C<->E"] * 2})
    stated = {"factors": list("ABCDE")}
    texts = {formulas.ceval.placebo(rng=s, field="formula", context=stated)["estimate"].iloc[0] for s in range(12)}
    assert len(texts) > 3 and all(text.endswith("<->E") for text in texts)
    answers = pd.DataFrame({"truth": [True, False] * 20, "arm": ["x"] * 20 + ["y"] * 20})
    answers["estimate"] = answers["truth"]
    answers.loc[20:, "estimate"] = True
    with pytest.raises(ValueError, match="cells of field 'answer' have no labels; name the column"):
        answers.ceval.placebo(field="answer")
    mixed = answers.ceval.placebo(rng=3, field="answer", cluster="arm")
    assert mixed.groupby("arm")["estimate"].sum().tolist() == [10, 20]
    assert 0.2 < mixed["estimate"][:20].eq(mixed["truth"][:20]).mean() < 0.8


@pytest.mark.slow
def test_exchanged_answers_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(4)
    # equal rows, and an index that starts anew
    table = pd.DataFrame({"truth": rng.random(40) < 0.5, "estimate": rng.random(40) < 0.5, "arm": np.arange(40) % 2})
    table["run"] = np.arange(40) // 4
    how = {"rng": 3, "field": "answer", "cluster": "arm"}
    names = ["arm", "run", "truth", "estimate"]
    found = table.ceval.placebo(**how)[names].sort_values(names).reset_index(drop=True)
    turned = table.sample(frac=1, random_state=5).reset_index(drop=True).ceval.placebo(**how)[names]
    assert turned.sort_values(names).reset_index(drop=True).equals(found)
    # equal rows are exchanged like others: the number that agree has the hypergeometric law
    few = pd.DataFrame({"truth": [True] * 4 + [False] * 4, "estimate": [True] * 4 + [False] * 4, "arm": 0})
    made = (few.ceval.placebo(rng=s, field="answer", cluster="arm") for s in range(300))
    right = np.array([(x["estimate"] & x["truth"]).sum() for x in made])
    assert abs(right.mean() - 2) < 0.2 and abs(right.var() - 4 * 4 * 4 * 4 / (64 * 7)) < 0.2


def test_truths_in_the_order_of_columns_are_warned_of():
    chain = "; ".join(f"X{i} -> X{i + 1}" for i in range(1, 12))
    table = pd.DataFrame({"truth": [chain], "estimate": [chain]})
    with pytest.warns(UserWarning, match="100% of the truths' edges point from earlier to later columns"):
        found = table.ceval.placebo(rng=1)
    assert found["estimate"].graph.n_edges.item() == 11
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = "; ".join(f"X{i + 1} -> X{i}" for i in range(1, 12))
        table.assign(truth=back).ceval.placebo(rng=1)
        pd.DataFrame({"truth": ["A -> B; B -> C"], "estimate": ["A -> B; C"]}).ceval.placebo(rng=1)


def test_what_cannot_be_relabelled_is_refused(runs):
    table = pd.DataFrame({"truth": ["A -> B", "B -> C"], "estimate": ["A -> B", "B -> C"], "g": [1, 1]})
    message = "joint='all' relabels all truths alike, but those of row 0 .* and row 1 .* have"
    with pytest.raises(ValueError, match=message):
        table.ceval.placebo(joint="all")
    with pytest.raises(ValueError, match="different nodes or factors"):
        table.ceval.placebo(cluster="g")
    mixed = pd.DataFrame({"truth": ["A <-> B; B -> C"], "estimate": ["A o-> B; C o-> B"]})
    assert mixed.ceval.placebo(rng=1)["estimate"].graph.kind.tolist() == ["pag"]
    for settings, message in (
        ({"joint": "every"}, "joint must be"),
        ({"cluster": None}, "cluster names no cluster"),
        ({"cluster": "nothing"}, "no column 'nothing'"),
        ({"estimate": "nothing"}, "no column 'nothing'"),
    ):
        with pytest.raises(ValueError, match=message):
            runs.head(3).ceval.placebo(**settings)


def test_the_call_is_remembered(runs):
    made = runs.head(3).ceval.placebo(rng=7).attrs["causaleval_pd_history"]
    assert made[-1]["verb"] == "placebo" and made[-1]["seed"] == 7


def test_the_seed_of_a_placebo_without_rng_gives_it_again(runs):
    found = runs.head(3).ceval.placebo()
    seed = found.attrs["causaleval_pd_history"][-1]["seed"]
    assert runs.head(3).ceval.placebo(rng=seed)["estimate"].equals(found["estimate"])
