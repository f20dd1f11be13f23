"""Null models of formulas: `complexity`, random models of the estimate's shape, and `relabel`, its factors exchanged.

Crisp controls are drawn many at a time, others model by model. Metrics of single literals have exact moments under
`relabel` [1]_.

Judged relative to data, a control whose formulas do not reach the thresholds ascribes no causes: its completeness is 0,
its correctness 0/0. Such controls are left out of the correctness, which is then compared with guesses that fit the
data; with `zero_division=0` they count as wrong.

References
----------
.. [1] Hoeffding, W. (1951). A combinatorial central limit theorem. doi:10.1214/aoms/1177729545
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_flag, check_known, check_number, warn
from ...contract.context import Context
from ...contract.field import get_field
from ...contract.law import ClosedForm, ClosedFormRule, Value, register_closed_form
from ...contract.metric import Metric
from ...contract.null import Controls, DrawnControls, Known, Matching, Null, no_closed_form, register_null
from ...execution.random_streams import RNGLike, random_words, resolve_seed, uniforms
from .field import FORMULAS, pair
from .formula import BINARY, Atom, Domains, FormulaTooLargeError, Literal, Model, set_text
from .kernels import MAX_ATOMS, MAX_FACTORS, MAX_FREE
from .minimisation import is_redundancy_free, minimal_models
from .pairs import KINDS, CrispCells, DecodedCells, FormulaCells, FormulaPairs, Names, Sizes
from .quality import Convention
from .reader import Cell
from .simulation import MAX_PROPOSALS, NoSuchModelError, draw_model, no_such_model, stream

Ints = NDArray[np.int64]
#: numbers of draws from which on the words of a key name streams
_STREAMS = 1 << 40
#: rough bytes of a drawn control while it is scored, and rough nanoseconds that drawing one takes
_CONTROL_BYTES, _CONTROL_WORK = 2_000, 3e4
#: attempts at a set of different models before the row is refused
_MAX_SETS = 1_000
#: inputs of `context=`, one of which names the factors that guesses range over
STATES_FACTORS = ("factors", "data", "domains")


@dataclass(frozen=True, eq=False)
class Shape:
    """Where the parts of a set of crisp models stand; bit 2 f + v is value v of factor number f of the names."""

    names: Sequence[str]
    #: (a,), (a + 1,): outcome and first disjunct of every atom; (k + 1,): first atom of every model
    outcome: Ints
    first: Ints
    models: Ints

    @classmethod
    def of(cls, models: Sequence[Model], domains: Domains) -> Shape | None:
        """Return the shape of models over factors with these values, or None where the kernels do not take them."""
        crisp = all(tuple(values) == BINARY for values in domains.values()) and not any(m.one_way for m in models)
        atoms = [atom for model in models for atom in model.atoms]
        if not crisp or len(domains) > MAX_FACTORS or any(len(model.atoms) > MAX_ATOMS for model in models):
            return None
        number = {name: 2 * i for i, name in enumerate(domains)}
        return cls(
            list(domains),
            np.array([1 << (number[a.outcome[0]] + a.outcome[1]) for a in atoms], np.int64),
            np.cumsum([0, *(len(atom.disjuncts) for atom in atoms)], dtype=np.int64),
            np.cumsum([0, *(len(model.atoms) for model in models)], dtype=np.int64),
        )

    def sizes(self, codes: Ints, names: Names) -> Sizes:
        """Write drawn disjuncts, (n, m), as n cells with the numbers of a table's factors."""
        numbers = np.array([names.number(name) for name in self.names], np.int64)
        of_bit = (2 * numbers[:, None] + np.arange(2)).ravel()
        held, of_outcome = (
            np.unpackbits(x.ravel().astype("<i8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
            for x in (codes, self.outcome)
        )
        models, atoms, disjuncts = (
            np.tile(part, len(codes)) for part in ([len(self.models) - 1], np.diff(self.models), np.diff(self.first))
        )
        outcomes = np.tile(of_bit[of_outcome.nonzero()[1]], len(codes))
        return Sizes(models, atoms, disjuncts, held.sum(axis=1), outcomes, of_bit[held.nonzero()[1]])


class Law(NamedTuple):
    """How the controls of a pair are drawn."""

    #: draws `start` to `start + count - 1` of a row's key: cells, or where they have a shape the disjuncts, (count, m)
    draw: Callable[[int, int, int], Any]
    shape: Shape | None = None


def drawn_singly(sample: Callable[[int, int], Cell]) -> Law:
    """Return the law of controls that are drawn by a row's key and the number of the draw."""
    return Law(lambda key, start, count: [sample(key, number) for number in range(start, start + count)])


def known_factors(pairs: FormulaPairs, position: int) -> list[str]:
    """Return the factors a guess may use: the stated ones and the estimate's, else all of the data."""
    setting = pairs.setting(position)
    if setting.names is not None and setting.factors is None:
        return list(setting.names)
    models = [*pairs.estimated_models(position), *([] if setting.names is not None else [pairs.true_model(position)])]
    known = {name for model in models for name in model.factors} | set(setting.factors or ())
    return sorted(known if setting.names is not None else known | set(setting.vocabulary.domains))


def warn_unstated_factors(matching: Matching) -> None:
    """Warn where no input of the context names the factors that a method could use."""
    context = matching.context
    if context is None or not any(name in values for values in context.values[:1] for name in STATES_FACTORS):
        warn(
            "controls use only the factors of truth and estimate, because no others are stated; if the method chose "
            "among more, p-values are too large and skills too small. Name all factors of its data: "
            "context={'factors': ['A', 'B', ...]}"
        )


def drawn_models(
    matching: Matching,
    pairs: FormulaPairs,
    rows: Ints,
    keys: NDArray[np.uint64],
    law: Callable[[FormulaPairs, int], Law],
    known: Known = no_closed_form,
    *,
    always_acyclic: bool,
) -> Controls:
    """Make controls that are drawn by `law(pairs, position)`; `rows` are their places in the table."""
    kinds = np.zeros(pairs.n, np.int64) if always_acyclic else pairs.estimate.kinds[pairs.estimate_index]
    laws: dict[int, Law] = {}

    def drawn(start: int, count: int) -> FormulaPairs:
        # cell 0 stands for missing controls: no model has the size of an output without models
        parts, sizes, kind_of, undrawn = [Sizes.of([()], pairs.names)], [1], [0], ""
        models: dict[int, Cell] = {0: ()}
        index = np.zeros((pairs.n, count), np.int64)
        for position in range(pairs.n):
            if not pairs.estimated_models(position):
                continue
            try:
                draw, shape = laws.get(position) or laws.setdefault(position, law(pairs, position))
                controls = draw(int(keys[position]), start, count)
            except (NoSuchModelError, FormulaTooLargeError) as error:
                undrawn = undrawn or (
                    f"{matching.where(rows[position])} has no control: {error}. It matches "
                    f"{set_text(pairs.estimated_models(position))}; leave the row out, or use null='relabel'"
                )
                continue
            n = sum(sizes)
            if shape is None:
                place = {cell: i for i, cell in enumerate(dict.fromkeys(controls), start=n)}
                models |= {i: cell for cell, i in place.items()}
                index[position] = [place[cell] for cell in controls]
                parts.append(Sizes.of(place, pairs.names))
            else:
                distinct, inverse = np.unique(controls, axis=0, return_inverse=True)
                index[position] = n + inverse.ravel()
                parts.append(shape.sizes(distinct, pairs.names))
            sizes.append(len(parts[-1].models))
            kind_of.append(int(kinds[position]))
        cells = DecodedCells(CrispCells.of(*parts), pairs.names, models)
        estimate = FormulaCells(cells, 0, np.repeat(kind_of, sizes))
        return pairs.with_cells(estimate, index.ravel(), np.repeat(np.arange(pairs.n), count), undrawn)

    words = np.array(KINDS, object)[kinds]
    return DrawnControls(pairs, words, drawn, known, _CONTROL_BYTES, _CONTROL_WORK)


def guesses(pairs: FormulaPairs, null: str, n_draws: int, rng: RNGLike = None) -> FormulaPairs:
    """Pair every truth with `n_draws` controls of a null model, a pair's draws together."""
    nulls = get_field("formula").nulls
    check_known(null, nulls, "null")
    keys = np.random.default_rng(resolve_seed(rng)).integers(2**63, size=pairs.n).astype(np.uint64)
    nothing = pd.Series([], dtype="str")
    # the factors of a pair's figure are its own
    stated = Context(({"factors": ()},), np.zeros(0, np.int64))
    match = nulls[null].match(Matching(nothing, nothing, None, None, nulls[null].options, stated))
    drawn = cast(FormulaPairs, match(np.arange(pairs.n), pairs, keys).draw(0, n_draws))
    if drawn.undrawn:
        raise NoSuchModelError(drawn.undrawn)
    return drawn


#: "estimate", "free" or a share of negative literals
Signs = str | float


def complexity_law(pairs: FormulaPairs, position: int, signs: Signs = "estimate") -> Law:
    """Return the law of models of the shape of a pair's estimates, which `complexity_controls` states."""
    factors, words = known_factors(pairs, position), pairs.setting(position).vocabulary
    domains = {name: words.domain(name) for name in factors}
    models = []
    for model in map(Model.as_equivalence, pairs.estimated_models(position)):
        forms = () if is_redundancy_free(model, domains) else minimal_models(model, domains)
        models.append(forms[0] if forms else model)
    negated = 0.5 if isinstance(signs, str) else signs
    law = _compiled_law(models, domains, None if signs == "estimate" else negated)
    if law is not None:
        return law
    sizes = [{a.outcome: sorted(map(len, a.disjuncts)) for a in model.atoms} for model in models]
    signed = [
        {a.outcome: sorted(value for one in a.disjuncts for _, value in one) for a in model.atoms} for model in models
    ]
    values: Sequence[Any] = signed if signs == "estimate" else [None] * len(models)

    def sample(key: int, number: int) -> Cell:
        uniforms = stream(key, number)
        for _ in range(_MAX_SETS):
            drawn = {
                draw_model(list(one), one.__getitem__, factors, domains, uniforms, negated=negated, values=of_one)
                for one, of_one in zip(sizes, values, strict=True)
            }
            if len(drawn) == len(models):
                return tuple(sorted(drawn, key=str))
        raise NoSuchModelError(f"{_MAX_SETS} sets of {len(models)} models all had equal ones")

    return drawn_singly(sample)


def _compiled_law(models: Sequence[Model], domains: Domains, share: float | None) -> Law | None:
    """Return the law of models of the shape of others that kernels draw, or None where they do not take them."""
    n, shape = len(domains), Shape.of(models, domains)
    atoms = [atom for model in models for atom in model.atoms]
    sizes = [sorted(map(len, atom.disjuncts)) for atom in atoms]
    if shape is None or any(one[-1] >= n for one in sizes):
        return None
    for model in models:
        explained = {name for name, _ in model.outcomes}
        if len(explained) < len(model.atoms) or min(n - 1, model.complexity) > MAX_FREE:
            return None
    negative = np.array([sum(value == 0 for one in a.disjuncts for _, value in one) for a in atoms], np.int64)
    shapes = [(model.outcomes, [sorted(map(len, atom.disjuncts)) for atom in model.atoms]) for model in models]
    # of models with one shape the number is that of the first
    alike = np.array([shapes.index(one) for one in shapes], np.int64)
    flat = np.array([size for one in sizes for size in one], np.int64)

    def draw(key: int, start: int, count: int) -> Ints:
        from .kernels.draws import draw_sets
        from .kernels.forms import MAX_WORDS

        drawn, proposed = np.zeros((count, shape.first[-1]), np.int64), np.zeros(count, np.int64)
        room = np.zeros((2 * MAX_FACTORS + 1, MAX_WORDS), np.int64)
        of_sets = shape.outcome, shape.first, flat, shape.models, alike, n
        fixed = -1.0 if share is None else share
        draw_sets(np.uint64(key), start, count, *of_sets, fixed, negative, MAX_PROPOSALS, room, drawn, proposed)
        if (proposed < 0).any():
            raise NoSuchModelError(no_such_model(models[0].outcomes, sizes[0], shape.names))
        return drawn

    return Law(draw, shape)


def prepare_complexity(matching: Matching) -> Signs:
    """Check the options of a table's controls."""
    warn_unstated_factors(matching)
    signs = matching.options.get("signs", "estimate")
    if not isinstance(signs, str):
        return check_number(signs, "signs", "[0, 1]")
    check_known(signs, ("estimate", "free"), "value of signs")
    return signs


def complexity_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's outcomes, sizes of disjuncts and signs."""
    law = partial(complexity_law, signs=matching.prepared)
    return drawn_models(matching, pairs, rows, keys, law, always_acyclic=True)


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


#: factors that are exchanged among themselves, by their values
Groups = dict[tuple[int, ...], list[str]]


def by_values(domains: Mapping[str, tuple[int, ...]], models: Sequence[Model]) -> Groups:
    """Group the factors that no model explains by their values."""
    explained = {name for model in models for name, _ in model.outcomes}
    groups: Groups = {}
    for name, values in domains.items():
        if name not in explained:
            groups.setdefault(values, []).append(name)
    return groups


def known_domains(pairs: FormulaPairs, position: int) -> dict[str, tuple[int, ...]]:
    """Return the values of the factors that a guess may use."""
    words = pairs.setting(position).vocabulary
    return {name: tuple(words.domain(name)) for name in known_factors(pairs, position)}


def exchangeable(pairs: FormulaPairs, position: int) -> list[list[str]]:
    """Group the factors that no model of a pair explains by their values: within a group names can be exchanged."""
    models = (pairs.true_model(position), *pairs.estimated_models(position))
    return list(by_values(known_domains(pairs, position), models).values())


def exchanges(
    groups: Sequence[Sequence[str]], key: int, start: int, count: int
) -> list[tuple[Ints, NDArray[np.float64]]]:
    """Return for each group of factors random orders, (n, count), and a random number for each factor's values."""
    # They depend on the key, the number of the draw and the sizes of the groups alone.
    streams = random_words(np.array([key], np.uint64), _STREAMS, 2 * sum(map(len, groups)))[0]
    numbers, sizes = uniforms(streams, start, count), list(map(len, groups))
    places = zip(2 * np.cumsum([0, *sizes]), sizes, strict=False)
    return [(np.argsort(numbers[i : i + n], axis=0, kind="stable"), numbers[i + n : i + 2 * n]) for i, n in places]


def permuted(values: Sequence[int], number: float) -> list[int]:
    """Return the permutation of some values that a number in [0, 1) stands for."""
    left, rank = list(values), int(number * math.factorial(len(values)))
    permutation = []
    for n in range(len(left) - 1, -1, -1):
        place, rank = divmod(rank, math.factorial(n))
        permutation.append(left.pop(place))
    return permutation


def relabel_law(
    pairs: FormulaPairs, position: int, groups: Sequence[Sequence[str]] | None = None, *, flip: bool = False
) -> Law:
    """Return the law of relabellings of the exogenous factors of a pair's estimates, or of those of `groups`."""
    words, cell = pairs.setting(position).vocabulary, pairs.estimated_models(position)
    groups = exchangeable(pairs, position) if groups is None else groups
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

    shape = Shape.of(cell, domains)
    if shape is None:
        return drawn_singly(sample)
    number = {name: 2 * i for i, name in enumerate(domains)}
    disjuncts = [one for model in cell for atom in model.atoms for one in atom.disjuncts]
    literals = [[number[name] + value for name, value in one] for one in disjuncts]

    def draw(key: int, start: int, count: int) -> Ints:
        new = np.tile(np.arange(2 * len(domains)), (count, 1))
        for one, (order, values) in zip(groups, exchanges(groups, key, start, count), strict=True):
            places, flips = np.array([number[name] for name in one], np.int64), (values.T >= 0.5) & flip
            for value in (0, 1):
                new[:, places + value] = places[order.T] + (flips ^ bool(value))
        moved = np.left_shift(np.int64(1), new)
        codes = np.stack([moved[:, one].sum(axis=1) for one in literals], axis=1)
        for begin, end in zip(shape.first[:-1], shape.first[1:], strict=True):
            codes[:, begin:end].sort(axis=1)
        return codes

    return Law(draw, shape)


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
    moments = np.full((pairs.n, 2), np.nan)
    for i in np.flatnonzero(~pairs.refused(metric.kinds)).tolist():
        with suppress(FormulaTooLargeError):  # such a row has no score either
            moments[i] = relabel_moments(pairs, i, metric, flip=flip)
    return ClosedForm(moments[:, 0], moments[:, 1])


def relabel_moments(pairs: FormulaPairs, position: int, metric: Metric, *, flip: bool) -> tuple[float, float]:
    """Return mean and variance of a metric that is linear in the literals which truth and relabelled estimate share."""
    # NaN with data, with several models or no model, or where neither has causes.
    # Relabelling a model relabels its causal exposition on ideal data. The number of shared literals is then a sum of
    # entries of a matrix - the outcomes for which the estimate has one literal and the truth the other - along a random
    # matching of factors, and with `flip` for each pair of factors along one of their values. With n crisp factors two
    # literals of an outcome meet with probability 1 / (2 n); without `flip` with probability 1 / n if they have one
    # value, else never. The variance of such sums is Hoeffding's [1]_.
    cell, setting = pairs.estimated_models(position), pairs.setting(position)
    if len(cell) != 1 or setting.data is not None:
        return np.nan, np.nan
    words, rule = setting.vocabulary, metric.options.get("constant_outcome")
    convention = Convention.of(metric.options.get("convention", "corrected"), rule)
    sides = (
        pairs.estimate.exposition(cell[0], setting, convention, relative=True),
        pairs.truth.exposition(pairs.true_model(position), setting, convention, relative=False),
    )
    causes = [{at: words.decode(one.literals) for at, one in side.items() if not one.constant} for side in sides]
    sizes = [sum(map(len, side.values())) for side in causes]
    if convention.constant_outcome == "nan" and any(one.constant for side in sides for one in side.values()):
        return np.nan, np.nan
    if convention.constant_outcome == "penalise":  # a relabelled outcome stays constant
        sizes[0] += sum(one.literals.bit_count() for one in sides[0].values() if one.constant)
    if not all(sizes):
        return np.nan, np.nan
    groups, both = exchangeable(pairs, position), sorted(causes[0].keys() & causes[1].keys())
    moving = {name for names in groups for name in names}
    mean, variance = float(sum(name not in moving for at in both for name, _ in causes[0][at] & causes[1][at])), 0.0
    for names in groups:
        values = words.domain(names[0])
        estimated, true = (
            np.array([(name, value) in side[at] for at in both for name in names for value in values], np.float64)
            for side in causes
        )
        shape = len(both), len(names), len(values)
        inner = np.einsum("oiu,ojv->ijuv", estimated.reshape(shape), true.reshape(shape))
        if flip:
            entries, inner_variance = _matching_moments(inner)
            variance += float(inner_variance.sum()) / len(names)
        else:
            entries = np.trace(inner, axis1=2, axis2=3)
        outer_mean, outer_variance = _matching_moments(entries)
        mean += float(outer_mean)
        variance += float(outer_variance)
    scale = SCALES[str(metric.closed_form)](sizes[0], sizes[1], float(metric.options.get("beta", 1.0)))
    return mean / scale, variance / scale**2


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


def prepare_relabelling(matching: Matching) -> dict[int, list[list[str]]] | None:
    """Check the options; find the factors that a row's cluster can exchange, None where rows are relabelled singly."""
    check_flag(matching.options.get("flip", False), "flip")
    warn_unstated_factors(matching)
    if matching.cluster is None:
        return None
    stratum = np.zeros(len(matching.cluster), np.int64) if matching.stratum is None else matching.stratum
    groups: dict[int, list[list[str]]] = {}
    for batch in FORMULAS.batches(matching.truth, matching.estimate, matching.context):
        pairs: Any = batch.pairs
        table = pd.DataFrame({"stratum": stratum, "cluster": matching.cluster}).iloc[batch.rows].reset_index(drop=True)
        table["pair"] = pairs.distinct[1]
        for _, member_rows in table.groupby(["stratum", "cluster"], sort=False):
            positions = member_rows["pair"].drop_duplicates().index.tolist()
            models = [m for at in positions for m in (pairs.true_model(at), *pairs.estimated_models(at))]
            domains = {name: values for at in positions for name, values in known_domains(pairs, at).items()}
            for data in (pairs.setting(at).names for at in positions):
                # a model cannot have factors that a row's data lack
                domains = {name: values for name, values in domains.items() if data is None or name in data}
            shared = sorted(by_values(dict(sorted(domains.items())), models).items())
            groups |= {row: [names for _, names in shared] for row in batch.rows[member_rows.index].tolist()}
    return groups


def relabel_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's estimate up to the names of exogenous factors."""
    flip = bool(matching.options.get("flip", False))
    if matching.prepared is None:
        known = partial(relabelled_form, pairs=pairs, flip=flip)
        return drawn_models(matching, pairs, rows, keys, partial(relabel_law, flip=flip), known, always_acyclic=False)

    def law(pairs: FormulaPairs, position: int) -> Law:
        return relabel_law(pairs, position, matching.prepared[int(rows[position])], flip=flip)

    return drawn_models(matching, pairs, rows, keys, law, always_acyclic=False)


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
        score = value(pair(truth, estimate))
        if not np.allclose(score, expected, rtol=1e-9, atol=1e-9):
            return f"for truth {truth} and estimate {estimate} it is {score.item():g}, not {expected:g}"
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
