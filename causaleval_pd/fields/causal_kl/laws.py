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
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_whole
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


class Step(NamedTuple):
    """Multiply the tables at `operands` and sum; `expressions` are applied from left to right, two tables at a time."""

    operands: tuple[int, ...]
    expressions: tuple[str, ...]


def marginal(scopes: Sequence[Scope], tables: Sequence[Floats], cards: tuple[int, ...], keep: Scope) -> Floats:
    """Return the sum of the product of tables over all variables but `keep`; `scopes` are the variables of each."""
    if not scopes:
        return np.ones(())
    made = list(tables)
    for step in elimination_steps(tuple(scopes), cards, keep):
        operands = [made[i] for i in step.operands]
        if len(step.expressions) == 1:
            made.append(np.einsum(step.expressions[0], *operands))
            continue
        result = operands[0]
        for expression, operand in zip(step.expressions, operands[1:], strict=True):
            result = np.einsum(expression, result, operand)
        made.append(result)
    return np.asarray(made[-1])


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
    n_tables = len(scopes)
    while waiting:
        for v in stale:
            met = set().union(*(active[at] for at in holders[v]))
            waiting[v] = math.prod([cards[u] for u in met])
        v = min(waiting, key=lambda u: (waiting[u], u))
        del waiting[v]
        used = sorted(holders.pop(v), key=lambda at: (math.prod([cards[u] for u in active[at]]), at))
        used_scopes = [active.pop(at) for at in used]
        result = tuple(sorted(set().union(*used_scopes) - {v}))
        steps.append(_step(used, used_scopes, result, cards))
        active[n_tables] = result
        for u in result:
            holders[u].difference_update(used)
            holders[u].add(n_tables)
        n_tables += 1
        stale = {u for u in result if u in waiting}
    rest = sorted(active, key=lambda at: (math.prod([cards[u] for u in active[at]]), at))
    steps.append(_step(rest, [active[at] for at in rest], keep, cards))
    return tuple(steps)


def _step(used: Sequence[int], scopes: Sequence[Scope], result: Scope, cards: tuple[int, ...]) -> Step:
    """Write the product of tables, summed to the variables of `result`, as Einstein sums."""
    together = sorted(set(result).union(*scopes))
    size = math.prod(cards[v] for v in together)
    if size > WIDTH_LIMIT or len(together) > len(_LETTERS):
        raise WidthError(f"a table over {len(together)} variables with {size:.3g} entries")
    letter = dict(zip(together, _LETTERS, strict=False))

    def word(scope: Sequence[int]) -> str:
        return "".join(letter[v] for v in scope)

    if len(used) <= 2 or size <= ONE_PASS:
        return Step(tuple(used), (f"{','.join(map(word, scopes))}->{word(result)}",))
    expressions, left = [], scopes[0]
    for i, scope in enumerate(scopes[1:], 1):
        product = result if i == len(scopes) - 1 else tuple(sorted({*left, *scope}))
        expressions.append(f"{word(left)},{word(scope)}->{word(product)}")
        left = product
    return Step(tuple(used), tuple(expressions))


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
        self._found: OrderedDict[tuple[str, int, Scope], Floats] = OrderedDict()
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
        if key in self._found:
            self._found.move_to_end(key)
            return self._found[key]
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
        self._found[key] = table
        self._bytes += table.nbytes
        while self._bytes > _CACHE_BYTES and len(self._found) > 1:
            self._bytes -= self._found.popitem(last=False)[1].nbytes
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


def scale(law: str, k: int) -> float:
    """Return 1 / P(a node is not intervened on), which scales the published tables."""
    return {"kl": 1.0, "ckl1": 2.0, "ckl2": 2.0, "ckl3": float(k)}[law]


class GaussianMoments:
    """Moments of a true linear-Gaussian network and of the laws of interventions on it."""

    def __init__(self, network: GaussianNetwork) -> None:
        structure = network.structure
        k = len(structure.nodes)
        self.network, self.order = network, structure.order
        self.intercepts, self.variances = np.empty(k), np.empty(k)
        self.weights = np.zeros((k, k))
        self._intervened: dict[tuple[str, int], Floats] = {}
        for i, parents in enumerate(structure.parents):
            values = network.values_of(i)
            self.intercepts[i], self.variances[i] = values[0], values[-1]
            self.weights[i, list(parents)] = values[1:-1]

    @cached_property
    def means(self) -> Floats:
        """Means, which interventions with values of the truth's own laws leave as they are."""
        means = np.zeros(len(self.order))
        for i in self.order:
            means[i] = self.intercepts[i] + self.weights[i] @ means
        return means

    @cached_property
    def covariance(self) -> Floats:
        """Covariance without interventions."""
        return self._covariance(None)

    def moments(self, law: str, node: int) -> Floats:
        """Return the covariance of all nodes, given that `node` is not intervened on."""
        if law == "kl":
            return self.covariance
        if (law, node) not in self._intervened:
            self._intervened[law, node] = self._covariance(node, twin=law == "ckl2")
        return self._intervened[law, node]

    def _covariance(self, free: int | None, *, twin: bool = False) -> Floats:
        """Add nodes in causal order; each but `free` is set to a value of its own law (`twin`: joint) half the time."""
        k = len(self.order)
        matrix, with_twin = np.zeros((k, k)), np.zeros((k, k))
        done = np.zeros(k, bool)
        for i in self.order:
            q = 0.0 if free is None or i == free else 0.5
            b = self.weights[i]
            if twin:
                with_twin[i] = q * self.covariance[i] + (1 - q) * (b @ with_twin)
            across = (1 - q) * (b @ matrix)
            if twin:
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


def path_coefficients(truth: GaussianMoments, structure: Structure) -> dict[tuple[int, int], float]:
    """Return the standardised coefficient of each arc when a DAG is fitted to the true covariance."""
    covariance = truth.covariance
    deviations = np.sqrt(np.diag(covariance))
    coefficients = {}
    for i, parents in enumerate(structure.parents):
        if not parents:
            continue
        at = list(parents)
        weights = np.linalg.solve(covariance[np.ix_(at, at)], covariance[at, i])
        for p, weight in zip(at, weights * deviations[at] / deviations[i], strict=True):
            coefficients[p, i] = float(weight)
    return coefficients


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
        return pd.DataFrame(_draw_values(network, int(n), generator), columns=list(network.nodes))
    if not isinstance(network, DiscreteNetwork):
        raise TypeError(f"expected a DiscreteNetwork or a GaussianNetwork, found {type(network).__name__}")
    codes = draw_states(network, int(n), generator)
    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(codes[:, i], categories=pd.Index(network.states[name]))
            for i, name in enumerate(network.nodes)
        },
        columns=list(network.nodes),
    )


def _draw_values(network: GaussianNetwork, n: int, generator: np.random.Generator) -> Floats:
    values = np.zeros((n, len(network.nodes)))
    for i in network.structure.order:
        parameters = network.values_of(i)
        noise = generator.standard_normal(n) * np.sqrt(parameters[-1])
        values[:, i] = parameters[0] + values[:, list(network.structure.parents[i])] @ parameters[1:-1] + noise
    return values


def draw_states(network: DiscreteNetwork, n: int, generator: np.random.Generator) -> Ints:
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
