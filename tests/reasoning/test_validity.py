"""Baseline reasoners; thresholds as published, and decisions that know noise: agreement, calibration, power."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from causaleval_pd import reasoning as cr
from causaleval_pd.fields.reasoning.validity import lower_tail, upper_tail

PATH = ["model", "task", "path"]


@pytest.fixture(scope="module")
def table(interventions, known_worlds):
    return cr.quantities(interventions, by="model", worlds=known_worlds, which=["pns"], truth="exact")


def expected_compositions(known, index):
    rows = known("composition_scores").assign(path=lambda t: t["path"].str.replace(">", " > "))
    return rows.set_index(["reasoner", "task", "path"]).loc[index]


@pytest.mark.slow
def test_published_thresholds_agree(table, known):
    judged = cr.judge(table)
    internal = judged[judged["relation"] == "internal"].set_index(PATH)
    expected = expected_compositions(known, internal.index)
    defined = np.isfinite(expected["internal_rae"])
    np.testing.assert_allclose(internal["rae"][defined], expected["internal_rae"][defined], atol=1e-9)
    np.testing.assert_array_equal(internal["passes"], expected["consistent_0_1"] == 1)
    np.testing.assert_array_equal(internal["passes_published"], expected["consistent_x1_25"] == 1)
    external = judged[(judged["relation"] == "external") & (judged["kind"] == "composition")].set_index(PATH)
    np.testing.assert_array_equal(
        external["passes_published"], expected_compositions(known, external.index)["valid"] == 1
    )
    pairs = judged[judged["kind"] != "composition"].set_index(["model", "task", "cause", "effect"])
    scores = known("estimates").set_index(["reasoner", "task", "cause", "effect"]).loc[pairs.index]
    np.testing.assert_array_equal(pairs["passes_published"], scores["valid_authors_0_1"] == 1)
    np.testing.assert_array_equal(pairs["passes"], scores["valid_exact_0_1"] == 1)


@pytest.mark.slow
@pytest.mark.parametrize(("multiplier", "column"), [(1.0, "x1"), (1.25, "x1_25"), (None, "fixed_0_1")])
def test_published_classes_agree(table, known, multiplier, column):
    found = cr.taxonomy(table, by="model", convention="paper", multiplier=multiplier).set_index(["model", "task"])
    expected = known("classes").query("rule == @column").set_index(["reasoner", "task"]).loc[found.index]
    assert found["class"].tolist() == expected["cls"].tolist()
    np.testing.assert_allclose(found["share_consistent"], expected["frac_comps_consistent"], atol=1e-9)


@pytest.mark.slow
def test_the_default_classes_of_known_reasoners(interventions, known_worlds):
    found = cr.quantities(interventions, by="model", worlds=known_worlds, which=["pns"])
    classes = cr.taxonomy(found, by="model").groupby("model")["class"].agg(lambda c: set(c.dropna()))
    assert classes["oracle"] == {"VC"}
    assert classes["random50"] == classes["noisy05"] == {"II"}
    assert classes["ignores_do"] == classes["parrots_do"] == {"IC"}
    assert classes["noisy01"] == set()
    published = cr.taxonomy(found, by="model", convention="paper").query("model == 'oracle'")["class"]
    assert published.value_counts().to_dict() == {"IC": 2, "VC": 1, "II": 1, "VI": 0}


def test_tails_are_those_of_the_binomial_law():
    yes, n, p = np.arange(0, 31), 30.0, np.linspace(0, 1, 7)[:, None]
    np.testing.assert_allclose(upper_tail(yes, n, p), binom.sf(yes - 1, 30, p), atol=1e-13)
    np.testing.assert_allclose(lower_tail(yes, n, p), binom.cdf(yes, 30, p), atol=1e-13)


def simulated(n_worlds, n, answer, seed):
    """Answers of a reasoner to fresh samples of drawn worlds, a task each."""
    generator = np.random.default_rng(seed)
    found, parts = {}, []
    for task in range(n_worlds):
        world = cr.sample_world([3, 3, 3], "cycle", "random", rng=int(generator.integers(2**31)))
        found[task] = world
        truth = world.answers(world.sample(n, int(generator.integers(2**31))), world.pairs("cut"))
        for i, (cause, effect) in enumerate(world.pairs("cut")):
            for arm, name in ((1, "do1"), (2, "do0")):
                given = answer(truth[:, i, arm], generator)
                parts.append(
                    pd.DataFrame({"task": task, "sample": range(n), "cause": cause, "effect": effect, "world": name,
                                  "truth": truth[:, i, arm], "answer": given})
                )  # fmt: skip
    return pd.concat(parts, ignore_index=True), found


def random_answers(truth, generator):
    return generator.random(len(truth)) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 400])
def test_a_perfect_reasoner_is_rejected_at_most_at_the_nominal_rate(n):
    table, found = simulated(100, n, lambda truth, _: truth, seed=n)
    exact = cr.quantities(table, worlds=found, which=["pns", "p_do1", "p_do0", "ate"], truth="exact")
    judged = cr.judge(exact, delta=0.05, floor=0.0)
    rejected = judged["decision"].isin(["invalid", "inconsistent"])
    for _, rows in rejected.groupby([judged["relation"], judged["quantity"]]):
        # the mean over rows of a task: tasks are independent, rows of one are not
        by_task = rows.groupby(judged["task"]).mean()
        assert by_task.mean() - 2 * by_task.sem() <= 0.05
    classes = cr.taxonomy(cr.quantities(table, worlds=found, which=["pns"], truth="exact"), delta=0.05, floor=0.0)
    assert (classes["valid"] == "no").mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 100)
    assert (classes["consistent"] == "no").mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 100)


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
def test_a_random_reasoner_is_always_rejected(n):
    table, found = simulated(60, n, random_answers, seed=n)
    classes = cr.taxonomy(cr.quantities(table, worlds=found, which=["pns"]))
    assert (classes["class"] == "II").all()


@pytest.mark.slow
def test_replicates_do_not_make_evidence():
    # five copies of each answer: as much is known as from one
    table, found = simulated(60, 100, lambda truth, _: truth, seed=9)
    copies = pd.concat([table.assign(replicate=i) for i in range(5)], ignore_index=True)
    once, five = (cr.judge(cr.quantities(t, worlds=found, which=["pns"], truth="exact")) for t in (table, copies))
    same = once["decision"].astype(str) == five["decision"].astype(str)
    assert same.mean() > 0.99


@pytest.mark.slow
def test_more_samples_settle_more():
    shares = []
    for n in (100, 1000, 6000):
        table, found = simulated(10, n, lambda truth, _: truth, seed=n)
        judged = cr.judge(cr.quantities(table, worlds=found, which=["pns"], truth="exact"), delta=0.2, floor=0.05)
        shares.append(judged["decision"].isin(["valid", "consistent"]).mean())
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.75


def test_constant_answers_are_invalid_but_never_inconsistent(table):
    rows = cr.judge(table[table["model"].isin(["ignores_do", "parrots_do"])])
    assert not (rows["decision"] == "inconsistent").any()
    assert cr.taxonomy(table[table["model"] == "parrots_do"])["class"].eq("IC").all()


@pytest.mark.slow
def test_same_sample_truth_takes_away_shared_noise():
    table, found = simulated(20, 300, lambda truth, _: truth, seed=4)
    judged = cr.judge(cr.quantities(table, worlds=found, truth="sample", which=["pns", "ate"]), delta=0.2, floor=0.1)
    external = judged[judged["relation"] == "external"]
    assert (external["rae"].dropna() == 0).all()
    assert (external["decision"] == "valid").mean() > 0.8
    random, found = simulated(20, 300, random_answers, seed=4)
    judged = cr.judge(cr.quantities(random, worlds=found, truth="sample", which=["pns"]))
    assert not (judged["decision"] == "valid")[judged["kind"] != "composition"].any()
    assert judged["decision"].isin(["invalid", "inconsistent"]).mean() > 0.7


@pytest.mark.parametrize("truth", ["exact", "sample"])
def test_each_row_is_judged_by_itself(truth):
    """The truths of the world and of the samples are both 0 where an effect never occurs without its cause."""
    tasks = cr.make_tasks("candy_party", [[3, 3]], n_samples=40, min_pns=0.05, rng=7)
    asked = tasks.questionnaire()
    wrong = np.random.default_rng(0).random(len(asked)) < 0.1
    asked["answer"] = asked["truth"].astype(bool) ^ wrong
    found = cr.quantities(asked, worlds=tasks, truth=truth)
    judged = cr.judge(found)
    alike = judged["truth_exact"] == judged["truth_sample"]
    assert alike.any() and not alike.all()
    for part in (alike, judged["quantity"] == "monotonicity_violation", judged["relation"] == "internal"):
        pd.testing.assert_frame_equal(cr.judge(found[part]), judged[part])
    for row in range(len(found)):
        pd.testing.assert_frame_equal(cr.judge(found.iloc[[row]]), judged.iloc[[row]])
    of_one = cr.quantities(asked, worlds=tasks, truth=truth, which=["monotonicity_violation"])
    several = judged[judged["quantity"] == "monotonicity_violation"].reset_index(drop=True)
    pd.testing.assert_frame_equal(cr.judge(of_one), several)


def test_two_tables_are_judged_together_as_apart():
    tasks = cr.make_tasks("candy_party", [[2, 2]], n_samples=40, min_pns=0.05, rng=7)
    asked = tasks.questionnaire().assign(answer=lambda q: q["truth"])
    tables = [cr.quantities(asked, worlds=tasks, truth=truth) for truth in ("exact", "sample")]
    together = cr.judge(pd.concat(tables, ignore_index=True))
    pd.testing.assert_frame_equal(together, pd.concat(map(cr.judge, tables), ignore_index=True))


@pytest.mark.slow
@pytest.mark.parametrize("n", [400])
def test_a_perfect_reasoner_passes_by_default(n):
    table, found = simulated(30, n, lambda truth, _: truth, seed=n)
    classes = cr.taxonomy(cr.quantities(table, worlds=found))
    assert (classes["class"] == "VC").all()


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [0.05, 0.2])
def test_a_noisy_reasoner_is_not_called_valid_by_default(wrong):
    def noisy(truth, generator):
        return truth ^ (generator.random(len(truth)) < wrong)

    table, found = simulated(12, 1000, noisy, seed=int(100 * wrong))
    classes = cr.taxonomy(cr.quantities(table, worlds=found))
    assert (classes["valid"] == "yes").sum() == 0
    assert (classes["valid"] == "no").mean() > 0.8


@pytest.mark.slow
def test_the_sampling_gap_keeps_the_level_of_consistency():
    """A reasoner of another world is consistent, and rarely called inconsistent, though its answers are wrong."""

    def own_world(truth, generator):
        return truth

    table, found = simulated(40, 400, own_world, seed=31)
    other, _ = simulated(40, 400, own_world, seed=32)
    # answers of another world's truth over other samples: its composition holds, and it shares no sample with the truth
    mixed = table.assign(answer=other["answer"].to_numpy())
    classes = cr.taxonomy(cr.quantities(mixed, worlds=found), delta=0.05, floor=0.0)
    assert (classes["consistent"] == "no").mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 40)


def test_settings_are_checked(table):
    for call, message in (
        (lambda: cr.judge(table, delta=-1), "delta must be a number"),
        (lambda: cr.judge(table, level=1), "level must lie"),
        (lambda: cr.judge(table.drop(columns="counts")), "no column 'counts'"),
        (lambda: cr.taxonomy(table, convention="published"), "unknown convention"),
        (lambda: cr.taxonomy(table.assign(quantity="ate")), "no rows of the PNS"),
        (lambda: cr.perfect_reasoner(0.2, 0), "n must be"),
        (lambda: cr.random_reasoner(0.2, 10, p_yes=1.5), r"p_yes must lie in \[0, 1\], found 1.5"),
        (lambda: cr.perfect_reasoner(1.2, 10), "probability"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.slow
def test_few_samples_that_were_asked_repeatedly_have_wide_intervals():
    """Answers to a sample share its rate of yes, which is the true probability on average over samples."""
    tasks = cr.make_tasks("candy_party", [[2, 2]], n_samples=5, rng=1)
    asked = tasks.questionnaire().query("world == 'do1' or world == 'do0'")
    exact = cr.quantities(asked.assign(answer=asked["truth"]), worlds=tasks, which=["p_do1"])
    yes = exact.query("0.1 < truth_exact < 0.9").iloc[0]
    asked = asked[(asked["cause"] == yes["cause"]) & (asked["effect"] == yes["effect"])]
    asked = pd.concat([asked.assign(replicate=i) for i in range(20)], ignore_index=True)
    sample = asked["sample"].rank(method="dense").astype(int) - 1
    generator, mean = np.random.default_rng(4), yes["truth_exact"]
    covered, invalid = [], []
    for _ in range(100):
        rates = generator.beta(2 * mean, 2 - 2 * mean, 5)
        answered = asked.assign(answer=generator.random(len(asked)) < rates[sample])
        found = cr.judge(cr.quantities(answered, worlds=tasks, which=["p_do1"]), delta=0.1).iloc[0]
        covered.append(found["ci_low"] <= mean <= found["ci_high"])
        invalid.append(found["decision"] == "invalid")
    # the normal quantile and the number of answers covered .82, and called .19 invalid
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 100)
    assert np.mean(invalid) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)


DRAWS = 2000  # behind each number of the files


def scatter(found, expected, draws=DRAWS):
    """Standardised deviations of probabilities that are not next to 0 or 1."""
    inside = (found > 0.01) & (found < 0.99)
    return ((found - expected) / np.sqrt(np.maximum(found * (1 - found), 1e-12) / draws))[inside]


def without_ties(truth, n, delta=0.1):
    """Tell truths whose threshold is no possible estimate: there rounding decides."""
    ends = np.stack([truth * (1 - delta) * n, truth * (1 + delta) * n])
    return (np.abs(ends - np.round(ends)) > 1e-4).all(axis=0)


def test_random_reasoners(known):
    for (n, q), rows in known("random_rae").query("exact_pns > 0").groupby(["n", "q_yes"]):
        found = cr.random_reasoner(rows["exact_pns"], n, p_yes=q).set_index(rows.index)
        np.testing.assert_allclose(found["expected"], rows["expected_pns_est"], atol=1e-12)
        clear = without_ties(rows["exact_pns"], n)
        apart = scatter(found["p_valid"][clear].to_numpy(), rows["p_valid_0_1"][clear].to_numpy())
        assert (np.abs(apart) < 4).all()
        # simulated quantiles: a tie, and what 2000 draws leave
        step = (1 + 0.6 * np.sqrt(n * 0.19)) / (n * rows["exact_pns"].to_numpy())
        for ours, theirs in (("rae_low", "rae_q05"), ("rae_median", "rae_median"), ("rae_high", "rae_q95")):
            assert (np.abs(found[ours].to_numpy() - rows[theirs].to_numpy()) <= step).all()


def test_perfect_reasoners(known):
    for n, rows in known("perfect_rae").query("exact_pns > 0").groupby("n"):
        clear = rows[without_ties(rows["exact_pns"], n)]
        apart = scatter(
            cr.perfect_reasoner(clear["exact_pns"], n)["p_valid"].to_numpy(), clear["p_perfect_valid_0_1"].to_numpy()
        )
        assert len(apart) > 100
        # as far apart as draws make it, no more
        assert 0.85 < apart.std() < 1.15
        assert abs(apart.mean()) < 0.3


def test_required_samples():
    assert cr.required_samples(0.5, 0.1) == np.ceil(1.959963984540054**2 * 100)
    n = cr.required_samples([0.3, 0.01], 0.05, level=0.9)
    half = 1.6448536269514722 * np.sqrt(np.array([0.3, 0.01]) * np.array([0.7, 0.99]) / n)
    assert (half <= 0.05 * np.array([0.3, 0.01])).all()
    assert (half * np.sqrt(n / (n - 1)) > 0.05 * np.array([0.3, 0.01])).all(), "one fewer is too few"
    assert cr.required_samples(0.0) == np.inf
    with pytest.raises(ValueError, match="a PNS must be a probability from 0 to 1; found other values in 1.2"):
        cr.required_samples(1.2)


NAMES = {
    *("perfect", "noisy", "random", "always_yes", "always_no", "ignores_do", "parrots_do", "majority"),
    *("adjacent_only", "wrong_world"),
}


@pytest.fixture(scope="module")
def tasks():
    return cr.make_tasks("candy_party", [[3, 3, 3], [2, 4, 2]], n_samples=600, rng=4)


@pytest.fixture(scope="module")
def answers(tasks):
    return cr.reasoners.baselines(tasks.questionnaire(), tasks, rng=1)


@pytest.fixture(scope="module")
def baseline_table(answers, tasks):
    return cr.quantities(answers, by="model", worlds=tasks)


def of(table, model, quantity):
    rows = table[(table["model"] == model) & (table["quantity"] == quantity) & (table["relation"] == "external")]
    return rows[rows["kind"] != "composition"]


@pytest.mark.slow
def test_all_are_there_once(answers, tasks):
    assert set(answers["model"]) == NAMES
    assert (answers.groupby("model").size() == len(tasks.questionnaire())).all()
    assert answers["answer"].notna().all()


@pytest.mark.slow
def test_what_each_does_to_the_pns(baseline_table):
    perfect = of(baseline_table, "perfect", "pns")
    np.testing.assert_allclose(perfect["estimate"], perfect["truth_sample"])
    for model in ("always_yes", "always_no", "ignores_do"):
        assert (of(baseline_table, model, "pns")["estimate"] == 0).all()
    assert (of(baseline_table, "parrots_do", "pns")["estimate"] == 1).all()
    assert of(baseline_table, "random", "pns")["estimate"].mean() == pytest.approx(0.25, abs=0.02)
    assert of(baseline_table, "random", "monotonicity_violation")["estimate"].mean() == pytest.approx(0.25, abs=0.02)
    assert of(baseline_table, "random", "ate")["estimate"].mean() == pytest.approx(0, abs=0.03)
    # right for neighbours, 1/4 beyond
    near = of(baseline_table, "adjacent_only", "pns")
    np.testing.assert_allclose(near[near["distance"] == 1]["estimate"], near[near["distance"] == 1]["truth_sample"])
    assert near[near["distance"] > 1]["estimate"].sub(0.25).abs().max() < 0.08


@pytest.mark.slow
def test_the_classes_that_they_stand_for(baseline_table):
    published = cr.taxonomy(baseline_table, by="model", convention="paper", multiplier=None)
    classes = published.groupby("model")["class"].agg(lambda c: set(c.dropna()))
    assert classes["parrots_do"] == {"IC"}
    assert classes["random"] == classes["always_no"] == classes["ignores_do"] == {"II"}
    careful = cr.taxonomy(baseline_table, by="model").set_index("model")
    assert (careful.loc["random", "class"] == "II").all()
    assert (careful.loc["perfect", ["valid", "consistent"]] != "no").all().all()
    # consistent by construction, whatever the other world
    assert (careful.loc["wrong_world", "consistent"] != "no").all()


@pytest.mark.slow
def test_wrong_world_is_right_about_the_other_world(tasks, answers):
    world = tasks.world(0)
    own = answers[(answers["model"] == "wrong_world") & (answers["task"] == 0)]
    told = tasks.contexts.query("task == 0")["noise"]
    noise = pd.DataFrame([[letter == "1" for letter in text] for text in told], columns=world.nodes)
    swapped = {n: {"and": "or", "or": "and"}[f] for n, f in world.functions.items()}
    from causaleval_pd.reasoning import World

    other = World(world.edges, swapped, world.noise)
    pairs = world.pairs("cut")
    bits = other.answers(noise, pairs)
    for arm, supposed in ((1, "do1"), (2, "do0")):
        rows = own[own["world"] == supposed].sort_values("sample")
        for i, (cause, effect) in enumerate(pairs):
            found = rows[(rows["cause"] == cause) & (rows["effect"] == effect)]["answer"].to_numpy(bool)
            np.testing.assert_array_equal(found, bits[:, i, arm])
    assert (own["answer"] != own["truth"]).any()


def answers_of(questions, name, **options):
    found = cr.reasoners.baselines(questions, names=[name], **options)
    return found["answer"].set_axis(questions.index)


@pytest.mark.parametrize("name", ["random", "noisy"])
def test_randomness_goes_by_question_not_by_row(tasks, name):
    questions = tasks.questionnaire()
    shuffled = questions.sample(frac=1, random_state=3)
    pd.testing.assert_series_equal(answers_of(questions, name, rng=5), answers_of(shuffled, name, rng=5).sort_index())
    assert (answers_of(questions, name, rng=5) != answers_of(questions, name, rng=6)).any()


def test_noise_and_majority(tasks):
    questions = tasks.questionnaire()
    wrong = answers_of(questions, "noisy", error=0.2, rng=1) != questions["truth"]
    assert wrong.mean() == pytest.approx(0.2, abs=0.01)
    given = answers_of(questions, "majority")
    by = ["task", "cause", "effect", "world"]
    assert (given.astype(float).groupby([questions[k] for k in by], dropna=False).nunique() == 1).all()
    assert (given == questions["truth"]).mean() >= 0.5


@pytest.mark.slow
def test_what_is_lacking_is_said(tasks):
    questions = tasks.questionnaire()
    with pytest.raises(ValueError, match="ask each effect in fact too"):
        cr.reasoners.baselines(questions[questions["world"] != "fact"], names=["ignores_do"])
    with pytest.raises(ValueError, match="needs worlds="):
        cr.reasoners.baselines(questions, names=["wrong_world"])
    with pytest.raises(ValueError, match="unknown baseline 'perfct'; did you mean 'perfect'"):
        cr.reasoners.baselines(questions, names=["perfct"])
    assert set(cr.reasoners.baselines(questions, rng=1)["model"]) == NAMES - {"adjacent_only", "wrong_world"}
    with pytest.raises(ValueError, match=r"error must lie in \[0, 1\], found 2"):
        cr.reasoners.baselines(questions, error=2)


@pytest.mark.slow
def test_factual_accuracy_is_no_guard(answers, baseline_table):
    scores = cr.answer_scores(answers[answers["model"] == "ignores_do"], by="model").set_index(["model", "world"])
    assert scores.loc[("ignores_do", "fact"), "accuracy"] == 1
    assert scores.loc[("ignores_do", "do1"), "accuracy"] > 0.6
    assert (of(baseline_table, "ignores_do", "pns")["estimate"] == 0).all()


def test_texts_as_truths_are_refused(tasks):
    questions = tasks.questionnaire().head(20)
    texts = questions.assign(truth=questions["truth"].map({True: "yes", False: "no"}))
    message = "column 'truth' must hold True, False or missing, .*read replies of yes and no by"
    with pytest.raises(ValueError, match=message):
        cr.reasoners.baselines(texts, names=["perfect"])
    with pytest.raises(ValueError, match="column 'truth', row 3 .*is missing"):
        cr.reasoners.baselines(questions.assign(truth=questions["truth"].mask(np.arange(20) == 3)), names=["noisy"])
