"""Uniform DAGs with given numbers of edges in plain Python, and numbers of labelled DAGs in whole numbers."""

from bisect import bisect_right
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.graphs.kernels.controls import Laws, best_weight, laws
from causaleval_pd.graphs.kernels.inputs import Words, are_sparse, check_counted, checked_draws

from .comparison import causal_ranks, pack
from .streams import Stream, streams


def numbers_of_edges(d: int) -> range:
    return range(d * (d - 1) // 2 + 1)


def exact_numbers(n: int) -> dict[tuple[int, int], list[int]]:
    """Return numbers of DAGs by nodes, roots and arcs: coefficients of Robinson's polynomials."""
    most = n * (n - 1) // 2
    found = {(0, 0): [1]}
    for k in range(1, n + 1):
        for s in range(1, k + 1):
            total = [0] * (most + 1)
            for u in range(1, k - s + 1) if s < k else [0]:
                one = [comb(s, j) if j else 0 for j in range(s + 1)]
                product = found[k - s, u]
                for factor in [one] * u + [[1, 1]] * (s * (k - s - u)):
                    product = [
                        sum(factor[j] * product[m - j] for j in range(len(factor)) if 0 <= m - j < len(product))
                        for m in range(most + 1)
                    ]
                total = [a + b for a, b in zip(total, product + [0] * most, strict=False)]
            found[k, s] = [comb(k, s) * x for x in total]
    return found


Marks = NDArray[np.bool_]
#: of each place: where the layer before its own begins, where its own begins, how many parents it has in the former
Layers = tuple[list[int], list[int], list[int]]


def draw_dags(n_nodes: int, n_edges: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Draw uniformly among the labelled DAGs with given numbers of edges."""
    edges, names = checked_draws(n_nodes, np.reshape(n_edges, (-1, 1)), keys, start, count)
    edges = edges[:, 0]
    check_counted(n_nodes)
    drawn = np.zeros((len(names) * count, n_nodes, n_nodes), np.bool_)
    sparse = are_sparse(n_nodes, edges)
    for marks, (row, stream) in zip(drawn, streams(names, start, count), strict=True):
        m = int(edges[row])
        if sparse[row]:
            _toss(stream, m, marks)
            continue
        found = laws(n_nodes, best_weight(n_nodes, m))
        while (layers := _draw_layers(stream, m, found, n_nodes)) is None:
            pass
        _place_arcs(stream, m, layers, marks)
    return pack(drawn)


def flip_coins(stream: Stream, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Direct each pair by a bit, 64 bits per word, the lowest first."""
    words = [stream.word() for _ in range(-(-len(pairs) // 64))]
    return [(b, a) if words[e // 64] >> e % 64 & 1 else (a, b) for e, (a, b) in enumerate(pairs)]


def is_acyclic(marks: Marks) -> bool:
    return bool((causal_ranks(marks[None]) >= 0).all())


def _toss(stream: Stream, m: int, marks: Marks) -> None:
    done = False
    while not done:
        marks[:] = False
        for a, b in flip_coins(stream, stream.pairs(len(marks), m)):
            marks[a, b] = True
        done = is_acyclic(marks)


def _draw_layers(stream: Stream, m: int, law: Laws, d: int) -> Layers | None:
    """Draw layers and numbers of parents in the layer before, or None where there are not m arcs in all."""
    before: list[int] = []
    begin: list[int] = []
    wanted: list[int] = []
    size = 0
    while (place := len(begin)) < d:
        left = d - place
        x = stream.uniform() * float(law.joined[size, left])
        chance, reached, u = 0.0, 1.0, 0
        while u < left and chance <= x:
            u += 1
            reached *= float(law.reach[size])
            chance += reached * float(law.roots[left, u])
        before += [place - size] * u
        begin += [place] * u
        parents = law.parents[size].tolist()
        wanted += [bisect_right(parents, stream.uniform()) if size > 1 else size for _ in range(u)]
        if sum(wanted) > m:
            return None
        size = u
    rest, n_slots, n_arcs = m - sum(wanted), sum(before), 0
    if rest > n_slots:
        return None
    for k in reversed(range(n_slots.bit_length())):
        if n_slots >> k & 1:
            first = 2**k + k - 1
            n_arcs += bisect_right(law.arcs[first : first + 2**k + 1].tolist(), stream.uniform())
            n_slots -= 2**k
            if not n_arcs <= rest <= n_arcs + n_slots:
                return None
    return before, begin, wanted


def _place_arcs(stream: Stream, m: int, layers: Layers, marks: Marks) -> None:
    arcs = set()
    before, begin, wanted = layers
    for t, (low, high, number) in enumerate(zip(*layers, strict=True)):
        arcs |= {(low + a, t) for a in _choose(stream, number, high - low)}
    slots = [(a, t) for t, free in enumerate(before) for a in range(free)]
    arcs |= {slots[number] for number in _choose(stream, m - sum(wanted), len(slots))}
    names = stream.shuffle(len(begin))
    for a, t in arcs:
        marks[names[a], names[t]] = True


def _choose(stream: Stream, wanted: int, size: int) -> set[int]:
    """Choose numbers below `size`, or those that are left out if these are fewer."""
    found: set[int] = set()
    while len(found) < min(wanted, size - wanted):
        found.add(stream.two_below(size, 1)[0])
    return found if 2 * wanted <= size else set(range(size)) - found
