"""Rates at which guessers of configurational models are rejected under each null model, for rows and strata.

`python tests/benchmarks/bench_formula_rates.py` prints the table; with `--write` it stands in docs/configurational.md.
A stratum has five runs on truths drawn anew over seven factors. Guessers are drawn here by other code than that of the
null models, and know nothing of the truth but the share of its negative literals.
"""

import re
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from rates import DOCS, line, shown, table_head

import causaleval_pd as ce
from causaleval_pd.configurational import parse, redundancy_free

PAGE = DOCS / "configurational.md"
STRATA, RUNS, DRAWS = 200, 5, 99
FACTORS = list("ABCDEFG")
METRICS = ["correctness", "completeness"]
LEVELS = (0.05, 0.2)


def side(rng: np.random.Generator, names: list[str], share: float) -> str:
    """Return two or three disjuncts of one or two literals, negative with a probability."""
    disjuncts = []
    for _ in range(rng.integers(2, 4)):
        chosen = rng.choice(names, rng.integers(1, 3), replace=False)
        disjuncts.append("*".join(name.lower() if rng.random() < share else str(name) for name in chosen))
    return "+".join(disjuncts)


def atomic(rng: np.random.Generator, share: float, *, redundant: bool = False) -> str:
    """Draw a model of G until it has no redundant part, or whatever it has."""
    while True:
        text = f"{side(rng, FACTORS[:-1], share)}<->G"
        if redundant or redundancy_free(text):
            return text


def several(rng: np.random.Generator, share: float) -> str:
    """Draw a set of two different models."""
    while True:
        found = {str(parse(atomic(rng, share))) for _ in range(2)}
        if len(found) == 2:
            return "; ".join(found)


def chain(rng: np.random.Generator, share: float) -> str:
    """Draw a model of F and of G, which F may cause."""
    while True:
        text = f"({side(rng, FACTORS[:-2], share)}<->F)*({side(rng, FACTORS[:-1], share)}<->G)"
        if redundancy_free(text):
            return text


#: by name: how truths and guesses are drawn
GUESSERS: dict[str, tuple[Callable[[np.random.Generator], str], Callable[[np.random.Generator], str]]] = {
    "half of the literals negative": (lambda r: atomic(r, 0.5), lambda r: atomic(r, 0.5)),
    "all positive, as the truth": (lambda r: atomic(r, 0.0), lambda r: atomic(r, 0.0)),
    "a fifth negative, as the truth": (lambda r: atomic(r, 0.2), lambda r: atomic(r, 0.2)),
    "all positive, the truth half": (lambda r: atomic(r, 0.5), lambda r: atomic(r, 0.0)),
    "with redundant parts": (lambda r: atomic(r, 0.5), lambda r: atomic(r, 0.5, redundant=True)),
    "sets of two models": (lambda r: atomic(r, 0.2), lambda r: several(r, 0.2)),
    "chains, in the true order": (lambda r: chain(r, 0.2), lambda r: chain(r, 0.2)),
}
NULLS = {
    'complexity, signs="estimate"': ce.null_model("complexity", signs="estimate"),
    'complexity, signs="free"': ce.null_model("complexity", signs="free"),
    "complexity, signs=0.2": ce.null_model("complexity", signs=0.2),
    "relabel": ce.null_model("relabel"),
    "relabel, flip=True": ce.null_model("relabel", flip=True),
}


def rates(guesser: str, null: str, seed: int, strata: int = STRATA) -> pd.DataFrame:
    """Return the rates of rows and strata and the mean skill, by metric."""
    rng = np.random.default_rng(seed)
    truth, guess = GUESSERS[guesser]
    n = strata * RUNS
    runs = pd.DataFrame({"truth": [truth(rng) for _ in range(n)], "estimate": [guess(rng) for _ in range(n)]})
    runs["s"] = np.repeat(np.arange(strata), RUNS)
    how = {"n_draws": DRAWS, "rng": seed, "null": NULLS[null], "context": {"factors": FACTORS}, "invalid": "nan"}
    rows = runs.ceval.with_controls(METRICS, **how)
    p = runs.ceval.cube(METRICS, by=["s"], **how).ceval.summary(columns="full").set_index("metric")["p_value"]
    found = {
        name: [
            *((rows[f"{name}_p"].dropna() <= level).mean() for level in LEVELS),
            *((p[name].dropna() <= level).mean() for level in LEVELS),
            rows[f"{name}_skill"].mean(),
        ]
        for name in METRICS
    }
    return pd.DataFrame(found, ["row .05", "row .20", "stratum .05", "stratum .20", "mean skill"]).T


def main() -> None:
    started = time.process_time()
    head = ["guesses", "null model", "row .05", "row .20", "stratum .05", "stratum .20", "mean skill"]
    lines = table_head(head)
    for i, guesser in enumerate(GUESSERS):
        for null in NULLS:
            if null.endswith("0.2") and "fifth" not in guesser:
                continue
            found = rates(guesser, null, 100 + i)
            n = STRATA * RUNS
            cells = [
                " / ".join(shown(x, level, size) for x in found[column])
                for column, level, size in zip(found.columns, [*LEVELS, *LEVELS], [n, n, STRATA, STRATA], strict=False)
            ]
            skill = " / ".join(f"{x:+.2f}" for x in found["mean skill"])
            lines.append(line([guesser, null, *cells, skill]))
            print(lines[-1], flush=True)
    print(f"{time.process_time() - started:.0f} s of CPU")
    if "--write" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        table = "<!-- rates -->\n" + "\n".join(lines) + "\n<!-- end of rates -->"
        page = re.sub(r"<!-- rates -->.*?<!-- end of rates -->", lambda _: table, page, flags=re.DOTALL)
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
