"""The paper's procedure: the PNS over draws of one replicate a sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...contract.checks import check_number, check_whole
from ...execution.random_streams import RNGLike, resolve_seed, row_keys
from ..tasks.worlds_by_task import Worlds, worlds_by_task
from .answer_arms import Arms, interventional_arms
from .answer_table import check_answers
from .validity import meets, relative_error
from .yes_counts import Floats, Integers, divide

__all__ = ["resampled_pns"]

#: resampled values held at once
_HELD = 2_000_000


def resampled_pns(
    answers: pd.DataFrame,
    worlds: Worlds,
    *,
    by: str | Sequence[str] | None = None,
    n_resamples: int = 1000,
    delta: float = 0.1,
    level: float = 0.95,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Compute the published shares of valid estimates: each draw takes one replicate of every sample.

    The samples stay as they are, so the intervals do not hold their noise; `judge` accounts for it.

    Parameters
    ----------
    answers : DataFrame
        As for `quantities`.
    worlds : Tasks, TaskTables, World or mapping of task to World
        As for `quantities`.
    by : str or sequence of str, optional
        Columns of settings that distinguish reasoners.
    n_resamples : int
        Draws.
    delta : float
        Largest relative error of a valid estimate.
    level : float
        Probability within the interval.
    rng : int, Generator or None
        Seed; a reasoner's draws do not depend on the order of rows.

    Returns
    -------
    DataFrame
        A row a setting, task and pair: truth, estimate (mean of the draws), ci_low, ci_high (quantiles), share_valid
        (draws with a relative error of at most delta); the published procedure calls a pair valid from 0.9 on.

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, resampled_pns
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=1000, rng=1)
    >>> always = tasks.questionnaire().assign(answer=lambda q: q["world"] == "do1")
    >>> resampled_pns(always, tasks, n_resamples=100, rng=1)["estimate"].tolist()
    [1.0, 1.0, 1.0]
    """
    check_number(level, "level", "(0, 1)")
    check_number(delta, "delta", "[0, inf)")
    n_resamples, seed = check_whole(n_resamples, "n_resamples", 1), resolve_seed(rng)
    table, settings = check_answers(answers, by)
    table = table[table["world"].isin(["do1", "do0"])].sort_values(["sample", "replicate"], kind="stable")
    known = worlds_by_task(worlds, table["task"])
    names = [*settings, "task"]
    arms = interventional_arms(table, settings)
    families = arms.groups.groupby(names, sort=False, dropna=False)
    labels = families.head(1).reset_index(drop=True)
    rows = []
    for (_, label), members, key in zip(
        labels.iterrows(), families.indices.values(), row_keys(labels, names, seed), strict=True
    ):
        drawn = _draw(_hits(arms, np.asarray(members, np.int64)), n_resamples, np.random.default_rng(int(key)))
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
        for i, member in enumerate(members):
            cause, effect = arms.groups.loc[member, ["cause", "effect"]]
            true = known[label["task"]].pns(cause, effect)
            values = {"truth": true, "estimate": drawn[:, i].mean(), "ci_low": low[i], "ci_high": high[i]}
            share = float(meets(relative_error(true, drawn[:, i]), delta).mean())
            own = {name: label[name] for name in names} | {"cause": cause, "effect": effect}
            rows.append(own | values | {"share_valid": share})
    return pd.DataFrame(rows)


def _draw(hits: Floats, n: int, generator: np.random.Generator) -> Floats:
    """Return (draws, pairs): shares of hits among samples, each with one of its replicates."""
    size, replicates, _ = hits.shape
    step = max(1, _HELD // max(1, hits.size))
    parts = []
    for start in range(0, n, step):
        chosen = generator.integers(replicates, size=(min(step, n - start), size))
        drawn = hits[np.arange(size), chosen]
        known = ~np.isnan(drawn)
        parts.append(divide(np.where(known, drawn, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64)))
    return np.concatenate(parts)


def _hits(arms: Arms, members: Integers) -> Floats:
    """Return (samples, replicates, pairs): 1 where yes under do(1) and no under do(0), NaN unknown."""
    column = np.full(len(arms.groups), -1, np.int64)
    column[members] = np.arange(len(members))
    rows = np.flatnonzero(column[arms.group] >= 0)
    pair = column[arms.group[rows]]
    sample = np.unique(arms.sample[rows], return_inverse=True)[1]
    place = pd.Series(np.zeros(len(rows), np.int64)).groupby([pair, sample]).cumcount().to_numpy()
    found = np.full((int(sample.max(initial=-1)) + 1, int(place.max(initial=-1)) + 1, len(members)), np.nan)
    answer = arms.answer[rows]
    found[sample, place, pair] = answer[:, 0] * (1 - answer[:, 1])
    return found
