"""The null model that shuffles a reasoner's answers: its draws and its exact law are those of permutations."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

METRICS = ["answer_accuracy", "answer_false_yes", "answer_false_no"]


def wins(name, truth, answers):
    """Sum of a metric over answers, larger is better."""
    good = {
        "answer_accuracy": truth == answers,
        "answer_false_yes": truth | ~answers,
        "answer_false_no": ~truth | answers,
    }
    return good[name].sum()


def one_stratum(questions):
    """Return a table of questions, each given as true answers and answers."""
    parts = [
        pd.DataFrame({"truth": truth, "estimate": answers, "q": number, "s": "x"}, dtype=object)
        for number, (truth, answers) in enumerate(questions)
    ]
    return pd.concat(parts, ignore_index=True).astype({"truth": bool, "estimate": bool})


def shuffled(table):
    """Return the answers shuffled within their questions, in every way."""
    by_question = [part["estimate"].tolist() for _, part in table.groupby("q")]
    for ways in itertools.product(*(list(itertools.permutations(own)) for own in by_question)):
        yield np.array([answer for way in ways for answer in way])


CASES = [
    [([True, True, True, False, False, False], [True, True, True, False, False, False])],
    [([True, False, False, False, True], [True, True, False, False, True])],
    [([True, False, True], [True, False, False]), ([False, True, False, True], [False, True, True, True])],
    [([True, False], [True, False]), ([True, True], [True, False]), ([False, True, True], [False, True, False])],
    [([True, False, True], [True, True, True]), ([True, True, False], [True, True, False])],
]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_p_values_estimate_shares_of_all_shufflings(metric, case):
    table = one_stratum(CASES[case])
    truth, answers = table["truth"].to_numpy(), table["estimate"].to_numpy()
    observed = wins(metric, truth, answers)
    scored = np.array([wins(metric, truth, way) for way in shuffled(table)])
    cube = table.ceval.cube([metric], by=["s"], n_draws=4000, rng=1, context={"group": "q"})
    found, p = cube.ceval.summary(statistic="mean", columns="full").iloc[0], (scored >= observed).mean()
    assert found["p_method"] == "simulated"
    assert found["p_value"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000) + 1 / 4000)


def test_p_of_a_stratum_is_that_of_hypergeometric_questions():
    """The tail of the number of right yes, a convolution of hypergeometric laws, by scipy."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"truth": rng.random(120) < 0.6, "q": rng.integers(0, 9, 120), "s": "x"})
    table["estimate"] = np.where(rng.random(120) < 0.4, table["truth"], rng.random(120) < 0.3)
    cube = table.ceval.cube(["answer_accuracy"], by=["s"], n_draws=4000, rng=1, context={"group": "q"})
    found = cube.ceval.summary(statistic="mean", columns="full").iloc[0]
    law = np.ones(1)
    for _, part in table.groupby("q"):
        n, true, yes = len(part), part["truth"].sum(), part["estimate"].sum()
        law = np.convolve(law, stats.hypergeom.pmf(np.arange(n + 1), n, true, yes))
    p = law[(table["truth"] & table["estimate"]).sum() :].sum()
    assert found["p_value"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000) + 1 / 4000)


def drawn(table, n_draws=3000, **how):
    """Return the answers of each draw, (n_draws, rows), read from the controls' accuracies."""
    runs = table.assign(run=range(len(table)))
    cube = runs.ceval.cube(["answer_accuracy"], replicate="run", n_draws=n_draws, rng=4, **how)
    right = cube["answer_accuracy_control"].sel(replicate=runs["run"].to_numpy())
    right = right.stack(place=[dim for dim in right.dims if dim != "draw"]).dropna("place", how="all")
    right = right.sortby("replicate").transpose("draw", "place").to_numpy() == 1
    return np.where(runs["truth"].to_numpy(), right, ~right)


def test_draws_are_shufflings_all_equally_likely():
    answers = drawn(one_stratum(CASES[2]), by=["s"], context={"group": "q"})
    first, second = answers[:, :3], answers[:, 3:]
    assert (first.sum(axis=1) == 1).all() and (second.sum(axis=1) == 3).all()
    # 3 x 4 ways to place the answers
    _, counts = np.unique(first.argmax(axis=1) * 4 + second.argmin(axis=1), return_counts=True)
    assert len(counts) == 12 and stats.chisquare(counts).pvalue > 0.001


