"""Coverage of every interval of `compare`, and size of its tests: `python tests/benchmarks/bench_coverage.py`.

Seeded; some minutes. Shares of simulated studies, at a nominal coverage of .95 and nominal levels of .05 and .01. Their
standard errors: .005 for a share of .95 in 2,000 studies, .013 in 300.
"""

import timing  # noqa: F401

# isort: split
import itertools
from collections.abc import Callable

import numpy as np
from scipy import special

from causaleval_pd.statistics.arrays import mean_difference, welch_difference
from causaleval_pd.statistics.clusters import clustered_fit
from causaleval_pd.statistics.max_t import joint_max_t, max_t
from causaleval_pd.statistics.multiplicity import adjust
from causaleval_pd.statistics.paired_tests import hodges_lehmann, paired_t, paired_wilcoxon, welch_t
from causaleval_pd.statistics.skill import skill_difference

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
REPEATS = 2000
LAWS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "t, 3 df": lambda rng, shape: rng.standard_t(3, shape),
    "rounded, sd 1": lambda rng, shape: np.round(rng.normal(size=shape)),
    "rounded, sd 3": lambda rng, shape: np.round(rng.normal(scale=3, size=shape)),
    "70 % zeros": lambda rng, shape: np.where(rng.random(shape) < 0.7, 0.0, rng.normal(size=shape)),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)) - np.exp(0.5),
}


def covered(low: np.ndarray, high: np.ndarray, true: float) -> str:
    """Return the share of intervals that hold the true value, and in brackets that of samples without an interval."""
    known = ~np.isnan(low)
    if not known.any():
        return "none"
    share = ((low <= true + 1e-9) & (true - 1e-9 <= high))[known].mean()
    absent = 1 - known.mean()
    return f"{share:.3f}" + (f" ({absent:.2f})" if absent > 0.005 else "")


def line(*cells: object, widths: tuple[int, ...] = (24,)) -> None:
    """Print one row of a table."""
    print("".join(f"{cell!s:<{widths[min(i, len(widths) - 1)]}}" for i, cell in enumerate(cells)))


def pseudo_median(law: Draw) -> float:
    """Return the median of the mean of two values of a law, by a large sample."""
    rng = np.random.default_rng(99)
    first, second = law(rng, (2_000_000,)), law(rng, (2_000_000,))
    return float(np.median((first + second) / 2))


def single_intervals() -> None:
    """Print the coverage of intervals of differences."""
    print("\nDifferences: coverage of .95 (in brackets the share of samples without an interval)")
    sizes = (5, 6, 10, 20, 50)
    line("interval, differences", *(f"n = {n}" for n in sizes), widths=(40, 15))
    for name, law in LAWS.items():
        samples = [law(np.random.default_rng(n), (REPEATS, n)) for n in sizes]
        middle = pseudo_median(law)
        means = [covered(*mean_difference(values)[1:], 0.0) for values in samples]
        line(f"mean, t, {name}", *means, widths=(40, 15))
        shifts = [covered(*hodges_lehmann(values)[1:], middle) for values in samples]
        line(f"Hodges-Lehmann, {name}", *shifts, widths=(40, 15))
    cells = []
    for n in sizes:
        rng = np.random.default_rng(n)
        values, other = rng.normal(0, 1, (REPEATS, n)), rng.normal(0, 1, (REPEATS, n))
        cells.append(covered(*welch_difference(values, other)[1:], 0.0))
    line("means of two samples, Welch, normal", *cells, widths=(40, 15))


def unequal_variances() -> None:
    """Print sizes of Welch's test where variances differ."""
    print("\nWelch's test of equal means, sd 3 and 1: size at .05 / .01")
    for n, m in ((5, 5), (10, 10), (10, 20), (20, 10), (30, 30)):
        rng = np.random.default_rng(n + m)
        a, b = rng.normal(0, 3, (REPEATS, n)), rng.normal(0, 1, (REPEATS, m))
        line(f"{n} and {m}", sizes_of(welch_t(a, b).p_value))


