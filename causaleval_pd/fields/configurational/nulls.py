"""The null models `complexity`, random models of the estimate's shape, and `relabel`, its factors exchanged.

Metrics of single literals have exact moments under `relabel` [1]_.

References
----------
.. [1] Hoeffding, W. (1951). A combinatorial central limit theorem. doi:10.1214/aoms/1177729545
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_flag, check_known, check_number
from ...contract.closed_form import ClosedFormRule, Value, register_closed_form
from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from .drawn_models import (
    ModelLaw,
    complexity_codes,
    drawn_models,
    exchanges,
    known_factors,
    permuted,
    relabelled_codes,
    warn_unstated_factors,
)
from .field import FORMULAS, pair
from .formula import Atom, Domains, FormulaTooLargeError, Literal, Model, Vocabulary, bits
from .minimisation import is_redundancy_free, minimal_models
from .pairs import FormulaPairs
from .quality import Convention, Exposition
from .reader import Cell
from .simulation import NoSuchModelError, draw_model, stream

#: attempts at a set of different models before the row is refused
_MAX_SETS = 1_000


#: "estimate", "free" or a share of negative literals
Signs = str | float


def complexity_law(pairs: FormulaPairs, position: int, signs: Signs = "estimate") -> ModelLaw:
    """Return the law of models of the shape of a pair's estimates, which `complexity_controls` states."""
    factors = known_factors(pairs, position)
    words = pairs.setting(position).vocabulary
    domains = {name: words.domain(name) for name in factors}
    models = [_without_redundancy(model, domains) for model in pairs.estimated_models(position)]

    def sample(key: int, number: int) -> Cell:
        uniforms = stream(key, number)
        for _ in range(_MAX_SETS):
            drawn = {draw_like(model, factors, domains, uniforms, signs) for model in models}
            if len(drawn) == len(models):
                return tuple(sorted(drawn, key=str))
        raise NoSuchModelError(f"{_MAX_SETS} sets of {len(models)} models all had equal ones")

    share = None if signs == "estimate" else 0.5 if isinstance(signs, str) else signs
    return ModelLaw(sample, complexity_codes(models, factors, domains, share))


def _without_redundancy(model: Model, domains: Domains) -> Model:
    """Return a model, or its first minimal form if it has redundant parts and a minimal form."""
    model = model.as_equivalence()
    if is_redundancy_free(model, domains):
        return model
    return next(iter(minimal_models(model, domains)), model)


def draw_like(model: Model, factors: Sequence[str], domains: Domains, uniforms: Iterator[float], signs: Signs) -> Model:
    """Draw a model of the shape of another one."""
    sizes = {atom.outcome: tuple(sorted(map(len, atom.disjuncts))) for atom in model.atoms}
    values = {a.outcome: sorted(value for one in a.disjuncts for _, value in one) for a in model.atoms}
    return draw_model(
        list(sizes),
        sizes.__getitem__,
        factors,
        domains,
        uniforms,
        negated=0.5 if isinstance(signs, str) else signs,
        values=values.__getitem__ if signs == "estimate" else None,
    )


def prepare_complexity(matching: Matching) -> Signs:
    """Check the options of a table's controls."""
    warn_unstated_factors(matching)
    signs = matching.options.get("signs", "estimate")
    if not isinstance(signs, str):
        return check_number(signs, "signs", "[0, 1]")
    check_known(signs, ("estimate", "free"), "value of signs")
    return signs


