"""The definitions once more, by enumeration of the joint law, for small networks of tests."""

import graphlib
import itertools

import numpy as np

import causaleval_pd as ce


def random_network(rng, k=3, cards=None, p=0.6, zeros=0.0):
    names = [chr(65 + i) for i in range(k)]
    cards = cards or rng.integers(2, 4, size=k).tolist()
    order = rng.permutation(k)
    parents = {names[i]: [names[j] for j in order[:at] if rng.random() < p] for at, i in enumerate(order)}
    cpts = {}
    for i, name in enumerate(names):
        shape = (*(cards[names.index(q)] for q in parents[name]), cards[i])
        table = rng.gamma(1.0, size=shape) * (rng.random(shape) >= zeros)
        table[..., 0] += 1e-3 if zeros else 0
        cpts[name] = table / table.sum(axis=-1, keepdims=True)
    return ce.DiscreteNetwork(parents, cpts)


def dags(names, n_arcs):
    """All DAGs over some nodes with a number of arcs, as lists of arcs."""
    found = []
    for arcs in itertools.combinations(itertools.permutations(names, 2), n_arcs):
        try:
            list(graphlib.TopologicalSorter({n: [a for a, b in arcs if b == n] for n in names}).static_order())
        except graphlib.CycleError:
            continue
        found.append(list(arcs))
    return found


def states(network):
    """All combinations of states, as positions."""
    return list(itertools.product(*(range(len(network.states[n])) for n in network.nodes)))


def conditional(network, i, x):
    """P(x_i | parents of i in x)."""
    name = network.nodes[i]
    at = tuple(x[network.nodes.index(p)] for p in network.parents[name])
    return network.cpts[name][(*at, x[i])]


def joint(network):
    """Probability by combination of states."""
    return {x: np.prod([conditional(network, i, x) for i in range(len(x))]) for x in states(network)}


def divergence_under(truth, estimate, do, success=1.0):
    """KL(truth(.|do) || estimate(.|do)), `do` giving positions of states by position of node."""

    def probability(network, x):
        p = 1.0
        for i in range(len(x)):
            own = conditional(network, i, x)
            p *= success * (x[i] == do[i]) + (1 - success) * own if i in do else own
        return p

    total = 0.0
    for x in states(truth):
        p = probability(truth, x)
        if p > 0:
            q = probability(estimate, x)
            total += p * (np.log(p / q) if q > 0 else np.inf)
    return total


def marginal_of(network, nodes):
    """Law of some nodes (positions), by their states."""
    law = {}
    for x, p in joint(network).items():
        key = tuple(x[i] for i in nodes)
        law[key] = law.get(key, 0.0) + p
    return law


def general(truth, estimate, law):
    """Expected divergence under (weight, nodes, {states: probability}, success)."""
    return sum(
        weight * p * divergence_under(truth, estimate, dict(zip(nodes, a, strict=True)), success)
        for weight, nodes, values, success in law
        for a, p in values.items()
        if p > 0
    )


def sets(k):
    """All sets of positions."""
    return [s for r in range(k + 1) for s in itertools.combinations(range(k), r)]


def uniform_values(network, nodes):
    """Uniform law over the states of some nodes."""
    cards = [len(network.states[network.nodes[i]]) for i in nodes]
    return dict.fromkeys(itertools.product(*map(range, cards)), 1 / np.prod(cards, dtype=float))


def laws(truth):
    """The laws of CKL1 to CKL3."""
    k = len(truth.nodes)
    return {
        "ckl1": [(2.0**-k, s, uniform_values(truth, s), 1.0) for s in sets(k)],
        "ckl2": [(2.0**-k, s, marginal_of(truth, s), 1.0) for s in sets(k)],
        "ckl3": [(1 / k, s, marginal_of(truth, s), 1.0) for s in sets(k) if len(s) == k - 1],
    }


def wed_3(truth, estimate):
    """Sum over nodes of the expected divergence of their tables, over the true law of all parents."""
    total = 0.0
    for i, name in enumerate(truth.nodes):
        both = sorted({truth.nodes.index(p) for n in (truth, estimate) for p in n.parents[name]})
        for values, p in marginal_of(truth, both).items():
            x = [0] * len(truth.nodes)
            for j, v in zip(both, values, strict=True):
                x[j] = v
            for state in range(len(truth.states[name])):
                # the node itself may be among the parents' descendants, not among its own parents
                y = [*x[:i], state, *x[i + 1 :]]
                own, other = conditional(truth, i, y), conditional(estimate, i, y)
                if p * own > 0:
                    total += p * own * (np.log(own / other) if other > 0 else np.inf)
    return total
