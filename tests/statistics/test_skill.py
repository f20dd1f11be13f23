"""Skill and differences of skills: by hand, coverage and size by simulation, refusals."""

import numpy as np
import pytest
from scipy import stats

from causaleval_pd.statistics.skill import skill_difference, skill_interval, skill_notes


def by_hand(loss, control, level=0.95):
    """Interval of skill by a jackknife of the log ratio."""
    total = loss.sum() / control.sum()
    left = np.array([np.log(np.delete(loss, g).sum() / np.delete(control, g).sum()) for g in range(len(loss))])
    error = np.sqrt((len(loss) - 1) / len(loss) * ((left - left.mean()) ** 2).sum())
    df = max(1, control.sum() ** 2 / (control**2).sum() - 1)
    reach = stats.t.ppf((1 + level) / 2, df) * error
    return 1 - total, 1 - total * np.exp(reach), 1 - total * np.exp(-reach)


def test_the_interval_is_a_jackknife_of_the_log_ratio():
    rng = np.random.default_rng(1)
    for n in (5, 8, 30):
        control = rng.uniform(4, 20, n)
        loss = control * rng.gamma(2, 0.3, n)
        np.testing.assert_allclose([float(x) for x in skill_interval(loss, control)], by_hand(loss, control))
        gaps = [np.append(x, np.nan) for x in (loss, control)]
        np.testing.assert_allclose([float(x) for x in skill_interval(*gaps)], by_hand(loss, control))


@pytest.mark.parametrize(("law", "least"), [("normal", 0.93), ("gamma", 0.925)])
@pytest.mark.parametrize("n", [5, 10, 20, 50])
def test_skill_is_covered(law, least, n):
    rng = np.random.default_rng(n)
    ratio = rng.normal(0.6, 0.2, (4000, n)) if law == "normal" else rng.gamma(2, 0.3, (4000, n))
    control = rng.uniform(4, 20, ratio.shape)
    found = skill_interval(ratio * control, control)
    assert ((found.low <= 0.4) & (found.high >= 0.4)).mean() > least


def test_intervals_are_refused_where_they_cannot_hold():
    control = np.full(8, 6.0)
    perfect = skill_interval(np.zeros(8), control)
    assert perfect.effect == 1 and np.isnan(perfect.low)
    assert np.isnan(skill_interval([0.0] * 7 + [3.0], control).low), "one cluster with a loss"
    assert not np.isnan(skill_interval([0.0] * 6 + [3.0, 1.0], control).low)
    assert np.isnan(skill_interval([1.0, 2.0, 3.0, 1.0], control[:4]).low), "four clusters"
    heavy = skill_interval([1.0, 2, 3, 1, 2, 80], [1.0, 2, 3, 1, 2, 100])
    assert np.isnan(heavy.low) and not np.isnan(heavy.effect), "one cluster outweighs the rest"
    assert np.isnan(skill_interval([1.0] * 6, [0.0] * 6).effect)


@pytest.mark.parametrize("loss", [[2.0] * 8, [6.0] * 8, [1.0, 2, 3, 1, 2, 3, 4, 5]])
def test_equal_shares_of_losses_have_no_interval(loss):
    control = np.array(loss) * 3
    for losses, controls in ((loss, control), ([*loss, np.nan], [*control, 1.0])):
        found = skill_interval(losses, controls)
        assert found.effect == pytest.approx(2 / 3) and np.isnan(found.low) and np.isnan(found.high)
        assert skill_notes(losses, controls).item() == "no interval: no variation"


def test_rare_disasters_are_not_covered():
    """The rates that the documentation of `summary` gives."""
    rng = np.random.default_rng(3)
    for n, rate in ((5, 0.4), (10, 0.65), (20, 0.83)):
        ratio = 0.6 / 1.8 * np.where(rng.random((4000, n)) < 0.1, 9, rng.uniform(0.9, 1.1, (4000, n)))
        control = rng.uniform(4, 20, ratio.shape)
        found = skill_interval(ratio * control, control)
        assert ((found.low <= 0.4) & (found.high >= 0.4)).mean() == pytest.approx(rate, abs=0.03)


@pytest.mark.parametrize(("n", "refused"), [(10, 0.54), (20, 0.17)])
def test_skill_of_mostly_perfect_runs_is_covered_or_refused(n, refused):
    rng = np.random.default_rng(4)
    ratio, control = np.where(rng.random((4000, n)) < 0.85, 0, 4.0), rng.uniform(4, 20, (4000, n))
    found = skill_interval(ratio * control, control)
    shown = ~np.isnan(found.low)
    assert shown.mean() == pytest.approx(1 - refused, abs=0.03)
    assert ((found.low <= 0.4) & (found.high >= 0.4))[shown].mean() > 0.93


