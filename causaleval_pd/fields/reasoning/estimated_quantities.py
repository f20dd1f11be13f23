"""Quantities estimated from answers: one row per probability, effect, PNS or composition, with truth and error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy

from ...contract.checks import check_known
from ...statistics.arrays import ratio
from .tasks import Worlds, composition_paths, cut_chains, known_noise, pair_complexity, worlds_by_task
from .worlds import World
from .yes_counts import (
    LEVEL,
    QUANTITIES,
    Arms,
    Floats,
    Integers,
    Terms,
    check_answers,
    count_terms,
    estimates,
    interventional_arms,
    missing_bounds,
    observational_arms,
    setting_names,
    share_variance,
)

__all__ = ["quantities"]


def quantities(
    answers: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    worlds: Worlds | None = None,
    cut_nodes: Mapping[Any, Sequence[str]] | None = None,
    which: Sequence[str] | None = None,
    truth: Literal["sample", "exact"] = "sample",
    n_compositions: int | None = None,
) -> pd.DataFrame:
    """Estimate quantities from answers to yes/no questions, one per row, with their truths and yes-counts.

    Parameters
    ----------
    answers : DataFrame
        Answered questions: task, sample, replicate, cause, effect, world ("fact", "do1", "do0"), truth, answer.
        Answers are matched by these keys, never by the order of rows; a missing answer (unparsed, or a failed call)
        stays missing and is counted.
    by : str or sequence of str, optional
        Columns of settings that distinguish reasoners: model, prompt.
    worlds : Tasks, World or mapping of task to World, optional
        Source of exact truths, mediators and compositions.
    cut_nodes : mapping of task to nodes, optional
        Root, cut nodes, leaf by task, for compositions of tasks whose world is unknown.
    which : sequence of str, optional
        Of "p_given1", "p_given0", "p_do1", "p_do0", "ate", "pns", "monotonicity_violation"; default all. Compositions
        are made of "pns".
    truth : {"sample", "exact"}
        What the column `truth` holds: the value of the true answers to the same questions, which a perfect reasoner
        reproduces, or the world's exact value, from which its answers differ by sampling noise. Both are kept.
    n_compositions : int, optional
        Number of compositions a task, those with most factors first; default all, an error beyond 4096.

    Returns
    -------
    DataFrame
        Columns: the settings, task, quantity, level ("association", "intervention", "counterfactual"), kind ("local",
        "global", "composition"), relation, cause, effect, path, truth, estimate, truth_exact, truth_sample,
        truth_product (same-sample truth of a product), n, n_samples, n_failed (questions without an answer),
        missing_low, missing_high (least and greatest estimate that missing answers allow), bound_low, bound_high
        (Tian and Pearl's bounds of the PNS from the two arms alone), n_1, yes_1, n_0, yes_0, yes_both, counts (for
        controls), se (standard error of estimate - truth - sampling_gap, clustered by sample), n_effective,
        sampling_gap, mediators, distance. In relation "external" the truth is the world's; in relation "internal" it is
        the reasoner's own estimate of the whole, the estimate is the product of the parts, and with `truth="sample"`
        the sampling gap is the part of their difference that the same samples explain: the difference of the true
        answers, which is 0 in expectation, times its regression coefficient.

    Raises
    ------
    ValueError
        If a column is lacking, a question is answered twice, a task has no world, or compositions are too many.

    References
    ----------
    .. [1] Maasch et al. (2025), doi:10.48550/arXiv.2503.04556
    .. [2] Tian, J., Pearl, J. (2000). Probabilities of causation: bounds and identification.
       doi:10.1023/A:1018912507879

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks, quantities
    >>> tasks = make_tasks("candy_party", [[3, 3]], n_samples=500, rng=1)
    >>> answers = tasks.questionnaire().assign(answer=lambda q: q["truth"])
    >>> table = quantities(answers, worlds=tasks, which=["pns"])
    >>> table[["kind", "relation"]].value_counts().sort_index().tolist()
    [1, 1, 1, 2]
    >>> bool((table["truth"] - table["estimate"]).abs().max() < 0.1)
    True
    """
    table, settings = check_answers(answers, by)
    table = table.astype({"cause": "str", "effect": "str"})  # as worlds name their nodes
    chosen = list(QUANTITIES) if which is None else setting_names(which, "which")
    if not chosen:
        raise ValueError(f"which names no quantity; known are {', '.join(map(repr, QUANTITIES))}")
    for name in chosen:
        check_known(name, QUANTITIES, "quantity")
    known = worlds_by_task(worlds, table["task"])
    chains = cut_chains(known, cut_nodes, table["task"])
    check_known(truth, ("sample", "exact"), "truth")
    if truth == "exact" and not known:
        raise ValueError("truth='exact' needs worlds=, from which exact values are computed")
    do = seen = interventional_arms(table, settings)
    if any(name.startswith("p_given") for name in chosen):
        seen = observational_arms(table, settings, do.groups, _root_values(worlds, table))
    exact = {arms: _exact(known, arms.groups) for arms in (seen, do)}
    first = sorted(chosen, key=lambda name: "given" not in name)
    errors = [StandardErrors(seen if "given" in name else do, name, truth) for name in first]
    result = pd.concat([_rows(error, exact[error.arms]) for error in errors], ignore_index=True)
    ends = {task: (chain[0], chain[-1]) for task, chain in chains.items()}
    result["kind"] = [
        None if task not in ends else "global" if ends[task] == (cause, effect) else "local"
        for task, cause, effect in zip(result["task"], result["cause"], result["effect"], strict=True)
    ]
    # the PNS multiplies along the chains of all worlds but those with XOR
    composing = {task: chain for task, chain in chains.items() if task not in known or known[task].is_monotone}
    if "pns" in chosen and composing:
        pns = StandardErrors(do, "pns", truth)
        rows = composition_rows(pns, settings, composing, exact[do], n_compositions)
        result = pd.concat([result, rows], ignore_index=True)
    return _finish(result, settings, known, chosen)


def _root_values(worlds: Worlds | None, table: pd.DataFrame) -> pd.DataFrame | None:
    """Return the values of roots, which are not asked about, from the noise of tasks."""
    if worlds is None or isinstance(worlds, (World, Mapping)):
        return None
    parts = []
    for number, world, noise in known_noise(worlds, table):
        values = world.values(noise)[list(world.roots)]
        long = values.rename_axis(index="sample").reset_index().melt("sample", var_name="cause")
        parts.append(long.assign(task=number))
    return pd.concat(parts, ignore_index=True) if parts else None


def _exact(worlds: Mapping[Any, World], groups: pd.DataFrame) -> pd.DataFrame | None:
    """Return the exact quantities of the pair of each group."""
    if not worlds or groups.empty:
        return None
    keys = groups[["task", "cause", "effect"]]
    parts = [
        worlds[task].truths(rows[["cause", "effect"]].to_numpy()).assign(task=task)
        for task, rows in keys.drop_duplicates().groupby("task", sort=False)
    ]
    table = keys.merge(pd.concat(parts, ignore_index=True), how="left", on=["task", "cause", "effect"])
    return table.assign(monotonicity_violation=table["pns"] - table["ate"])


def _rows(error: StandardErrors, exact: pd.DataFrame | None) -> pd.DataFrame:
    """Return the rows of one quantity of every pair."""
    arms, quantity, terms = error.arms, error.quantity, error.terms
    used = {"1": [0], "0": [1]}.get(quantity[-1], [0, 1])
    missing = (arms.asked & np.isnan(arms.answer))[:, used]
    low, high = missing_bounds(arms, quantity)
    truths = {
        "truth_exact": np.nan if exact is None else exact[quantity].to_numpy(np.float64),
        "truth_sample": estimates(count_terms(arms.of_truth(), quantity)),
    }
    table = arms.groups.assign(
        quantity=quantity, relation="external", **truths, truth=truths[f"truth_{error.against}"],
        estimate=error.estimate, n=error.n_known, n_samples=arms.n_samples, n_failed=arms.total(missing.sum(axis=1)),
        missing_low=low, missing_high=high, n_1=terms.n1, yes_1=terms.yes1, n_0=terms.n0, yes_0=terms.yes0,
        yes_both=np.where(terms.both < 0, np.nan, terms.both), counts=terms.texts(), se=np.sqrt(error.variance),
        n_effective=np.nan if quantity == "ate" else error.n_effective,
    )  # fmt: skip
    if quantity == "pns":
        p1, p0 = (estimates(count_terms(arms, name)) for name in ("p_do1", "p_do0"))
        table["bound_low"], table["bound_high"] = np.maximum(0.0, p1 - p0), np.minimum(p1, 1 - p0)
    return table


def _finish(result: pd.DataFrame, settings: list[str], worlds: Mapping[Any, World], chosen: list[str]) -> pd.DataFrame:
    """Order columns and rows, and fix types."""
    result = result.assign(level=result["quantity"].map(LEVEL)).join(pair_complexity(worlds, result))
    columns = [
        *settings, "task", "quantity", "level", "kind", "relation", "cause", "effect", "path", "truth", "estimate",
        "truth_exact", "truth_sample", "truth_product", "n", "n_samples", "n_failed", "missing_low", "missing_high",
        "bound_low", "bound_high", "n_1", "yes_1", "n_0", "yes_0", "yes_both", "counts", "se", "n_effective",
        "sampling_gap", "mediators", "distance",
    ]  # fmt: skip
    words = ["quantity", "level", "kind", "relation", "cause", "effect", "path", "counts"]
    whole = ["n_1", "yes_1", "n_0", "yes_0", "yes_both", "mediators", "distance"]
    dtypes = dict.fromkeys(words, "str") | dict.fromkeys(whole, "Int64")
    result = result.reindex(columns=columns).fillna({"sampling_gap": 0.0})
    result = result.astype(dtypes | dict.fromkeys(["n", "n_samples", "n_failed"], "int64"))
    families = result.groupby([*settings, "task"], sort=False, dropna=False).ngroup()
    order = np.lexsort((result["kind"] == "composition", result["quantity"].map(chosen.index), families))
    return result.iloc[order].reset_index(drop=True)


def influences(arms: Arms, quantity: str, bits: Floats) -> Floats:
    """Return the influence of each unit on a quantity of its group; influences sum to 0 by group."""
    one, zero = bits[:, 0], bits[:, 1]
    if quantity in ("pns", "monotonicity_violation"):
        yes, no = (one, zero) if quantity == "pns" else (zero, one)
        return _influences_on_mean(arms, np.where(np.isnan(one) | np.isnan(zero), np.nan, yes * (1 - no)))
    if quantity == "ate":
        return _influences_on_mean(arms, one) - _influences_on_mean(arms, zero)
    return _influences_on_mean(arms, one if quantity[-1] == "1" else zero)


def _influences_on_mean(arms: Arms, values: Floats) -> Floats:
    known = ~np.isnan(values)
    n = arms.total(known)
    mean = ratio(arms.total(np.where(known, values, 0.0)), n)
    moved = ratio(np.where(known, values - mean[arms.group], 0.0), n[arms.group])
    return np.where(known, moved, 0.0)


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """Estimates of one quantity in every group, with their standard errors."""

    #: the answers
    arms: Arms
    #: what is estimated
    quantity: str
    #: {"exact", "sample"}: whether it is compared with a constant, or with the truth in the same samples, which shares
    #: their error
    against: Literal["exact", "sample"]

    @cached_property
    def terms(self) -> Terms:
        """Yes-counts of the reasoner's answers, by group."""
        return count_terms(self.arms, self.quantity)

    @cached_property
    def estimate(self) -> Floats:
        """The quantity computed from the reasoner's answers."""
        return estimates(self.terms)

    @cached_property
    def alone(self) -> StandardErrors:
        """The same estimates compared with a constant."""
        return self if self.against == "exact" else replace(self, against="exact")

    @cached_property
    def moves(self) -> scipy.sparse.csc_array:
        """Influence of each sample (row) on each group's estimate, or on its distance from the same-sample truth."""
        arms = self.arms
        moved = influences(arms, self.quantity, arms.answer)
        if self.against == "sample":
            true = arms.of_truth()
            moved = moved - influences(true, self.quantity, true.answer)
        shape = (int(arms.sample.max(initial=-1)) + 1, len(arms.groups))
        return scipy.sparse.csc_array(scipy.sparse.coo_array((moved, (arms.sample, arms.group)), shape=shape))

    def covariance(self, groups: Integers) -> Floats:
        """Return the covariance matrix of the estimates of groups that share their samples."""
        moves = self.moves[:, groups]
        plain = np.asarray((moves.T @ moves).toarray())
        variances, smooth = np.diag(plain), self.variance[groups]
        if self.against == "sample":
            return plain + np.diag(smooth - variances)
        scale = np.sqrt(np.divide(smooth, variances, out=np.ones(len(variances)), where=variances > 0))
        return np.where(np.eye(len(variances), dtype=bool), smooth, plain * np.outer(scale, scale))

    @cached_property
    def plain_variance(self) -> Floats:
        """Cluster-robust variance of each group's estimate."""
        return np.asarray(self.moves.multiply(self.moves).sum(axis=0)).ravel()

    @cached_property
    def n_effective(self) -> Floats:
        """Number of independent answers of the same precision, for estimates that are proportions."""
        p, n = self.estimate, self.n_known
        inside = (p > 0) & (p < 1)
        effective = np.divide(p * (1 - p), self.alone.plain_variance, out=self.arms.n_samples.copy(), where=inside)
        return np.where(n > 0, np.clip(effective, np.minimum(1, n), n), np.nan)

    @cached_property
    def n_known(self) -> Floats:
        """Number of units in the estimate, by group."""
        n1, n0 = self.terms.n1, self.terms.n0
        n = {"1": n1, "0": n0}.get(self.quantity[-1], np.minimum(n1, n0))
        return n.astype(np.float64)

    @cached_property
    def variance(self) -> Floats:
        """Variance of each group's estimate, smoothed so that it is positive where all answers agree."""
        of_arms = self.quantity == "ate"
        n = np.minimum(self.n_known, self.arms.n_samples) if of_arms else self.n_effective
        n = np.where(n > 0, n, np.nan)
        if of_arms or self.against == "sample":
            # a pseudo-disagreement in each direction
            return self.plain_variance + 2 / n**2
        return share_variance(self.estimate, n)


