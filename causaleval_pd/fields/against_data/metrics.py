"""Metrics of graphs against data: implied independences that data violate, fit, dependences, likelihoods, symmetry."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_whole
from ...contract.confusion import Values
from ...contract.metric import metric
from ...contract.options import Convention, F, with_example, with_options
from ...graphs.classes import class_cpdag
from ...graphs.kernels.planes import CPDAG, PLAIN_KINDS, matrices_from_planes
from ...graphs.mixed.marks import codes_from_planes, is_mixed, lower
from ...graphs.mixed.paths import as_mags, mag_to_pag
from ...graphs.pairs import GraphPairs
from ...statistics.arrays import padded_sum
from .implied import Implications
from .judged import Part, by_data

__all__ = [
    "bic",
    "correlation_f1",
    "correlation_mcc",
    "cv_log_likelihood",
    "deviance",
    "deviance_p",
    "faithfulness_violations",
    "fisher_c_p",
    "fisher_c_rmsea",
    "fraction_dependent_h1",
    "lmc_distinct_share",
    "lmc_share",
    "lmc_violations",
    "log_likelihood",
    "mean_abs_partial",
    "minimality_violations",
    "n_implied",
    "n_lmc",
    "p_floor",
    "pvalue_ad",
    "pvalue_ks",
    "rmsea",
    "separation_share",
]

#: of all metrics here
OF_ESTIMATE: dict[str, Any] = {"field": "graph", "truth_kinds": (), "costly": True}
#: of numbers that are 0 at best, without a largest one and as shares
MISTAKES: dict[str, Any] = {"direction": "minimize", "range": (0, math.inf), "optimum": 0}
SHARE_OF_MISTAKES: dict[str, Any] = {**MISTAKES, "range": (0, 1)}
#: of shares and p-values that are 1 at best
SHARE: dict[str, Any] = {"direction": "maximize", "range": (0, 1), "optimum": 1}
#: classes with the independences of a DAG; what depends on these alone takes them all
WITH_A_DAG = ("dag", "cpdag", "pdag")
#: classes whose separations are known
SEPARATED = (*WITH_A_DAG, "mag", "pag", "admg")

#: of metrics that depend on the DAG, not on its class alone
OF_A_DAG: dict[str, Any] = {
    **OF_ESTIMATE,
    "kinds": ("dag",),
    "conventions": [
        Convention(
            "extension",
            "first",
            ("cpdag", "pdag"),
            "the first DAG of the class by the order of nodes; other DAGs of the class have other values",
        )
    ],
}
OPTIONS = {
    "extension": """extension : {None, "first"}
    None refuses classes of DAGs, whose members have other values; "first" takes the first DAG of a CPDAG or PDAG, by
    the order of nodes, NaN for graphs without one."""
}
Extension = Literal["first"] | None
_LMC = ("separation_share",)


_EXAMPLE = """>>> import numpy as np
>>> import pandas as pd
>>> import causaleval_pd as ce
>>> runs = pd.DataFrame({{"estimate": [ce.datasets.sachs_truth(), ce.datasets.sachs_truth(17)]}})
>>> cells = {{"data": np.log(ce.datasets.sachs(){rows})}}
>>> ce.evaluate(runs, ["{name}"], truth=None, context=cells)["{name}"].round({digits}).tolist()
{gives}"""


def _on_sachs(*gives: float, digits: int = 3, rows: str = ".head(853)") -> Callable[[F], F]:
    """Make a decorator that documents the values of two graphs on a part of the data of Sachs et al."""
    return with_example(_EXAMPLE, gives=list(gives), digits=digits, rows=rows)


def _implied(pairs: GraphPairs) -> Implications:
    implications: Implications = pairs.remember(
        "implied", lambda: Implications(pairs.estimate.take(pairs.estimate_index))
    )
    return implications


@metric(
    **OF_ESTIMATE, kinds=SEPARATED, direction=None, range=(0, math.inf), long_name="pairs of nodes that are not joined"
)
def n_implied(pairs: GraphPairs) -> Values:
    """Count the pairs of nodes that the estimate does not join, each of which implies an independence.

    It needs no data.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.n_implied(None, "A -> B; B -> C; D")
    4.0
    """
    adjacent = _implied(pairs).adjacent
    return np.asarray((~adjacent).sum(axis=(1, 2)) - pairs.n_nodes, np.float64) / 2


@metric(**OF_A_DAG, instead=("n_implied",), direction=None, range=(0, math.inf), long_name="local Markov statements")
@with_options(OPTIONS)
def n_lmc(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Count the statements of the local Markov property: pairs of a node and one that it is independent of.

    Each node is independent of every node that is neither a descendant nor a parent, given its parents. Equivalent DAGs
    may have different numbers of such statements. It needs no data.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> [ce.n_lmc(None, graph) for graph in ("A -> B; B -> C", "B -> A; B -> C")]
    [1.0, 2.0]
    """
    implications = _implied(pairs)
    counts = np.bincount(implications.local_markov.graph, minlength=pairs.n).astype(np.float64)
    return np.where(implications.has_dag, counts, np.nan)


