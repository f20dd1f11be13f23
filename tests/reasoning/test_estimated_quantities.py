"""Quantities against an independent implementation, against counting by hand, and under mistreatment."""

import itertools

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import Tasks, World, make_tasks, quantities, reasoners

KEYS = ["model", "task", "cause", "effect"]


@pytest.fixture(scope="module")
def table(interventions, known_worlds):
    return quantities(interventions, by="model", worlds=known_worlds)


def wide(table, column):
    rows = table[(table["relation"] == "external") & (table["kind"] != "composition")]
    return rows.pivot_table(index=KEYS, columns="quantity", values=column)


@pytest.mark.slow
def test_estimates_agree_with_the_independent_implementation(table, known):
    found, truth = wide(table, "estimate"), wide(table, "truth_sample")
    expected = known("estimates").rename(columns={"reasoner": "model"}).set_index(KEYS).loc[found.index]
    columns = {
        "p_do1": "est_p_y_do1", "p_do0": "est_p_y_do0", "pns": "est_pns", "ate": "est_ate",
        "monotonicity_violation": "est_reverse",
    }  # fmt: skip
    for ours, theirs in columns.items():
        np.testing.assert_allclose(found[ours], expected[theirs], atol=1e-12)
    np.testing.assert_allclose(truth["pns"], expected["truth_authors"], atol=1e-12)
    # written with ten decimals
    np.testing.assert_allclose(wide(table, "truth_exact")["pns"], expected["truth_exact"], atol=1e-10)


@pytest.mark.slow
def test_association_agrees_with_the_independent_implementation(known, known_answers):
    rows = known("answers")
    # nothing was asked about roots: what they are is told as a question about them
    roots = rows[~rows["cause"].isin(rows["effect"].unique())].drop_duplicates(["task", "sample", "cause"])
    told = roots[["task", "sample"]].assign(cause=None, effect=roots["cause"], world="fact")
    told = told.assign(truth=roots["fact_cause"].astype(bool), answer=roots["fact_cause"].astype(bool))
    told = [told.assign(model=model) for model in known_answers["model"].unique()]
    asked = pd.concat([known_answers, *told], ignore_index=True)
    table = quantities(asked, by="model", which=["p_given1", "p_given0"])
    found = wide(table, "estimate")
    expected = known("estimates").rename(columns={"reasoner": "model"}).set_index(KEYS).loc[found.index]
    assert len(found) == 10 * known("answers").groupby(["task", "cause", "effect"]).ngroups
    np.testing.assert_allclose(found["p_given1"], expected["est_p_y_given_x1"], atol=1e-9)
    np.testing.assert_allclose(found["p_given0"], expected["est_p_y_given_x0"], atol=1e-9)


@pytest.mark.slow
def test_compositions_agree_with_the_independent_implementation(table, known):
    rows = table[table["kind"] == "composition"].assign(path=lambda t: t["path"].str.replace(" > ", ">"))
    external, internal = (
        rows[rows["relation"] == r].set_index(["model", "task", "path"]) for r in ("external", "internal")
    )
    expected = known("composition_scores").set_index(["reasoner", "task", "path"]).loc[internal.index]
    np.testing.assert_allclose(internal["estimate"], expected["est_product"], atol=1e-9)
    np.testing.assert_allclose(internal["truth"], expected["est_global"], atol=1e-9)
    np.testing.assert_allclose(external["estimate"], expected["est_product"], atol=1e-9)
    gap = (external["truth_sample"] - internal["truth_sample"]).abs() / internal["truth_sample"]
    defined = np.isfinite(expected["threshold_x1"])
    np.testing.assert_allclose(gap[defined], expected["threshold_x1"][defined], atol=1e-9)
    # the composition theorem
    np.testing.assert_allclose(external["truth_exact"], internal["truth_exact"], atol=1e-14)


def small(do1, do0, **more):
    """Answers to one pair: strings of 1, 0 and ? by sample."""
    bits = {"1": True, "0": False, "?": pd.NA}
    rows = [
        {"task": 0, "sample": i, "cause": "X", "effect": "Y", "world": w, "truth": w == "do1", "answer": bits[bit]}
        for w, text in (("do1", do1), ("do0", do0))
        for i, bit in enumerate(text)
        if bit != " "
    ]
    return pd.DataFrame(rows).astype({"answer": "boolean"}).assign(**more)


