"""Laws of networks: exact marginals by elimination, families and moments under interventions, and drawn cases.

Marginals: the steps of an elimination [1]_ depend on the scopes alone and are kept, so that the same network with other
numbers only multiplies and sums.

Families: in a scaled causal KL divergence [2]_ an intervened node contributes log 1 = 0, so that only the laws of
families, given that the node is not intervened on, are needed; all re-parameterisations of an estimate share them.

Linear-Gaussian networks: the logarithm of a density is quadratic, so a divergence depends on the intervened truth
through its means and covariances alone, though its law is a mixture of normal laws.

References
----------
.. [1] Dechter, R. (1999). Bucket elimination: a unifying framework for reasoning. doi:10.1016/S0004-3702(99)00059-4
.. [2] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_whole, shown
from ...execution.random_streams import RNGLike, resolve_seed
from .cells import DiscreteNetwork, GaussianNetwork, Network, Structure

__all__ = ["sample"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Scope = tuple[int, ...]

#: entries of the largest table that an elimination may make
WIDTH_LIMIT = 2**24
#: tables up to this size are multiplied and summed in one pass
ONE_PASS = 2**12
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class WidthError(ValueError):
    """An exact answer would need a table of more than `WIDTH_LIMIT` entries."""


#: an Einstein sum, and the tables that it multiplies: each table is used once, and results are numbered on
Step = tuple[str, tuple[int, ...]]


def marginal(scopes: Sequence[Scope], tables: Sequence[Floats], cards: tuple[int, ...], keep: Scope) -> Floats:
    """Return the sum of the product of tables over all variables but `keep`; `scopes` are the variables of each."""
    if not scopes:
        return np.ones(())
    made = dict(enumerate(tables))
    for number, (expression, operands) in enumerate(elimination_steps(tuple(scopes), cards, keep), len(tables)):
        made[number] = np.einsum(expression, *map(made.pop, operands))
    return np.asarray(made.popitem()[1])


@lru_cache(maxsize=4096)
def elimination_steps(scopes: tuple[Scope, ...], cards: tuple[int, ...], keep: Scope) -> tuple[Step, ...]:
    """Order the variables greedily by the size of the table that their elimination makes."""
    active: dict[int, Scope] = dict(enumerate(scopes))
    holders: dict[int, set[int]] = {}
    for at, scope in active.items():
        for v in scope:
            holders.setdefault(v, set()).add(at)
    waiting = {v: math.nan for v in holders if v not in keep}
    stale = set(waiting)
    steps: list[Step] = []

    def size(variables: Iterable[int]) -> int:
        return math.prod([cards[u] for u in variables])

    def multiply(tables: Iterable[int], result: Scope) -> None:
        used = sorted(tables, key=lambda at: (size(active[at]), at))
        steps.extend(_sums(used, [active.pop(at) for at in used], result, cards, len(scopes) + len(steps)))

    while waiting:
        for v in stale:
            waiting[v] = size(set().union(*(active[at] for at in holders[v])))
        v = min(waiting, key=lambda u: (waiting[u], u))
        del waiting[v]
        used = holders.pop(v)
        result = tuple(sorted(set().union(*(active[at] for at in used)) - {v}))
        multiply(used, result)
        number = len(scopes) + len(steps) - 1
        active[number] = result
        for u in result:
            holders[u].difference_update(used)
            holders[u].add(number)
        stale = {u for u in result if u in waiting}
    multiply(active, keep)
    return tuple(steps)


def _sums(used: list[int], scopes: list[Scope], result: Scope, cards: tuple[int, ...], number: int) -> Iterator[Step]:
    """Write the product of tables, summed to the variables of `result`: at once if it is small, else two by two."""
    together = sorted(set(result).union(*scopes))
    size = math.prod(cards[v] for v in together)
    if size > WIDTH_LIMIT or len(together) > len(_LETTERS):
        raise WidthError(f"a table over {len(together)} variables with {size:.3g} entries")
    letter = dict(zip(together, _LETTERS, strict=False))
    words = ["".join(letter[v] for v in scope) for scope in (*scopes, result)]
    if len(used) <= 2 or size <= ONE_PASS:
        yield f"{','.join(words[:-1])}->{words[-1]}", tuple(used)
        return
    left, word = used[0], words[0]
    for i in range(1, len(used)):
        product = words[-1] if i == len(used) - 1 else "".join(sorted({*word, *words[i]}, key=_LETTERS.index))
        yield f"{word},{words[i]}->{product}", (left, used[i])
        left, word = number + i - 1, product


LAWS = ("kl", "ckl1", "ckl2", "ckl3")
#: bytes of laws that are kept of each truth
_CACHE_BYTES = 16 * 2**20


class FamilyLaws:
    """Laws of families in one true network, kept once computed."""

    def __init__(self, network: DiscreteNetwork) -> None:
        structure = network.structure
        self.network = network
        self.k = len(structure.nodes)
        self.cards = structure.cards
        self.parents = structure.parents
        # an undefined row is filled, so that laws exist; that it is undefined shows where its logarithm is weighted
        self.tables = [
            np.where(np.isnan(cpt), 1.0 / cpt.shape[-1], cpt) for cpt in map(network.values_of, range(self.k))
        ]
        self.scopes: list[Scope] = [(*parents, i) for i, parents in enumerate(self.parents)]
        self._own: dict[str, float] = {}
        self._known: dict[tuple[str, int, Scope], Floats] = {}
        self._bytes = 0

    @cached_property
    def ancestors(self) -> list[int]:
        """Each node's ancestors and the node itself, as bits."""
        masks = [0] * self.k
        for i in self.network.structure.order:
            masks[i] = 1 << i
            for p in self.parents[i]:
                masks[i] |= masks[p]
        return masks

    def ancestral(self, nodes: Iterable[int]) -> list[int]:
        """Return the nodes and all their ancestors, ascending."""
        mask = 0
        for i in nodes:
            mask |= self.ancestors[i]
        return [i for i in range(self.k) if mask >> i & 1]

    def family_law(self, law: str, node: int, others: Scope) -> Floats:
        """Return the law of (others.., node), in ascending order, given that the node is not intervened on."""
        if law == "ckl3" and (others == self.parents[node] or not any(self.ancestors[j] >> node & 1 for j in others)):
            law = "kl"
        key = (law, node, others)
        if key in self._known:
            return self._known[key]
        node_parents = self.parents[node]
        if set(others) < set(node_parents):
            drop = tuple(axis for axis, p in enumerate(node_parents) if p not in others)
            table = np.asarray(self.family_law(law, node, node_parents).sum(axis=drop))
        else:
            try:
                table = _QUERIES[law](self, node, others)
            except WidthError as error:
                raise WidthError(
                    f"node {self.network.nodes[node]!r} with {[self.network.nodes[j] for j in others]} needs {error}; "
                    "exact answers stop there"
                ) from None
        table.flags.writeable = False
        self._bytes += table.nbytes
        if self._bytes > _CACHE_BYTES:
            self._known, self._bytes = {}, table.nbytes
        self._known[key] = table
        return table

    def joint(self, nodes: Scope) -> Floats:
        """Return the observational joint law of some nodes."""
        used = self.ancestral(nodes)
        return marginal([self.scopes[j] for j in used], [self.tables[j] for j in used], self.cards, nodes)

    @cached_property
    def uniform_mixed(self) -> list[Floats]:
        """Each node's table when it is set to a uniformly random state half of the time."""
        return [table / 2 + 0.5 / table.shape[-1] for table in self.tables]

    @cached_property
    def twin_mixed(self) -> list[Floats]:
        """Each node's table, with a last axis for the state to which it is set half of the time."""
        return [table[..., None] / 2 + np.eye(table.shape[-1]) / 2 for table in self.tables]

    def own_log_probability(self, law: str) -> float:
        """Return the expected log probability that the truth gives to its own states, summed over nodes."""
        law = "kl" if law == "ckl3" else law
        if law not in self._own:
            total = 0.0
            for i, parents in enumerate(self.parents):
                weight = self.family_law(law, i, parents)
                reached = weight > 0
                total += float((weight[reached] * np.log(self.network.values_of(i)[reached])).sum())
                if np.isnan(total):
                    raise ValueError(
                        f"node {self.network.nodes[i]!r} of the truth has an undefined row that is reached with "
                        "positive probability; interventions visit rows that are never observed, so give its full table"
                    )
            self._own[law] = total
        return self._own[law]


