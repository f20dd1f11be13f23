"""Resampled PNS and classes: bootstrap by sample, the published draw of replicates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import class_frequencies, make_tasks, quantities, reasoners, resampled_pns, taxonomy


@pytest.fixture(scope="module")
def tasks():
    return make_tasks("candy_party", [[2, 2]], n_samples=400, replicates=3, min_pns=0.3, rng=2)


@pytest.fixture(scope="module")
def noisy(tasks):
    questions = tasks.questionnaire()
    return questions.assign(answer=reasoners.noisy(questions, 0.1, 1), model="noisy")


@pytest.mark.slow
def test_the_bootstrap_agrees_with_the_analytic_error(tasks, noisy):
    table = quantities(noisy, worlds=tasks, which=["pns"], truth="exact").query("kind != 'composition'")
    drawn = resampled_pns(noisy, tasks, n_resamples=2000, rng=3)
    merged = drawn.merge(table, on=["cause", "effect"], suffixes=("", "_table"))
    np.testing.assert_allclose(merged["estimate"], merged["estimate_table"], atol=2e-3)
    width = (merged["ci_high"] - merged["ci_low"]) / (2 * 1.96)
    np.testing.assert_allclose(width, merged["se"], rtol=0.1)


@pytest.mark.slow
def test_replicates_are_nested_in_samples(tasks):
    # identical replicates carry no further evidence: the interval does not shrink
    questions = tasks.questionnaire()
    copied = questions.assign(answer=questions["truth"])
    once = copied[copied["replicate"] == 0]
    widths = [
        resampled_pns(answers, tasks, n_resamples=2000, rng=3).eval("ci_high - ci_low") for answers in (once, copied)
    ]
    np.testing.assert_allclose(widths[0], widths[1], rtol=0.1)
    # the published draw keeps the samples: without noise between replicates nothing varies
    fixed = resampled_pns(copied, tasks, resample="replicates", n_resamples=50, rng=3)
    assert (fixed["ci_low"] == fixed["ci_high"]).all()


@pytest.mark.slow
def test_the_published_draw_by_brute_force(tasks, noisy):
    drawn = resampled_pns(noisy, tasks, resample="replicates", n_resamples=4000, rng=5)
    wide = noisy[noisy["world"] != "fact"].pivot_table(
        index=["cause", "effect", "sample", "replicate"], columns="world", values="answer", aggfunc="first"
    )
    hit = (wide["do1"].astype(bool) & ~wide["do0"].astype(bool)).astype(float)
    shares = hit.groupby(["cause", "effect", "sample"]).mean()
    mean = shares.groupby(["cause", "effect"]).mean()
    spread = np.sqrt((shares * (1 - shares)).groupby(["cause", "effect"]).sum()) / 400
    found = drawn.set_index(["cause", "effect"])
    np.testing.assert_allclose(found["estimate"], mean.loc[found.index], atol=1e-3)
    np.testing.assert_allclose((found["ci_high"] - found["ci_low"]) / 3.92, spread.loc[found.index], rtol=0.12)


@pytest.mark.slow
def test_frequencies_of_clear_cases(tasks, noisy):
    questions = tasks.questionnaire()
    both = pd.concat(
        [
            questions.assign(answer=reasoners.parrots_do(questions), model="parrot"),
            questions.assign(answer=reasoners.random(questions, rng=1), model="random"),
        ]
    )
    found = class_frequencies(both, tasks, by="model", n_resamples=200, rng=1).set_index("model")
    assert found.loc["parrot", "IC"] == 1
    assert found.loc["random", "II"] == 1
    np.testing.assert_allclose(found[["VC", "VI", "IC", "II"]].sum(axis=1), 1)


@pytest.mark.slow
def test_without_resampling_noise_the_class_is_that_of_the_taxonomy(tasks, noisy):
    questions = tasks.questionnaire()
    answers = questions.assign(answer=questions["truth"])
    table = quantities(answers, worlds=tasks, truth="sample", which=["pns"])
    for multiplier in (None, 1.25):
        once = taxonomy(table, convention="paper", multiplier=multiplier)["class"][0]
        drawn = class_frequencies(
            answers, tasks, convention="paper", multiplier=multiplier, resample="replicates", n_resamples=5, rng=1
        )
        assert drawn[once][0] == 1


def test_draws_do_not_depend_on_the_order_of_rows(tasks, noisy):
    shuffled = noisy.sample(frac=1, random_state=1)
    pairs = ["cause", "effect"]
    first, second = (
        resampled_pns(answers, tasks, n_resamples=50, rng=7).sort_values(pairs, ignore_index=True)
        for answers in (noisy, shuffled)
    )
    pd.testing.assert_frame_equal(first, second)
    assert not first.equals(resampled_pns(noisy, tasks, n_resamples=50, rng=8).sort_values(pairs, ignore_index=True))


def test_refusals(tasks, noisy):
    with pytest.raises(ValueError, match="n_resamples must be"):
        class_frequencies(noisy, tasks, n_resamples=0)
    with pytest.raises(ValueError, match="unknown convention"):
        class_frequencies(noisy, tasks, convention="fixed")
    with pytest.raises(ValueError, match="unknown resample"):
        resampled_pns(noisy, tasks, resample="rows")


def test_a_perfect_reasoner_passes_in_every_draw(tasks):
    perfect = tasks.questionnaire().assign(answer=lambda q: q["truth"])
    [found] = class_frequencies(perfect, tasks, n_resamples=200, rng=1).to_dict("records")
    assert found["VC"] == 1.0
    exact = class_frequencies(perfect, tasks, n_resamples=200, truth="exact", rng=1)
    assert exact["VC"][0] < 1.0