def of(table, quantity):
    return table.set_index("quantity").loc[quantity]


def test_counting_by_hand():
    table = quantities(small("1110100", "1010010"))
    pns = of(table, "pns")
    assert (pns["n"], pns["yes_1"], pns["yes_0"], pns["yes_both"]) == (7, 4, 3, 2)
    assert pns["estimate"] == 2 / 7
    assert of(table, "monotonicity_violation")["estimate"] == 1 / 7
    assert of(table, "ate")["estimate"] == pytest.approx(1 / 7)
    assert pns["counts"] == "pns 7 4 7 3 2"
    assert pns["estimate"] - of(table, "monotonicity_violation")["estimate"] == pytest.approx(
        of(table, "ate")["estimate"]
    )


@pytest.mark.slow
def test_missing_answers_are_counted_and_bounded_by_all_ways_to_fill_them():
    do1, do0 = "11?0?1", "1?0?00"
    table = quantities(small(do1, do0))
    pns = of(table, "pns")
    assert (pns["n"], pns["n_failed"]) == (2, 4)
    fills = []
    for code in range(2 ** (do1 + do0).count("?")):
        bits = iter(format(code, "04b"))
        filled = ["".join(next(bits) if c == "?" else c for c in text) for text in (do1, do0)]
        fills.append(quantities(small(*filled)).set_index("quantity")["estimate"])
    fills = pd.DataFrame(fills)
    for name in ("pns", "ate", "p_do1", "p_do0", "monotonicity_violation"):
        assert of(table, name)["missing_low"] == pytest.approx(fills[name].min()), name
        assert of(table, name)["missing_high"] == pytest.approx(fills[name].max()), name


@pytest.mark.slow
def test_bounds_need_no_pairs():
    unpaired = small("1101      ", "    100000")
    pns = of(quantities(unpaired), "pns")
    assert np.isnan(pns["estimate"])
    assert pns["n"] == 0
    assert (pns["bound_low"], pns["bound_high"]) == pytest.approx((3 / 4 - 1 / 6, 3 / 4))


@pytest.mark.slow
def test_tian_pearl_bounds_are_sharp():
    for do1, do0 in (("1100", "1010"), ("1110", "1000"), ("0000", "1111")):
        rows = quantities(small(do1, do0))
        pns = of(rows, "pns")
        other = [
            of(quantities(small(do1, "".join(order))), "pns")["estimate"]
            for order in sorted(set(itertools.permutations(do0)))
        ]
        assert (pns["bound_low"], pns["bound_high"]) == (min(other), max(other))


@pytest.mark.slow
def test_answers_are_matched_by_key_not_by_order():
    tasks = make_tasks("candy_party", [[3, 2]], n_samples=50, replicates=2, rng=3)
    answered = tasks.questionnaire()
    answered["answer"] = answered["truth"].mask(answered.index % 7 == 0)
    shuffled = answered.sample(frac=1, random_state=1).reset_index(drop=True)
    keys = ["quantity", "kind", "relation", "cause", "effect"]
    before, after = (quantities(t, worlds=tasks).sort_values(keys, ignore_index=True) for t in (answered, shuffled))
    pd.testing.assert_frame_equal(before, after, rtol=1e-12)
    assert (before.loc[before["kind"] != "composition", "n_failed"] > 0).all()


@pytest.mark.slow
def test_perfect_answers_have_the_same_sample_truth_and_root_values_are_found():
    tasks = make_tasks("flu_vaccine", [[3, 3]], n_samples=400, rng=5)
    table = quantities(tasks.questionnaire().assign(answer=lambda q: q["truth"]), worlds=tasks)
    external = table[table["relation"] == "external"]
    np.testing.assert_allclose(external["estimate"], external["truth_sample"])
    assert external["n"].gt(0).all()
    given = external[external["quantity"].str.startswith("p_given")]
    assert (given["truth_exact"] - given["estimate"]).abs().max() < 0.15