@lru_cache(maxsize=32)
def laws_of(network: DiscreteNetwork) -> FamilyLaws:
    """Return the laws of a true network; recent networks are kept."""
    return FamilyLaws(network)


def _observed(truth: FamilyLaws, node: int, others: Scope) -> Floats:
    """KL: no intervention."""
    return truth.joint((*others, node))


def _uniform(truth: FamilyLaws, node: int, others: Scope) -> Floats:
    """CKL1: every other node is set, independently, to a uniform state with probability 1/2."""
    used = truth.ancestral((*others, node))
    tables = [truth.tables[j] if j == node else truth.uniform_mixed[j] for j in used]
    return marginal([truth.scopes[j] for j in used], tables, truth.cards, (*others, node))


def _twin(truth: FamilyLaws, node: int, others: Scope) -> Floats:
    """CKL2: every other node is set with probability 1/2, all of them to one draw of the true joint, the twin."""
    k = truth.k
    used = truth.ancestral((*others, node))
    scopes, tables = [], []
    for j in used:
        scopes.append(truth.scopes[j] if j == node else (*truth.scopes[j], j + k))
        tables.append(truth.tables[j] if j == node else truth.twin_mixed[j])
    for j in truth.ancestral(j for j in used if j != node):
        scopes.append(tuple(v + k for v in truth.scopes[j]))
        tables.append(truth.tables[j])
    return marginal(scopes, tables, truth.cards * 2, (*others, node))