def complexity_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's outcomes, sizes of disjuncts and signs.

    Law: proposals are rejected until one is a model without redundancies (`redundancy_free`) and cycles. A proposal has
    the estimate's outcomes and, for each disjunct, a uniform subset of the known factors of the same size. With
    `signs="estimate"` the literals of an outcome have the estimate's values in random places, and all such models are
    equally likely: a guesser whose literals are mostly positive is compared with guesses that are too. With "free" the
    values of literals are independent, those of a factor equally likely: all models are then equally likely if all
    factors have as many values, and models that use factors of few values more likely if not. With one number per
    literal of a binary factor is negative with this probability. Given: outcomes, sizes of disjuncts, and with
    "estimate" the values.

    A set of models is matched by a set of different ones, each of the shape of its counterpart, and an estimate with
    redundant parts by the shape of its first minimal form.
    """
    law = partial(complexity_law, signs=matching.prepared)
    return drawn_models(pairs, rows, keys, law, always_acyclic=True)


register_null(
    FORMULAS.name,
    Null(
        "complexity",
        "random models without redundancies that have the estimate's outcomes, sizes of disjuncts and signs",
        complexity_controls,
        prepare=prepare_complexity,
        options={"signs": "estimate"},
        label_invariant=True,
    ),
)


#: by rule: the divisor of the shared literals, from the literals of estimate and truth and the metric's beta
SCALES: dict[str, Callable[[int, int, float], float]] = {
    "literal_correctness": lambda estimate, truth, beta: estimate,
    "literal_completeness": lambda estimate, truth, beta: truth,
    "literal_f_beta": lambda estimate, truth, beta: (beta**2 * truth + estimate) / (1 + beta**2),
}


def exchangeable(pairs: FormulaPairs, position: int) -> list[list[str]]:
    """Group the factors that no model of a pair explains by their values: within a group names can be exchanged."""
    models = (pairs.true_model(position), *pairs.estimated_models(position))
    explained = {name for model in models for name, _ in model.outcomes}
    words = pairs.setting(position).vocabulary
    groups: dict[tuple[int, ...], list[str]] = {}
    for name in known_factors(pairs, position):
        if name not in explained:
            groups.setdefault(words.domain(name), []).append(name)
    return list(groups.values())


def relabel_law(
    pairs: FormulaPairs, position: int, groups: Sequence[Sequence[str]] | None = None, *, flip: bool = False
) -> ModelLaw:
    """Return the law of relabellings of the exogenous factors of a pair's estimates, or of those of `groups`."""
    words = pairs.setting(position).vocabulary
    groups = exchangeable(pairs, position) if groups is None else groups
    cell = pairs.estimated_models(position)
    names = {name for model in cell for name in model.factors} | {name for one in groups for name in one}
    domains = {name: words.domain(name) for name in sorted(names)}

    def sample(key: int, number: int) -> Cell:
        renamed: dict[Literal, Literal] = {}
        for one, (order, values) in zip(groups, exchanges(groups, key, number, 1), strict=True):
            for i, name in enumerate(one):
                old = domains[name]
                new = permuted(old, float(values[i, 0])) if flip else old
                renamed |= {(name, x): (one[order[i, 0]], y) for x, y in zip(old, new, strict=True)}
        return tuple(sorted((relabel(model, renamed) for model in cell), key=str))

    return ModelLaw(sample, relabelled_codes(cell, groups, domains, flip=flip))


def relabel(model: Model, renamed: Mapping[Literal, Literal]) -> Model:
    """Exchange the literals of left-hand sides; literals that the mapping lacks stay."""
    return Model(
        tuple(
            Atom(tuple(frozenset(renamed.get(x, x) for x in one) for one in atom.disjuncts), atom.outcome, atom.arrow)
            for atom in model.atoms
        )
    )


def relabelled_form(metric: Metric, pairs: FormulaPairs, *, flip: bool) -> ClosedForm | None:
    """Return mean and variance of metrics of single literals, None for others."""
    if metric.closed_form not in SCALES or metric.options.get("models", "max") in ("any", "all"):
        return None
    found = np.full((pairs.n, 2), np.nan)
    for i in np.flatnonzero(~pairs.refused(metric.kinds)).tolist():
        with suppress(FormulaTooLargeError):  # such a row has no score either
            found[i] = relabel_moments(pairs, i, metric, exchangeable(pairs, i), flip=flip)
    return ClosedForm(found[:, 0], found[:, 1])


def relabel_moments(
    pairs: FormulaPairs, position: int, metric: Metric, groups: Sequence[Sequence[str]], *, flip: bool
) -> tuple[float, float]:
    """Return mean and variance of a metric that is linear in the literals which truth and relabelled estimate share."""
    # Its closed form is among `SCALES`, and the factors of a group are exchanged among themselves. NaN with data, with
    # several models or no model, or where neither has causes.
    # Relabelling a model relabels its causal exposition on ideal data. The number of shared literals is then a sum of
    # entries of a matrix - the outcomes for which the estimate has one literal and the truth the other - along a random
    # matching of factors, and with `flip` for each pair of factors along one of their values. With n crisp factors two
    # literals of an outcome meet with probability 1 / (2 n); without `flip` with probability 1 / n if they have one
    # value, else never. The variance of such sums is Hoeffding's [1]_.
    cell, setting = pairs.estimated_models(position), pairs.setting(position)
    if len(cell) != 1 or setting.data is not None:
        return np.nan, np.nan
    convention = Convention.of(metric.options.get("convention", "corrected"), metric.options.get("constant_outcome"))
    truth = pairs.truth.exposition(pairs.true_model(position), setting, convention, relative=False)
    estimate = pairs.estimate.exposition(cell[0], setting, convention, relative=True)
    sides = [_literals(side, setting.vocabulary) for side in (estimate, truth)]
    sizes = [sum(map(len, side.values())) for side in sides]
    rule = convention.constant_outcome
    if rule == "nan" and any(found.constant for side in (estimate, truth) for found in side.values()):
        return np.nan, np.nan
    if rule == "penalise":  # a relabelled outcome stays constant
        sizes[0] += sum(found.literals.bit_count() for found in estimate.values() if found.constant)
    if not all(sizes):
        return np.nan, np.nan
    mean, variance = _shared_moments(sides[0], sides[1], groups, setting.vocabulary, flip=flip)
    scale = SCALES[str(metric.closed_form)](sizes[0], sizes[1], float(metric.options.get("beta", 1.0)))
    return mean / scale, variance / scale**2