def sizes_of(p: np.ndarray) -> str:
    """Return the shares of p-values up to .05 and .01."""
    return f"{np.mean(p <= 0.05):.3f}/{np.mean(p <= 0.01):.3f}"


def losses(
    name: str, rng: np.random.Generator, clusters: int, repeats: int, better: float
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Draw losses and control losses of two algorithms on the same truths; `better` is the difference of skill."""
    shape = (repeats, clusters)
    controls = rng.uniform(4, 20, shape)
    second = controls * rng.uniform(0.7, 1.3, shape)
    shared = rng.normal(size=shape)

    def ratio(mean: float) -> np.ndarray:
        own = rng.normal(size=shape)
        if name == "normal":
            return mean * (1 + 0.25 * shared + 0.25 * own)
        if name == "gamma, shape 2":
            return mean * special.gammaincinv(2, special.ndtr((shared + own) / np.sqrt(2))) / 2
        if name == "lognormal, sd 1":
            return mean * np.exp((shared + own) / np.sqrt(2) - 0.5)
        return mean * np.where(rng.random(shape) < 0.1, 9.0, 1.0) / 1.8

    return (controls * ratio(0.6 - better), controls), (second * ratio(0.6), second)


def skills() -> None:
    """Print size and coverage of differences of skill."""
    print("\nDifference of skill: size at .05 / .01 with equal skill, and coverage at a difference of .2")
    line("losses", "truths", "jackknife", "coverage", widths=(20, 8, 16))
    for name, clusters in itertools.product(
        ("normal", "gamma, shape 2", "lognormal, sd 1", "10 % disasters"), (5, 10, 20, 50)
    ):
        equal = losses(name, np.random.default_rng(clusters), clusters, REPEATS, 0.0)
        apart = losses(name, np.random.default_rng(clusters + 1), clusters, REPEATS, 0.2)
        interval = skill_difference(*apart)
        cells = (sizes_of(skill_difference(*equal).p_value), covered(interval.low, interval.high, 0.2))
        line(name, clusters, *cells, widths=(20, 8, 16))


DESIGNS: dict[str, tuple[Draw, bool]] = {
    "two with sd 1, eight with sd .1": (lambda rng, s: rng.normal(size=s) * np.array([1.0] * 2 + [0.1] * 8), True),
    "two with sd 3, eight apart": (lambda rng, s: rng.normal(size=s) * _TWO + _APART, True),
    "all alike, normal": (lambda rng, s: rng.normal(size=s), False),
    "all alike, exponential": (lambda rng, s: rng.exponential(size=s), False),
    "all alike, Poisson 1.5": (lambda rng, s: rng.poisson(1.5, s).astype(float), False),
    "sd from .2 to 3": (lambda rng, s: rng.normal(size=s) * np.linspace(0.2, 3, 10), False),
}
_TWO, _APART = np.array([3.0] * 2 + [1.0] * 8), np.array([0.0, 0.0, *np.linspace(-8, 8, 8)])
PAIRS = np.array(list(itertools.combinations(range(10), 2))).T


def ten_algorithms() -> None:
    """Print how often comparisons of ten algorithms reject a true null hypothesis."""
    print("\nTen algorithms: share of studies that reject a true null hypothesis at .05 (first pair, or any pair)")
    line("design", "truths", "t + Holm", "signed-rank + Holm", "max-T", widths=(34, 8, 20))
    for (name, (draw, first)), n in itertools.product(DESIGNS.items(), (6, 10, 20)):
        values = draw(np.random.default_rng(n), (300, n, 10))
        apart = (values[:, :, PAIRS[0]] - values[:, :, PAIRS[1]]).transpose(0, 2, 1)
        kinds = [[adjust(p, "holm") for p in test(apart).p_value] for test in (paired_t, paired_wilcoxon)]
        kinds.append(max_t(values, *PAIRS, rng=1).p_adjusted)
        shares = [np.mean([(p[0] if first else np.min(p)) <= 0.05 for p in kind]) for kind in kinds]
        line(name, n, *(f"{x:.3f}" for x in shares), widths=(34, 8, 20))


def models() -> None:
    """Print the size of the tests of a linear model's coefficients."""
    print("\nLinear model: share of studies that reject a coefficient of 0 at .05 (1,000 studies)")
    line("truths", "effect of a truth on", "errors", "algorithm", "density", "n", widths=(8, 30, 36, 11))
    kinds = ("normal", "gamma, larger for b and density 1")
    for kind, count, slope in itertools.product(kinds, (6, 10, 20, 40), (0.0, 1.0)):
        rejected = np.zeros(4)
        for seed in range(1000):
            rng, cluster = np.random.default_rng(seed), np.repeat(np.arange(count), 6)
            algorithm, n = np.tile([0.0, 1.0], 3 * count), np.tile(np.repeat([-1.0, 0.0, 1.0], 2), count)
            density = (cluster % 2).astype(float)
            design = np.stack([np.ones(len(cluster)), algorithm, density, n], axis=1)
            response = rng.normal(size=count)[cluster] + slope * rng.normal(size=count)[cluster] * algorithm
            errors = rng.normal(size=len(cluster)) if kind == "normal" else rng.gamma(2, size=len(cluster)) - 2
            response = response + errors * (1 if kind == "normal" else (1 + 2 * algorithm) * (1 + density))
            fit = clustered_fit(design, response, cluster)
            rejected += 2 * special.stdtr(fit.df, -np.abs(fit.estimate / fit.error)) <= 0.05
        what = "its mean and its algorithms" if slope else "its mean"
        line(count, what, kind, *(f"{x:.3f}" for x in rejected[1:] / 1000), widths=(8, 30, 36, 11))


def normal_study(studies: int = 1000) -> None:
    """Print what a study of four algorithms, six settings and ten truths of each of two densities finds.

    A paired difference has a standard deviation of 1, 60 % of whose variance is that of the truth. One algorithm is
    better by delta in all settings, or better at one density and worse at the other.
    """
    print(
        f"\nNormal study: share of true differences found at .05, and of studies with any false one ({studies} studies)"
    )
    line("procedure", "delta .5", "1.0", "1.5", "crossing 1.5", "any false", widths=(28, 14))
    first, second = np.triu_indices(4, 1)
    truths = np.repeat(np.tile(np.repeat([0, 10], 3), 6), 10).reshape(36, 10) + np.arange(10)
    shares: dict[str, list[str]] = {"t + Holm, pooled": [], "t + Holm, by stratum": [], "max_t, by stratum": []}
    for delta, crossing in ((0.5, 0.0), (1.0, 0.0), (1.5, 0.0), (0.0, 1.5), (0.0, 0.0)):
        rng = np.random.default_rng(5)
        values = rng.normal(size=(studies, 4, 1, 1, 20)) * np.sqrt(0.3)
        values = values + rng.normal(size=(studies, 4, 2, 3, 20)) * np.sqrt(0.2)
        values[:, 0] -= delta + crossing * np.array([1.0, -1.0])[:, None, None]
        apart = values[:, first] - values[:, second]
        # each density has ten truths of its own
        apart = np.stack([apart[:, :, 0, :, :10], apart[:, :, 1, :, 10:]], axis=2)
        strata, pooled = apart.reshape(studies, 36, 10), apart.mean(axis=3).reshape(studies, 6, 20)
        p = {
            "t + Holm, pooled": np.array([adjust(paired_t(rows).p_value, "holm") for rows in pooled]),
            "t + Holm, by stratum": np.array([adjust(paired_t(rows).p_value, "holm") for rows in strata]),
            "max_t, by stratum": np.array([joint_max_t(rows, truths, rng=1).p_adjusted for rows in strata]),
        }
        for name, values_of in p.items():
            found = values_of <= 0.05
            differ = np.repeat(first == 0, found.shape[1] // 6)
            shares[name].append(f"{found[:, differ].mean() if delta or crossing else found.any(axis=1).mean():.3f}")
    for name, cells in shares.items():
        line(name, *cells, widths=(28, 14))


def main() -> None:
    for table in (single_intervals, unequal_variances, skills, ten_algorithms, models, normal_study):
        table()


if __name__ == "__main__":
    main()
