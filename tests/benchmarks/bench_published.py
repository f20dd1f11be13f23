"""Size of the tests of printed tables where a row sums up few runs: shares of guessers' rows with p <= alpha.

Run it with ``python tests/benchmarks/bench_published.py``. Each study prints means (and deviations) of 1 to 10 random
estimates on one truth, rounded; `from_published` gives p. Its table is in published.md.
"""

import sys
from typing import Any

import numpy as np
import pandas as pd

import causaleval_pd as ce

STUDIES, GUESSES, DRAWS, SEED = 20_000, 20_000, 1_999, 1
RUNS = (1, 2, 3, 5, 10)
ALPHAS = (0.05, 0.01)
MARGINS = ["true_edges", "estimated_edges"]
#: nodes, edges of truth and estimates
SIZES = [(5, 4, 3), (20, 19, 19), (20, 60, 40)]
#: metrics, what is known beside numbers of edges, and printed decimals
CASES = [
    ("adjacency_precision", "", 1), ("adjacency_precision", "", 3), ("shd", "truth", 2), ("v_structure_tp", "truth", 2),
    ("shd", "sd, n", 1), ("shd", "sd, n", 3), ("shd", "sd, n - 1", 3), ("directed_precision", "sd, n", 3),
    ("directed_precision", "sd, n - 1", 3),
]  # fmt: skip


def random_dags(n: int, d: int, m: int, rng: np.random.Generator) -> list[str]:
    """Draw DAGs: uniform skeletons with m edges, along uniform orders of the nodes."""
    pairs = np.array(np.triu_indices(d, 1)).T
    found = []
    for _ in range(n):
        order = rng.permutation(d)
        chosen = order[pairs[rng.choice(len(pairs), m, replace=False)]]
        found.append("; ".join([*map(str, range(d)), *(f"{a} -> {b}" for a, b in chosen)]))
    return found


def guesses(d: int, true: int, estimated: int, metrics: list[str], rng: np.random.Generator) -> tuple[str, Any]:
    """Return a truth and the values of random estimates by metric."""
    [truth] = random_dags(1, d, true, rng)
    table = pd.DataFrame({"truth": truth, "estimate": random_dags(GUESSES, d, estimated, rng)})
    return truth, table.ceval.evaluate(metrics)


def p_values(printed: pd.DataFrame, row: dict[str, Any], metric: str, **settings: Any) -> tuple[np.ndarray, str]:
    """Return p of each printed row, NaN where there is none; equal rows are asked for once."""
    distinct, place = np.unique(printed.to_numpy(), axis=0, return_inverse=True)
    table = pd.DataFrame(distinct, columns=printed.columns).assign(**row)
    found = ce.from_published(table, metric, constant=MARGINS, rng=SEED, **settings)
    method = ", ".join(map(str, found[f"{metric}_p_method"].dropna().unique()))
    return found[f"{metric}_p"].to_numpy()[place.reshape(-1)], method


def studies() -> pd.DataFrame:
    """Return the shares of p <= alpha, one row per setting."""
    rows = []
    for d, true, estimated in SIZES:
        rng = np.random.default_rng([SEED, d, true])
        truth, values = guesses(d, true, estimated, sorted({metric for metric, *_ in CASES}), rng)
        row = {"n_nodes": d, "true_edges": true, "estimated_edges": estimated, "kind": "dag"}
        for n in RUNS:
            chosen = rng.integers(GUESSES, size=(STUDIES, n))
            for metric, given, digits in CASES:
                if given.startswith("sd") and n == 1:
                    continue
                places = 0 if n == 1 and metric in ("shd", "v_structure_tp") else digits
                drawn = values[metric].to_numpy()[chosen]
                printed = pd.DataFrame({metric: drawn.mean(axis=1).round(places)})
                if given.startswith("sd"):
                    printed[f"{metric}_sd"] = drawn.std(axis=1, ddof=int("1" in given)).round(places)
                extra = {"truth": truth} if given == "truth" else {}
                p, method = p_values(printed, row | extra | {"n_runs": n}, metric, digits=places, n_draws=DRAWS)
                shares = [np.mean(p <= alpha) for alpha in ALPHAS]
                names = {"nodes": d, "edges": f"{true}, {estimated}", "metric": metric, "given": given}
                size = " / ".join(f"{share:.3f}" for share in shares)
                rows.append(names | {"decimals": digits, "runs": n, "p by": method, "size": size})
    found = pd.DataFrame(rows)
    names = [name for name in found if name not in ("runs", "size", "p by")]
    ways = found.groupby(names, sort=False)["p by"].agg(lambda x: ", ".join(dict.fromkeys(x)))
    wide = found.pivot(index=names, columns="runs", values="size").reindex(ways.index).fillna("")
    return wide.assign(**{"p by": ways}).reset_index()


def main() -> None:
    found = studies().astype(str)
    lines = [found.columns.astype(str), ["---"] * found.shape[1], *found.to_numpy()]
    sys.stdout.write("\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n")


if __name__ == "__main__":
    main()