def _literals(exposition: Exposition, words: Vocabulary) -> dict[int, set[Literal]]:
    """Return the causes of each outcome that is not constant."""
    return {
        outcome: {words.literals[bit.bit_length() - 1] for bit in bits(found.literals)}
        for outcome, found in exposition.items()
        if not found.constant
    }


def _shared_moments(
    estimate: Mapping[int, set[Literal]],
    truth: Mapping[int, set[Literal]],
    groups: Sequence[Sequence[str]],
    words: Vocabulary,
    *,
    flip: bool,
) -> tuple[float, float]:
    """Return mean and variance of the number of shared literals under relabelling, from the causes of each outcome."""
    moving = {(name, value) for names in groups for name in names for value in words.domain(name)}
    shared = [(estimate[outcome], truth[outcome]) for outcome in sorted(estimate.keys() & truth.keys())]
    mean, variance = float(sum(len((estimated & true) - moving) for estimated, true in shared)), 0.0
    for names in groups:
        place = {(name, value): (i, j) for i, name in enumerate(names) for j, value in enumerate(words.domain(name))}
        n, v = len(names), len(words.domain(names[0]))
        meets = np.zeros((n, n, v, v))
        for estimated, true in shared:
            for x in estimated & place.keys():
                for y in true & place.keys():
                    meets[place[x][0], place[y][0], place[x][1], place[y][1]] += 1
        if flip:
            inner_mean, inner_variance = _matching_moments(meets)
        else:
            inner_mean, inner_variance = np.trace(meets, axis1=2, axis2=3), np.zeros((n, n))
        outer_mean, outer_variance = _matching_moments(inner_mean)
        mean += float(outer_mean)
        variance += float(outer_variance) + float(inner_variance.sum()) / n
    return mean, variance


