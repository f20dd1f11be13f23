"""Data from a known model: cases that fit it, limited diversity, noise, prevalence, imbalance, fuzzy memberships.

An inverse search draws ground truths (`random_models`) and data from it (`simulate_data`), and checks whether a method
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

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_number, check_type, check_whole
from ...execution.random_streams import RNGLike, resolve_seed
from ..formulas.configurations import allows, configurations, factor_columns, membership
from ..formulas.formula import Model, literal_text
from ..formulas.reader import as_literal, as_model
from ..formulas.truth_table import data_values, ideal_data
from ..formulas.vocabulary import BINARY, Domains, read_domains

__all__ = ["benchmark_grid", "simulate_data"]

CASES = "a DataFrame with a row a case and a column a factor"

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
    >>> len(data), int(((data.A & (1 - data.B) | data.C) != data.D).sum())
    (100, 10)
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


def fragment(data: pd.DataFrame, share: float, *, rng: RNGLike = None) -> pd.DataFrame:
    """Drop a share of the distinct configurations, with all their cases: limited diversity."""
    check_number(share, "share", "[0, 1]")
    check_type(data, pd.DataFrame, CASES, "data")
    codes = data.groupby(list(data.columns), sort=True).ngroup().to_numpy()
    n = int(codes.max(initial=-1)) + 1
    gone = generator(rng).permutation(n)[: round(share * n)]
    if len(gone) == n:
        raise ValueError(f"a share of {share} leaves none of the {n} configurations; take a smaller one")
    return data[~np.isin(codes, gone)]


def sample_cases(
    data: pd.DataFrame,
    n_cases: int,
    *,
    outcome: tuple[str, int] | str | None = None,
    prevalence: float | None = None,
    imbalance: Mapping[str, float | Sequence[float]] | None = None,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Draw cases with replacement, each equally likely, or so that factors and an outcome have given shares."""
    # `imbalance` has by factor the probability of 1, or the probabilities of its values in order. A case is drawn with
    # a probability proportional to the product over these factors, each divided by the number of cases that share the
    # value, so that factors which are independent in `data` have the given probabilities in the sample.
    check_whole(n_cases, "n_cases", 1)
    check_type(data, pd.DataFrame, CASES, "data")
    if (outcome is None) != (prevalence is None):
        raise ValueError("outcome and prevalence belong together; give both or neither")
    random, weights = generator(rng), _weights(data, imbalance)
    if outcome is None or prevalence is None:
        rows = draw_rows(np.arange(len(data)), n_cases, "cases", random, weights)
        return data.iloc[rows].reset_index(drop=True)
    check_number(prevalence, "prevalence", "[0, 1]")
    literal = as_literal(outcome)
    has = membership(factor_columns(data, [literal[0]])[literal[0]], literal) > 0.5
    n_with = round(prevalence * n_cases)
    with_it, without = (
        draw_rows(np.flatnonzero(rows), n, f"cases {word} outcome {literal_text(literal)}", random, weights)
        for rows, n, word in ((has, n_with, "with"), (~has, n_cases - n_with, "without"))
    )
    return data.iloc[random.permutation(np.concatenate([with_it, without]))].reset_index(drop=True)


def _weights(data: pd.DataFrame, imbalance: Mapping[str, float | Sequence[float]] | None) -> NDArray[np.float64] | None:
    """Return the weights of cases by the shares of factors' values."""
    if imbalance is None:
        return None
    check_type(imbalance, Mapping, "a mapping of factors to probabilities, as {'A': 0.9}", "imbalance")
    weights = np.ones(len(data))
    for name, cells in factor_columns(data, [str(name).upper() for name in imbalance]).items():
        given = next(share for key, share in imbalance.items() if str(key).upper() == name)
        values = data_values(data, [name])[name]
        if isinstance(given, Sequence) and not isinstance(given, str):
            shares = [check_number(one, f"imbalance of {name}", "[0, 1]") for one in given]
            if len(shares) != len(values) or abs(sum(shares) - 1) > 1e-9:
                raise ValueError(
                    f"imbalance of {name} must be {len(values)} probabilities that sum to 1, for its values "
                    f"{list(values)}, found {list(given)}"
                )
        else:
            share = check_number(given, f"imbalance of {name}", "[0, 1]")
            if values != BINARY:
                raise ValueError(f"{name} has the values {list(values)}; give each a probability, as [0.5, 0.3, 0.2]")
            shares = [1 - share, share]
        for value, share in zip(values, shares, strict=True):
            rows = cells == value
            weights[rows] *= share / max(1, rows.sum())
    return weights