def test_answers_are_shuffled_within_strata():
    table = one_stratum(CASES[2])
    both = pd.concat([table, table.assign(s="y", estimate=~table["estimate"])], ignore_index=True)
    answers = drawn(both, n_draws=50, by=["s"], context={"group": "q"})
    assert [set(answers[:, part].sum(axis=1)) for part in (slice(3), slice(3, 7), slice(7, 10), slice(10, 14))] == [
        *({1}, {3}, {2}, {1})
    ]


@pytest.mark.slow
def test_draws_do_not_depend_on_order_or_blocks():
    rng = np.random.default_rng(5)
    n = 1200
    table = pd.DataFrame({"truth": rng.random(n) < 0.5, "estimate": rng.random(n) < 0.3, "q": rng.integers(0, 3, n)})
    how = {"rng": 3, "n_draws": 500, "method": "simulate", "context": {"group": "q"}}
    whole = table.ceval.with_controls(["answer_accuracy"], **how)
    turned = table.iloc[::-1].ceval.with_controls(["answer_accuracy"], **how).sort_index()
    pd.testing.assert_frame_equal(whole, turned)
    answers = drawn(table.assign(s="x"), n_draws=130, by=["s"], context={"group": "q"})
    for rows in table.groupby("q").indices.values():
        assert (answers[:, rows].sum(axis=1) == table["estimate"].to_numpy()[rows].sum()).all()
    shares = [answers[:, rows].mean() for rows in (table["truth"], ~table["truth"])]
    np.testing.assert_allclose(shares, table["estimate"].mean(), atol=0.01)


@pytest.mark.filterwarnings("ignore:found an estimate without a truth in 1 of 6 rows")
def test_answers_without_a_truth_are_shuffled_with_the_others():
    table = one_stratum(CASES[0])
    table = table.assign(truth=table["truth"].astype("boolean"))
    table.loc[5, "truth"] = pd.NA
    with pytest.warns(UserWarning, match="an estimate without a truth in 1 of 6 rows"):
        cube = table.ceval.cube(["answer_accuracy"], by=["s"], n_draws=999, rng=1)
    found = cube.ceval.summary(statistic="mean", columns="full").iloc[0]
    # three of six yes among five scored: all right with probability 1 / 20
    assert found["p_method"] == "simulated" and found["p_value"] == pytest.approx(0.05, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["mean", "rank"])