def _matching_moments(entries: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and variance of sum_i entries[..., i, s(i)] for a uniformly random permutation s."""
    n = entries.shape[-1]
    centred = (
        entries
        - entries.mean(axis=-1, keepdims=True)
        - entries.mean(axis=-2, keepdims=True)
        + entries.mean(axis=(-1, -2), keepdims=True)
    )
    return entries.sum(axis=(-1, -2)) / n, np.square(centred).sum(axis=(-1, -2)) / max(n - 1, 1)


class SharedFactors(NamedTuple):
    """The factors that are exchanged jointly: those that no model of a cluster in a stratum explains."""

    #: (n,): position of each row's groups, -1 for a row without models
    of_row: NDArray[np.int64]
    #: groups of factors with the same values
    groups: list[list[list[str]]]


def shared_factors(matching: Matching) -> SharedFactors | None:
    """Find the factors that all rows of a cluster in a stratum can exchange; None where rows are relabelled singly."""
    if matching.cluster is None:
        return None
    stratum = np.zeros(len(matching.cluster), np.int64) if matching.stratum is None else matching.stratum
    number = pd.factorize(pd.MultiIndex.from_arrays([stratum, matching.cluster]))[0].astype(np.int64)
    of_row = np.full(len(number), -1, np.int64)
    explained: dict[int, set[str]] = {}
    domains: dict[int, list[dict[str, tuple[int, ...]]]] = {}
    limits: dict[int, list[set[str]]] = {}
    for batch in FORMULAS.batches(matching.truth, matching.estimate, matching.context):
        pairs: Any = batch.pairs
        seen: set[tuple[int, ...]] = set()
        of_row[batch.rows] = number[batch.rows]
        for position, row in enumerate(batch.rows.tolist()):
            index = (pairs.truth_index, pairs.estimate_index, pairs.setting_index)
            key = (int(number[row]), *(int(x[position]) for x in index))
            if key in seen:
                continue
            seen.add(key)
            models = (pairs.true_model(position), *pairs.estimated_models(position))
            explained.setdefault(key[0], set()).update(name for model in models for name, _ in model.outcomes)
            words = pairs.setting(position).vocabulary
            names_of_data = pairs.setting(position).names
            if names_of_data is not None:
                limits.setdefault(key[0], []).append(set(names_of_data))
            known = {name: words.domain(name) for name in known_factors(pairs, position)}
            domains.setdefault(key[0], []).append(known)
    groups: list[list[list[str]]] = [[] for _ in range(int(number.max(initial=-1)) + 1)]
    for which, found in domains.items():
        names = {name: values for known in found for name, values in known.items()}
        for data in limits.get(which, []):
            # a model cannot have factors that a row's data lack
            names = {name: values for name, values in names.items() if name in data}
        for values in sorted({values for name, values in names.items() if name not in explained[which]}):
            groups[which].append(sorted(x for x in names if names[x] == values and x not in explained[which]))
    return SharedFactors(of_row, groups)


def prepare_relabelling(matching: Matching) -> SharedFactors | None:
    """Check the options of a table's controls, and find the factors that are exchanged jointly."""
    check_flag(matching.options.get("flip", False), "flip")
    warn_unstated_factors(matching)
    return shared_factors(matching)


def relabel_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's estimate up to the names of exogenous factors.

    Law: uniform over the permutations of the known factors that are outcomes of neither truth nor estimate, of those
    with the same values among themselves. With `flip=True` the values of each of these factors are permuted uniformly
    too: a binary factor changes its polarity with probability 1/2. Given: the outcomes, and the estimate up to the
    names (and with `flip` the values) of these factors. Rows of one cluster that share a key exchange the same factors
    in the same way: those that are outcomes in none of them.
    """
    shared: SharedFactors | None = matching.prepared
    flip = bool(matching.options.get("flip", False))
    if shared is None:
        known = partial(relabelled_form, pairs=pairs, flip=flip)
        return drawn_models(pairs, rows, keys, partial(relabel_law, flip=flip), known, always_acyclic=False)
    groups, of_row = shared.groups, shared.of_row[rows]

    def law(pairs: FormulaPairs, position: int) -> ModelLaw:
        return relabel_law(pairs, position, groups[of_row[position]], flip=flip)

    return drawn_models(pairs, rows, keys, law, always_acyclic=False)


register_null(
    FORMULAS.name,
    Null(
        "relabel",
        "the estimate with its exogenous factors exchanged at random",
        relabel_controls,
        prepare=prepare_relabelling,
        options={"flip": False},
        label_invariant=True,
        joint=True,
    ),
)

#: truths and estimates with the numbers of literals that they share, of the estimate, and of the truth
_PROBES = (
    ("A*b+C<->E", "A*c+D<->E", 1, 3, 3),
    ("A*b+C<->E", "A<->E", 1, 1, 3),
    ("A<->E", "A*b+C<->E", 1, 3, 1),
    ("A*b+C<->E", "a<->E", 0, 1, 3),
    # joint and alternative causes, and paths, are shared less than literals
    ("A*b+C<->E", "A*C+b<->E", 3, 3, 3),
    ("(A+B<->C)*(C+D<->E)", "(B<->C)*(A+C<->E)", 4, 4, 6),
)


def share_of_literals(value: Value, rule: str) -> str | None:
    """Check that a metric is the number of shared literals, divided as the rule states."""
    for truth, estimate, shared, of_estimate, of_truth in _PROBES:
        expected = shared / SCALES[rule](of_estimate, of_truth, 1.0)
        found = value(pair(truth, estimate))
        if not np.allclose(found, expected, rtol=1e-9, atol=1e-9):
            return f"for truth {truth} and estimate {estimate} it is {found.item():g}, not {expected:g}"
    return None


for _rule, _divisor in (
    ("literal_correctness", "the literals of the estimate"),
    ("literal_completeness", "the literals of the truth"),
    ("literal_f_beta", "the weighted literals of both"),
):
    register_closed_form(
        ClosedFormRule(
            _rule,
            FORMULAS.name,
            f"Shared literals divided by {_divisor}. Mean and variance are exact under relabelling (Hoeffding).",
            partial(share_of_literals, rule=_rule),
        )
    )