@pytest.mark.slow
def test_tasks_from_tables_give_the_same():
    drawn = make_tasks("candy_party", [[2, 3]], n_samples=30, replicates=2, rng=5)
    names = ("worlds", "nodes", "edges", "quantities", "questions", "contexts", "truths")
    stored = Tasks({name: getattr(drawn, name) for name in names})
    found = []
    for tasks in (drawn, stored):
        answered = reasoners.baselines(tasks.questionnaire(), tasks, names=["noisy", "wrong_world"], rng=1)
        found.append((answered, quantities(answered, by="model", worlds=tasks), tasks.prompts()))
    pd.testing.assert_frame_equal(found[0][0], found[1][0])
    pd.testing.assert_frame_equal(found[0][1], found[1][1])
    pd.testing.assert_series_equal(found[0][2], found[1][2])
    fewer = make_tasks("candy_party", [[2, 3]], n_samples=9, replicates=2, rng=5)
    with pytest.raises(ValueError, match="task 0 has no sample 9; pass the tasks of these questions"):
        quantities(found[0][0], by="model", worlds=fewer)


def test_shapes_of_the_papers_graph():
    from causaleval_pd.reasoning import example_world

    world = example_world()
    rows = [
        {"task": 0, "sample": 0, "cause": c, "effect": e, "world": w, "truth": True, "answer": True}
        for c, e in world.pairs("cut")
        for w in ("do1", "do0")
    ]
    table = quantities(pd.DataFrame(rows), worlds=world, which=["ate"]).set_index(["cause", "effect"])
    expected = {("X", "Y"): (6, 3), ("X", "C"): (2, 1), ("X", "D"): (3, 2), ("C", "D"): (0, 1), ("C", "Y"): (3, 2)}
    for pair, shape in expected.items():
        assert tuple(table.loc[pair, ["mediators", "distance"]]) == shape


@pytest.mark.slow
def test_replicates_of_a_sample_are_one_cluster():
    once = small("1101001011" * 10, "0100001001" * 10)
    five = pd.concat([once.assign(replicate=i) for i in range(5)], ignore_index=True)
    one, many = (of(quantities(t), "pns") for t in (once, five))
    assert many["n"] == 5 * one["n"]
    assert many["n_samples"] == one["n_samples"] == 100
    assert many["n_effective"] == pytest.approx(one["n_effective"]) == pytest.approx(100)
    assert many["se"] == pytest.approx(one["se"])


@pytest.mark.slow
def test_se_agrees_with_the_jackknife():
    table = small("1101001011" * 3, "0100101001" * 3)
    factors = [np.delete(np.arange(30), i) for i in range(30)]
    ate = of(quantities(table), "ate")
    left_out = [of(quantities(table[table["sample"].isin(keep)]), "ate")["estimate"] for keep in factors]
    jackknife = np.sqrt(29 / 30 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2))
    # pseudo-observations widen it a little
    assert ate["se"] == pytest.approx(np.sqrt(jackknife**2 + 2 / 30**2), rel=0.04)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="answer"), "no column 'answer'; make it by ce.reasoning.ask"),
        (lambda t: pd.concat([t, t]), "answered more than once"),
        (lambda t: t.assign(answer="yes"), "parse_answers"),
        (lambda t: t.assign(world="do2"), "unknown world of a question: 'do2'"),
        (lambda t: t.assign(truth=pd.NA), "'truth', row 0 .* is missing"),
        (lambda t: t.assign(cause=None), "must name its cause"),
    ],
)
def test_refusals_name_the_fault(change, message):
    with pytest.raises(ValueError, match=message):
        quantities(change(small("10", "01")))


@pytest.mark.slow
def test_compositions_can_be_few_or_none():
    tasks = make_tasks("candy_party", [[2, 2, 2, 2]], n_samples=20, rng=1)
    answered = tasks.questionnaire().assign(answer=lambda q: q["truth"])
    few = quantities(answered, worlds=tasks, which=["pns"], n_compositions=2)
    made = few.loc[(few["kind"] == "composition") & (few["relation"] == "internal"), "path"]
    assert made.str.count(">").tolist() == [4, 3]
    assert not (quantities(answered, worlds=tasks, n_compositions=0)["kind"] == "composition").any()
    # a pair that nobody asked about
    end = answered[~((answered["cause"] == few["cause"].iloc[-1]) & (answered["effect"] == few["effect"].iloc[-1]))]
    with pytest.raises(ValueError, match="about which no answers are in the table"):
        quantities(end, worlds=tasks)
    assert len(quantities(end, worlds=tasks, n_compositions=0))