@pytest.mark.parametrize(("samples", "questions", "share"), [(2, 10, 0.5), (4, 5, 0.5), (6, 1, 0.5), (10, 3, 0.2)])
def test_strata_of_coins_keep_the_level_where_truths_are_balanced(samples, questions, share, statistic):
    """Half of the true answers are yes: answers that were taken as independent were rejected too often here."""
    rng, strata = np.random.default_rng(6), 600
    size = samples * questions
    table = pd.DataFrame({"s": np.repeat(np.arange(strata), size), "q": np.tile(np.arange(size) // samples, strata)})
    table["truth"] = np.tile(np.arange(size) % 2 == 0, strata)
    table["estimate"] = rng.random(strata * size) < share
    how = {"by": ["s"], "n_draws": 199, "rng": 1, "context": {"group": "q"}}
    p = (
        table.ceval.cube(["answer_accuracy"], **how)
        .ceval.summary(statistic=statistic, columns="full")["p_value"]
        .dropna()
    )
    for level in (0.01, 0.05, 0.2):
        assert (p <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / len(p))


def answered(truths, answers, replicates=1, **columns):
    """Return a table of samples, (samples, questions), whose answers all replicates repeat."""
    truths, answers = (np.atleast_2d(np.asarray(x, object)) for x in (truths, answers))
    rows = [
        {"sample": s, "q": q, "replicate": r, "truth": truths[s, q], "estimate": answers[s, q]}
        for s, q, r in itertools.product(range(truths.shape[0]), range(truths.shape[1]), range(replicates))
    ]
    return pd.DataFrame(rows).assign(**columns).astype({"truth": "boolean", "estimate": "boolean"})


def shuffling_test(table, by=(), cluster="sample", n_draws=999, statistic="mean", rng=1, **settings):
    cube = table.ceval.cube(
        ["answer_accuracy"], by=list(by), n_draws=n_draws, rng=rng, cluster=cluster, context={"group": "q"}, **settings
    )
    return cube.ceval.summary(statistic=statistic, adjust=None, columns="full")


@pytest.mark.slow
@pytest.mark.parametrize("replicates", [1, 4])
def test_p_is_the_share_of_all_joint_shufflings(replicates):
    truths = np.array([[1, 0], [0, 0], [1, 1], [0, 1], [1, 0]], bool)
    answers = np.array([[1, 0], [0, 1], [1, 1], [0, 1], [0, 0]], bool)
    every = [(truths == answers[list(order)]).sum() for order in itertools.permutations(range(5))]
    expected = np.mean(np.array(every) >= (truths == answers).sum())
    found = shuffling_test(answered(truths, answers, replicates), n_draws=20_000).iloc[0]
    assert found["p_value"] == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 20_000))
    assert found["n_clusters"] == 5
    assert found["p_method"] == "relabelling by column sample"


@pytest.mark.slow
def test_replicates_add_nothing():
    rng = np.random.default_rng(4)
    truths = np.arange(10)[:, None] % 2 == 0
    answers = truths ^ (rng.random((10, 1)) < 0.2)
    p = [shuffling_test(answered(truths, answers, r), n_draws=4999)["p_value"].iloc[0] for r in (2, 5)]
    assert p[0] == pytest.approx(p[1], abs=0.01)
    alone = shuffling_test(answered(truths, answers, 5), cluster=None)["p_value"].iloc[0]
    assert alone < p[1] / 10


@pytest.mark.slow
def test_clusters_with_other_questions_keep_their_answers():
    # no sample answered what another one did, so nothing can move
    table = answered(np.eye(3, dtype=bool), np.eye(3, dtype=bool), 2)
    table["q"] = table["sample"] * 10 + table["q"]
    found = shuffling_test(table).iloc[0]
    assert np.isnan(found["p_value"]) or found["p_value"] == 1
    # a missing answer sets its sample apart
    truths = np.array([[1], [0], [1], [0]], bool)
    whole = answered(truths, truths, 3)
    lost = whole.copy()
    lost.loc[0, "estimate"] = pd.NA
    assert shuffling_test(whole, n_draws=9999)["p_value"].iloc[0] == pytest.approx(1 / 6, abs=0.02)
    # only the samples 1, 2 and 3 move: the one with a yes keeps it in two of six orders
    assert shuffling_test(lost, n_draws=9999)["p_value"].iloc[0] == pytest.approx(1 / 3, abs=0.02)


@pytest.mark.slow
def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(2)
    table = answered(rng.random((12, 2)) < 0.5, rng.random((12, 2)) < 0.5, 3)
    table["run"] = np.arange(len(table))
    first, second = (shuffling_test(x, key="run") for x in (table, table.sample(frac=1, random_state=1)))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.slow
def test_only_the_null_model_that_shuffles_moves_answers():
    rng = np.random.default_rng(3)
    table = answered(rng.random((6, 1)) < 0.5, rng.random((6, 1)) < 0.5, 3)
    methods = {
        null: shuffling_test(table, null=null)["p_method"].iloc[0] for null in ("permute_answers", "random_answers")
    }
    assert methods == {
        "permute_answers": "relabelling by column sample",
        "random_answers": "twice the mean p by column sample",
    }
    both = shuffling_test(table, null=["permute_answers", "random_answers"]).set_index("null")["p_method"]
    assert both.to_dict() == methods


@pytest.mark.slow
def test_repeated_samples_are_named_where_rows_count_as_independent():
    table = answered([[1], [0]], [[1], [0]], 3).assign(g="a")
    for n_draws in (99, None):
        with pytest.warns(UserWarning, match=r"share a value of column 'sample' \(row 1.*pass cluster='sample'"):
            table.ceval.cube(["answer_accuracy"], by=["g"], n_draws=n_draws, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for settings in ({"cluster": "sample"}, {"cluster": None}, {"cluster": "sample", "n_draws": None}):
            table.ceval.cube(["answer_accuracy"], by=["g"], rng=1, **settings)
        table.assign(task=table["replicate"]).ceval.cube(["answer_accuracy"], by=["g"], n_draws=99, rng=1)
        table = table.assign(n=table["replicate"] + 0.5)
        table.ceval.cube(["answer_accuracy"], by=[{"n": [0.0, 1.0, 2.0, 3.0]}], n_draws=99, rng=1)


def coins(strata, samples, sizes, right, seed):
    """Return strata of samples with balanced truths and equal replicates."""
    rng = np.random.default_rng(seed)
    truth = np.stack([rng.permutation(np.arange(samples) % 2 == 0) for _ in range(strata)])
    answer = truth ^ (rng.random(truth.shape) >= right)
    n = np.tile(np.resize(sizes, samples), strata)
    study, sample = (np.repeat(x.ravel(), n) for x in np.indices(truth.shape))
    return pd.DataFrame(
        {"study": study, "sample": study * samples + sample, "q": 0}
        | {"truth": np.repeat(truth.ravel(), n), "estimate": np.repeat(answer.ravel(), n)}
    ).astype({"truth": "boolean", "estimate": "boolean"})


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[5], [1, 2, 5]])
@pytest.mark.parametrize("statistic", ["mean", "rank"])
def test_size_and_power_of_equal_replicates(sizes, statistic):
    how = {"by": ["study"], "n_draws": 199, "statistic": statistic}
    p = shuffling_test(coins(800, 12, sizes, 0.5, seed=5), **how)["p_value"]
    assert (p <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 800)
    assert (p <= 0.01).mean() <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / 800)
    assert (shuffling_test(coins(200, 12, sizes, 0.95, seed=6), **how)["p_value"] <= 0.05).mean() > 0.7
    # counted as independent, coins are rejected far too often
    assert (
        shuffling_test(coins(800, 12, sizes, 0.5, seed=5), **how | {"cluster": None})["p_value"] <= 0.05
    ).mean() > 0.12