@metric(
    **OF_A_DAG,
    instead=_LMC,
    **MISTAKES,
    long_name="violated local Markov statements",
    reference="10.48550/arXiv.2305.09565",
)
@with_options(OPTIONS)
def lmc_violations(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Count the statements of the local Markov property that the data violate, by a test with p <= alpha.

    The statement that x is independent of y given the parents of x counts beside that of y given the parents of y, also
    where both are the same. NaN for a graph without such statements.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"estimate": [ce.datasets.sachs_truth()]})
    >>> cells = {"data": np.log(ce.datasets.sachs().head(853))}
    >>> ce.evaluate(runs, ["n_lmc", "lmc_violations"], truth=None, context=cells).iloc[0, 1:].tolist()
    [44.0, 1.0]
    """
    return by_data(pairs, lambda part: part.number(part.implied.local_markov, part.local_p <= part.alpha))


@metric(
    **OF_A_DAG,
    instead=_LMC,
    **SHARE_OF_MISTAKES,
    long_name="share of local Markov statements violated",
    reference="10.48550/arXiv.2305.09565",
)
@with_options(OPTIONS)
@_on_sachs(0.023, 0.014)
def lmc_share(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Share of the statements of the local Markov property that the data violate, by a test with p <= alpha.

    `lmc_violations` / `n_lmc`; NaN for a graph without such statements.
    """
    return by_data(pairs, lambda part: part.means(part.implied.local_markov, part.local_p <= part.alpha))


