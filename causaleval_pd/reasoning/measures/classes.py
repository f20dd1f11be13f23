"""Reasoners by class: valid or invalid, consistent or inconsistent (VC, VI, IC, II)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known
from .answer_table import setting_names
from .validity import FLOOR, check_quantities, judge

__all__ = ["CLASSES", "taxonomy"]

#: valid and consistent, valid and inconsistent, invalid and consistent, invalid and inconsistent
CLASSES = ("VC", "VI", "IC", "II")

Convention = Literal["paper"] | None


def taxonomy(
    quantities: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    convention: Convention = None,
    delta: float = 0.1,
    floor: float = FLOOR,
    level: float = 0.95,
    multiplier: float | None = 1.25,
) -> pd.DataFrame:
    """Classify each reasoner and task by whether all its PNS are valid and all its compositions consistent.

    Parameters
    ----------
    quantities : DataFrame
        Table made by `quantities`; its rows of the PNS are used.
    by : str or sequence of str, optional
        Settings, as given to `quantities`.
    convention : {"paper"}, optional
        By default noise is accounted for: valid if each PNS is shown to be valid, invalid if one is shown to be invalid
        (smallest p-value times their number, Holm's first step), else undecided. "paper": relative error against
        the same-sample truth of at most delta, and of a composition's product against the estimated whole of at most
        `multiplier` times the error of the true answers; a truth of 0 always fails, so that a perfect reasoner may.
    delta, floor, level
        As in `judge`; floor and level do not matter to the paper's rule.
    multiplier : float, optional
        As published in code; None for delta in place of that threshold, as on the project's page.

    Returns
    -------
    DataFrame
        A row a setting and task: n_external, n_internal, share_valid, share_consistent, valid ("yes", "no",
        "undecided"), consistent, class ("VC", "VI", "IC", "II"; missing where one side is undecided).

    Raises
    ------
    ValueError
        If the table has no rows of the PNS, or a setting is unknown.

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556
    .. [2] Holm, S. (1979). https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> import pandas as pd
    >>> from causaleval_pd.reasoning import make_tasks, quantities, taxonomy
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=1000, rng=1)
    >>> always = tasks.questionnaire().assign(answer=lambda q: q["world"] == "do1")
    >>> taxonomy(quantities(always, worlds=tasks))["class"].tolist()
    ['IC']
    """
    check_convention(convention)
    check_quantities(quantities)
    names = [*setting_names(by), "task"]
    for name in names:
        check_known(name, quantities.columns, "column")
    table = quantities[quantities["quantity"] == "pns"]
    if not len(table):
        raise ValueError("the table has no rows of the PNS, needed for classes; call quantities with which=['pns']")
    judged = judged_by(convention, table, delta=delta, floor=floor, level=level, multiplier=multiplier)
    if convention is None:
        decided = _decided(judged, names, 1 - level)
    else:
        decided = np.where(judged["excess"] <= 1 + 1e-12, "yes", "no")
    return _classify(judged, decided, names)


def check_convention(convention: Any) -> None:
    """Refuse a convention other than "paper" and None."""
    if convention is not None:
        check_known(convention, ("paper",), "convention (None is the default)")


def judged_by(convention: Convention, table: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Judge rows of the PNS; their `excess` is the error as a multiple of what the convention tolerates."""
    if convention is None:
        return judge(table, **options)
    judged = judge(_against_sample(table), **options)
    # what is undefined or infinite passes no threshold
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.where(judged["rae"] == 0, 0.0, judged["rae"] / judged["threshold"])
    passes = judged["passes_published"].fillna(False).to_numpy(bool)
    excess = np.where(passes, np.fmin(excess, 1.0), np.where(excess > 1, excess, np.inf))
    return judged.assign(excess=excess)


def _against_sample(table: pd.DataFrame) -> pd.DataFrame:
    """Replace the truth of external rows by the same-sample truth, as published."""
    external = table["relation"] == "external"
    return table.assign(truth=table["truth"].where(~external, table["truth_sample"]))


def _decided(judged: pd.DataFrame, names: list[str], error: float) -> NDArray[np.object_]:
    """Decide on rows; p-values of "within the tolerance" are corrected for their number in a task and relation."""
    number = judged.groupby([*names, "relation"], sort=False, dropna=False)["p_beyond"].transform("count")
    beyond = judged["p_beyond"] * number
    return np.select([judged["p_within"] <= error, beyond <= error], ["yes", "no"], "undecided").astype(object)


def _classify(judged: pd.DataFrame, decided: NDArray[Any], names: list[str]) -> pd.DataFrame:
    frame = judged[[*names, "relation"]].assign(yes=decided == "yes", no=decided == "no")
    sides = {}
    for relation, label in (("external", "valid"), ("internal", "consistent")):
        grouped = frame[frame["relation"] == relation].groupby(names, sort=False, dropna=False)
        found = grouped.agg(n=("yes", "size"), share=("yes", "mean"), no=("no", "any"), all=("yes", "all"))
        words = np.select([found["all"], found["no"]], ["yes", "no"], "undecided")
        sides[label] = found[["n", "share"]].assign(word=words)
    valid, consistent = sides["valid"], sides["consistent"].reindex(sides["valid"].index)
    result = pd.DataFrame(
        {
            "n_external": valid["n"].astype("int64"),
            "n_internal": consistent["n"].fillna(0).astype("int64"),
            "share_valid": valid["share"],
            "share_consistent": consistent["share"],
            "valid": valid["word"].astype("str"),
            "consistent": consistent["word"].astype("str"),
        }
    ).reset_index()
    code = np.where(result["valid"] == "yes", 0, 2) + np.where(result["consistent"] == "yes", 0, 1)
    settled = result["valid"].isin(["yes", "no"]) & result["consistent"].isin(["yes", "no"])
    result["class"] = pd.Categorical.from_codes(np.where(settled, code, -1), categories=pd.Index(CLASSES))
    return result