def draw_rows(
    rows: NDArray[np.int64],
    n: int,
    what: str,
    random: np.random.Generator,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Draw n of the rows with replacement, each equally likely or by the weights of all rows."""
    if not n:
        return np.empty(0, np.int64)
    chances = np.ones(len(rows)) if weights is None else weights[rows]
    if not chances.sum():
        raise ValueError(f"found no {what} to draw {n} from")
    return random.choice(rows, n) if weights is None else random.choice(rows, n, p=chances / chances.sum())


def generator(rng: RNGLike) -> np.random.Generator:
    """Return a generator: the given one, or one of the seed."""
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(resolve_seed(rng))


def add_noise(
    data: pd.DataFrame,
    model: Model | str,
    share: float,
    *,
    keep: tuple[str, int] | str | None = None,
    domains: Domains | None = None,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Replace a share of the cases by configurations that contradict the model, each equally likely."""
    model = as_model(model)
    check_number(share, "share", "[0, 1]")
    check_type(data, pd.DataFrame, CASES, "data")
    values = read_domains(domains)
    columns = factor_columns(data, [str(name).upper() for name in data.columns])
    factor_columns(data, model.factors)
    fuzzy = [name for name, cells in columns.items() if (cells != np.floor(cells)).any()]
    if fuzzy:
        raise ValueError(
            f"noise is for crisp and multi-value data, but {fuzzy} are fuzzy; add noise first, then fuzzify"
        )
    known = data_values(data, columns) | {name: values[name] for name in columns.keys() & values.keys()}
    # other factors do not matter to the model, so a uniform contradicting configuration has uniform values there
    rows = configurations({name: known[name] for name in model.factors})
    wrong = rows[~allows(model, rows, model.factors)]
    random = generator(rng)
    cases = random.permutation(len(data))[: round(share * len(data))]
    chosen = np.empty(len(cases), np.int64)
    for of_cases, of_rows, word in _by_literal(keep, columns, cases, wrong, model):
        what = f"contradicting configurations{word}"
        chosen[of_cases] = draw_rows(np.flatnonzero(of_rows), int(of_cases.sum()), what, random)
    drawn = wrong[chosen]
    noisy = data.to_numpy(copy=True)
    for position, name in enumerate(columns):
        own = name in model.factors
        noisy[cases, position] = drawn[:, model.factors.index(name)] if own else random.choice(known[name], len(cases))
    return pd.DataFrame(noisy, index=data.index, columns=data.columns)


def _by_literal(
    keep: tuple[str, int] | str | None,
    columns: Mapping[str, NDArray[np.float64]],
    cases: NDArray[np.int64],
    wrong: NDArray[np.int8],
    model: Model,
) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_], str]]:
    """Pair the cases that have a literal with the configurations that have it, and the others; or all with all."""
    if keep is None:
        return [(np.ones(len(cases), bool), np.ones(len(wrong), bool), "")]
    name, value = as_literal(keep)
    if name not in model.factors:
        raise ValueError(f"keep must be an outcome of the model, but {name} is not one of its factors")
    has, having = columns[name][cases] == value, wrong[:, model.factors.index(name)] == value
    text = literal_text((name, value))
    return [(has, having, f" with {text}"), (~has, ~having, f" without {text}")]


def fuzzify(
    data: pd.DataFrame, spread: float, *, factors: Sequence[str] | None = None, rng: RNGLike = None
) -> pd.DataFrame:
    """Turn crisp data into fuzzy memberships: 0 becomes uniform on [0, spread), 1 uniform on (1 - spread, 1]."""
    # memberships keep their side of 0.5
    check_number(spread, "spread", "(0, 0.5]")
    check_type(data, pd.DataFrame, CASES, "data")
    names = list(data.columns) if factors is None else [str(name).upper() for name in factors]
    columns = factor_columns(data, [str(name).upper() for name in names])
    others = [name for name, cells in columns.items() if not np.isin(cells, BINARY).all()]
    if others:
        raise ValueError(
            f"only crisp data can be made fuzzy; expected values 0 and 1, but {others} have others; name the crisp "
            "factors by factors="
        )
    away = generator(rng).random((len(data), len(columns))) * spread
    fuzzy = data.astype(np.float64)
    for position, name in enumerate(str(name).upper() for name in data.columns):
        if name in columns:
            fuzzy.isetitem(position, np.abs(columns[name] - away[:, list(columns).index(name)]))
    return fuzzy
