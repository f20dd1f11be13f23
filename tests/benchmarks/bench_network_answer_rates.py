"""Rates at which guessers of networks, quantities and answers are rejected under null models, for rows and strata.

`python tests/benchmarks/bench_network_answer_rates.py` prints both tables; with `--write` they stand in
docs/networks.md and docs/reasoning.md. Guessers are drawn here by other code than that of the null models. "as the null
model" marks guessers of its law, whose rates should not exceed the level; the others show what the null model does with
guesses of other laws.
"""

import itertools
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from rates import line, shown, table_head, tossed, write

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, sample
from causaleval_pd.reasoning import COUNTS

LEVELS = (0.05, 0.01)
#: what arguments choose
PAGES = {"reasoning", "networks", "samples"}
#: strata of networks, of quantities and answers, and runs of a stratum
NETWORK_STRATA, STRATA, RUNS, DRAWS = 60, 400, 5, 199
NODES = list("ABCD")
PAIRS = list(itertools.combinations(NODES, 2))
ARCS, CASES, PSEUDO = 4, 100, 0.5
NETWORK_METRICS = ["kl", "ckl3"]
#: answers of one arm of a quantity; questions of a stratum of answers, and answers to each
SAMPLES, QUESTIONS, ANSWERS = 60, 4, 10

Arcs = list[tuple[str, str]]
Bits = np.ndarray
Rng = np.random.Generator


def along(rng: Rng, pairs: Arcs) -> Arcs:
    """Direct pairs along a random order."""
    place = dict(zip(NODES, rng.permutation(len(NODES)).tolist(), strict=True))
    return [(a, b) if place[a] < place[b] else (b, a) for a, b in pairs]


def some_pairs(rng: Rng) -> Arcs:
    return [PAIRS[i] for i in rng.choice(len(PAIRS), ARCS, replace=False)]


def renamed(rng: Rng, arcs: Arcs) -> Arcs:
    names = dict(zip(NODES, rng.permutation(NODES).tolist(), strict=True))
    return [(names[a], names[b]) for a, b in arcs]


def hub(rng: Rng) -> Arcs:
    """A node with arcs to all others, and one arc among these."""
    return renamed(rng, [*((NODES[0], x) for x in NODES[1:]), (NODES[1], NODES[2])])


def graph(arcs: Arcs) -> str:
    return "; ".join([f"{a} -> {b}" for a, b in arcs] + NODES)


def network(rng: Rng, arcs: Arcs) -> ce.DiscreteNetwork:
    """Give nodes of two values random tables."""
    parents = {node: [a for a, b in arcs if b == node] for node in NODES}
    return ce.DiscreteNetwork(parents, {x: rng.dirichlet([1, 1], (2,) * len(p)) for x, p in parents.items()})


#: true and guessed arcs; a guess gets the true arcs, of which it may take the skeleton
TRUE_ARCS: dict[str, Callable[[Rng], Arcs]] = {
    "random": lambda rng: tossed(rng, lambda: some_pairs(rng)),
    "hub": hub,
    "along the columns": some_pairs,
}
GUESSED_ARCS: dict[str, Callable[[Rng, Arcs], Arcs]] = {
    "uniform DAG": lambda rng, truth: TRUE_ARCS["random"](rng),
    "random pairs and order": lambda rng, truth: along(rng, some_pairs(rng)),
    "hub, relabelled": lambda rng, truth: hub(rng),
    "pairs along the columns": lambda rng, truth: some_pairs(rng),
    "true skeleton, coins": lambda rng, truth: tossed(rng, lambda: truth),
    "true skeleton, random order": lambda rng, truth: along(rng, truth),
}
#: null model, truths, guesses, how they are given, and whether they follow the null model
NETWORKS = [
    ("dags", "random", "uniform DAG", "DAGs", True),
    ("dags", "random", "uniform DAG", "CPDAGs", True),
    ("dags", "random", "uniform DAG", "one a stratum", True),
    ("dags", "random", "random pairs and order", "DAGs", False),
    ("dags", "hub", "hub, relabelled", "DAGs", False),
    ("dags", "along the columns", "pairs along the columns", "DAGs", False),
    ("edges", "random", "random pairs and order", "DAGs", True),
    ("edges", "random", "random pairs and order", "one a stratum", True),
    ("edges", "random", "uniform DAG", "DAGs", False),
    ("permutation", "random", "uniform DAG", "DAGs", True),
    ("permutation", "hub", "hub, relabelled", "DAGs", True),
    ("permutation", "hub", "hub, relabelled", "CPDAGs", True),
    ("permutation", "hub", "hub, relabelled", "one a stratum", True),
    ("orientation", "random", "true skeleton, coins", "DAGs", True),
    ("orientation", "random", "true skeleton, coins", "one a stratum", True),
    ("orientation", "random", "true skeleton, random order", "DAGs", False),
    ("orientation", "hub", "true skeleton, random order", "DAGs", False),
]