#: columns that are multiplied along a path
_MULTIPLIED = ("estimate", "truth_exact", "truth_sample", "missing_low", "missing_high")


def composition_rows(
    pns: StandardErrors,
    settings: list[str],
    chains: Mapping[Any, tuple[str, ...]],
    exact: pd.DataFrame | None,
    n: int | None,
) -> pd.DataFrame:
    """Return two rows per composition: against the world, and against the reasoner's own global PNS."""
    arms, true = pns.arms, replace(pns, arms=pns.arms.of_truth(), against="exact")
    low, high = missing_bounds(arms, "pns")
    of_pairs = {
        "estimate": pns.estimate,
        "truth_exact": np.full(len(arms.groups), np.nan) if exact is None else exact["pns"].to_numpy(np.float64),
        "truth_sample": true.estimate,
        "smooth": _smooth(pns),
        "smooth_truth": _smooth(true),
        "n": pns.n_known,
        "n_effective": pns.n_effective,
        "n_samples": arms.n_samples,
        "n_failed": arms.total((arms.asked & np.isnan(arms.answer)).sum(axis=1)),
        "missing_low": low.clip(min=0.0),
        "missing_high": high,
        "counts": np.array(pns.terms.texts(), object),
    }
    rows: list[dict[str, Any]] = []
    names = [*settings, "task"]
    for key, indices in arms.groups.groupby(names, sort=False, dropna=False).indices.items():
        labels = dict(zip(names, key if isinstance(key, tuple) else (key,), strict=True))
        if (task := labels["task"]) not in chains:
            continue
        chain, members = chains[task], np.asarray(indices, np.int64)
        family = {name: values[members] for name, values in of_pairs.items()}
        pairs = arms.groups[["cause", "effect"]].iloc[members].itertuples(index=False, name=None)
        position = {pair: i for i, pair in enumerate(pairs)}
        whole = _place((chain[0], chain[-1]), position, task) if n != 0 else 0
        # of the estimates' distances from the truth, and of the estimates themselves
        covariance, alone = pns.covariance(members), pns.alone.covariance(members)
        moves = pns.alone.moves[:, members], true.moves[:, members]
        for path in composition_paths(chain, n, task):
            local = [_place(pair, position, task) for pair in pairwise(path)]
            common = labels | {"cause": chain[0], "effect": chain[-1], "path": " > ".join(path)}
            common |= {name: np.prod(family[name][local]) for name in _MULTIPLIED}
            common |= {name: family[name][local].min() for name in ("n", "n_samples")}
            common["truth_product"] = common["truth_sample"]
            text, n_failed = " * ".join(family["counts"][local]), family["n_failed"][local].sum()
            slope = _slope(family["smooth"], local)
            of_world = {
                "relation": "external",
                "truth": common[f"truth_{pns.against}"],
                "se": _error(covariance, slope),
            }
            rows.append(common | of_world | {"n_failed": n_failed, "counts": text})
            slope[whole] -= 1.0
            of_self = {name: family[name][whole] for name in ("truth_exact", "truth_sample")}
            of_self |= {"relation": "internal", "truth": family["estimate"][whole]}
            of_self |= {
                "n_failed": n_failed + family["n_failed"][whole],
                "counts": f"{family['counts'][whole]} = {text}",
            }
            if pns.against == "exact":
                of_self |= {"sampling_gap": 0.0, "se": _error(alone, slope)}
            else:
                of_self |= _unexplained(moves, family, local, whole, slope)
            rows.append(common | of_self)
    table = pd.DataFrame(rows)
    return table.assign(quantity="pns", kind="composition") if len(table) else table


