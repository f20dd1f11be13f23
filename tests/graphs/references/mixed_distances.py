"""References for distances between mixed graphs: enumeration of paths, and effects in linear models.

A graph is a matrix of codes: in cell (i, j) the mark at j of the edge i - j: 0 no edge, 1 tail, 2 arrow, 3 circle. An
ADMG is a DAG that has a latent node, with two children, for each <->.
"""

import itertools
from functools import cache

import numpy as np

from .mixed import visible

TAIL, ARROW, CIRCLE = 1, 2, 3


class Paths:
    """All paths of one graph, with what their definitions need."""

    def __init__(self, graph):
        self.graph = np.asarray(graph)
        self.d = len(graph)
        self.below = {v: self._reached(v, self._certain) for v in range(self.d)}
        self.possibly_below = {v: self._reached(v, self.possible) for v in range(self.d)}
        self.between = cache(self._between)

    def _certain(self, u, v):
        return (self.graph[u, v], self.graph[v, u]) == (ARROW, TAIL)

    def possible(self, u, v):
        """Return whether the edge u - v may point to v."""
        return bool(self.graph[u, v]) and self.graph[v, u] != ARROW and self.graph[u, v] != TAIL

    def _reached(self, start, step):
        found = {start}
        for path in self._from(start, step):
            found.add(path[-1])
        return found

    def _from(self, start, step):
        paths = [(start,)]
        while paths:
            path = paths.pop()
            yield path
            paths += [(*path, v) for v in range(self.d) if v not in path and step(path[-1], v)]

    def _between(self, x, y):
        near = self._from(x, lambda u, v: bool(self.graph[u, v]))
        return [path for path in near if len(path) > 1 and path[-1] == y]

    def collider(self, u, v, w):
        return self.graph[u, v] == ARROW and self.graph[w, v] == ARROW

    def definite_noncollider(self, u, v, w):
        if self._certain(v, u) or self._certain(v, w):
            return True
        return (self.graph[u, v], self.graph[w, v]) == (CIRCLE, CIRCLE) and not self.graph[u, w]

    def connects(self, path, given):
        """Return whether a path of definite status is m-connecting: definite-status colliders above `given`."""
        for u, v, w in zip(path, path[1:], path[2:], strict=False):
            if self.collider(u, v, w):
                if not self.below[v] & set(given):
                    return False
            elif v in given or not self.definite_noncollider(u, v, w):
                return False
        return True

    def separated(self, x, y, given):
        return not any(self.connects(path, given) for path in self.between(x, y))

    def causal(self, path):
        return all(self.possible(u, v) for u, v in itertools.pairwise(path))


def separation(truth, estimate):
    """Count ordered pairs that a MAG or PAG separates by all possible ancestors and the truth, a MAG, joins."""
    true, claimed = Paths(truth), Paths(estimate)
    wrong = 0
    for x, y in itertools.permutations(range(true.d), 2):
        if not estimate[x, y]:
            given = {v for v in range(true.d) if claimed.possibly_below[v] & {x, y}} - {x, y}
            wrong += not true.separated(x, y, given)
    return wrong


def is_valid(paths, t, y, given, is_visible):
    """Return whether a set satisfies the generalised adjustment criterion in a graph."""
    causal = [path for path in paths.between(t, y) if paths.causal(path)]
    if any(not is_visible[path[0], path[1]] for path in causal):
        return False
    forbidden = set().union(*(paths.possibly_below[v] for path in causal for v in path[1:]))
    if forbidden & set(given):
        return False
    return not any(paths.connects(path, given) for path in paths.between(t, y) if not paths.causal(path))


def answers(graph, kind):
    """Return for each (treatment, outcome) None (no effect), False (not by adjustment) or the set of ancestors.

    That adjustment fails is checked for every set of other nodes.
    """
    if kind == "admg":
        paths = Paths(with_latent_nodes(graph))
        seen = np.ones((paths.d, paths.d), bool)
    else:
        paths, seen = Paths(graph), visible(graph)
    d, found = len(graph), {}
    for t, y in itertools.permutations(range(d), 2):
        others = [v for v in range(d) if v not in (t, y)]
        causal = [path for path in paths.between(t, y) if paths.causal(path)]
        sets = [
            set(given)
            for size in range(len(others) + 1)
            for given in itertools.combinations(others, size)
            if is_valid(paths, t, y, given, seen)
        ]
        if not causal:
            found[t, y] = None
        elif not sets:
            found[t, y] = False
        else:
            forbidden = set().union(*(paths.possibly_below[v] for path in causal for v in path[1:]))
            found[t, y] = {v for v in others if paths.possibly_below[v] & {t, y}} - forbidden
            assert found[t, y] in sets
    return found


def with_latent_nodes(graph):
    """Return the DAG of an ADMG, a latent node for each <->; codes (0, 2) of a pair are -> and <->."""
    d = len(graph)
    low, high = np.triu_indices(d, 1)
    both = [
        (i, j)
        for i, j in zip(low, high, strict=True)
        if TAIL not in (graph[i, j], graph[j, i]) and graph[i, j] + graph[j, i]
    ]
    dag = np.zeros((d + len(both),) * 2, np.uint8)
    for i, j in itertools.permutations(range(d), 2):
        if graph[i, j] == ARROW and graph[j, i] != ARROW:
            dag[i, j], dag[j, i] = ARROW, TAIL
    for k, pair in enumerate(both):
        for v in pair:
            dag[d + k, v], dag[v, d + k] = ARROW, TAIL
    return dag


def adjustment(dag, n_observed, target, estimate, kind):
    """Count ordered pairs of observed nodes for which an estimate answers wrongly; the first nodes are observed."""
    true = Paths(dag)
    everything = np.ones((len(dag), len(dag)), bool)
    best, claimed = answers(target, kind), answers(estimate, kind)
    wrong = 0
    for t, y in itertools.permutations(range(n_observed), 2):
        given = claimed[t, y]
        if given is None:
            wrong += y in true.below[t]
        elif given is False:
            wrong += best[t, y] is not False
        else:
            wrong += not is_valid(true, t, y, given, everything)
    return wrong


def adjustment_in_class(truth, estimate):
    """Count ordered pairs for which an estimate's answer is not right for a whole MAG or PAG."""
    true, seen = Paths(truth), visible(truth)
    best, claimed = answers(truth, "class"), answers(estimate, "class")
    wrong = 0
    for pair, given in claimed.items():
        if given is None or given is False:
            wrong += (best[pair] is not None) if given is None else (best[pair] is not False)
        else:
            wrong += not is_valid(true, *pair, given, seen)
    return wrong


def identifies(dag, t, y, given, rng):
    """Return whether the regression on treatment and set has the effect as coefficient, in a random linear model."""
    d = len(dag)
    weights = np.where((dag == ARROW) & (dag.T == TAIL), rng.uniform(0.5, 1.5, (d, d)) * rng.choice([-1, 1], (d, d)), 0)
    total = np.linalg.inv(np.eye(d) - weights)  # effect of row on column
    covariance = total.T @ np.diag(rng.uniform(0.5, 1.5, d)) @ total
    columns = [t, *given]
    return bool(
        np.isclose(np.linalg.solve(covariance[np.ix_(columns, columns)], covariance[columns, y])[0], total[t, y])
    )
