"""Compiled random graphs of the further null models.

Every draw has a stream of its own (see `draws`): draw r depends on the `keys` of its row, (n,), and r alone. Functions
make draws `start` .. start + count - 1 of each row, together, (n * count, 2, W); `index` (n,) is the graph of each row.

Uniform DAGs follow from the numbers of labelled DAGs by nodes and roots, arcs weighted. A DAG is peeled: its roots
(nodes without parents) go first, then the roots of what is left, and so on. Each new root has a parent among the s
nodes that went before it, and all nodes that stay may have any of these s as parents. With a weight w^m for a DAG of m
arcs, the numbers Z(n) of DAGs over n nodes and Z(n) roots(n, s) of those with s roots follow

    Z(n) roots(n, s) = C(n, s) (1 + w)^(s (n - s)) Z(n - s) joined(s, n - s),
    joined(s, r) = sum over u of reach(s)^u roots(r, u),    reach(s) = 1 - (1 + w)^-s.

All terms are positive, so nothing cancels. DAGs with the same number of arcs have the same weight: whatever w is, those
drawn with m arcs are uniform among all such DAGs. The weight only changes how many draws have m arcs, and is chosen so
that many do (a saddle point, or Boltzmann sampling).

References
----------
.. [1] Robinson, R. W. (1977). Counting unlabeled acyclic digraphs. doi:10.1007/BFb0069178
.. [2] Kuipers, J., Moffa, G. (2015). Uniform random generation of large acyclic digraphs. doi:10.1007/s11222-013-9428-y
.. [3] Duchon, P., Flajolet, P., Louchard, G., Schaeffer, G. (2004). Boltzmann samplers for the random generation of
   combinatorial structures. doi:10.1017/S0963548304006315
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from . import bits
from .draws import STEP, draw_pairs, mix, shuffle, stream, two_below, unit
from .inputs import (
    GraphDraws,
    Ints,
    Words,
    are_sparse,
    check_counted,
    checked_draws,
    checked_planes,
    edge_numbers,
    edge_room,
    graph_draws,
    linear_extension_law,
    read_only,
)
from .planes import N_PLANES, plane_words, row_words

Floats = NDArray[np.float64]


@kernel
def _relabel(draws: GraphDraws, edges: Words, order: Words) -> None:
    d = np.uint64(order.size)
    tail, head, undirected = edges[0], edges[1], edges[2]
    for row in range(draws.keys.size):
        n_edges, _ = bits.read_edges(draws.graphs[draws.positions[row, 0]], d, tail, head, undirected)
        for column in range(draws.n_draws):
            shuffle(stream(draws.keys[row], draws.start + column), order)
            graph = draws.planes[row * draws.n_draws + column]
            for e in range(n_edges):
                bits.set_mark(graph, order[tail[e]], order[head[e]], d, undirected[e])


def relabel_graphs(planes: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Permute the nodes of graphs of any class: node i becomes place i of a shuffle."""
    draws = graph_draws(planes, n_nodes, index, keys, start, count)
    _relabel(draws, edge_room(n_nodes, 3), np.empty(n_nodes, np.uint64))
    return draws.planes


@kernel
def _orient(draws: GraphDraws, edges: Words, rank: Words) -> None:
    d = np.uint64(rank.size)
    low, high = edges[0], edges[1]
    n_edges = 0
    for row in range(draws.keys.size):
        for column in range(draws.n_draws):
            if column == 0 or draws.positions.shape[1] > 1:
                n_edges = bits.list_edges(draws.graphs[draws.positions[row, column]], d, low, high)
            shuffle(stream(draws.keys[row], draws.start + column), rank)
            graph = draws.planes[row * draws.n_draws + column]
            for e in range(n_edges):
                a, b = low[e], high[e]
                if rank[a] > rank[b]:
                    a, b = b, a
                bits.set_mark(graph, a, b, d, bits.ZERO)


