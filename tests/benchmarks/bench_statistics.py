"""Batched tests against loops over scipy and statsmodels: `python tests/benchmarks/bench_statistics.py`.

Each line names a workload, our time, the peer's time (measured on fewer rows and scaled) and their ratio. Times of one
machine mean little; the ratio is the result. Candidates alternate, and the median of several rounds is shown.
"""

from timing import alternate

# isort: split
import warnings
from collections.abc import Callable

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

from causaleval_pd.statistics.friedman import friedman
from causaleval_pd.statistics.multiplicity import adjust
from causaleval_pd.statistics.paired_tests import paired_wilcoxon

N_ROWS, N_PAIRS = 1000, 100


def report(workload: str, ours: Callable[[], object], peer: Callable[[], object], share: float) -> None:
    """Print one line; the peer works on a share of our rows."""
    mine, theirs = alternate(ours, peer)
    theirs /= share
    print(f"{workload:<72} ours {mine * 1e3:>9.2f} ms   peer {theirs * 1e3:>10.1f} ms   ratio {theirs / mine:>7.0f}")


def samples(whole: bool) -> np.ndarray:
    """Return differences, whole numbers with ties and zeros or normal ones."""
    rng = np.random.default_rng(0)
    shape = (N_ROWS, N_PAIRS)
    return rng.integers(-9, 12, shape).astype(float) if whole else rng.normal(size=shape)


def with_gaps(values: np.ndarray) -> np.ndarray:
    """Leave 5 to all of each row's values."""
    n = np.random.default_rng(1).integers(5, N_PAIRS + 1, len(values))
    return np.where(np.arange(N_PAIRS) < n[:, None], values, np.nan)


def main() -> None:
    warnings.simplefilter("ignore")
    few, size = 100, f"{N_ROWS} strata x {N_PAIRS} pairs"
    for whole, kind in ((False, "floats"), (True, "whole numbers")):
        equal, ragged = samples(whole), with_gaps(samples(whole))
        report(
            f"Wilcoxon, {size}, {kind}, vs scipy loop",
            lambda x=equal: paired_wilcoxon(x),
            lambda x=equal: [stats.wilcoxon(row) for row in x[:few]],
            few / N_ROWS,
        )
        report(
            f"Wilcoxon, {size} at most, {kind}, vs scipy nan_policy='omit'",
            lambda x=ragged: paired_wilcoxon(x),
            lambda x=ragged: stats.wilcoxon(x[:few], axis=-1, nan_policy="omit"),
            few / N_ROWS,
        )
    blocks = np.random.default_rng(2).integers(0, 20, (N_ROWS, N_PAIRS, 5)).astype(float)
    report(
        f"Friedman, {N_ROWS} strata x {N_PAIRS} blocks x 5 levels, vs scipy loop",
        lambda: friedman(blocks),
        lambda: [stats.friedmanchisquare(*row.T) for row in blocks[:few]],
        few / N_ROWS,
    )
    p, family = np.random.default_rng(3).random(10_000), np.repeat(np.arange(1000), 10)
    report(
        "Holm, 1000 families of 10 p-values, vs statsmodels loop",
        lambda: adjust(p, "holm", family),
        lambda: [multipletests(p[family == label], method="holm") for label in range(20)],
        20 / 1000,
    )


if __name__ == "__main__":
    main()