def network_runs(rng: Rng, truth: str, guess: str, given: str, strata: int) -> tuple[pd.DataFrame, dict[str, object]]:
    """Return runs and their context; "one a stratum" repeats a truth and its guess on data sets of their own."""
    rows, cases = [], {}
    for stratum in range(strata):
        for run in range(RUNS):
            if run == 0 or given != "one a stratum":
                arcs = TRUE_ARCS[truth](rng)
                true, guessed = network(rng, arcs), graph(GUESSED_ARCS[guess](rng, arcs))
            cases[len(rows)] = data = sample(true, CASES, rng=rng)
            as_class = given == "CPDAGs"
            estimate = (
                ce.graph_column([guessed]).graph.cpdag().iloc[0] if as_class else from_data(guessed, data, PSEUDO)
            )
            rows.append({"truth": true, "estimate": estimate, "s": stratum, "data": len(rows)})
    return pd.DataFrame(rows), {"data": ("data", cases), "estimator": PSEUDO}


def rates(runs: pd.DataFrame, metrics: Sequence[str], seed: int, *, of_rows: bool = True, **how: object) -> list[str]:
    """Return the rates of rows and strata as cells of a table, by metric."""
    how |= {"n_draws": DRAWS, "rng": seed}
    found = []
    if of_rows:
        rows = runs.ceval.with_controls(metrics, **how)
        found = [rows[f"{name}_p"].dropna() for name in metrics]
    strata = runs.ceval.cube(metrics, by=["s"], **how).ceval.summary(columns="full").set_index("metric")["p_value"]
    found += [strata[name].dropna() for name in metrics]
    return [
        " / ".join(shown((p <= level).mean(), level, len(p)) for level in LEVELS) if len(p) else "no p" for p in found
    ]


def networks() -> str:
    """Return the table of networks."""
    head = ["null", "truths", "guesses", "given as", "as the null model"]
    lines = table_head([*head, *(f"{m}: {what}" for what in ("rows", "strata") for m in NETWORK_METRICS)])
    for seed, (null, truth, guess, given, follows) in enumerate(NETWORKS, 1):
        runs, context = network_runs(np.random.default_rng(seed), truth, guess, given, NETWORK_STRATA)
        found = rates(runs, NETWORK_METRICS, seed, null=null, context=context)
        lines.append(line([null, truth, guess, given, "yes" if follows else "no", *found]))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def of_shares(one: float, zero: float) -> Callable[[Rng], tuple[Bits, Bits]]:
    """Answer yes with a probability after do(1), and with another after do(0)."""
    return lambda rng: (rng.random(SAMPLES) < one, rng.random(SAMPLES) < zero)


def own_share(rng: Rng) -> tuple[Bits, Bits]:
    share = rng.random()
    return of_shares(share, share)(rng)


def same_in_both(rng: Rng) -> tuple[Bits, Bits]:
    """Give the samples of half of the answers the same in both arms."""
    one, zero = of_shares(0.5, 0.5)(rng)
    return one, np.where(rng.random(SAMPLES) < 0.5, one, zero)


