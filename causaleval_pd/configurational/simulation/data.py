"""Data from a known model: cases that fit it, limited diversity, noise, prevalence, imbalance, fuzzy memberships.

An inverse search draws a ground truth (`random_model`) and data from it (`simulate_data`), and checks whether a method
recovers the truth [1]_. `benchmark_grid` crosses the axes on which such studies differ [2]_.

References
----------
.. [1] Baumgartner, M., Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
.. [2] Swiatczak, M. D., Baumgartner, M. (2024). Data imbalances in coincidence analysis: a simulation study.
   Sociological Methods & Research. doi:10.1177/00491241241227039
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from ...contract.checks import check_number, check_type, check_whole
from ...execution.random_streams import RNGLike
from ..formulas.formula import Model
from ..formulas.reader import as_model
from ..formulas.truth_table import ideal_data
from ..formulas.vocabulary import BINARY, Domains, read_domains
from .noise import add_noise, fuzzify
from .sampling import fragment, generator, sample_cases

__all__ = ["benchmark_grid", "simulate_data"]

#: share of cases with the value 1 of all exogenous factors, or by factor; or shares of all values of a factor
Imbalance = float | Mapping[str, float | Sequence[float]]


def simulate_data(
    model: Model | str,
    n_cases: int | None = None,
    *,
    fragmentation: float = 0.0,
    noise: float = 0.0,
    prevalence: float | None = None,
    imbalance: Imbalance | None = None,
    fuzziness: float = 0.0,
    domains: Domains | None = None,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Simulate data of a known model: ideal data, fragmented, sampled, made noisy and fuzzy, in this order.

    `benchmark_grid` lists settings of these axes.

    Parameters
    ----------
    model : Model or str
        The ground truth.
    n_cases : int, optional
        Number of cases, drawn with replacement; default every configuration once.
    fragmentation : float
        Share of the configurations that are never observed (`fragment`).
    noise : float
        Share of cases that contradict the model (`add_noise`).
    prevalence : float, optional
        Share of cases that have the model's last outcome (`sample_cases`), which noise keeps.
    imbalance : float or mapping, optional
        Share of cases in which exogenous factors are 1 (`sample_cases`): of all, or by factor. Given `prevalence` too,
        it holds within the cases with and without the outcome only as far as the model allows. Cases that noise
        replaces do not keep it: they are uniform over the configurations that contradict the model.
    fuzziness : float
        Largest distance of a membership from 0 or 1 (`fuzzify`), 0 for crisp data; factors with other values than 0
        and 1 stay crisp.
    domains : mapping, optional
        Values of multi-value factors, and of factors that the model does not mention: the data have their columns too.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        Cases in rows, a column a factor.

    Raises
    ------
    ValueError
        If a setting is invalid, or no cases are left to draw from.

    Examples
    --------
    >>> data = simulate_data("A*b+C<->D", 100, noise=0.1, fragmentation=0.25, rng=1)
    >>> from causaleval_pd.configurational import faithfulness
    >>> len(data), faithfulness("A*b+C<->D", data) < 1
    (100, True)
    """
    model = as_model(model)
    for name, value in (("fragmentation", fragmentation), ("noise", noise)):
        check_number(value, name, "[0, 1]")
    check_number(fuzziness, "fuzziness", "[0, 0.5]")
    random = generator(rng)
    data = ideal_data(model, domains)
    if fragmentation:
        data = fragment(data, fragmentation, rng=random)
    outcome = None if prevalence is None else model.outcomes[-1]
    if n_cases is not None or prevalence is not None or imbalance is not None:
        size = len(data) if n_cases is None else n_cases
        shares = _exogenous_shares(imbalance, model, data)
        data = sample_cases(data, size, outcome=outcome, prevalence=prevalence, imbalance=shares, rng=random)
    if noise:
        data = add_noise(data, model, noise, keep=outcome, domains=domains, rng=random)
    if not fuzziness:
        return data
    known = read_domains(domains)
    binary = [name for name in data.columns if tuple(known.get(name, BINARY)) == BINARY]
    return fuzzify(data, fuzziness, factors=binary, rng=random)


def _exogenous_shares(
    imbalance: Imbalance | None, model: Model, data: pd.DataFrame
) -> Mapping[str, float | Sequence[float]] | None:
    """Return the shares by factor: one number is meant for all binary factors that no atom explains."""
    explained = {name for name, _ in model.outcomes}
    if imbalance is None:
        return None
    if isinstance(imbalance, Mapping):
        given = [name for name in imbalance if str(name).upper() in explained]
        if given:
            raise ValueError(f"imbalance is for exogenous factors, but the model explains {given}; use prevalence=")
        return imbalance
    free = [name for name in data.columns if name not in explained and data[name].max() <= 1]
    return dict.fromkeys(free, imbalance)


def benchmark_grid(
    *,
    n_cases: Iterable[int | None] = (None,),
    noise: Iterable[float] = (0.0,),
    fragmentation: Iterable[float] = (0.0,),
    prevalence: Iterable[float | None] = (None,),
    imbalance: Iterable[float | None] = (None,),
    fuzziness: Iterable[float] = (0.0,),
) -> pd.DataFrame:
    """Cross the axes of a benchmark, one row a setting of `simulate_data`.

    The axes are those on which simulations of configurational methods vary data: sample size, noise, fragmentation,
    imbalance of the outcome (`prevalence`) and of the exogenous factors (`imbalance`), and fuzziness.

    Parameters
    ----------
    n_cases, noise, fragmentation, prevalence, imbalance, fuzziness : iterable
        Values of the axis, as in `simulate_data`; None leaves it as the model has it.

    Returns
    -------
    DataFrame
        One row a combination, with a column for each axis that has more than one value or another than the default.
        Columns are meant as strata: `by=[...]` of a cube.

    Raises
    ------
    ValueError
        If an axis has no value, or one that is invalid.

    References
    ----------
    .. [1] doi:10.1177/00491241241227039

    Examples
    --------
    >>> benchmark_grid(n_cases=[20, 80], noise=[0, 0.1])
       n_cases  noise
    0       20    0.0
    1       20    0.1
    2       80    0.0
    3       80    0.1
    """
    given: dict[str, Iterable[float | None]] = {
        "n_cases": n_cases,
        "noise": noise,
        "fragmentation": fragmentation,
        "prevalence": prevalence,
        "imbalance": imbalance,
        "fuzziness": fuzziness,
    }
    axes = {name: _axis(name, values) for name, values in given.items()}
    axes = {name: values for name, values in axes.items() if values not in ([None], [0.0])}
    table = pd.DataFrame(list(itertools.product(*axes.values())), columns=list(axes))
    return table.astype({"n_cases": "int64"}) if "n_cases" in axes and None not in axes["n_cases"] else table


def _axis(name: str, values: Iterable[float | None]) -> list[float | None]:
    check_type(values, Iterable, "a list of values", name)
    found: list[float | None] = []
    for value in values:
        if value is None:
            found.append(None)
        elif name == "n_cases":
            found.append(check_whole(value, name, 1))
        else:
            found.append(float(check_number(value, name, "[0, 1]")))
    if not found:
        raise ValueError(f"{name} has no value; leave it out, or give a list")
    if len(set(found)) < len(found):
        raise ValueError(f"{name} has a value twice: {found}")
    return found
