"""Resampled answers: bootstrap intervals of the PNS, and how often each class occurs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_known, check_number, check_whole
from ...execution.random_streams import RNGLike, resolve_seed, row_keys
from ..tasks.worlds_by_task import Worlds, composition_paths, cut_chains, multiplicative, worlds_by_task
from .answer_arms import Arms, interventional_arms
from .answer_table import check_answers
from .classes import CLASSES, Convention, check_convention
from .validity import FLOOR, meets, relative_error
from .yes_counts import Floats, Integers, divide

__all__ = ["class_frequencies", "resampled_pns"]

#: resampled values held at once
_HELD = 2_000_000


class _Family(NamedTuple):
    """One reasoner on one task: its answers, pair by pair, and the compositions of the pairs."""

    names: dict[str, Any]
    pairs: list[tuple[str, str]]
    paths: list[tuple[str, ...]]
    hits: Floats  # (samples, replicates, pairs): 1 where yes under do(1) and no under do(0), NaN unknown
    truth: Floats  # (samples, replicates, pairs): the same of the true answers
    key: np.uint64


class DrawnPNS(NamedTuple):
    """Draws of the PNS of all pairs of a task, and their truths; arrays (draws, pairs)."""

    pairs: list[tuple[str, str]]
    paths: list[tuple[str, ...]]
    estimate: Floats
    truth: Floats

    def valid(self, delta: float, floor: float = 0.0) -> NDArray[np.bool_]:
        """Return (draws, pairs + compositions) where the error is at most delta x max(|truth|, floor)."""
        errors = [relative_error(self.truth, self.estimate, floor)]
        for parts, _ in self._places():
            true, found = (x[:, parts].prod(axis=1) for x in (self.truth, self.estimate))
            errors.append(relative_error(true, found, floor)[:, None])
        return meets(np.concatenate(errors, axis=1), delta)

    def consistent(
        self,
        delta: float,
        tolerated: tuple[float, Floats] | None = None,
        floor: float = 0.0,
        control: Floats | None = None,
    ) -> NDArray[np.bool_]:
        """Return (draws, compositions) where the relative error of a product against the whole is within its limit.

        The limit is delta; or, with `tolerated` (a factor, draws of the PNS of the true answers), the factor times
        the error of the true answers. With `control` (draws of the PNS of the true answers), the part of the difference
        that the drawn samples explain is taken away, as in `quantities`.
        """
        passed = np.ones((len(self.estimate), len(self.paths)), bool)
        for i, (parts, whole) in enumerate(self._places()):
            limit: Any = delta
            if tolerated is not None:
                factor, true = tolerated
                limit = factor * relative_error(true[:, whole], true[:, parts].prod(axis=1))
            product = self.estimate[:, parts].prod(axis=1)
            if control is not None:
                product = product - _explained(
                    product - self.estimate[:, whole], control[:, parts].prod(axis=1) - control[:, whole]
                )
            passed[:, i] = meets(relative_error(self.estimate[:, whole], product, floor), limit)
        return passed

    def _places(self) -> Iterator[tuple[list[int], int]]:
        """Yield for each composition the columns of its factors and of the whole."""
        place = {pair: i for i, pair in enumerate(self.pairs)}
        for path in self.paths:
            yield [place[step] for step in pairwise(path)], place[path[0], path[-1]]


def _explained(gap: Floats, control: Floats) -> Floats:
    """Return the regression of a gap on that of the true answers, whose expectation is 0; both have a value a draw."""
    centred = control - control.mean()
    square = float(centred @ centred)
    return (float(gap @ centred) / square if square > 0 else 0.0) * control


def class_shares(valid: NDArray[np.bool_], consistent: NDArray[np.bool_]) -> dict[str, float]:
    """Return the share of each class among draws, one a row; valid and consistent mean True in all columns."""
    code = np.where(valid.all(axis=1), 0, 2) + np.where(consistent.all(axis=1), 0, 1)
    return dict(zip(CLASSES, (np.bincount(code, minlength=4) / len(code)).tolist(), strict=True))


def class_frequencies(
    answers: pd.DataFrame,
    worlds: Worlds,
    *,
    by: str | Sequence[str] | None = None,
    convention: Convention = None,
    truth: Literal["sample", "exact"] = "sample",
    resample: Literal["samples", "replicates"] = "samples",
    n_resamples: int = 1000,
    delta: float = 0.1,
    floor: float = FLOOR,
    multiplier: float | None = 1.25,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Estimate how often each class occurs when the samples of answers are resampled.

    Parameters
    ----------
    answers : DataFrame
        As for `quantities`.
    worlds : Tasks, TaskTables, World or mapping of task to World
        As for `quantities`.
    by : str or sequence of str, optional
        Columns of settings that distinguish reasoners.
    convention : {"paper"}, optional
        By default errors may be `delta x max(|truth|, floor)`, and a product may be so far from the whole, beyond what
        the drawn samples explain (with `truth="sample"`); "paper" is the published rule, as in `taxonomy`.
    truth : {"sample", "exact"}
        What estimates are compared with: those of the true answers in the same draw, or the world's values.
    resample : {"samples", "replicates"}
        Draw samples with replacement, each with all its replicates (a cluster bootstrap); or keep the samples and draw
        one replicate of each, as published.
    n_resamples : int
        Draws.
    delta, floor, multiplier
        As in `taxonomy`.
    rng : int, Generator or None
        Seed; a reasoner's draws do not depend on the order of rows.

    Returns
    -------
    DataFrame
        A row a setting and task: VC, VI, IC, II (shares of draws), p_valid, p_consistent, n_resamples.

    Examples
    --------
    >>> from causaleval_pd.reasoning import class_frequencies, make_tasks
    >>> tasks = make_tasks("candy_party", [[2, 2]], n_samples=1000, rng=1)
    >>> always = tasks.questionnaire().assign(answer=lambda q: q["world"] == "do1")
    >>> class_frequencies(always, tasks, n_resamples=100, rng=1)[["VC", "VI", "IC", "II"]].to_numpy().tolist()
    [[0.0, 0.0, 1.0, 0.0]]
    """
    check_convention(convention)
    check_known(truth, ("sample", "exact"), "truth")
    check_number(delta, "delta", "[0, inf)")
    check_number(floor, "floor", "[0, inf)")
    least = floor if convention is None else 0.0
    rows = []
    for family, estimate, sample_truth in _resampled(answers, worlds, by, resample, n_resamples, rng):
        world = worlds_by_task(worlds, pd.Series([family.names["task"]]))[family.names["task"]]
        exact = np.array([world.pns(*pair) for pair in family.pairs])
        true = np.broadcast_to(exact, estimate.shape) if truth == "exact" else sample_truth
        drawn = DrawnPNS(family.pairs, family.paths, estimate, true)
        tolerated = (multiplier, sample_truth) if convention and multiplier is not None else None
        control = sample_truth if convention is None and truth == "sample" else None
        valid, consistent = drawn.valid(delta, least), drawn.consistent(delta, tolerated, least, control)
        rows.append(
            family.names
            | class_shares(valid, consistent)
            | {
                "p_valid": valid.all(axis=1).mean(),
                "p_consistent": consistent.all(axis=1).mean(),
                "n_resamples": len(estimate),
            }
        )
    return pd.DataFrame(rows)