def _fresh_leaf(truth: FamilyLaws, node: int, others: Scope) -> Floats:
    """CKL3: the others are set to a draw of the true joint, and the node follows from its true parents alone."""
    used = truth.ancestral((*others, *truth.parents[node]))
    leaf = truth.k
    scopes = [*(truth.scopes[j] for j in used), (*truth.parents[node], leaf)]
    tables = [*(truth.tables[j] for j in used), truth.tables[node]]
    return marginal(scopes, tables, (*truth.cards, truth.cards[node]), (*others, leaf))


_QUERIES = {"kl": _observed, "ckl1": _uniform, "ckl2": _twin, "ckl3": _fresh_leaf}


class GaussianMoments:
    """Moments of a true linear-Gaussian network and of the laws of interventions on it."""

    def __init__(self, network: Network) -> None:
        k = len(network.nodes)
        self.order = network.structure.order
        self.means, self.variances, self.weights = np.zeros(k), np.empty(k), np.zeros((k, k))
        # interventions with values of the truth's own laws leave the means as they are
        for i in self.order:
            values = network.values_of(i)
            self.variances[i] = values[-1]
            self.weights[i, list(network.structure.parents[i])] = values[1:-1]
            self.means[i] = values[0] + self.weights[i] @ self.means
        self.moments = cache(self._moments)

    @cached_property
    def covariance(self) -> Floats:
        """Covariance without interventions."""
        return self.moments("kl", -1)

    def _moments(self, law: str, free: int) -> Floats:
        """Return the covariance where nodes but `free` are set half the time to values of their laws (CKL2: joint)."""
        k = len(self.order)
        matrix, with_twin = np.zeros((k, k)), np.zeros((k, k))
        done = np.zeros(k, bool)
        for i in self.order:
            q = 0.0 if law == "kl" or i == free else 0.5
            b = self.weights[i]
            across = (1 - q) * (b @ matrix)
            if law == "ckl2":
                with_twin[i] = q * self.covariance[i] + (1 - q) * (b @ with_twin)
                across += q * with_twin[:, i]
            variance = (1 - q) * (b @ matrix @ b + self.variances[i])
            if q:
                variance += q * self.covariance[i, i]
            matrix[i, done] = matrix[done, i] = across[done]
            matrix[i, i] = variance
            done[i] = True
        return matrix