@pytest.mark.slow
def test_answers_that_move_by_sample_show_that_replicates_are_not_independent():
    # four of eight samples get a yes: a random order has three right or more in 17 of 70, which answers that count as
    # independent reject
    table = coins(3, 8, [5], 1.0, seed=1)
    answers = table["estimate"].to_numpy().reshape(3, 8, 5)
    sizes = {}
    for cluster in ("sample", None):
        p = []
        for seed in range(60):
            order = np.stack([np.random.default_rng([seed, i]).permutation(8) for i in range(3)])
            moved = np.take_along_axis(answers, order[:, :, None], axis=1)
            placebo = table.assign(estimate=pd.array(moved.ravel(), dtype="boolean"))
            p += shuffling_test(placebo, ["study"], cluster, n_draws=99)["p_value"].tolist()
        sizes[cluster] = (np.array(p) <= 0.05).mean()
    assert sizes["sample"] < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 180)
    assert sizes[None] == pytest.approx(17 / 70, abs=4 * np.sqrt(17 / 70 * 53 / 70 / 180))


@pytest.mark.slow
def test_repeated_samples_are_named_on_dask():
    dd = pytest.importorskip("dask.dataframe")
    import causaleval_pd.dask  # noqa: F401

    table = answered([[1], [0]], [[1], [0]], 3).assign(g="a").sample(frac=1, random_state=1).reset_index(drop=True)
    rows = table.assign(row=range(len(table)))
    lazy = dd.from_pandas(rows, npartitions=2)
    repeated = rows["sample"].duplicated().idxmax()
    size = len(rows) - len(rows) // 2
    place = f"partition {repeated // size}, row {repeated % size}"
    how = {"by": ["g"], "n_draws": 99, "rng": 1, "key": "row"}
    for draws in ({}, {"n_draws": None}):
        with pytest.warns(UserWarning, match=rf"share a value of column 'sample' \({place}\).*pass cluster='sample'"):
            lazy.ceval.cube(["answer_accuracy"], **(how | draws))
    for settings in ({"cluster": "sample"}, {"cluster": None}, {"cluster": "sample", "n_draws": None}):
        lazy.ceval.cube(["answer_accuracy"], **(how | settings))