def resampled_pns(
    answers: pd.DataFrame,
    worlds: Worlds,
    *,
    by: str | Sequence[str] | None = None,
    resample: Literal["samples", "replicates"] = "samples",
    n_resamples: int = 1000,
    delta: float = 0.1,
    level: float = 0.95,
    rng: RNGLike = None,
) -> pd.DataFrame:
    """Compute bootstrap intervals of each PNS, and the share of draws in which it is valid.

    Parameters
    ----------
    answers, worlds, by, resample, n_resamples, delta, rng
        As in `class_frequencies`.
    level : float
        Probability within the interval.

    Returns
    -------
    DataFrame
        A row a setting, task and pair: truth, estimate (mean of the draws), ci_low, ci_high (quantiles), share_valid
        (draws with a relative error of at most delta); the published procedure calls a pair valid from 0.9 on.

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
    rows = []
    for family, estimate, _ in _resampled(answers, worlds, by, resample, n_resamples, rng):
        world = worlds_by_task(worlds, pd.Series([family.names["task"]]))[family.names["task"]]
        low, high = np.quantile(estimate, [(1 - level) / 2, (1 + level) / 2], axis=0)
        for i, (cause, effect) in enumerate(family.pairs):
            true = world.pns(cause, effect)
            share = float(meets(relative_error(true, estimate[:, i]), delta).mean())
            values = {"truth": true, "estimate": estimate[:, i].mean(), "ci_low": low[i], "ci_high": high[i]}
            rows.append(family.names | {"cause": cause, "effect": effect} | values | {"share_valid": share})
    return pd.DataFrame(rows)


def _resampled(
    answers: pd.DataFrame, worlds: Worlds, by: str | Sequence[str] | None, resample: str, n: int, rng: RNGLike
) -> Iterator[tuple[_Family, Floats, Floats]]:
    """Yield each family with its `n` resampled estimates and same-sample truths, (draws, pairs) each."""
    check_known(resample, ("samples", "replicates"), "resample")
    n = check_whole(n, "n_resamples", 1)
    draw = _draw_samples if resample == "samples" else _draw_replicates
    for family in _families(answers, worlds, by, resolve_seed(rng)):
        generator = np.random.default_rng(int(family.key))
        step = max(1, _HELD // max(1, family.hits.size if resample == "replicates" else len(family.hits)))
        parts = [draw(family, min(step, n - start), generator) for start in range(0, n, step)]
        yield family, np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _draw_samples(family: _Family, n: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    size = len(family.hits)
    weights = generator.multinomial(size, np.full(size, 1 / size), size=n).astype(np.float64)
    known = ~np.isnan(family.hits)
    count = weights @ known.sum(axis=1).astype(np.float64)
    sums = [weights @ np.where(known, x, 0.0).sum(axis=1) for x in (family.hits, family.truth)]
    return divide(sums[0], count), divide(sums[1], count)


def _draw_replicates(family: _Family, n: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
    size, replicates, _ = family.hits.shape
    chosen = generator.integers(replicates, size=(n, size))
    hits, truth = (x[np.arange(size), chosen] for x in (family.hits, family.truth))
    known = ~np.isnan(hits)
    count = known.sum(axis=1).astype(np.float64)
    return divide(np.where(known, hits, 0.0).sum(axis=1), count), divide(np.where(known, truth, 0.0).sum(axis=1), count)


def _families(answers: pd.DataFrame, worlds: Worlds, by: str | Sequence[str] | None, seed: int) -> Iterator[_Family]:
    table, settings = check_answers(answers, by)
    table = table[table["world"].isin(["do1", "do0"])].sort_values(["sample", "replicate"], kind="stable")
    known = worlds_by_task(worlds, table["task"])
    chains = multiplicative(cut_chains(known, None, table["task"]), known)
    names = [*settings, "task"]
    arms = interventional_arms(table, settings)
    families = arms.groups.groupby(names, sort=False, dropna=False)
    labels = families.head(1).reset_index(drop=True)
    keys = row_keys(labels, names, seed)
    for (_, row), members, key in zip(labels.iterrows(), families.indices.values(), keys, strict=True):
        own = {name: row[name] for name in names}
        pairs = list(zip(arms.groups["cause"].iloc[members], arms.groups["effect"].iloc[members], strict=True))
        paths = list(composition_paths(chains[own["task"]], None, own["task"])) if own["task"] in chains else []
        hits, truth = _dense(arms, np.asarray(members, np.int64))
        yield _Family(own, pairs, paths, hits, truth, key)


def _dense(arms: Arms, members: Integers) -> tuple[Floats, Floats]:
    """Arrange a family's units as (samples, replicates, pairs)."""
    column = np.full(len(arms.groups), -1, np.int64)
    column[members] = np.arange(len(members))
    rows = np.flatnonzero(column[arms.group] >= 0)
    pair = column[arms.group[rows]]
    sample = np.unique(arms.sample[rows], return_inverse=True)[1]
    place = pd.Series(np.zeros(len(rows), np.int64)).groupby([pair, sample]).cumcount().to_numpy()
    shape = (int(sample.max(initial=-1)) + 1, int(place.max(initial=-1)) + 1, len(members))
    found = []
    known = ~np.isnan(arms.answer[rows]).any(axis=1)
    for bits in (arms.answer[rows], arms.truth[rows]):
        dense = np.full(shape, np.nan)
        dense[sample[known], place[known], pair[known]] = (bits[:, 0] * (1 - bits[:, 1]))[known]
        found.append(dense)
    return found[0], found[1]
