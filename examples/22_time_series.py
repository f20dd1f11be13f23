"""At which length of a series do VAR and Granger causality beat guessing?

Linear VAR processes over six variables, two lags, links at lags only, are simulated at two densities and five lengths.
Two estimates are scored: the links whose coefficients in a VAR fitted by statsmodels have p-values up to .01, and the
pairs of variables for which its Granger test rejects at .01. Negative controls have as many links at as many lags; the
test of each stratum asks whether the runs share more links with the truth than random graphs with as many links do.

    python examples/22_time_series.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from statsmodels.tsa.api import VAR

import causaleval_pd as ce

NAMES = ["A", "B", "C", "D", "E", "F"]
LAGS, REPEATS, ALPHA = 2, 20, 0.01
DENSITIES = {"sparse": 0.05, "dense": 0.15}
LENGTHS = [20, 40, 80, 160, 320]


def random_process(density: float, rng: np.random.Generator) -> np.ndarray:
    """Draw coefficients [lag - 1, cause, effect]: autocorrelation, and links of a random sign; stable by scaling."""
    d = len(NAMES)
    present = rng.random((LAGS, d, d)) < density
    present[0] |= np.eye(d, dtype=bool)
    weights = present * rng.choice([-0.2, 0.2], present.shape)
    companion = np.block([[weights[0].T, weights[1].T], [np.eye(d), np.zeros((d, d))]])
    radius = np.abs(np.linalg.eigvals(companion)).max()
    scale = min(1.0, 0.9 / radius)
    return weights * np.array([scale, scale**2])[:, None, None]


def simulate(weights: np.ndarray, length: int, rng: np.random.Generator) -> pd.DataFrame:
    """Simulate a process from its stationary law, nearly: the first hundred steps are thrown away."""
    values = rng.normal(size=(length + 100, len(NAMES)))
    for t in range(LAGS, len(values)):
        for lag in range(LAGS):
            values[t] += values[t - lag - 1] @ weights[lag]
    return pd.DataFrame(values[100:], columns=NAMES)


def granger(fitted) -> pd.DataFrame:
    """List the pairs of variables for which the Granger test rejects, as links at lag 1."""
    tests = [
        (cause, effect, 1, fitted.test_causality(effect, [cause], kind="f").pvalue)
        for cause in NAMES
        for effect in NAMES
        if cause != effect
    ]
    return pd.DataFrame(tests, columns=["source", "target", "lag", "p"])


def make_runs() -> pd.DataFrame:
    """Simulate and estimate: one run per row."""
    rng = np.random.default_rng(20)
    rows = []
    for density, share in DENSITIES.items():
        for repeat in range(REPEATS):
            weights = random_process(share, rng)
            truth = ce.as_lagged(weights, nodes=NAMES, encoding="lag,cause,effect", first_lag=1, threshold=0)
            for length in LENGTHS:
                fitted = VAR(simulate(weights, length, rng)).fit(LAGS)
                shared = {"density": density, "length": length, "repeat": repeat, "truth": truth}
                rows.append({**shared, "algorithm": "VAR", "estimate": ce.as_lagged(fitted, alpha=ALPHA)})
                table = granger(fitted)
                found = ce.as_lagged(table, nodes=NAMES, alpha=ALPHA, min_lag=1)
                rows.append({**shared, "algorithm": "Granger", "estimate": found})
    runs = pd.DataFrame(rows)
    return runs.assign(**{side: ce.lagged_column(runs[side]) for side in ("truth", "estimate")})


def first_length(table: pd.DataFrame) -> pd.Series:
    """Return the first length from which on all strata beat guessing at 5 %, adjusted over all strata."""
    beats = (
        (table["p_adjusted"] <= 0.05).groupby([table["algorithm"], table["density"], table["length"]]).all().unstack()
    )
    # all lengths from here on
    from_here = beats.iloc[:, ::-1].cummin(axis=1).iloc[:, ::-1]
    return from_here.apply(lambda row: row.idxmax() if row.any() else "none", axis=1)


def main() -> None:
    """Print what either method finds beside its controls."""
    runs = make_runs()
    print("Links at lags (VAR) against random graphs with as many links")
    links = runs[runs["algorithm"] == "VAR"].ceval.cube(
        ["lagged_precision", "lagged_recall", "lagged_f1"], by=["algorithm", "density", "length"], n_draws=99, rng=1
    )
    shown = links.ceval.summary().set_index(["metric", "density", "length"])[["mean", "control_mean", "skill"]]
    print(shown.loc["lagged_f1"].round(3).to_string(), "\n")

    print("Precision by lag, VAR")
    by_lag = [ce.tweak("lagged_precision", lags=lag, name=f"lag_{lag}") for lag in (1, 2)]
    scored = runs[runs["algorithm"] == "VAR"].ceval.evaluate(by_lag)
    print(scored.groupby("length")[["lag_1", "lag_2"]].mean().round(3).to_string(), "\n")

    print("Arcs of summary graphs (VAR and Granger) against those of random graphs with as many links")
    arcs = runs.ceval.cube(["summary_f1"], by=["algorithm", "density", "length"], n_draws=99, rng=1)
    summary = arcs.ceval.summary().set_index(["algorithm", "density", "length"])[["mean", "control_mean", "skill"]]
    print(summary.round(3).to_string(), "\n")

    print("First length from which on the method beats guessing (5 %, adjusted over all strata)")
    first = {
        "lagged links": first_length(links.ceval.summary("lagged_f1")),
        "arcs of summary graphs": first_length(arcs.ceval.summary("summary_f1")),
    }
    print(pd.DataFrame(first).astype("Int64").to_string())


if __name__ == "__main__":
    main()