def _unexplained(
    moves: tuple[Any, Any], family: Mapping[str, Any], local: list[int], whole: int, gradient: Floats
) -> dict[str, float]:
    """Return what samples explain of a product's distance from the whole, and the rest's standard error."""
    # The true answers to the same questions have such a distance too, whose expectation is 0: a control variate.
    slope = _slope(family["smooth_truth"], local)
    slope[whole] -= 1.0
    estimated, true = moves[0] @ gradient, moves[1] @ slope
    share = float(estimated @ true) / float(true @ true) if true.any() else 0.0
    rest, n = estimated - share * true, family["n_effective"]
    # a pseudo-disagreement in each direction, as for pairs
    pseudo = gradient**2 * 2 / np.where(n > 0, n, np.nan) ** 2
    variance = float(rest @ rest) + float(pseudo[[*local, whole]].sum())
    gap = np.prod(family["truth_sample"][local]) - family["truth_sample"][whole]
    return {"sampling_gap": share * gap, "se": math.sqrt(variance)}


def _slope(smooth: Floats, local: list[int]) -> Floats:
    """Return the derivatives of a product of some values by all; smoothed, so that two zeros keep a variance."""
    slope = np.zeros(len(smooth))
    slope[local] = [np.prod(smooth[[i for i in local if i != j]]) for j in local]
    return slope


def _smooth(pns: StandardErrors) -> Floats:
    """Return estimates a little away from 0 and 1, where the derivative of a product is taken."""
    return np.asarray((np.clip(pns.estimate, 0, 1) * pns.n_effective + 2) / (pns.n_effective + 4))


def _error(covariance: Floats, gradient: Floats) -> float:
    return math.sqrt(max(float(gradient @ covariance @ gradient), 0.0))


def _place(pair: tuple[str, str], position: Mapping[tuple[Any, Any], int], task: Any) -> int:
    if pair not in position:
        raise ValueError(
            f"task {task!r}: the composition needs the pair {pair}, about which no answers are in the table; ask about "
            "all pairs of cut nodes, or leave compositions out by n_compositions=0"
        )
    return position[pair]