def test_notes_say_why_there_is_no_interval():
    control = np.full(8, 6.0)
    cases = {
        "skill 1, no interval": ([0.0] * 8, control),
        "fewer than 2 clusters have a loss": ([0.0] * 7 + [3.0], control),
        "fewer than 5 clusters": ([1.0, 2.0, 3.0, 1.0], control[:4]),
        "few clusters outweigh": ([1.0, 2, 3, 1, 2, 80], [1.0, 2, 3, 1, 2, 100]),
        "the controls have no loss": ([1.0] * 6, [0.0] * 6),
        "assumes no rare large losses": ([1.0] * 48 + [0.5], [2.0] * 49),
        "assumes no rare large losses: fewer than 50": ([1.0, 2.0, 3.0, 1.0, 2.0], [6.0] * 5),
    }
    for words, given in cases.items():
        assert words in skill_notes(*given).item()
        assert np.isnan(skill_interval(*given).low) == ("assumes" not in words)
    assert skill_notes([1.0] * 49 + [0.5], [2.0] * 50).item() is None
    assert skill_notes([np.nan] * 5, [2.0] * 5).item() is None
    assert skill_notes(np.ones((2, 6)), np.ones((2, 6))).shape == (2,)


def test_a_difference_of_skills_is_a_jackknife():
    rng = np.random.default_rng(2)
    a, b = ((rng.gamma(2, 2, 9), rng.uniform(4, 9, 9)) for _ in range(2))
    skills = [1 - x.sum() / c.sum() for x, c in (a, b)]
    left = np.array(
        [
            np.delete(b[0], g).sum() / np.delete(b[1], g).sum() - np.delete(a[0], g).sum() / np.delete(a[1], g).sum()
            for g in range(9)
        ]
    )
    error = np.sqrt(8 / 9 * ((left - left.mean()) ** 2).sum())
    found = skill_difference(a, b)
    assert found.effect == pytest.approx(skills[0] - skills[1])
    assert found.statistic == pytest.approx(found.effect / error)
    reach = stats.t.ppf(0.975, 8) * error
    np.testing.assert_allclose([found.low, found.high], [found.effect - reach, found.effect + reach])
    assert found.largest_share == pytest.approx(((left - left.mean()) ** 2).max() / ((left - left.mean()) ** 2).sum())
    turned = skill_difference(b, a)
    np.testing.assert_allclose(
        [turned.effect, turned.p_value, turned.low], [-found.effect, found.p_value, -found.high], rtol=1e-9
    )
    sides = [skill_difference(a, b, alternative=x).p_value for x in ("less", "greater")]
    assert sum(sides) == pytest.approx(1)


@pytest.mark.parametrize("law", ["gamma", "lognormal"])
@pytest.mark.parametrize("n", [5, 10, 20])
def test_equal_skills_keep_their_level_and_differences_are_covered(law, n):
    rng = np.random.default_rng(n)
    shape = (2, 2000, n)
    control = rng.uniform(4, 20, shape[1:]) * np.stack([np.ones(shape[1:]), rng.uniform(0.7, 1.3, shape[1:])])
    truth = rng.gamma(8, 1 / 8, shape[1:])
    noise = rng.gamma(2, 0.5, shape) if law == "gamma" else rng.lognormal(-0.5, 1, shape)
    for skill in (0.4, 0.2):
        loss = control * truth * noise * np.array([0.6, 1 - skill])[:, None, None]
        found = skill_difference((loss[0], control[0]), (loss[1], control[1]))
        covered = (found.low <= 0.4 - skill) & (found.high >= 0.4 - skill)
        assert covered.mean() > 0.92
        if skill == 0.4:
            assert (found.p_value <= 0.05).mean() < 0.08 and (found.p_value <= 0.01).mean() < 0.025


def test_clusters_that_one_level_lacks_are_left_out():
    a, b = (np.array([1.0, 2, 3, 1, 2, np.nan]), np.full(6, 5.0)), (np.array([2.0, 2, 3, 2, 3, 9]), np.full(6, 5.0))
    found = skill_difference(a, b)
    short = skill_difference(*(tuple(x[:5] for x in side) for side in (a, b)))
    assert found.effect == short.effect and found.p_value == short.p_value
    with pytest.raises(ValueError, match="alternative must be"):
        skill_difference(a, b, alternative="more")


def test_a_difference_within_the_errors_of_either_side_is_none():
    rng = np.random.default_rng(5)
    (a, c), (b, d) = ((rng.gamma(2, 2, 9), rng.uniform(4, 9, 9)) for _ in range(2))
    assert skill_difference((a, c), (b, d)).p_value < 1
    for errors in ((np.zeros(9), np.full(9, 50.0)), (np.full(9, 50.0), np.zeros(9))):
        found = skill_difference((a, c, errors[0]), (b, d, errors[1]))
        assert found.p_value == 1 and np.isnan(found.low)


def test_infinite_losses_have_no_difference():
    rng = np.random.default_rng(2)
    losses, controls = rng.gamma(2, 1, (2, 3, 8)), rng.uniform(4, 9, (3, 8))
    whole = skill_difference((losses[0], controls), (losses[1], controls))
    losses[0, 0, 0], losses[1, 1, :2] = np.inf, np.inf
    sides = (losses[0], controls), (losses[1], controls)
    found = skill_difference(*sides)
    for part, without in zip(found[:5], whole[:5], strict=True):
        assert np.isnan(part).tolist() == [True, True, False] and part[2] == without[2]
