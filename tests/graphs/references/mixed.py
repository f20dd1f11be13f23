"""References for mixed graphs that use definitions only: enumeration, closures of matrices and m-separation.

A graph is a matrix of codes: in cell (i, j) the mark at j of the edge i - j: 0 no edge, 1 tail, 2 arrow, 3 circle.
"""

import itertools
from collections import defaultdict

import numpy as np

TAIL, ARROW, CIRCLE = 1, 2, 3


def pairs_of(d):
    return np.array(list(itertools.combinations(range(d), 2)), int).reshape(-1, 2)


def all_directed_mixed(d, edges=None):
    """Return every graph with none (if `edges` is None), ->, <- or <-> for each pair, (N, d, d)."""
    chosen = pairs_of(d) if edges is None else np.array(edges, int).reshape(-1, 2)
    kinds = np.array([(0, 0), (1, 2), (2, 1), (2, 2)][0 if edges is None else 1 :], np.uint8)
    word = np.indices([len(kinds)] * len(chosen)).reshape(len(chosen), len(kinds) ** len(chosen)).T
    graphs = np.zeros((len(word), d, d), np.uint8)
    graphs[:, chosen[:, 1], chosen[:, 0]] = kinds[word][:, :, 0]
    graphs[:, chosen[:, 0], chosen[:, 1]] = kinds[word][:, :, 1]
    return graphs


def closed(step):
    """Return the transitive closure of (N, s, s) matrices."""
    reach = step.astype(np.float32)
    for _ in range(int(np.ceil(np.log2(max(2, step.shape[1]))))):
        reach = np.minimum(reach + reach @ reach, 1)
    return reach > 0


def directed(graphs):
    return (graphs == ARROW) & (graphs.transpose(0, 2, 1) == TAIL)


def ancestors(graphs):
    """Return (N, d, d) with True in cell (u, v) where a directed path leads from u to v."""
    return closed(directed(graphs))


def is_ancestral(graphs):
    above = ancestors(graphs)
    spouses = (graphs == ARROW) & (graphs.transpose(0, 2, 1) == ARROW)
    cyclic = above[:, range(graphs.shape[1]), range(graphs.shape[1])].any(axis=1)
    return ~(cyclic | (spouses & above).any(axis=(1, 2)))


def separations(graphs, observed=None):
    """Return (N, pairs, subsets): whether a pair of nodes is m-separated by each subset of the other observed nodes.

    Nodes are m-connected iff a walk joins them on which the colliders, and no other inner nodes, are in the set.
    """
    n, d, _ = graphs.shape
    kept = list(range(d)) if observed is None else list(observed)
    pairs = [(kept[i], kept[j]) for i, j in pairs_of(len(kept))]
    columns = []
    for size in range(len(kept) - 1):
        for given in itertools.combinations(kept, size):
            inside = np.isin(np.arange(d), given)
            # states are (node, arrived by an arrowhead); a step is an edge from the node
            step = np.zeros((n, d, 2, d, 2), bool)
            near = graphs != 0
            at_start, at_end = graphs.transpose(0, 2, 1) == ARROW, graphs == ARROW
            for head in (0, 1):
                collider = at_start if head else np.zeros_like(near)
                passes = near & np.where(collider, inside[None, :, None], ~inside[None, :, None])
                step[:, :, head, :, 1] = passes & at_end
                step[:, :, head, :, 0] = passes & ~at_end
            reach = closed(step.reshape(n, 2 * d, 2 * d)).reshape(n, d, 2, d, 2)
            first = np.stack([near & ~at_end, near & at_end], axis=-1)  # (n, x, v, arrived)
            ends = reach.any(axis=-1)  # (n, v, arrived, y)
            joined = near | (np.einsum("nxva,nvay->nxy", first.astype(np.float32), ends.astype(np.float32)) > 0)
            column = np.ones((n, len(pairs)), bool)
            for k, (x, y) in enumerate(pairs):
                if x not in given and y not in given:
                    column[:, k] = ~joined[:, x, y]
            columns.append(column)
    return np.stack(columns, axis=2) if columns else np.zeros((n, len(pairs), 0), bool)


def is_maximal(graphs, separated):
    """Return which graphs have a separating set for each pair that is not adjacent.

    A set that holds x or y counts as separating in `separations`, so sets are filtered here.
    """
    d = graphs.shape[1]
    subsets = [given for size in range(d - 1) for given in itertools.combinations(range(d), size)]
    found = np.ones(len(graphs), bool)
    for k, (x, y) in enumerate(pairs_of(d)):
        proper = [s for s, given in enumerate(subsets) if x not in given and y not in given]
        found &= (graphs[:, x, y] != 0) | separated[:, k, proper].any(axis=1)
    return found


def classes(mags, separated):
    """Return lists of the positions of Markov equivalent MAGs."""
    groups = defaultdict(list)
    for position, one in enumerate(np.packbits(separated.reshape(len(mags), -1), axis=1)):
        groups[one.tobytes()].append(position)
    return list(groups.values())


def shared_marks(mags):
    """Return the PAG of a whole class: the marks that all graphs share, else circles."""
    same = (mags == mags[0]).all(axis=0)
    return np.where(same, mags[0], CIRCLE).astype(np.uint8)


def visible(graph):
    """Return the visible edges of one MAG or PAG, by enumeration of collider paths."""
    d = len(graph)
    found = np.zeros((d, d), bool)
    for a, c in itertools.permutations(range(d), 2):
        if (graph[a, c], graph[c, a]) != (ARROW, TAIL):
            continue
        others = [v for v in range(d) if v not in (a, c)]
        for size in range(1, len(others) + 1):
            for path in itertools.permutations(others, size):
                walk = (*path, a)
                inner = walk[1:-1]
                heads = all(graph[x, y] == ARROW for x, y in itertools.pairwise(walk))
                back = all(graph[y, x] == ARROW for x, y in itertools.pairwise(walk[1:]))
                parents = all((graph[v, c], graph[c, v]) == (ARROW, TAIL) for v in inner)
                if heads and back and parents and graph[walk[0], c] == 0:
                    found[a, c] = True
    return found


def project_to_admg(parents_of, observed):
    """Return the ADMG of a DAG {node: parents} as a set of (i, mark, j), by paths through latent nodes."""
    children = defaultdict(set)
    for node, parents in parents_of.items():
        for parent in parents:
            children[parent].add(node)

    def reached(start):
        found, todo = set(), [start]
        while todo:
            for child in children[todo.pop()]:
                if child in observed:
                    found.add(child)
                elif child not in found:
                    todo.append(child)
        return found

    edges = {(i, "->", j) for i in observed for j in reached(i)}
    for latent in set(parents_of) - set(observed):
        edges |= {(i, "<->", j) for i, j in itertools.combinations(sorted(reached(latent)), 2)}
    return edges
