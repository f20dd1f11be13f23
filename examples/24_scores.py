"""Scores of edges instead of graphs: weights of NOTEARS, correlations and partial correlations on protein data.

NOTEARS (doi:10.48550/arXiv.1803.01422) minimises least squares under a smooth constraint that is 0 for acyclic weights.
It is written out below, and run on bootstrap samples of the 853 cells of one condition of Sachs et al. (2005), in units
of the data (logarithms) and standardised: its weights follow the variances, so that both differ. All estimates are
matrices of scores, columns of the same table. Rankings of edges are judged by the consensus graph, against the same
matrices with exchanged nodes (weights of a DAG) or shuffled scores (correlations).

    python examples/24_scores.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import linalg, optimize

import causaleval_pd as ce

N_SAMPLES, PENALTY = 5, 0.1


def notears(data: np.ndarray, penalty: float = PENALTY) -> np.ndarray:
    """Return weights (row -> column): least squares and an absolute penalty, with tr exp(W * W) = d in the limit."""
    d = data.shape[1]
    covariance = np.cov(data, rowvar=False, ddof=0)
    off = np.tile(~np.eye(d, dtype=bool).ravel(), 2)
    halves, multiplier, strength, violation = np.zeros(2 * d * d), 0.0, 1.0, np.inf

    def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
        # positive and negative parts make the penalty smooth
        weights = (values[: d * d] - values[d * d :]).reshape(d, d)
        rest = np.eye(d) - weights
        powers = linalg.expm(weights * weights)
        cycles = np.trace(powers) - d
        fit = 0.5 * np.trace(rest.T @ covariance @ rest) + 0.5 * strength * cycles**2 + multiplier * cycles
        slope = (-covariance @ rest + (strength * cycles + multiplier) * powers.T * 2 * weights).ravel()
        return fit + penalty * values.sum(), np.concatenate([slope, -slope]) + penalty

    bounds = [(0, None) if free else (0, 0) for free in off]
    for _ in range(12):
        halves = optimize.minimize(objective, halves, jac=True, method="L-BFGS-B", bounds=bounds).x
        weights = (halves[: d * d] - halves[d * d :]).reshape(d, d)
        last, violation = violation, float(np.trace(linalg.expm(weights * weights)) - d)
        if violation < 1e-8:
            break
        multiplier += strength * violation
        strength *= 10 if violation > 0.25 * last else 1
    # what is left of cycles is below the smallest weight that breaks none
    for size in np.sort(np.abs(weights[weights != 0])):
        if not np.linalg.matrix_power((weights != 0).astype(float), d).any():
            break
        weights[np.abs(weights) <= size] = 0.0
    return weights


def partial_correlations(data: np.ndarray) -> np.ndarray:
    """Return the partial correlations given all other columns."""
    precision = np.linalg.inv(np.corrcoef(data, rowvar=False))
    scale = np.sqrt(np.diag(precision))
    found = -(precision + precision.T) / 2 / np.outer(scale, scale)
    np.fill_diagonal(found, 1.0)
    return found


def main() -> None:
    """Print the rankings' metrics beside those of their controls."""
    pd.set_option("display.width", 160, "display.max_columns", 20, "display.precision", 3)
    cells = np.log(ce.datasets.sachs().head(853))
    names, rng, rows = list(cells.columns), np.random.default_rng(7), []
    for sample in range(N_SAMPLES):
        data = cells.to_numpy()[rng.integers(0, len(cells), len(cells))]
        correlations = np.corrcoef(data, rowvar=False)
        for name, matrix in (
            ("NOTEARS", notears(data)),
            ("NOTEARS, standardised", notears(data / data.std(axis=0))),
            ("correlation", (correlations + correlations.T) / 2),
            ("partial correlation", partial_correlations(data)),
        ):
            rows.append({"scores": name, "sample": sample, "matrix": matrix})
    runs = pd.DataFrame(rows)
    runs["estimate"] = ce.score_column(runs.pop("matrix"), nodes=names, encoding="row->column", kind="weight")
    runs["truth"] = ce.graph_column([ce.datasets.sachs_truth(17)] * len(runs), nodes=names)

    metrics = ["auroc", "average_precision", "max_f1"]
    counts = runs.ceval.evaluate(["score_universe", "n_candidates", "n_true_candidates"])
    print("Scores of directions rank ordered pairs, symmetric ones unordered pairs, of which more are true:")
    print(counts.groupby("scores", sort=False)[["score_universe", "n_candidates", "n_true_candidates"]].first())

    cube = runs.ceval.cube(metrics, by=["scores"], n_draws=500, rng=7)
    table = cube.ceval.summary()
    print("\nMeans over samples beside those of controls; all samples have one truth, so they are one cluster. Compare")
    print("means with those of their controls: the universes differ, and with them what chance reaches.")
    print(table[["scores", "metric", "mean", "control_mean", "p_value"]].to_string(index=False))

    graphs = runs[runs["scores"].str.startswith("NOTEARS")]
    graphs = graphs.assign(estimate=graphs["estimate"].score.threshold(0.3))
    print("\nWeights above .3 are graphs, to which every metric of graphs applies:")
    found = graphs.ceval.with_controls(["shd", "adjacency_f1"], null="permutation", n_draws=500, rng=7)
    columns = ["estimated_edges", "shd", "shd_control_mean", "adjacency_f1", "adjacency_f1_control_mean"]
    found = found.ceval.evaluate(["estimated_edges"])
    print(found.groupby("scores", sort=False)[columns].mean().to_string())

    ax = ce.plot.curves(runs, "precision_recall", by="scores")
    ax.figure.savefig("scores.png", dpi=150)
    print("\nwrote scores.png")


if __name__ == "__main__":
    main()
