"""Speed of causal worlds and tasks on one thread: `python tests/benchmarks/bench_reasoning.py`.

Each line names a workload, our rate, the rate that the published generator of compositional reasoning tasks reached on
one core (CPU time, measured apart; middle of the range), and their ratio. Rates of different machines compare roughly.
"""

from timing import seconds as of_one

# isort: split
from collections.abc import Callable

import pandas as pd
import pyarrow as pa

from causaleval_pd.fields.reasoning.worlds import compositions
from causaleval_pd.reasoning import make_tasks, sample_world

pa.set_cpu_count(1)
pa.set_io_thread_count(1)

ROUNDS = 5

# samples a second of the published generator from nothing to scored text, by nodes
PEER_END_TO_END = {4: 600, 10: 480, 20: 380, 25: 93}


def seconds(function: Callable[[], object]) -> float:
    """Return the least CPU seconds of some rounds: other work on the machine, and memory fetched anew, only add."""
    return min(of_one(function) for _ in range(ROUNDS))


def report(workload: str, ours: float, peer: float | None, unit: str) -> None:
    line = f"{workload:<72} ours {ours:>14,.0f} {unit}/s"
    print(line if peer is None else f"{line}   peer {peer:>8,.0f} {unit}/s   ratio {ours / peer:>9,.0f}")


def true_answers(n_samples: int = 1_000_000) -> None:
    """Draw noise and compute the true answers of 20 nodes in fact and under six interventions."""
    world = sample_world([8, 6, 8], "wheel", rng=1)
    noise = world.sample(n_samples, rng=1)
    drawn, answered = seconds(lambda: world.sample(n_samples, rng=1)), seconds(lambda: world.answers(noise, "cut"))
    print(f"{n_samples:,} samples x 20 nodes, noise: {drawn:.2f} CPU s")
    print(f"{n_samples:,} samples x 6 worlds x 20 nodes, true answers: {answered:.2f} CPU s")


def exact_quantities() -> None:
    """Compute all quantities of all pairs of cut nodes."""
    for sizes in ([8, 6, 8], [4] * 20):
        world = sample_world(sizes, "wheel", rng=1)
        spent = seconds(lambda world=world: world.truths("cut"))
        print(
            f"exact quantities of {len(world.pairs('cut'))} pairs, {len(world.nodes)} nodes: {spent * 1e3:.1f} CPU ms"
        )
    spent = seconds(lambda: sum(1 for _ in compositions(range(21))))
    print(f"524,287 compositions of 20 components, one at a time: {spent:.2f} CPU s")


def end_to_end(sizes: list[int], n_samples: int = 4000) -> None:
    """Draw a world and samples, tell them, answer every question, estimate every PNS; then also join whole prompts."""

    def tables() -> pd.DataFrame:
        tasks = make_tasks("flu_vaccine", [sizes], n_samples=n_samples, rng=1)
        rows = tasks.questionnaire()
        estimated_pns(rows)
        return tasks.prompts(rows) if whole else rows

    n_nodes = sum(sizes) - len(sizes) + 1
    for whole in (False, True):
        workload = f"world, texts, truths, {'prompts, ' * whole}PNS: {n_nodes} nodes, {len(sizes)} components"
        report(workload, n_samples / seconds(tables), PEER_END_TO_END[n_nodes], "samples")


def estimated_pns(rows: pd.DataFrame) -> pd.Series:
    """Estimate the PNS of each pair from its two arms."""
    arms = [rows[rows["world"] == arm].set_index(["sample", "cause", "effect"])["truth"] for arm in ("do1", "do0")]
    return (arms[0] & ~arms[1]).groupby(["cause", "effect"]).mean()


if __name__ == "__main__":
    true_answers()
    exact_quantities()
    for shape in ([2, 2, 2], [4, 4, 4], [8, 6, 8], [4] * 8):
        end_to_end(shape)