#: guessed answers to do(1) and do(0)
GUESSED_ANSWERS: dict[str, Callable[[Rng], tuple[Bits, Bits]]] = {
    "coins": of_shares(0.5, 0.5),
    "yes in four of five": of_shares(0.8, 0.8),
    "an unknown share of yes": own_share,
    "yes .7 after do(1), .3 after do(0)": of_shares(0.7, 0.3),
    "coins, half of them the same in both arms": same_in_both,
    "always yes": of_shares(1.1, 1.1),
}
#: null model, guesses, and whether they follow the null model
QUANTITIES = [
    ("permute_answers", "coins", True),
    ("permute_answers", "an unknown share of yes", True),
    ("permute_answers", "yes .7 after do(1), .3 after do(0)", True),
    ("permute_answers", "coins, half of them the same in both arms", False),
    ("random_answers", "coins", True),
    ("random_answers", "yes in four of five", False),
    ("biased_answers", "coins", True),
    ("biased_answers", "an unknown share of yes", True),
    ("biased_answers", "yes .7 after do(1), .3 after do(0)", False),
    ("exchange_arms", "coins", True),
    ("exchange_arms", "an unknown share of yes", True),
    ("exchange_arms", "coins, half of them the same in both arms", True),
    ("exchange_arms", "yes .7 after do(1), .3 after do(0)", False),
    ("majority_answers", "always yes", True),
    ("majority_answers", "coins", False),
    ("always_yes", "always yes", True),
    ("always_yes", "coins", False),
    ("always_no", "coins", False),
]
ONE_BY_ONE = [
    ("permute_answers", "coins", True), ("permute_answers", "an unknown share of yes", True),
    ("random_answers", "coins", True), ("random_answers", "yes in four of five", False),
    ("majority_answers", "always yes", True), ("majority_answers", "coins", False), ("always_yes", "always yes", True),
    ("always_no", "coins", False),
]  # fmt: skip


