"""Coverage of the intervals of skill, by simulation: `python tests/benchmarks/bench_skill_coverage.py`.

Tables of the share of nominal 95 % intervals that hold the skill, among samples that have an interval, with the share
of samples that have none. A share of .95 among 8,000 samples has a standard error of .0025.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.statistics.arrays import Estimate
from causaleval_pd.statistics.clusters import cluster_sums
from causaleval_pd.statistics.skill import skill_interval

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

N_SAMPLES = 8000

#: ratio of loss to control loss; mean .6
RATIOS: dict[str, Draw] = {
    "normal, sd .2": lambda rng, shape: rng.normal(0.6, 0.2, shape),
    "gamma, shape 2": lambda rng, shape: rng.gamma(2, 0.3, shape),
    "lognormal, sd of log 1": lambda rng, shape: 0.6 * rng.lognormal(-0.5, 1, shape),
    "10 % disasters, 9 x as bad": lambda rng, shape: (
        0.6 / 1.8 * np.where(rng.random(shape) < 0.1, 9, rng.uniform(0.9, 1.1, shape))
    ),
    "85 % perfect": lambda rng, shape: np.where(rng.random(shape) < 0.85, 0, 4.0),
}


def coverage(found: Estimate) -> str:
    """Write the share of intervals that hold the skill .4, and in brackets that of samples without an interval."""
    shown = ~np.isnan(found.low)
    covered = (found.low <= 0.4) & (found.high >= 0.4)
    return f"{covered[shown].mean() if shown.any() else np.nan:.3f} ({1 - shown.mean():.2f})"


def stratum(ratio: Draw, n_clusters: int, sizes: str, rng: np.random.Generator) -> str:
    """Return coverage of a stratum's skill."""
    shape = (N_SAMPLES, n_clusters)
    if sizes == "one run":
        control = rng.uniform(4, 20, shape)
        found = skill_interval(ratio(rng, shape) * control, control)
    else:
        # runs of a cluster share its ratio
        size = np.minimum(rng.geometric(0.25, shape), 12)
        present = np.arange(12) < size[..., None]
        control = np.where(present, rng.uniform(4, 20, shape)[..., None], np.nan)
        loss = control * ratio(rng, shape)[..., None]
        truths = np.broadcast_to(np.arange(n_clusters)[:, None], (*shape[1:], 12)).reshape(-1)
        loss, control = (cluster_sums(x.reshape(N_SAMPLES, -1), truths)[0] for x in (loss, control))
        found = skill_interval(loss, control)
    return coverage(found)


#: ratios of which some samples show no variation, beside one that varies
PLAIN: dict[str, Draw] = {
    "gamma, shape 2": RATIOS["gamma, shape 2"],
    "all alike": lambda rng, shape: np.full(shape, 0.6),
    "10 % disasters, others alike": lambda rng, shape: 0.6 / 1.8 * np.where(rng.random(shape) < 0.1, 9, 1.0),
}


def simulated(ratio: Draw, n_clusters: int, draws: float, rng: np.random.Generator, *, known: bool) -> str:
    """Return coverage of a stratum's skill whose control losses are means of draws.

    Controls have a standard deviation of a quarter of their mean. Monte Carlo errors may be `known`.
    """
    shape = (N_SAMPLES, n_clusters)
    control = rng.uniform(4, 20, shape)
    error = control / 4 / np.sqrt(draws)
    drawn = control + error * rng.normal(size=shape)
    return coverage(skill_interval(ratio(rng, shape) * control, drawn, control_error=error if known else None))


def main() -> None:
    rng = np.random.default_rng(7)
    numbers = (5, 10, 20, 50)
    print(f"Skill of a stratum, clusters: coverage (share without interval), {N_SAMPLES} samples")
    print(f"{'ratio of losses':<28}{'runs a cluster':<16}" + "".join(f"{n:>16}" for n in numbers))
    for sizes in ("one run", "1 to 12"):
        for name, ratio in RATIOS.items():
            cells = (stratum(ratio, n, sizes, rng) for n in numbers)
            print(f"{name:<28}{sizes:<16}" + "".join(f"{cell:>16}" for cell in cells))
    rng = np.random.default_rng(8)
    print("\nSkill of a stratum whose control losses are means of draws: coverage (share without interval)")
    print(f"{'ratio of losses':<30}{'draws':<8}{'errors':<9}" + "".join(f"{n:>15}" for n in numbers))
    for name, ratio in PLAIN.items():
        for draws, known in ((np.inf, True), (1000, False), (1000, True), (99, False), (99, True)):
            cells = (simulated(ratio, n, draws, rng, known=known) for n in numbers)
            words = f"{name:<30}{'exact' if draws == np.inf else draws:<8}{'known' if known else 'ignored':<9}"
            print(words + "".join(f"{cell:>15}" for cell in cells))


if __name__ == "__main__":
    main()
