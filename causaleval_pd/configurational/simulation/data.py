"""Data from a known model: cases that fit it, limited diversity, noise, prevalence, fuzzy memberships.

An inverse search draws a ground truth (`random_model`) and data from it (`simulate_data`), and checks whether a method
recovers the truth [1]_.

References
----------
.. [1] Baumgartner, M., Falk, C. (2024). Quantifying the quality of configurational causal models. Journal of Causal
   Inference 12. doi:10.1515/jci-2023-0032
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_number, check_type, check_whole
from ...execution.random_streams import RNGLike, resolve_seed
from ..formulas.configurations import allows, configurations, factor_columns, membership, memberships
from ..formulas.formula import Model, literal_text
from ..formulas.reader import as_model, parse
from ..formulas.truth_table import data_values, ideal_data
from ..formulas.vocabulary import Domains, read_domains

__all__ = ["add_noise", "fragment", "fuzzify", "sample_cases", "select_cases", "simulate_data"]

_CASES = "a DataFrame with a row a case and a column a factor"


def simulate_data(
    model: Model | str,
    n_cases: int | None = None,
    *,
    fragmentation: float = 0.0,
    noise: float = 0.0,
    prevalence: float | None = None,
    fuzziness: float = 0.0,
    domains: Domains | None = None,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Simulate data of a known model: ideal data, fragmented, sampled, made noisy and fuzzy, in this order.

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
        Share of cases that have the model's last outcome (`sample_cases`).
    fuzziness : float
        Largest distance of a membership from 0 or 1 (`fuzzify`), 0 for crisp data.
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
    random = _generator(rng)
    data = ideal_data(model, domains)
    if fragmentation:
        data = fragment(data, fragmentation, rng=random)
    if n_cases is not None or prevalence is not None:
        size = len(data) if n_cases is None else n_cases
        outcome = None if prevalence is None else model.outcomes[-1]
        data = sample_cases(data, size, outcome=outcome, prevalence=prevalence, rng=random)
    if noise:
        data = add_noise(data, model, noise, domains=domains, rng=random)
    return fuzzify(data, fuzziness, rng=random) if fuzziness else data


def select_cases(
    model: Model | str,
    data: pd.DataFrame,
    *,
    consistency: float = 1.0,
    coverage: float = 1.0,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Keep the cases compatible with a model, and as many others as thresholds allow.

    A case is compatible if every atom has the truth value of its outcome (fuzzy memberships are rounded). The others
    are tried in random order and kept while consistency and coverage of every atom stay at or above the thresholds.

    Parameters
    ----------
    model : Model or str
        The model.
    data : DataFrame
        Cases in rows, a column a factor.
    consistency, coverage : float
        Thresholds in [0, 1].
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        The kept rows, in their order.

    Raises
    ------
    ValueError
        If a threshold lies outside [0, 1], or the data lack a factor.

    Examples
    --------
    >>> import itertools, pandas as pd
    >>> space = pd.DataFrame(list(itertools.product([0, 1], repeat=3)), columns=list("ABC"))
    >>> len(select_cases("A+B<->C", space)), len(select_cases("A+B<->C", space, consistency=0.75, rng=1))
    (4, 5)
    """
    model = as_model(model)
    check_number(consistency, "consistency", "[0, 1]")
    check_number(coverage, "coverage", "[0, 1]")
    columns = factor_columns(data, model.factors)
    rounded = np.stack([np.rint(columns[factor]) for factor in model.factors], axis=1).astype(np.int8)
    kept = allows(model, rounded, model.factors)
    p, y = memberships(model, data)
    common = np.minimum(np.minimum(p, 1 - p), np.minimum(y, 1 - y))
    # the cells of fit.atom_measures, case by case: rows a, b, c
    cells = np.stack([np.minimum(p, y), np.minimum(p, 1 - y) - common, np.minimum(1 - p, y) - common])
    total = cells[:, :, kept].sum(axis=2)
    for case in _generator(rng).permutation(np.flatnonzero(~kept)):
        a, b, c = new = total + cells[:, :, case]
        if (a >= consistency * (a + b) - 1e-12).all() and (a >= coverage * (a + c) - 1e-12).all():
            kept[case], total = True, new
    return data[kept]


def fragment(data: pd.DataFrame, share: float, *, rng: RNGLike = None) -> pd.DataFrame:
    """Drop a share of the distinct configurations, with all their cases: limited diversity.

    Parameters
    ----------
    data : DataFrame
        Cases in rows.
    share : float
        Share of the distinct rows that is dropped; their number is rounded.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        The remaining rows, in their order.

    Raises
    ------
    ValueError
        If the share does not lie in [0, 1).

    Examples
    --------
    >>> import pandas as pd
    >>> len(fragment(pd.DataFrame({"A": [0, 0, 1, 1], "B": [0, 1, 0, 1]}), 0.5, rng=1))
    2
    """
    check_number(share, "share", "[0, 1]")
    check_type(data, pd.DataFrame, _CASES, "data")
    codes = data.groupby(list(data.columns), sort=True).ngroup().to_numpy()
    n = int(codes.max(initial=-1)) + 1
    gone = _generator(rng).permutation(n)[: round(share * n)]
    if len(gone) == n:
        raise ValueError(f"a share of {share} leaves none of the {n} configurations; take a smaller one")
    return data[~np.isin(codes, gone)]


