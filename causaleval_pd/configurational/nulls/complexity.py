"""The null model `complexity`: random models without redundancies that have the shape of the estimate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_known, check_number
from ...contract.null import Controls, Matching, Null, register_null
from ..field import FORMULAS
from ..formulas.formula import Model
from ..formulas.reader import Cell
from ..formulas.vocabulary import Domains
from ..models.redundancy import is_redundancy_free, minimal_models
from ..pairs import FormulaPairs
from ..simulation.ground_truths import NoSuchModelError, draw_model, stream
from .crisp_draws import complexity_codes
from .drawn_models import DrawnModels, ModelLaw, known_factors, warn_unstated_factors

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


def check_signs(signs: Any) -> Signs:
    """Return the signs of controls, or raise an error if they are invalid."""
    if isinstance(signs, str):
        check_known(signs, ("estimate", "free"), "value of signs")
        return signs
    return check_number(signs, "signs", "[0, 1]")


def prepare_complexity(matching: Matching) -> Signs:
    """Check the options of a table's controls."""
    warn_unstated_factors(matching)
    return check_signs(matching.options.get("signs", "estimate"))


def complexity_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's outcomes, sizes of disjuncts and signs.

    Law: proposals are rejected until one is a model without redundancies (`redundancy_free`) and cycles. A proposal has
    the estimate's outcomes and, for each disjunct, a uniform subset of the known factors of the same size. With
    `signs="estimate"` the literals of an outcome have the estimate's values in random places, and all such models are
    equally likely: a guesser whose literals are mostly positive is compared with guesses that are too. With "free" the
    values of literals are independent, those of a factor equally likely: all models are then equally likely if all
    factors have as many values, and models that use factors of few values more likely if not. With a number a literal
    of a binary factor is negative with this probability. Given: outcomes, sizes of disjuncts, and with "estimate" the
    values.

    A set of models is matched by a set of different ones, each of the shape of its counterpart, and an estimate with
    redundant parts by the shape of its first minimal form.
    """
    law = partial(complexity_law, signs=matching.prepared)
    return DrawnModels(pairs, rows, keys, law, always_acyclic=True)


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