def orient_graphs(
    skeletons: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Direct edges along uniform orders: place i of a shuffle is the rank of node i; `index` is (n,) or (n, count)."""
    draws = graph_draws(skeletons, n_nodes, index, keys, start, count)
    _orient(draws, edge_room(n_nodes, 2), np.empty(n_nodes, np.uint64))
    return draws.planes


@kernel
def _undirect(shares: Ints, keys: Words, start: int, count: int, out: Words) -> None:
    """Pick edges by selection sampling: each of the edges left is taken with the same probability."""
    for row in range(keys.size):
        undirected, edges = shares[row, 0], shares[row, 1]
        for column in range(count):
            graph = out[row * count + column]
            left = 0
            for w in range(graph.shape[1]):
                left += bits.popcount(graph[0, w] | graph[1, w])
            # the share of the graph's edges, rounded half up
            wanted = (2 * left * undirected + edges) // (2 * edges) if edges > 0 else 0
            state = stream(keys[row], start + column)
            for w in range(graph.shape[1]):
                for pair in bits.members(bits.ZERO, graph[0, w] | graph[1, w]):
                    state += STEP
                    if unit(state) * left < wanted:
                        graph[0, w] |= bits.ONE << pair
                        graph[1, w] |= bits.ONE << pair
                        wanted -= 1
                    left -= 1


def undirect_edges(
    planes: ArrayLike, n_nodes: int, shares: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Undirect uniformly chosen edges of draws, in the order of bits: `shares` (n, 2) are how many of how many."""
    out, names = checked_planes(planes, n_nodes).copy(), read_only(keys, np.uint64)
    _undirect(read_only(shares, np.int64), names, start, count, out)
    return out


@kernel_part
def _rows_of(u: Words, v: Words, m: int, rows: Words) -> None:
    """Fill the rows of neighbours from `m` edges."""
    rows[:] = bits.ZERO
    for e in range(m):
        bits.add(rows[u[e]], v[e])
        bits.add(rows[v[e]], u[e])


@kernel_part
def _switch(state: np.uint64, attempts: int, u: Words, v: Words, m: np.uint64, rows: Words) -> np.uint64:
    """Switch the ends of two edges, again and again; return the state of the stream."""
    done = 0
    while done < attempts:
        state += STEP
        accepted, a, f = two_below(mix(state), m + m, m - bits.ONE)
        if not accepted:
            continue
        done += 1
        e = a >> bits.ONE
        f += np.uint64(f >= e)
        p, q, x, y = u[e], v[e], u[f], v[f]
        if a & bits.ONE:
            x, y = y, x
        if p == y or x == q or bits.is_set(rows, p, y) or bits.is_set(rows, x, q):
            continue
        for s, t in ((p, q), (x, y), (p, y), (x, q)):
            bits.flip(rows, s, t, bits.ONE)
            bits.flip(rows, t, s, bits.ONE)
        u[e], v[e], u[f], v[f] = p, y, x, q
    return state


@kernel
def _switch_edges(draws: GraphDraws, attempts: Ints, edges: Words, rows: Words) -> None:
    d = np.uint64(rows.shape[0])
    u, v, hub_u, hub_v = edges[0], edges[1], edges[2], edges[3]
    for row in range(draws.keys.size):
        m = bits.list_edges(draws.graphs[draws.positions[row, 0]], d, u, v)
        if m > 1:
            _rows_of(u, v, m, rows)
            _switch(stream(draws.keys[row], -1), attempts[row], u, v, np.uint64(m), rows)
        bits.copy_row(u, hub_u, m)
        bits.copy_row(v, hub_v, m)
        for column in range(draws.n_draws):
            bits.copy_row(hub_u, u, m)
            bits.copy_row(hub_v, v, m)
            if m > 1:
                _rows_of(u, v, m, rows)
                _switch(stream(draws.keys[row], draws.start + column), attempts[row], u, v, np.uint64(m), rows)
            graph = draws.planes[row * draws.n_draws + column]
            for e in range(m):
                bits.set_mark(graph, u[e], v[e], d, bits.ONE)


def switch_edges(
    planes: ArrayLike, n_nodes: int, index: ArrayLike, attempts: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Draw skeletons with the same degrees by switching the ends of two edges `attempts` (n,) times."""
    # the row's graph and its draws are symmetric steps away from a common graph, so exchangeable if the row's graph is
    # uniform given its degrees, however few the steps (Besag and Clifford 1989, doi:10.1093/biomet/76.4.633)
    draws = graph_draws(planes, n_nodes, index, keys, start, count)
    rows = np.empty((n_nodes, row_words(n_nodes)), np.uint64)
    _switch_edges(draws, read_only(attempts, np.int64), edge_room(n_nodes, 4), rows)
    return draws.planes


@kernel_part
def _is_acyclic(parents: Words) -> bool:
    """Return whether rows of parents, one word per node, have no cycle."""
    left = bits.ZERO
    for v in range(np.uint64(parents.size)):
        left |= bits.ONE << v
    while left != bits.ZERO:
        sources = bits.ZERO
        for v in range(np.uint64(parents.size)):
            if (left >> v) & bits.ONE and parents[v] & left == bits.ZERO:
                sources |= bits.ONE << v
        if sources == bits.ZERO:
            return False
        left ^= sources
    return True


@kernel_part
def _flip_coins(state: np.uint64, n_edges: int, low: Words, high: Words, parents: Words) -> np.uint64:
    """Direct each edge by a bit, 64 bits per word, the lowest first."""
    parents[:] = bits.ZERO
    word = bits.ZERO
    for e in range(n_edges):
        if e % 64 == 0:
            state += STEP
            word = mix(state)
        a, b = low[e], high[e]
        if (word >> np.uint64(e % 64)) & bits.ONE:
            a, b = b, a
        parents[b] |= bits.ONE << a
    return state


@kernel_part
def _mark_arcs(graph: Words, n_edges: int, low: Words, high: Words, parents: Words, n_nodes: np.uint64) -> None:
    """Mark each edge in the direction that the rows of parents give it."""
    for e in range(n_edges):
        a, b = low[e], high[e]
        if (parents[a] >> b) & bits.ONE:
            a, b = b, a
        bits.set_mark(graph, a, b, n_nodes, bits.ZERO)


@kernel_part
def _linear_extensions(parents: Words, ways: Floats) -> float:
    """Count the orders of the nodes in which parents come first, by subsets."""
    n_nodes = np.uint64(parents.size)
    ways[0] = 1.0
    for subset in range(bits.ONE, bits.ONE << n_nodes):
        total = 0.0
        within = bits.ZERO
        for v in bits.members(bits.ZERO, subset):
            within |= parents[v]
        # the nodes without children in the subset: one of them is last
        for v in bits.members(bits.ZERO, subset & ~within):
            total += ways[subset ^ (bits.ONE << v)]
        ways[subset] = total
    return ways[(bits.ONE << n_nodes) - bits.ONE]


@kernel
def _count_orders(planes: Words, edges: Words, parents: Words, ways: Floats, out: Floats) -> None:
    tail, head = edges[0], edges[1]
    for graph in range(out.size):
        n_edges, _ = bits.read_edges(planes[graph], parents.size, tail, head, edges[2])
        parents[:] = bits.ZERO
        for e in range(n_edges):
            parents[head[e]] |= bits.ONE << tail[e]
        out[graph] = _linear_extensions(parents, ways)


def count_orders(planes: ArrayLike, n_nodes: int) -> Floats:
    """Return the number of orders of the nodes that suit each DAG, for few nodes: it takes 2^d steps per graph."""
    graphs = checked_planes(planes, n_nodes)
    out = np.empty(len(graphs))
    _count_orders(graphs, edge_room(n_nodes, 3), np.empty(n_nodes, np.uint64), np.empty(1 << n_nodes), out)
    return out


@kernel_part
def _follow_order(state: np.uint64, n_edges: int, low: Words, high: Words, rank: Words, parents: Words) -> np.uint64:
    """Fill rows of parents by directing each edge along a random order; return the stream, moved on by a word."""
    state = shuffle(state, rank)
    parents[:] = bits.ZERO
    for e in range(n_edges):
        a, b = low[e], high[e]
        if rank[a] > rank[b]:
            a, b = b, a
        parents[b] |= bits.ONE << a
    return state + STEP


@kernel
def _orient_uniformly(
    draws: GraphDraws, by_order: NDArray[np.bool_], tries: int, edges: Words, nodes: Words, ways: Floats
) -> int:
    """Draw uniform acyclic orientations; return the first row that runs out of tries, or -1."""
    low, high, parents, rank = edges[0], edges[1], nodes[0], nodes[1]
    d = np.uint64(rank.size)
    for row in range(draws.keys.size):
        m = bits.list_edges(draws.graphs[draws.positions[row, 0]], d, low, high)
        for column in range(draws.n_draws):
            state = stream(draws.keys[row], draws.start + column)
            done = False
            for _ in range(tries):
                if by_order[row]:
                    state = _follow_order(state, m, low, high, rank, parents)
                    done = unit(state) * _linear_extensions(parents, ways) < 1.0
                else:
                    state = _flip_coins(state, m, low, high, parents)
                    done = _is_acyclic(parents)
                if done:
                    break
            if not done:
                return row
            _mark_arcs(draws.planes[row * draws.n_draws + column], m, low, high, parents, d)
    return -1


def orient_uniformly(
    skeletons: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int, tries: int
) -> tuple[Words, int]:
    """Draw acyclic orientations of skeletons uniformly, by rejection; return also the first row out of tries, or -1."""
    # from that row on, whose draws had at most as many `tries` each, graphs are empty
    draws = graph_draws(skeletons, n_nodes, index, keys, start, count)
    by_order = linear_extension_law(n_nodes, edge_numbers(draws.graphs))[draws.positions[:, 0]]
    edges, nodes = edge_room(n_nodes, 2), np.empty((2, n_nodes), np.uint64)
    ways = np.empty(1 << n_nodes if by_order.any() else 1, np.float64)
    stuck = _orient_uniformly(draws, by_order, tries, edges, nodes, ways)
    return draws.planes, int(stuck)


class Peeling(NamedTuple):
    """Laws of the layers of a DAG with weighted arcs."""

    #: logarithm of Z(n_nodes)
    log_total: float
    #: (n_nodes + 1, n_nodes + 1): [n, s] is the probability that a DAG over n nodes has s roots
    roots: Floats
    #: (n_nodes + 1, n_nodes + 1): [s, r] is the probability that each root of a DAG over r nodes has a parent among s
    #: others
    joined: Floats
    #: (n_nodes + 1,): [s] is the probability that a node has a parent among s others; 1 for s = 0, where none is needed
    reach: Floats


class Laws(NamedTuple):
    """The laws from which `draw_dags` draws: of layers, and cumulative ones of numbers of arcs."""

    roots: Floats
    joined: Floats
    reach: Floats
    #: [s, j] is the probability of at most j parents among s, given at least one
    parents: Floats
    #: arcs among 2^k pairs, at most 0 .. 2^k of them, from place 2^k + k - 1 on
    arcs: Floats


def peeling(n_nodes: int, log_weight: float) -> Peeling:
    """Return the laws of layers of DAGs over up to `n_nodes` nodes."""
    gammaln = scipy.special.gammaln
    size = n_nodes + 1
    log_both = math.log1p(math.exp(log_weight))  # no arc, or one
    reach = -np.expm1(-log_both * np.arange(size))
    reach[0] = 1.0
    powers = np.cumprod(np.repeat(reach[:, None], max(1, n_nodes), axis=1), axis=1)
    roots, joined, log_totals = np.zeros((size, size)), np.zeros((size, size)), np.zeros(size)
    roots[0, 0] = joined[:, 0] = 1.0
    for n in range(1, size):
        s = np.arange(1, n + 1)
        with np.errstate(divide="ignore"):
            logs = (
                gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)
                + log_both * s * (n - s) + log_totals[n - s] + np.log(joined[s, n - s])
            )  # fmt: skip
        top = logs.max()
        terms = np.exp(logs - top)
        total = terms.sum()
        roots[n, 1 : n + 1] = terms / total
        log_totals[n] = top + math.log(total)
        # summed one by one, as the draws do
        joined[: size - n, n] = np.cumsum(powers[: size - n, :n] * roots[n, 1 : n + 1], axis=1)[:, -1]
    return Peeling(float(log_totals[-1]), roots, joined, reach)


def log_weights(n_nodes: int) -> Floats:
    """Return the weights to choose from, dense enough that one of them suits any number of arcs."""
    most = 2 * math.log(max(2, n_nodes)) + 1
    return np.linspace(-most, most, 1 + 2 * math.ceil(most * n_nodes / 3))


@lru_cache(maxsize=16_384)
def _log_total(n_nodes: int, step: int) -> float:
    return peeling(n_nodes, float(log_weights(n_nodes)[step])).log_total


@lru_cache(maxsize=65_536)
def best_weight(n_nodes: int, n_arcs: int) -> int:
    """Return the number of the weight with most DAGs of `n_arcs` arcs: the share w^m / Z is log-concave in log w."""
    logs = log_weights(n_nodes)
    low, high = 0, len(logs) - 1
    while low < high:
        middle = (low + high) // 2
        rise = _log_total(n_nodes, middle + 1) - _log_total(n_nodes, middle)
        low, high = (middle + 1, high) if rise < n_arcs * (logs[middle + 1] - logs[middle]) else (low, middle)
    return low


@lru_cache(maxsize=32)
def laws(n_nodes: int, step: int) -> Laws:
    """Return the laws under the weight of that number."""
    log_weight = float(log_weights(n_nodes)[step])
    layers = peeling(n_nodes, log_weight)
    parts = layers.roots, layers.joined, layers.reach, _parents(n_nodes, log_weight), _arcs(n_nodes, log_weight)
    for part in parts:
        part.flags.writeable = False  # kept for later draws
    return Laws(*parts)


def _parents(n_nodes: int, log_weight: float) -> Floats:
    gammaln = scipy.special.gammaln
    s, j = np.arange(n_nodes + 1)[:, None], np.arange(n_nodes + 1)
    logs = gammaln(s + 1) - gammaln(j + 1) - gammaln(np.maximum(s - j, 0) + 1) + log_weight * j
    logs = np.where((j > 0) & (j <= s), logs, -np.inf)
    with np.errstate(invalid="ignore"):
        terms = np.exp(logs - logs.max(axis=1, keepdims=True))
        chances = np.cumsum(terms, axis=1)
        chances /= chances[:, -1:]
    chances[0] = 1.0
    return np.where(j >= s, 1.0, chances)


def _arcs(n_nodes: int, log_weight: float) -> Floats:
    absent = 1 / (1 + math.exp(log_weight))
    slots = max(1, (n_nodes - 1) * (n_nodes - 2) // 2)
    parts = []
    for k in range(slots.bit_length()):
        n_arcs = np.arange(2**k)
        parts += [scipy.special.betainc(2**k - n_arcs, n_arcs + 1, absent), np.ones(1)]
    return np.concatenate(parts)


class Layers(NamedTuple):
    """The places of one DAG, layer after layer: a node may have parents in the layer before its own and ahead of it."""

    #: before, begin, (d,): where the layer before a place's own begins, and where its own begins. The places ahead of
    #: both are free to be parents or not: a pair of such a place and this one is a *slot*.
    before: Ints
    begin: Ints
    #: (d,): number of a place's parents in the layer before
    wanted: Ints
    #: (d + 1,): numbers of slots of the places so far
    slots: Ints


@kernel
def _draw_sparse(
    rows: Ints, n_edges: Ints, keys: Words, start: int, count: int, edges: Words, nodes: Words, out: Words
) -> None:
    """Draw skeletons and directions until there is no cycle."""
    low, high, parents, scratch = edges[0], edges[1], nodes[0], nodes[1]
    d = np.uint64(parents.size)
    for row in rows:
        m = n_edges[row]
        for column in range(count):
            state = stream(keys[row], start + column)
            done = False
            while not done:
                state = draw_pairs(state, m, scratch, low, high)
                state = _flip_coins(state, m, low, high, parents)
                done = _is_acyclic(parents)
            _mark_arcs(out[row * count + column], m, low, high, parents, d)


@kernel_part
def _draw_layers(state: np.uint64, most: int, laws: Laws, layers: Layers) -> tuple[np.uint64, int]:
    """Draw the layer of each place, and its number of parents in the layer before; give up beyond `most` of them."""
    before, begin, wanted, slots = layers
    roots, joined, reach, parents, _ = laws
    n_nodes = begin.size
    place, size, total = 0, 0, 0
    while place < n_nodes:
        left = n_nodes - place
        state += STEP
        x = unit(state) * joined[size, left]
        chance, reached, u = 0.0, 1.0, 0
        while u < left and chance <= x:
            u += 1
            reached *= reach[size]
            chance += reached * roots[left, u]
        for t in range(place, place + u):
            before[t], begin[t], wanted[t] = place - size, place, min(size, 1)
            slots[t + 1] = slots[t] + place - size
            if size > 1:
                state += STEP
                x = unit(state)
                while parents[size, wanted[t]] <= x:
                    wanted[t] += 1
            total += wanted[t]
        if total > most:
            return state, total
        place += u
        size = u
    return state, total


@kernel_part
def _place(x: float, sums: Floats | Ints, first: int, most: int) -> int:
    """Return how many ascending numbers from place `first` on are at most x, up to `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high) >> 1
        if sums[first + middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel_part
def _has_arcs(state: np.uint64, wanted: int, n_slots: int, arcs: Floats) -> tuple[np.uint64, bool]:
    """Toss a coin for each slot, and check whether `wanted` of them have an arc; slots go by powers of two."""
    left, n_arcs, k = n_slots, 0, 62
    while left > 0:
        while (left >> k) & 1 == 0:
            k -= 1
        state += STEP
        x = unit(state)
        n_arcs += _place(x, arcs, (1 << k) + k - 1, 1 << k)
        left -= 1 << k
        if n_arcs > wanted or n_arcs + left < wanted:
            return state, False
    return state, n_arcs == wanted


@kernel_part
def _choose_parents(state: np.uint64, t: np.uint64, first: int, size: int, wanted: int, rows: Words) -> np.uint64:
    """Choose `wanted` parents of place `t` among `size` places, or those that are left out if these are fewer."""
    missing = min(wanted, size - wanted)
    while missing > 0:
        state += STEP
        accepted, a, _ = two_below(mix(state), np.uint64(size), bits.ONE)
        a += np.uint64(first)
        if accepted and bits.is_set(rows, t, a) == bits.ZERO:
            bits.flip(rows, t, a, bits.ONE)
            missing -= 1
    if 2 * wanted > size:
        for i in range(first, first + size):
            bits.flip(rows, t, np.uint64(i), bits.ONE)
    return state


@kernel_part
def _fill_slots(state: np.uint64, wanted: int, layers: Layers, rows: Words) -> np.uint64:
    """Choose `wanted` slots, or those that are left out if these are fewer."""
    before, slots = layers.before, layers.slots
    n_nodes = before.size
    n_slots = slots[n_nodes]
    missing = min(wanted, n_slots - wanted)
    while missing > 0:
        state += STEP
        accepted, number, _ = two_below(mix(state), np.uint64(n_slots), bits.ONE)
        low = _place(np.int64(number), slots, 1, n_nodes - 1)
        t, a = np.uint64(low), number - np.uint64(slots[low])
        if accepted and bits.is_set(rows, t, a) == bits.ZERO:
            bits.flip(rows, t, a, bits.ONE)
            missing -= 1
    if 2 * wanted > n_slots:
        for i in range(n_nodes):
            for j in range(before[i]):
                bits.flip(rows, np.uint64(i), np.uint64(j), bits.ONE)
    return state


@kernel_part
def _draw_shape(state: np.uint64, n_edges: int, laws: Laws, layers: Layers) -> tuple[np.uint64, int]:
    """Draw layers and numbers of arcs until these add up to `n_edges`; return the number of slots with an arc."""
    while True:
        state, total = _draw_layers(state, n_edges, laws, layers)
        rest, n_slots = n_edges - total, layers.slots[layers.slots.size - 1]
        if 0 <= rest <= n_slots:
            state, fits = _has_arcs(state, rest, n_slots, laws.arcs)
            if fits:
                return state, rest


@kernel
def _draw_dags(
    laws: Laws,
    rows: Ints,
    n_edges: Ints,
    keys: Words,
    start: int,
    count: int,
    layers: Layers,
    rows_of_parents: Words,
    names: Words,
    out: Words,
) -> None:
    """Draw the DAGs of some rows, which have a weight in common."""
    n_nodes = laws.reach.size - 1
    for row in rows:
        for column in range(count):
            state = stream(keys[row], start + column)
            state, rest = _draw_shape(state, n_edges[row], laws, layers)
            rows_of_parents[:] = bits.ZERO
            for t in range(n_nodes):
                size = layers.begin[t] - layers.before[t]
                state = _choose_parents(state, np.uint64(t), layers.before[t], size, layers.wanted[t], rows_of_parents)
            state = _fill_slots(state, rest, layers, rows_of_parents)
            shuffle(state, names)
            for t in range(n_nodes):
                for w in range(np.uint64(rows_of_parents.shape[1])):
                    for a in bits.members(w, rows_of_parents[t, w]):
                        bits.set_mark(out[row * count + column], names[a], names[t], np.uint64(n_nodes), bits.ZERO)


def draw_dags(n_nodes: int, n_edges: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Draw uniformly among the labelled DAGs with `n_edges` (n,) edges."""
    # both ways are exact: few edges are directed by coins until there is no cycle, in tries exponential in the edges;
    # for more, layers and numbers of arcs are drawn from weighted laws until the number is met; then arcs are placed
    edges, names = checked_draws(n_nodes, np.reshape(n_edges, (-1, 1)), keys, start, count)
    edges = edges[:, 0]
    check_counted(n_nodes)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    if n_nodes < 2:
        return out
    sparse = are_sparse(n_nodes, edges)
    room, nodes = edge_room(n_nodes, 2), np.empty((2, n_nodes), np.uint64)
    _draw_sparse(np.flatnonzero(sparse), edges, names, start, count, room, nodes, out)
    weights = np.array([-1 if few else best_weight(n_nodes, m) for few, m in zip(sparse, edges.tolist(), strict=True)])
    layers = Layers(*np.empty((3, n_nodes), np.int64), np.zeros(n_nodes + 1, np.int64))
    scratch = layers, np.empty((n_nodes, row_words(n_nodes)), np.uint64), np.empty(n_nodes, np.uint64)
    for weight in np.unique(weights[~sparse]).tolist():
        chosen = np.flatnonzero(weights == weight)
        _draw_dags(laws(n_nodes, weight), chosen, edges, names, start, count, *scratch, out)
    return out