def test_nodes_may_be_numbers():
    world = World([(1, 2), (2, 3)], {"2": "or", "3": "and"}, {"1": 0.5, "2": 0.4, "3": 0.6})
    pairs = {(1, 2): 0.6, (1, 3): 0.36, (2, 3): 0.6}
    table = pd.concat([small("10", "01").assign(cause=c, effect=e) for c, e in pairs], ignore_index=True)
    found = quantities(table, worlds=world, which=["pns"]).query("relation == 'external'")
    assert found["truth_exact"].tolist() == pytest.approx([*pairs.values(), 0.36])
    assert found["kind"].tolist() == ["local", "global", "local", "composition"]


def test_a_factual_question_for_a_pair_and_for_all_is_ambiguous():
    tasks = make_tasks("candy_party", [[2, 2]], n_samples=5, rng=1)
    answered = tasks.questionnaire().assign(answer=lambda q: q["truth"])
    cause, effect = tasks.quantities.loc[0, ["cause", "effect"]]
    again = answered[(answered["world"] == "fact") & (answered["effect"] == effect)].assign(cause=cause)
    with pytest.raises(ValueError, match="both for one pair and for all"):
        quantities(pd.concat([answered, again]), worlds=tasks)


@pytest.mark.slow
def test_worlds_and_compositions_are_checked():
    table = small("10", "01")
    with pytest.raises(ValueError, match="no world for the tasks"):
        quantities(table, worlds={5: World([("X", "Y")], {"Y": "or"}, {"X": 0.5, "Y": 0.5})})
    with pytest.raises(ValueError, match="needs worlds="):
        quantities(table, truth="exact")
    with pytest.raises(ValueError, match="needs the pair"):
        quantities(table, cut_nodes={0: ["X", "M", "Y"]})
    with pytest.raises(ValueError, match="compositions, more than 4096"):
        quantities(table, cut_nodes={0: ["X", *map(str, range(20)), "Y"]})


def test_equal_answers_have_an_error_of_one_pseudo_observation_in_each_direction():
    # twenty samples without a wrong answer: the variance is 2 / n^2
    answers = small("1" * 20, "0" * 20)
    assert quantities(answers, which=["ate"])["se"].tolist() == pytest.approx([np.sqrt(2) / 20])


@pytest.mark.slow
def test_the_published_draw_of_one_replicate_per_sample():
    """Chosen replicates, as the page draws them, have the mean and the spread of independent choices."""
    tasks = make_tasks("candy_party", [[2, 2]], n_samples=100, replicates=3, min_pns=0.3, rng=2)
    answers = reasoners.baselines(tasks.questionnaire(), tasks, names=["noisy"], error=0.1, rng=1)
    answers = answers[answers["world"] != "fact"]
    wide = answers.pivot_table(
        index=["cause", "effect", "sample", "replicate"], columns="world", values="answer", aggfunc="first"
    )
    hit = (wide["do1"].astype(bool) & ~wide["do0"].astype(bool)).astype(float)
    share = hit.groupby(["cause", "effect", "sample"]).mean()
    mean = share.groupby(["cause", "effect"]).mean()
    spread = np.sqrt((share * (1 - share)).groupby(["cause", "effect"]).sum()) / 100
    rng, drawn = np.random.default_rng(5), []
    for _ in range(60):
        chosen = dict(enumerate(rng.integers(0, 3, 100)))
        kept = answers[answers["replicate"] == answers["sample"].map(chosen)]
        found = quantities(kept, worlds=tasks, which=["pns"]).query("kind != 'composition'")
        drawn.append(found.set_index(["cause", "effect"])["estimate"])
    table = pd.concat(drawn, axis=1)
    for pair in mean.index:
        assert abs(table.loc[pair].mean() - mean[pair]) <= 4 * spread[pair] / np.sqrt(60)
        assert 0.6 <= table.loc[pair].std() / spread[pair] <= 1.4