@lru_cache(maxsize=256)
def moments_of(network: GaussianNetwork) -> GaussianMoments:
    """Return the moments of a true network; recent networks are kept."""
    return GaussianMoments(network)


def squared_paths(law: GaussianMoments, structure: Structure, arcs: Iterable[tuple[int, int]]) -> float:
    """Sum the squared standardised coefficients that some arcs have when a DAG is fitted to a law."""
    covariance = law.covariance
    deviations = np.sqrt(np.diag(covariance))
    total = 0.0
    for parent, node in arcs:
        at = list(structure.parents[node])
        weights = np.linalg.solve(covariance[np.ix_(at, at)], covariance[at, node]) * deviations[at] / deviations[node]
        total += float(weights[at.index(parent)]) ** 2
    return total


def sample(network: Network, n: int, *, rng: RNGLike = None) -> pd.DataFrame:
    """Draw cases from a network.

    Parameters
    ----------
    network : DiscreteNetwork or GaussianNetwork
        The network.
    n : int
        Number of cases.
    rng : int, Generator or None
        Source of randomness; a Generator is advanced.

    Returns
    -------
    DataFrame
        One case per row, one column per node: categorical with the network's states, or float.

    Raises
    ------
    ValueError
        If `n` is negative, or an undefined row of a table is reached; names the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[1, 0], [0, 1]]})
    >>> cases = ce.causal_kl.sample(network, 100, rng=1)
    >>> bool((cases["A"] == cases["B"]).all()), len(cases)
    (True, 100)
    """
    check_whole(n, "n")
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(resolve_seed(rng))
    if isinstance(network, GaussianNetwork):
        values = np.zeros((int(n), len(network.nodes)))
        for i in network.structure.order:
            parameters = network.values_of(i)
            noise = generator.standard_normal(int(n)) * np.sqrt(parameters[-1])
            values[:, i] = parameters[0] + values[:, list(network.structure.parents[i])] @ parameters[1:-1] + noise
        return pd.DataFrame(values, columns=list(network.nodes))
    if not isinstance(network, DiscreteNetwork):
        raise TypeError(
            "network must be a DiscreteNetwork or a GaussianNetwork; as_network reads other formats, found "
            f"{shown(network)}"
        )
    codes = _draw_states(network, int(n), generator)
    columns = {
        name: pd.Categorical.from_codes(codes[:, i], categories=pd.Index(network.states[name]))
        for i, name in enumerate(network.nodes)
    }
    return pd.DataFrame(columns, columns=list(network.nodes))


def _draw_states(network: DiscreteNetwork, n: int, generator: np.random.Generator) -> Ints:
    """Draw cases as positions of states, (n, k); an error names a node whose undefined row is reached."""
    structure = network.structure
    states = np.zeros((n, len(structure.nodes)), np.int64)
    for i in structure.order:
        rows = network.values_of(i)[tuple(states[:, p] for p in structure.parents[i])]
        # one position from each row of probabilities, never one of probability 0
        cumulative = np.cumsum(np.broadcast_to(rows, (n, rows.shape[-1])), axis=1)
        at = (generator.random(n) * cumulative[:, -1])[:, None]
        states[:, i] = (cumulative <= at).sum(axis=1).clip(max=rows.shape[-1] - 1)
        if n and np.isnan(rows).any():
            raise ValueError(
                f"node {structure.nodes[i]!r}: a row of its table that is undefined has positive probability, so no "
                "case can be drawn; estimate with pseudo-counts or fill the row"
            )
    return states