@metric(**OF_A_DAG, instead=_LMC, **SHARE_OF_MISTAKES, long_name="share of distinct local Markov statements violated")
@with_options(OPTIONS)
@_on_sachs(0.024, 0.015)
def lmc_distinct_share(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Share of the distinct statements of the local Markov property that the data violate, by a test with p <= alpha.

    As `lmc_share`, but two nodes with the same parents count once. NaN for a graph without such statements.
    """
    return by_data(pairs, lambda part: part.means(part.implied.distinct, part.distinct_p <= part.alpha))


@metric(**OF_ESTIMATE, kinds=SEPARATED, **SHARE_OF_MISTAKES, long_name="share of separations violated")
@_on_sachs(0.0, 0.0)
def separation_share(pairs: GraphPairs) -> Values:
    """Share of the pairs of nodes that are not joined and that the data show dependent given what separates them.

    Each pair is tested once, given its smallest separating set, of several the one whose nodes come first by name. The
    value depends on the separations alone, so that it is the same for all graphs of a class: CPDAGs, MAGs, PAGs and
    ADMGs have it too. A PDAG has that of its DAGs. NaN for a graph that joins all pairs.
    """
    return by_data(pairs, lambda part: part.share_dependent(part.implied.separations))


@metric(
    **OF_ESTIMATE,
    kinds=SEPARATED,
    **SHARE_OF_MISTAKES,
    long_name="mean absolute partial correlation of separated nodes",
)
@_on_sachs(0.025, 0.025)
def mean_abs_partial(pairs: GraphPairs) -> Values:
    """Mean absolute partial correlation of the pairs of nodes that are not joined, given what separates them.

    The sets are those of `separation_share`. It needs numbers. Unlike shares of rejected tests it does not grow with
    the number of rows. NaN for a graph that joins all pairs.
    """

    def mean(part: Part) -> Values:
        statements = part.implied.separations
        return part.means(statements, np.abs(part.partials(statements)))

    return by_data(pairs, mean)


#: smaller p-values count as this
P_FLOOR = 1e-300
_SHIPLEY = "10.1207/S15328007SEM0702_4"
_SEM: dict[str, Any] = {**OF_ESTIMATE, "kinds": WITH_A_DAG}


def _fisher_c(part: Part) -> tuple[Values, Values]:
    """Return Fisher's C of Shipley's basis set and its degrees of freedom, NaN without any."""
    statements = part.implied.basis
    n = part.count(statements)
    total = np.bincount(statements.graph, -2 * np.log(np.maximum(part.p_values(statements), P_FLOOR)), part.n)
    return np.where(n > 0, total, np.nan), 2 * n


def _upper_tail(statistic: Values, df: Values) -> Values:
    from scipy.special import gammaincc

    known = ~np.isnan(statistic)
    tail = gammaincc(np.where(known, df, 1) / 2, np.where(known, np.maximum(statistic, 0), 0) / 2)
    return np.where(known, tail, np.nan)


def _error(statistic: Values, df: Values, n: int) -> Values:
    """Return the root of the excess of a statistic over its degrees of freedom, a degree and row."""
    excess = np.divide(statistic - df, df * (n - 1), out=np.full(len(df), np.nan), where=df > 0)
    return np.sqrt(np.maximum(excess, 0))


@metric(
    **OF_A_DAG, instead=("deviance_p",), **SHARE, long_name="p-value of Fisher's C", log_scale=True, reference=_SHIPLEY
)
@with_options(OPTIONS)
@_on_sachs(0.003, 0.002, rows=".sample(50, random_state=1)")
def fisher_c_p(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """P-value of Fisher's C: whether the data fit all independences that the estimate implies.

    C = -2 sum log p over Shipley's basis set (nodes that are not joined, given the parents of both) has a chi-squared
    law with two degrees of freedom a pair under the true DAG. P-values below 1e-300 count as that. NaN for a graph that
    joins all pairs. Large data reject every graph; what a guess of its structure reaches is known from its controls.
    """
    return by_data(pairs, lambda part: _upper_tail(*_fisher_c(part)))


@metric(**OF_A_DAG, instead=("rmsea",), **MISTAKES, long_name="root mean square excess of Fisher's C")
@with_options(OPTIONS)
@_on_sachs(0.0, 0.0)
def fisher_c_rmsea(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Root of the excess of Fisher's C over its degrees of freedom, a degree and row.

    sqrt(max((C - 2k) / (2k (n - 1)), 0)) of k pairs and n rows. It is built like the RMSEA of structural equation
    models, which is `rmsea`, and differs from it. NaN for a graph that joins all pairs.
    """
    return by_data(pairs, lambda part: _error(*_fisher_c(part), part.judge.data.n))


def _deviance(part: Part) -> tuple[Values, Values]:
    """Return the deviance from the model that joins all pairs, and the number of pairs not joined; NaN without any."""
    implications = part.implied
    d, judge = implications.d, part.judge
    df = d * (d - 1) / 2 - implications.adjacent.sum(axis=(1, 2)) / 2
    graph, node = (x.reshape(-1) for x in np.indices((part.n, d)))
    parents = implications.arcs.transpose(0, 2, 1).reshape(-1, d)
    logs = part.checked(lambda: judge.gaussian.log_variances(node, parents))
    _, whole = np.linalg.slogdet(part.checked(lambda: judge.gaussian.correlations))
    total = judge.data.n * (np.bincount(graph, logs, part.n) - whole)
    return np.where((df > 0) & implications.has_dag, total, np.nan), df


@metric(**_SEM, **MISTAKES, long_name="deviance")
@_on_sachs(32.6, 33.8, digits=1)
def deviance(pairs: GraphPairs) -> Values:
    """Deviance of the linear-Gaussian model of the estimate from the model that joins all pairs of nodes.

    Twice the difference of log-likelihoods, the likelihood-ratio statistic of structural equation models with
    independent errors. It needs numbers, and is the same for all DAGs of a class. NaN for a graph that joins all pairs.
    """
    return by_data(pairs, lambda part: np.maximum(_deviance(part)[0], 0))


@metric(**_SEM, **SHARE, long_name="p-value of the deviance", log_scale=True)
@_on_sachs(0.001, 0.001, rows=".sample(50, random_state=1)")
def deviance_p(pairs: GraphPairs) -> Values:
    """P-value of the deviance, by a chi-squared law with a degree of freedom for each pair that is not joined.

    See `deviance`. Large data reject every graph; what a guess of its structure reaches is known from its controls.
    """
    return by_data(pairs, lambda part: _upper_tail(*_deviance(part)))


@metric(
    **_SEM, **MISTAKES, long_name="root mean square error of approximation", reference="10.1177/0049124192021002005"
)
@_on_sachs(0.0, 0.0)
def rmsea(pairs: GraphPairs) -> Values:
    """Root mean square error of approximation of the linear-Gaussian model of the estimate.

    sqrt(max((D - df) / (df (n - 1)), 0)) of the deviance D, its degrees of freedom and n rows. NaN for a graph that
    joins all pairs.
    """
    return by_data(pairs, lambda part: _error(*_deviance(part), part.judge.data.n))


def _sorted(part: Part) -> tuple[Values, Values, NDArray[np.int64]]:
    """Return ascending p-values, one row per graph and NaN beyond, their ranks, and the number of each graph's."""
    graph = part.implied.distinct.graph
    n = np.bincount(graph, minlength=part.n)
    place = np.arange(len(graph)) - np.repeat(np.cumsum(n) - n, n)
    rows = np.full((part.n, max(1, int(n.max(initial=0)))), np.nan)
    rows[graph, place] = part.distinct_p
    rows.sort(axis=1)
    return rows, np.arange(1.0, rows.shape[1] + 1)[None], n


def _ks(part: Part) -> Values:
    p, rank, n = _sorted(part)
    size = np.maximum(n, 1)[:, None]
    above, below = rank / size - p, p - (rank - 1) / size
    largest = np.fmax.reduce(np.fmax(above, below), axis=1)
    return np.where(n >= 2, largest, np.nan)


def _ad(part: Part) -> Values:
    p, rank, n = _sorted(part)
    low, high = np.log(np.maximum(p, P_FLOOR)), np.log(np.maximum(1 - p, np.finfo(float).epsneg))
    size = np.maximum(n, 1)[:, None]
    # each p-value has its weight as the i-th smallest, and the complementary one in the other tail
    terms = (2 * rank - 1) * low + (2 * (size - rank) + 1) * high
    return np.where(n >= 2, -n - padded_sum(np.nan_to_num(terms)) / size[:, 0], np.nan)


@metric(**OF_A_DAG, **SHARE_OF_MISTAKES, long_name="Kolmogorov-Smirnov distance of p-values from uniform")
@with_options(OPTIONS)
@_on_sachs(0.09, 0.08)
def pvalue_ks(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Kolmogorov-Smirnov distance of the p-values of distinct local Markov statements from the uniform law.

    P-values of true independences are uniform. They depend on one another, so that a Kolmogorov-Smirnov test of them
    rejects a true DAG in 6 to 22 % of data at a nominal 5 %: this is a description, whose p-value comes from controls.
    NaN for fewer than two statements.
    """
    return by_data(pairs, _ks)


@metric(
    **OF_A_DAG,
    **MISTAKES,
    long_name="Anderson-Darling distance of p-values from uniform",
    reference="10.1214/aoms/1177729437",
)
@with_options(OPTIONS)
@_on_sachs(0.245, 0.606)
def pvalue_ad(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Anderson-Darling distance of the p-values of distinct local Markov statements from the uniform law.

    A^2 for a fully specified law, without a factor for small samples; p-values below 1e-300 count as that, and those of
    1 as the number next to it. The p-values depend on one another, so that a test of A^2 does not keep its level: this
    is a description, and its p-value comes from controls. NaN for fewer than two statements.
    """
    return by_data(pairs, _ad)


@metric(**OF_A_DAG, **SHARE, long_name="fraction dependent where the graph implies dependence")
@with_options(OPTIONS)
@_on_sachs(0.0, 0.0)
def fraction_dependent_h1(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Share of pairs of a node and a descendant, not a child, that the data show dependent given the node's parents.

    Such nodes are connected in the graph, and a faithful law makes them dependent. A test with p <= alpha shows it. NaN
    for a graph without such pairs.
    """
    return by_data(pairs, lambda part: part.share_dependent(part.implied.dependences))


@metric(
    **OF_A_DAG,
    **MISTAKES,
    long_name="ancestors independent of their descendants",
    reference="10.48550/arXiv.2305.09565",
)
@with_options(OPTIONS)
@_on_sachs(38.0, 14.0)
def faithfulness_violations(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Count the pairs of an ancestor and a descendant that a test does not show dependent (p > alpha).

    NaN for a graph without edges.
    """
    return by_data(pairs, lambda part: part.n_independent(part.implied.descents))


@metric(**OF_A_DAG, **MISTAKES, long_name="edges without dependence", reference="10.48550/arXiv.2305.09565")
@with_options(OPTIONS)
@_on_sachs(12.0, 9.0)
def minimality_violations(pairs: GraphPairs, *, extension: Extension = None) -> Values:
    """Count the edges whose ends a test does not show dependent given the other parents (p > alpha).

    A graph without such an edge would do as well: causal minimality. NaN for a graph without edges.
    """
    return by_data(pairs, lambda part: part.n_independent(part.implied.edges))


def _marginal(part: Part) -> list[Values]:
    """Count pairs of nodes that are separated and independent, separated only, independent only, and neither."""
    reached = part.implied.reached.astype(np.float32)
    related = reached.transpose(0, 2, 1) @ reached > 0
    low, high = np.triu_indices(part.implied.d, 1)
    everything = part.implied.alone(np.triu(np.ones((1, part.implied.d, part.implied.d), bool), 1))
    dependent = part.dependent(everything)
    separated = ~related[:, low, high]
    cells = (separated & ~dependent, separated & dependent, ~separated & ~dependent, ~separated & dependent)
    return [part.defined(cell.sum(axis=1)) for cell in cells]


@metric(**OF_ESTIMATE, kinds=WITH_A_DAG, **SHARE, long_name="F1 of marginal independences")
@_on_sachs(0.0, 0.686)
def correlation_f1(pairs: GraphPairs) -> Values:
    """F1 of the pairs of nodes that are independent by a test (p > alpha) against those that the graph separates.

    Both without a conditioning set; independence is the positive class. NaN where no pair is independent and none
    separated, as for a graph that joins all pairs of dependent data.
    """

    def f1(part: Part) -> Values:
        both, separated, independent, _ = _marginal(part)
        total = 2 * both + separated + independent
        return np.divide(2 * both, total, out=np.full(part.n, np.nan), where=total > 0)

    return by_data(pairs, f1)


@metric(
    **OF_ESTIMATE,
    kinds=WITH_A_DAG,
    direction="maximize",
    range=(-1, 1),
    optimum=1,
    long_name="Matthews correlation of marginal independences",
    reference="10.1016/0005-2795(75)90109-9",
)
@_on_sachs(math.nan, 0.389)
def correlation_mcc(pairs: GraphPairs) -> Values:
    """Matthews correlation of the pairs of nodes that are independent by a test with those that the graph separates.

    As `correlation_f1`, but both classes count. NaN where all or no pairs are independent, or separated.
    """

    def mcc(part: Part) -> Values:
        both, separated, independent, neither = _marginal(part)
        sides = (both + separated, both + independent, neither + separated, neither + independent)
        scale = np.sqrt(np.prod(sides, axis=0))
        top = both * neither - separated * independent
        return np.divide(top, scale, out=np.full(part.n, np.nan), where=scale > 0)

    return by_data(pairs, mcc)


_LIKELIHOOD: dict[str, Any] = {
    **OF_ESTIMATE,
    "kinds": WITH_A_DAG,
    "direction": "maximize",
    "range": (-math.inf, math.inf),
    "optimum": math.inf,
}


@metric(**_LIKELIHOOD, long_name="Bayesian information criterion", reference="10.1214/aos/1176344136")
@_on_sachs(-9802.1, -9792.6, digits=1)
def bic(pairs: GraphPairs) -> Values:
    """Bayesian information criterion of the estimate: log-likelihood - k / 2 log n. Higher is better.

    Floats are fitted by linear regressions of nodes on their parents with normal errors, where k counts coefficients,
    intercepts and variances; integers and categories by frequencies, where k counts free probabilities of the levels
    that the data show. Integers are numbers too where the context names the test "fisher_z" or "t". It is the same for
    all DAGs of a class.
    """
    return by_data(pairs, lambda part: part.log_likelihoods() - part.n_parameters() / 2 * np.log(part.judge.data.n))


@metric(**_LIKELIHOOD, long_name="log-likelihood")
@_on_sachs(-9660.4, -9661.0, digits=1)
def log_likelihood(pairs: GraphPairs) -> Values:
    """Largest log-likelihood of the data under the estimate, in nats. More edges never lower it: see `bic`.

    Linear-Gaussian for floats, multinomial for integers and categories; see `bic`.
    """
    return by_data(pairs, Part.log_likelihoods)


@metric(**_LIKELIHOOD, long_name="log-likelihood of rows left out")
@with_options(
    {
        "folds": """folds : int
    Number of parts of the rows; each is predicted by a fit to the others."""
    }
)
@_on_sachs(-9723.0, -9720.0, digits=0)
def cv_log_likelihood(pairs: GraphPairs, *, folds: int = 5) -> Values:
    """Log-likelihood of rows left out, summed over all rows, in nats. Higher is better.

    Each fold of the rows is predicted by a fit to the others: linear-Gaussian for floats, frequencies with 1/2 added to
    every count for integers and categories. The folds depend on the data alone, so that all graphs share them. The DAGs
    of a class have the same value for floats, and nearly the same for levels, where that of the first DAG by the order
    of nodes stands for the class.
    """
    n_folds = check_whole(folds, "folds", 2, 1000)
    return by_data(pairs, lambda part: part.log_likelihoods(folds=n_folds))


@metric(
    **OF_ESTIMATE,
    kinds=SEPARATED,
    direction=None,
    range=(0, 1),
    long_name="smallest p-value by relabelling",
    reference="10.48550/arXiv.2305.09565",
)
def p_floor(pairs: GraphPairs) -> Values:
    """Share of the relabellings of the estimate's nodes that give an equivalent graph.

    The number of automorphisms of its CPDAG, or of the PAG of a MAG or ADMG, divided by d! It is the smallest p-value
    that a metric which is the same for equivalent graphs can reach under the null model "permutation": where it is
    above alpha, no data can show that the graph is better than its relabellings. Metrics that differ between equivalent
    graphs, such as `lmc_share`, can go below it. It needs no data.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> [round(ce.p_floor(None, graph), 3) for graph in ("A -> B; B -> C", "A -> B; C -> B; B -> D", "A; B; C")]
    [0.333, 0.083, 1.0]
    """
    used, place = np.unique(pairs.estimate_index, return_inverse=True)
    planes, kinds = pairs.estimate.planes[used], pairs.estimate.kinds[used]
    plain, d = kinds < len(PLAIN_KINDS), pairs.n_nodes
    codes, exists = np.zeros((len(used), d, d), np.uint8), np.ones(len(used), bool)
    if plain.any():
        some = lower(planes[plain]) if is_mixed(planes) else planes[plain].copy()
        others = np.flatnonzero(kinds[plain] != CPDAG)
        if len(others):
            some[others], exists[np.flatnonzero(plain)[others]] = class_cpdag(some[others], d)
        codes[plain] = matrices_from_planes(some, d)
    if not plain.all():
        codes[~plain] = codes_from_planes(mag_to_pag(as_mags(planes[~plain], kinds[~plain], d), d), d)
    logs = np.array([log_automorphisms(one) for one in codes]).reshape(-1)
    shares = np.exp(logs - math.lgamma(d + 1))
    return np.where(exists, np.minimum(shares, 1.0), np.nan)[place.reshape(-1)]


def log_automorphisms(marks: NDArray[np.uint8]) -> float:
    """Return the logarithm of the number of relabellings that leave a graph as it is: (d, d) codes of marks."""
    d = len(marks)
    colours, total = _refined(marks, np.zeros(d, np.int64)), 0.0
    # nodes are fixed one by one: a product of how many nodes each can be exchanged for while those before it stay
    while True:
        counts = np.bincount(colours)
        if counts.max(initial=1) == 1:
            return total
        node = int(np.flatnonzero(counts[colours] > 1)[0])
        alike = np.flatnonzero(colours == colours[node]).tolist()
        fixed = _with_own_colour(marks, colours, node)
        orbit = sum(
            _exchangeable(marks, node, other) or _maps(marks, fixed, _with_own_colour(marks, colours, other))
            for other in alike
        )
        total += math.log(orbit)
        colours = fixed


def _exchangeable(marks: NDArray[np.uint8], node: int, other: int) -> bool:
    """Return whether two nodes alone can be exchanged."""
    order = np.arange(len(marks))
    order[[node, other]] = other, node
    return np.array_equal(marks, marks[np.ix_(order, order)])


def _with_own_colour(marks: NDArray[np.uint8], colours: NDArray[np.int64], node: int) -> NDArray[np.int64]:
    """Refine classes of nodes after a node was put into a class of its own, the last."""
    new_colours = colours.copy()
    new_colours[node] = colours.max() + 1
    return _refined(marks, new_colours)


def _refined(marks: NDArray[np.uint8], colours: NDArray[np.int64]) -> NDArray[np.int64]:
    """Refine classes of nodes by how many marks they have to and from each class; equal graphs get equal classes."""
    while True:
        members = (colours[:, None] == np.arange(colours.max(initial=0) + 1)).astype(np.int64)
        ends = [marks == code for code in range(1, int(marks.max(initial=0)) + 1)]
        known = np.column_stack([colours, *(side @ members for end in ends for side in (end, end.T))])
        finer = np.unique(known, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        if finer.max(initial=0) == colours.max(initial=0):
            return finer
        colours = finer


def _maps(marks: NDArray[np.uint8], one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Return whether a relabelling that keeps the graph takes the classes of nodes `one` to the classes `other`."""
    counts = np.bincount(one)
    if not np.array_equal(counts, np.bincount(other)):
        return False
    if counts.max(initial=1) == 1:
        to = np.argsort(other)[one]
        return np.array_equal(marks, marks[np.ix_(to, to)])
    node = int(np.flatnonzero(counts[one] > 1)[0])
    fixed = _with_own_colour(marks, one, node)
    alike = np.flatnonzero(other == one[node]).tolist()
    return any(_maps(marks, fixed, _with_own_colour(marks, other, candidate)) for candidate in alike)
