"""The null model `complexity`: random models without redundancies that have the shape of the estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_whole
from ...contract.null import Controls, Matching, Null, register_null
from ...execution.random_streams import RNGLike, resolve_seed
from ..field import FORMULAS
from ..formulas.formula import Literal, Model
from ..formulas.reader import Cell, as_model
from ..formulas.vocabulary import Domains, read_domains
from ..pairs import FormulaPairs
from ..simulation.ground_truths import NoSuchModelError, draw_model, stream
from .drawn_models import DrawnModels, known_factors

__all__ = ["acceptance_rate"]

#: attempts at a set of different models before the row is refused
_MAX_SETS = 1_000


def complexity_law(pairs: FormulaPairs, position: int) -> Callable[[Iterator[float]], Cell]:
    """Return a function that draws models of the shape of a pair's estimates.

    The law is uniform over the models without redundancies (`redundancy_free`) and cycles that have, over the known
    factors, the estimate's outcomes and the same numbers of literals in the disjuncts of each: proposals - a uniform
    subset of the factors for each disjunct, a uniform value for each - are rejected until one is such a model. A set of
    models is matched by a set of different ones, each of the shape of its counterpart. Per atom, 87 % of the proposals
    for `A*B+C*D<->E` are such models, 34 % of those for `A*B+C<->E` and 0.2 % of eight single causes of eight
    (`acceptance_rate`).
    """
    factors = known_factors(pairs, position)
    words = pairs.setting(position).vocabulary
    domains = {name: words.domain(name) for name in factors}
    shapes = [_shape(model) for model in pairs.estimated_models(position)]

    def sample(uniforms: Iterator[float]) -> Cell:
        for _ in range(_MAX_SETS):
            drawn = {draw_model(list(sizes), sizes.__getitem__, factors, domains, uniforms)[0] for sizes in shapes}
            if len(drawn) == len(shapes):
                return tuple(sorted(drawn, key=str))
        raise NoSuchModelError(f"{_MAX_SETS} sets of {len(shapes)} models all had equal ones")

    return sample


def _shape(model: Model) -> dict[Literal, tuple[int, ...]]:
    """Return the numbers of literals of the disjuncts of each outcome."""
    return {atom.outcome: tuple(sorted(map(len, atom.disjuncts))) for atom in model.atoms}


def acceptance_rate(
    estimate: Model | str,
    factors: int | list[str] | None = None,
    *,
    domains: Domains | None = None,
    n_draws: int = 200,
    rng: RNGLike = None,
) -> float:
    """Estimate the share of proposed atoms that end up in controls of null="complexity".

    Parameters
    ----------
    estimate : Model or str
        The model whose shape controls have.
    factors : list of str or int, optional
        Factors a guess may use, or how many there are; default the model's.
    domains : mapping, optional
        Values of multi-value factors.
    n_draws : int
        Controls to draw.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    float
        Atoms in the controls drawn, divided by atoms proposed.

    Raises
    ------
    NoSuchModelError
        If no such model was found.

    Examples
    --------
    >>> round(acceptance_rate("A*B+C<->E", list("ABCDE"), rng=1), 2)
    0.58
    """
    model = as_model(estimate)
    names = list(model.factors)
    if isinstance(factors, int):
        names += [f"OTHER{i}" for i in range(factors - len(names))]
    elif factors is not None:
        names = sorted({*names, *map(str.upper, factors)})
    check_whole(n_draws, "n_draws", 1)
    shape, seed = _shape(model), resolve_seed(rng)
    values = read_domains(domains)
    proposals = [draw_model(list(shape), shape.__getitem__, names, values, stream(seed, i))[1] for i in range(n_draws)]
    return n_draws * len(shape) / sum(proposals)


def complexity_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Match every control to its row's outcomes and sizes of disjuncts."""
    return DrawnModels(pairs, rows, keys, complexity_law, always_acyclic=True)


register_null(
    FORMULAS.name,
    Null(
        "complexity",
        "random models without redundancies that have the estimate's outcomes and sizes of disjuncts",
        complexity_controls,
        label_invariant=True,
    ),
)
