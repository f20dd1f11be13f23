"""Speed of correctness and completeness, by size class: `python tests/benchmarks/bench_configurational.py`.

With the argument `first`, and an empty folder as NUMBA_CACHE_DIR, it measures the first call with compilation.

The peer are the published functions, which cannot be run from Python: their median seconds a pair were measured once,
on a machine with two cores, with models as their own estimates, by number of factors and outcomes, and over 560 pairs
of the sort of the known ones. Ours are measured here, on other random models of the same size; nothing but the
reading of texts is kept from an earlier call. Times of one machine mean little, orders of magnitude do.
"""

import pathlib
import statistics
import sys

import pandas as pd
from timing import seconds

import causaleval_pd as ce
from causaleval_pd.configurational import parse, random_models
from causaleval_pd.fields.configurational.quality import Convention, expose, quality_counts
from causaleval_pd.fields.configurational.truth_table import Setting

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers" / "configurational_pairs.csv.gz"
METRICS = ["correctness", "completeness", "f_beta"]
PUBLISHED = {
    (4, 1): 0.6, (6, 1): 2.2, (8, 1): 1.9, (5, 2): 0.7, (6, 2): 1.5, (7, 3): 1.5, (8, 3): 1.5, (8, 4): 6.1, (9, 3): 2.5,
    (9, 4): 6.0, (10, 4): 6.7,
}  # fmt: skip
PUBLISHED_PAIR = 0.84


def score(truth: str, estimate: str) -> None:
    """Score one pair from its texts."""
    setting = Setting()
    quality_counts(expose(parse(truth), setting), expose(parse(estimate), setting), setting.vocabulary, Convention())


def least(truth: str, estimate: str) -> float:
    """Return the least of three times of one pair: other work on the machine only adds to them."""
    return min(seconds(score, truth, estimate) for _ in range(3))


def report(workload: str, ours: float, peer: float | None, unit: str) -> None:
    ratio = "" if peer is None else f"   peer {peer * 1e3:>8,.0f} ms/{unit}   ratio {peer / ours:>9,.0f}"
    print(f"{workload:<58} ours {ours * 1e3:>10,.3f} ms/{unit}{ratio}")


def size_class(n_factors: int, n_outcomes: int, n_models: int = 25) -> None:
    """Random models of one size as their own estimates."""
    times = []
    for seed in range(n_models):
        text = random_models(1, n_factors, outcomes=n_outcomes, rng=seed)[0]
        times.append(least(text, text))
    published = PUBLISHED[n_factors, n_outcomes]
    report(f"{n_factors} factors, {n_outcomes} outcomes, median", statistics.median(times), published, "pair")


def known_pairs() -> pd.DataFrame:
    """Return the known pairs that are minimised on ideal data."""
    table = pd.read_csv(KNOWN).query("minimisation == 'ideal'")
    return table[["truth", "model"]].rename(columns={"model": "estimate"}).reset_index(drop=True)


def main() -> None:
    pairs = known_pairs()
    score(pairs["truth"][0], pairs["estimate"][0])
    times = [least(row.truth, row.estimate) for row in pairs.itertuples()]
    report(f"{len(pairs)} known pairs one by one, median", statistics.median(times), PUBLISHED_PAIR, "pair")
    report(f"{len(pairs)} known pairs one by one, slowest", max(times), 32.0, "pair")
    for size in PUBLISHED:
        size_class(*size)
    repeated = pairs.sample(100_000, replace=True, random_state=1)
    report("100,000 rows of known pairs, evaluate", seconds(lambda: ce.evaluate(repeated, METRICS)) / 1e5, None, "row")
    sides = [random_models(100_000, 6, outcomes=2, rng=seed) for seed in (1, 2)]
    distinct = pd.DataFrame({"truth": sides[0], "estimate": sides[1]})
    spent = seconds(lambda: ce.evaluate(distinct, METRICS))
    report("100,000 pairs of 6 factors, 2 outcomes, evaluate", spent / 1e5, None, "row")
    chain = "(A*b+C<->D)*(D*E+f*a<->G)*(G*b+d*A<->J)*(J*d+g*C<->L)*(L*j+G*E<->N)"
    report("chain of 12 factors and 5 outcomes, in Python", seconds(lambda: score(chain, chain)), None, "pair")
    spent = min(seconds(lambda: ce.correctness(chain, chain)) for _ in range(3))
    report("chain of 12 factors and 5 outcomes, kernels", spent, None, "pair")
    for n_factors, n_outcomes in ((5, 1), (8, 3), (12, 5)):
        names = list("ABCDEFGHIJKL"[:n_factors])
        sides = [random_models(200, names, outcomes=n_outcomes, rng=seed) for seed in (1, 2)]
        runs = pd.DataFrame({"truth": sides[0], "estimate": sides[1]})
        # some random models of 12 factors take too many steps
        how = {"n_draws": 1000, "rng": 1, "context": {"factors": names}, "invalid": "nan"}
        for null in ("complexity", "relabel"):
            spent = seconds(lambda runs=runs, null=null, how=how: ce.with_controls(runs, METRICS, null=null, **how))
            report(f"200 rows x 1000 {null}, {n_factors} factors, {n_outcomes} outcomes", spent, None, "table")


def first_call() -> None:
    """Measure 200 rows x 1000 controls with what is compiled on the way; run in a process with an empty cache."""
    names = list("ABCDEFGH")
    sides = enumerate(("truth", "estimate"))
    runs = pd.DataFrame({side: random_models(200, names, outcomes=3, rng=i) for i, side in sides})
    how = {"n_draws": 1000, "rng": 1, "context": {"factors": names}}
    spent = seconds(lambda: ce.with_controls(runs, METRICS, **how))
    report("200 rows x 1000 controls, first call", spent, None, "table")


if __name__ == "__main__":
    first_call() if sys.argv[1:] == ["first"] else main()
