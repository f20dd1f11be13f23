"""Ours against peers on networks, measured in one run on one thread: `python tests/benchmarks/bench_causal_kl.py`.

ALARM (37 nodes) and win95pts (76 nodes) are the example networks that ship with pgmpy; the estimates are learned by its
hill climbing from 2000 cases (ALARM) or have a sixth of the true arcs reversed or deleted (win95pts). Every timing of
ours starts without anything remembered. Times of one machine mean little; the ratio is the result.
"""

from timing import median, seconds

# isort: split
import graphlib
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, metastatic, metastatic_mutations, sample
from causaleval_pd.fields.causal_kl.laws import elimination_steps, laws_of

LAWS = ["kl", "ckl1", "ckl2", "ckl3"]


def forget() -> None:
    """Empty what is remembered between calls."""
    laws_of.cache_clear()
    elimination_steps.cache_clear()


def shipped(name: str) -> ce.DiscreteNetwork:
    """Return an example network of pgmpy."""
    import pgmpy

    return ce.as_network(Path(pgmpy.__file__).parent / "utils" / "example_models" / f"{name}.bif.gz")


def loading() -> None:
    """Reading BIF files of bnlearn's repository, and exact divergences from a network with one arc less."""
    import gzip
    import tempfile

    import pgmpy
    import pyagrum as gum

    print("| network | nodes | arcs | read | pyagrum | largest difference | CKL3 | CKL1 | CKL2 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in ("alarm", "hepar2", "barley", "pathfinder", "munin", "mildew", "diabetes"):
        packed = Path(pgmpy.__file__).parent / "utils" / "example_models" / f"{name}.bif.gz"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.bif"
            path.write_bytes(gzip.decompress(packed.read_bytes()))
            truth, peer = ce.as_network(path), ce.as_network(gum.loadBN(str(path)))
            ours, theirs = seconds(ce.as_network, path), seconds(gum.loadBN, str(path))
        apart = np.abs(truth.parameters - peer.parameters).max()
        cells = [f"{name} | {len(truth.nodes)} | {truth.n_arcs} | {ours:.3f} s | {theirs:.3f} s | {apart:.1e}"]
        for metric in (ce.ckl3, ce.ckl1, ce.ckl2):
            forget()
            try:
                cells.append(f"{seconds(lambda m=metric, t=truth: m(t, without_an_arc(t))):.2f} s")
            except ValueError:
                cells.append("refused")
        print(f"| {' | '.join(cells)} |")


def without_an_arc(network: ce.DiscreteNetwork) -> ce.DiscreteNetwork:
    """Return a network without the first parent of the first node with fewest parents, whose table is averaged."""
    parents, cpts = {name: list(found) for name, found in network.parents.items()}, dict(network.cpts)
    child = min((name for name in parents if parents[name]), key=lambda name: len(parents[name]))
    parents[child], cpts[child] = parents[child][1:], cpts[child].mean(axis=0)
    return ce.DiscreteNetwork(parents, cpts, network.states)


def learned(truth: ce.DiscreteNetwork) -> ce.DiscreteNetwork:
    """Return a network learned by hill climbing."""
    from pgmpy.estimators import HillClimbSearch

    cases = sample(truth, 2000, rng=1)
    found = HillClimbSearch(cases).estimate(scoring_method="bic-d", max_indegree=4, show_progress=False)
    return from_data(ce.as_graph(list(found.edges()), nodes=truth.nodes), cases, 0.5, states=truth)


def mutated(truth: ce.DiscreteNetwork) -> ce.DiscreteNetwork:
    """Return the truth with some arcs reversed or deleted, fitted to cases."""
    rng = np.random.default_rng(2)
    parents = {node: set(found) for node, found in truth.parents.items()}
    for a, b in sorted((p, node) for node, found in truth.parents.items() for p in found):
        if rng.random() < 1 / 6:
            parents[b].discard(a)
            parents[a].add(b)
            try:
                graphlib.TopologicalSorter(parents).prepare()
            except graphlib.CycleError:
                parents[a].discard(b)
    graph = ce.as_graph([(p, node) for node, found in parents.items() for p in sorted(found)], nodes=truth.nodes)
    return from_data(graph, sample(truth, 2000, rng=3), 0.5, states=truth)


def in_pyagrum(network: ce.DiscreteNetwork) -> object:
    """Return the same network in pyagrum."""
    import pyagrum as gum

    made = gum.BayesNet()
    for name in network.nodes:
        made.add(gum.LabelizedVariable(name, name, list(network.states[name])))
    for name, parents in network.parents.items():
        for parent in parents:
            made.addArc(parent, name)
    for name, table in network.cpts.items():
        axes = [*network.parents[name], name]
        wanted = list(made.cpt(name).names)[::-1]
        made.cpt(name)[:] = np.ascontiguousarray(table.transpose([axes.index(axis) for axis in wanted]))
    return made


def family_queries(truth: ce.DiscreteNetwork, estimate: ce.DiscreteNetwork, peer: object) -> None:
    """Ask pyagrum's lazy propagation for the joint law of every family of both networks, as KL needs them."""
    import pyagrum as gum

    families = {frozenset([*network.parents[n], n]) for network in (truth, estimate) for n in network.nodes}
    engine = gum.LazyPropagation(peer)
    for family in families:
        engine.addJointTarget(set(family))
    engine.makeInference()
    for family in families:
        engine.jointPosterior(set(family))


def large(name: str, learn: Callable[[ce.DiscreteNetwork], ce.DiscreteNetwork]) -> None:
    """Time all divergences on a large network."""
    truth = shipped(name)
    estimate = learn(truth)
    peer_network = in_pyagrum(truth)
    peer = median(lambda: family_queries(truth, estimate, peer_network))
    times = {}
    for law in LAWS:
        metric = ce.get_metric(law)
        times[law] = median(lambda metric=metric: (forget(), metric(truth, estimate)))
        ratios = f"ours / peer {times[law] / peer:6.2f}   ours / our KL {times[law] / times['kl']:5.2f}"
        print(
            f"{name}, {len(truth.nodes)} nodes: {law:<5} {times[law] * 1e3:8.1f} ms   "
            f"family queries of pyagrum {peer * 1e3:8.1f} ms   {ratios}"
        )


def repetitions(n: int = 1000) -> None:
    """Score nine structures on many data sets of 1000 cases, as in Table 4 of the paper."""
    truth, rng = metastatic(), np.random.default_rng(4)
    graphs = [network.graph for name, network in metastatic_mutations().items() if not name.startswith("tweak")]
    start = time.process_time()
    estimates = [
        from_data(graph, cases, 0.5) for cases in (sample(truth, 1000, rng=rng) for _ in range(n)) for graph in graphs
    ]
    made = time.process_time() - start
    columns = {"truth": [truth] * len(estimates), "estimate": estimates}
    runs = pd.DataFrame({name: ce.network_column(cells) for name, cells in columns.items()})
    spent = median(lambda: ce.evaluate(runs, LAWS))
    print(
        f"nine structures x {n} repetitions x 4 metrics: {spent:.3f} s, {n / spent:,.0f} repetitions a second "
        f"(drawing and fitting them: {made:.1f} s)"
    )


def exact_distance() -> None:
    """KL on Sachs's 11 nodes against pyagrum's, which enumerates the joint law."""
    import pyagrum as gum

    truth = shipped("sachs")
    estimate = mutated(truth)
    left, right = in_pyagrum(truth), in_pyagrum(estimate)
    ours = median(lambda: (forget(), ce.kl(truth, estimate)))
    peer = median(lambda: gum.ExactBNdistance(left, right).compute())
    times = f"KL {ours * 1e3:.1f} ms   pyagrum's exact distance {peer * 1e3:.1f} ms"
    print(f"sachs, 11 nodes: {times}   {peer / ours:.0f}x")


def controls() -> None:
    """Exact null distributions over all DAGs with as many arcs: four nodes, five nodes."""
    truth = metastatic()
    runs = pd.DataFrame({"truth": [truth], "estimate": [metastatic_mutations()["rev.out.strong"]]})
    spent = median(lambda: ce.with_controls(runs, LAWS, rng=1, context={"estimator": "joint"}))
    print(f"186 controls x 4 metrics, exact: {spent * 1e3:8.1f} ms a row")


def main() -> None:
    warnings.simplefilter("ignore")
    loading()
    repetitions()
    controls()
    exact_distance()
    large("alarm", learned)
    large("win95pts", mutated)


if __name__ == "__main__":
    main()
