"""The PNS over draws of one replicate a sample, as published."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import make_tasks, reasoners, resampled_pns


@pytest.fixture(scope="module")
def tasks():
    return make_tasks("candy_party", [[2, 2]], n_samples=400, replicates=3, min_pns=0.3, rng=2)


@pytest.fixture(scope="module")
def noisy(tasks):
    questions = tasks.questionnaire()
    return questions.assign(answer=reasoners.noisy(questions, 0.1, 1), model="noisy")


def test_without_noise_between_replicates_nothing_varies(tasks):
    copied = tasks.questionnaire().assign(answer=lambda q: q["truth"])
    fixed = resampled_pns(copied, tasks, n_resamples=50, rng=3)
    assert (fixed["ci_low"] == fixed["ci_high"]).all()


@pytest.mark.slow
def test_the_published_draw_by_brute_force(tasks, noisy):
    drawn = resampled_pns(noisy, tasks, n_resamples=4000, rng=5)
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
        resampled_pns(noisy, tasks, n_resamples=0)