def quantity_runs(rng: Rng, guess: str, quantity: str, strata: int) -> pd.DataFrame:
    """Return true quantities of random effects, and guesses of them."""
    rows = []
    for i in range(strata * RUNS):
        base, effect = rng.random(2)
        zero = rng.random(SAMPLES) < base
        one = zero | (rng.random(SAMPLES) < effect)
        guessed = GUESSED_ANSWERS[guess](rng)
        made = []
        for x, y in ((one, zero), guessed):
            made.append(np.mean(x & ~y) if quantity == "pns" else x.mean() - y.mean())
        x, y = guessed
        both = int((x & y).sum()) if quantity == "pns" else -1
        counts = f"{quantity} {SAMPLES} {x.sum()} {SAMPLES} {y.sum()} {both}"
        rows.append({"truth": made[0], "estimate": made[1], "counts": counts, "s": i // RUNS})
    return pd.DataFrame(rows)


def answer_runs(rng: Rng, guess: str, strata: int) -> pd.DataFrame:
    """Return answers to questions whose true answers are yes with different probabilities."""
    parts = []
    for question in range(strata * QUESTIONS):
        guessed = GUESSED_ANSWERS[guess](rng)[0][:ANSWERS]
        true = rng.random(ANSWERS) < rng.random()
        parts.append(pd.DataFrame({"truth": true, "estimate": guessed, "q": question, "s": question // QUESTIONS}))
    return pd.concat(parts, ignore_index=True)


def reasoning() -> str:
    """Return the table of quantities and answers; the p-value of one answer is never small."""
    lines = table_head(["null", "guesses", "as the null model", "pns: rows", "pns: strata", "ate: rows", "ate: strata"])
    lines[0], lines[1] = lines[0] + " answers: strata |", lines[1] + " --- |"
    for seed, (null, guess, follows) in enumerate(QUANTITIES, 1):
        found: list[str] = []
        for quantity in ("pns", "ate"):
            runs = quantity_runs(np.random.default_rng(seed), guess, quantity, STRATA)
            found += rates(runs, ["quantity_error"], seed, null=null, context=COUNTS)
        one_by_one = ""
        if any(case[:2] == (null, guess) for case in ONE_BY_ONE):
            answers = answer_runs(np.random.default_rng(seed), guess, STRATA)
            how = {"null": null, "context": {"group": "q"}}
            [one_by_one] = rates(answers, ["answer_accuracy"], seed, of_rows=False, **how)
        lines.append(line([null, guess, "yes" if follows else "no", *found, one_by_one]))
        print(lines[-1], flush=True)
    return "\n".join(lines)


#: strata of samples with balanced truths and equal replicates: samples, replicates, questions, answers that are missing
SAMPLED = {
    "8 samples, 5 replicates": (8, (5,), 1, 0.0),
    "20 samples, 5 replicates": (20, (5,), 1, 0.0),
    "12 samples, 1, 2 or 5 replicates": (12, (1, 2, 5), 1, 0.0),
    "10 samples, 3 questions, 2 replicates": (10, (2,), 3, 0.0),
    "12 samples, 3 replicates, one answer in ten missing": (12, (3,), 1, 0.1),
}
SAMPLE_STRATA = 1000


def sampled_answers(design: str, right: float, seed: int) -> pd.DataFrame:
    """Draw answers on samples that all replicates repeat; `right` of them are right, coins for .5."""
    samples, replicates, questions, missing = SAMPLED[design]
    rng, shape = np.random.default_rng(seed), (SAMPLE_STRATA, samples, questions)
    truth = rng.permuted(np.broadcast_to(np.arange(samples)[:, None] % 2 == 0, shape), axis=1)
    answer = truth ^ (rng.random(shape) >= right)
    number = np.tile(np.repeat(np.resize(replicates, samples), questions), SAMPLE_STRATA)
    study, sample, question = (np.repeat(x.ravel(), number) for x in np.indices(shape))
    truth, answer = (np.repeat(x.ravel(), number) for x in (truth, answer))
    estimate = pd.array(answer, dtype="boolean")
    estimate[rng.random(len(answer)) < missing] = pd.NA
    columns = {"stratum": study, "sample": study * samples + sample, "question": question}
    return pd.DataFrame(columns | {"truth": truth, "estimate": estimate})


def samples() -> str:
    """Measure strata of answers on samples, which count as independent or move together."""
    columns = ["stratum", "right", "independent", "together"]
    lines = table_head(columns)
    for (number, design), right in itertools.product(enumerate(SAMPLED), (0.5, 0.75, 0.9)):
        found = []
        runs = sampled_answers(design, right, 100 + number)
        for cluster in (None, "sample"):
            how = {"by": ["stratum"], "n_draws": DRAWS, "rng": 1, "cluster": cluster, "context": {"group": "question"}}
            p = runs.ceval.cube(["answer_accuracy"], **how).ceval.summary(adjust=None, columns="full")["p_value"]
            found.append(" / ".join(f"{(p <= a).mean():.3f}".lstrip("0") for a in LEVELS))
        lines.append(line([design, "coins" if right == 0.5 else f"{right:g}".lstrip("0"), *found]))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def measured(strata: int) -> str:
    """Describe how rates were measured, and their errors."""
    rows, of_strata = (
        " / ".join(f"{np.sqrt(a * (1 - a) / n):.3f}".lstrip("0") for a in LEVELS) for n in (strata * RUNS, strata)
    )
    return (
        f"{DRAWS} draws, by `tests/benchmarks/bench_network_answer_rates.py`. Monte Carlo errors are {rows} for rows "
        f"and {of_strata} for strata; bold rates exceed the level by three of them and more."
    )


def main() -> None:
    started = time.process_time()
    notes = {
        "networks.md": f"Rates at .05 / .01 of p: {NETWORK_STRATA} strata of {RUNS} runs on networks drawn anew over "
        f"four binary nodes with {ARCS} arcs, parameters from {CASES} cases a run, {measured(NETWORK_STRATA)} "
        '"One a stratum" repeats a truth and its guess on five data sets; its strata are tested by cluster, and its '
        "rows depend on each other.",
        "reasoning.md": f"Rates at .05 / .01 of p: {STRATA} strata of {RUNS} quantities with {SAMPLES} answers in "
        f"each arm (`quantity_error`), or of {QUESTIONS} questions with {ANSWERS} answers each (`answer_accuracy`), "
        + measured(STRATA),
    }
    for page, table in (("reasoning.md", reasoning), ("networks.md", networks)):
        if page.removesuffix(".md") in sys.argv or not PAGES & set(sys.argv):
            made = table()
            print(f"\n{notes[page]}\n\n{made}\n\n{time.process_time() - started:.0f} s of CPU", flush=True)
            if "--write" in sys.argv:
                write(page, "rates", notes[page], made)
    if "samples" in sys.argv or not PAGES & set(sys.argv):
        made = samples()
        note = f"Rates at .05 / .01 of p: {SAMPLE_STRATA} strata of samples whose replicates are equal, {DRAWS} draws, "
        note += "by `tests/benchmarks/bench_network_answer_rates.py`."
        print(f"\n{note}\n\n{made}", flush=True)
        if "--write" in sys.argv:
            write("reasoning.md", "samples", note, made)


if __name__ == "__main__":
    main()