def sample_cases(
    data: pd.DataFrame,
    n_cases: int,
    *,
    outcome: tuple[str, int] | str | None = None,
    prevalence: float | None = None,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Draw cases with replacement, each equally likely, or so that a share of them has an outcome.

    Parameters
    ----------
    data : DataFrame
        Cases in rows.
    n_cases : int
        How many to draw.
    outcome : str or (str, int), optional
        Literal, as `"E"` or `"e"`.
    prevalence : float, optional
        Share of cases that have the outcome; their number is rounded.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        The drawn cases, numbered from 0.

    Raises
    ------
    ValueError
        If there are no cases to draw from, or only one of `outcome` and `prevalence` is given.

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [0, 1, 1, 1], "E": [0, 1, 1, 1]})
    >>> sample_cases(data, 100, outcome="E", prevalence=0.2, rng=1)["E"].mean()
    np.float64(0.2)
    """
    check_whole(n_cases, "n_cases", 1)
    check_type(data, pd.DataFrame, _CASES, "data")
    if (outcome is None) != (prevalence is None):
        raise ValueError("outcome and prevalence belong together; give both or neither")
    random = _generator(rng)
    if outcome is None or prevalence is None:
        rows = _draw_rows(np.arange(len(data)), n_cases, "cases", random)
        return data.iloc[rows].reset_index(drop=True)
    check_number(prevalence, "prevalence", "[0, 1]")
    literal = parse(f"{outcome}<->{outcome}").atoms[0].outcome if isinstance(outcome, str) else outcome
    has = membership(factor_columns(data, [literal[0]])[literal[0]], literal) > 0.5
    n_with = round(prevalence * n_cases)
    with_it = _draw_rows(np.flatnonzero(has), n_with, f"cases with outcome {literal_text(literal)}", random)
    without = _draw_rows(
        np.flatnonzero(~has), n_cases - n_with, f"cases without outcome {literal_text(literal)}", random
    )
    return data.iloc[random.permutation(np.concatenate([with_it, without]))].reset_index(drop=True)


def add_noise(
    data: pd.DataFrame, model: Model | str, share: float, *, domains: Domains | None = None, rng: RNGLike = None
) -> pd.DataFrame:
    """Replace a share of the cases by configurations that contradict the model, each equally likely.

    Parameters
    ----------
    data : DataFrame
        Crisp or multi-value cases.
    model : Model or str
        The ground truth.
    share : float
        Share of the cases that is replaced; their number is rounded.
    domains : mapping, optional
        Values of multi-value factors; default those in the data.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        As many cases as before, in their order.

    Raises
    ------
    ValueError
        If the share does not lie in [0, 1], the data are fuzzy, or the model contradicts no configuration.

    Examples
    --------
    >>> import pandas as pd
    >>> data = pd.DataFrame({"A": [0, 0, 1, 1], "B": [0, 0, 1, 1]})
    >>> noisy = add_noise(data, "A<->B", 0.5, rng=1)
    >>> int((noisy.A != noisy.B).sum())
    2
    """
    model = as_model(model)
    check_number(share, "share", "[0, 1]")
    check_type(data, pd.DataFrame, _CASES, "data")
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
    random = _generator(rng)
    cases = random.permutation(len(data))[: round(share * len(data))]
    drawn = wrong[_draw_rows(np.arange(len(wrong)), len(cases), "contradicting configurations", random)]
    noisy = data.to_numpy(copy=True)
    for position, name in enumerate(columns):
        own = name in model.factors
        noisy[cases, position] = drawn[:, model.factors.index(name)] if own else random.choice(known[name], len(cases))
    return pd.DataFrame(noisy, index=data.index, columns=data.columns)


def fuzzify(data: pd.DataFrame, spread: float, *, rng: RNGLike = None) -> pd.DataFrame:
    """Turn crisp data into fuzzy memberships: 0 becomes uniform on [0, spread), 1 uniform on (1 - spread, 1].

    Parameters
    ----------
    data : DataFrame
        Cases in rows, all values 0 or 1.
    spread : float
        In (0, 0.5], so that rounding gives the crisp data back.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    DataFrame
        Memberships in [0, 1].

    Raises
    ------
    ValueError
        If the data are not crisp, or the spread does not lie in (0, 0.5].

    Examples
    --------
    >>> import pandas as pd
    >>> crisp = pd.DataFrame({"A": [0, 1, 1], "B": [0, 0, 1]})
    >>> fuzzify(crisp, 0.4, rng=1).round().astype(int).equals(crisp)
    True
    """
    # memberships keep their side of 0.5
    check_number(spread, "spread", "(0, 0.5]")
    check_type(data, pd.DataFrame, _CASES, "data")
    crisp = data.to_numpy(np.float64)
    if not np.isin(crisp, (0, 1)).all():
        raise ValueError("only crisp data can be made fuzzy; expected values 0 and 1")
    away = _generator(rng).random(crisp.shape) * spread
    return pd.DataFrame(np.abs(crisp - away), index=data.index, columns=data.columns)


def _draw_rows(rows: NDArray[np.int64], n: int, what: str, random: np.random.Generator) -> NDArray[np.int64]:
    """Draw n of the rows with replacement."""
    if n and not len(rows):
        raise ValueError(f"there are no {what} to draw {n} from")
    return random.choice(rows, n) if n else np.empty(0, np.int64)


def _generator(rng: RNGLike) -> np.random.Generator:
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(resolve_seed(rng))
