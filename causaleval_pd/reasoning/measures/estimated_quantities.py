"""Quantities estimated from answers: a row a probability, effect, PNS or composition, with truth and yes-counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from ...contract.checks import check_known, check_type
from ..tasks.worlds_by_task import Worlds, cut_chains, known_noise, multiplicative, pair_complexity, worlds_by_task
from ..worlds.world import World
from .answer_arms import (
    Estimator,
    check_answers,
    count_terms,
    interventional_arms,
    missing_bounds,
    observational_arms,
)
from .standard_errors import StandardErrors, composition_rows
from .yes_counts import LEVEL, QUANTITIES, divide, estimates

__all__ = ["quantities"]


def quantities(
    answers: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    worlds: Worlds | None = None,
    cut_nodes: Mapping[Any, Sequence[str]] | None = None,
    root_values: pd.DataFrame | None = None,
    which: Sequence[str] | None = None,
    estimator: Estimator = "paired",
    truth: Literal["sample", "exact"] = "sample",
    n_compositions: int | None = None,
) -> pd.DataFrame:
    """Estimate quantities from answers to yes/no questions, one a row, with their truths and yes-counts.

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
    root_values : DataFrame, optional
        True values of nodes that are not asked about (the root): columns task, sample, node, value. Needed for
        p(y | x) given those nodes.
    which : sequence of str, optional
        Of "p_given1", "p_given0", "p_do1", "p_do0", "ate", "pns", "monotonicity_violation"; default all. Compositions
        are made of "pns".
    estimator : {"paired", "difference"}
        PNS as the share of samples answered yes under do(1) and no under do(0), or as p(y | do(1)) - p(y | do(0)),
        which is the PNS only if answers are monotone, and needs no paired answers.
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
    chosen = _chosen(which)
    check_known(estimator, ("paired", "difference"), "estimator")
    known = worlds_by_task(worlds, table["task"])
    chains = cut_chains(known, cut_nodes, table["task"])
    check_known(truth, ("sample", "exact"), "truth")
    against = truth
    if against == "exact" and not known:
        raise ValueError("truth='exact' needs worlds=, from which exact values are computed")
    do = interventional_arms(table, settings)
    exact = _exact(known, do.groups)
    parts = []
    if given := [name for name in chosen if name.startswith("p_given")]:
        pairs = do.groups[[*settings, "task", "cause", "effect"]]
        seen = observational_arms(table, settings, pairs, _root_values(worlds, root_values, table))
        seen_exact = _exact(known, seen.groups)
        parts += [_rows(StandardErrors(seen, name, estimator, against), settings, seen_exact) for name in given]
    others = [name for name in chosen if name not in given]
    parts += [_rows(StandardErrors(do, name, estimator, against), settings, exact) for name in others]
    result = pd.concat(parts, ignore_index=True)
    result["kind"] = _kinds(result, chains)
    composing = multiplicative(chains, known)
    if "pns" in chosen and composing:
        pns = StandardErrors(do, "pns", estimator, against)
        rows = composition_rows(pns, settings, composing, exact, n_compositions)
        result = pd.concat([result, rows], ignore_index=True)
    return _finish(result, settings, known, chosen)


def _chosen(which: Sequence[str] | None) -> list[str]:
    """Check the names of quantities; default all."""
    if which is not None:
        check_type(which, (str, list, tuple), "a list of quantities", "which")
    chosen = list(QUANTITIES if which is None else [which] if isinstance(which, str) else which)
    if not chosen:
        raise ValueError(f"which names no quantity; known are {', '.join(map(repr, QUANTITIES))}")
    for name in chosen:
        check_known(name, QUANTITIES, "quantity")
    return chosen


def _root_values(worlds: Worlds | None, given: pd.DataFrame | None, table: pd.DataFrame) -> pd.DataFrame | None:
    """Return the given values of nodes that are not asked about; default the roots' values, from the noise of tasks."""
    if given is not None or worlds is None or isinstance(worlds, (World, Mapping)):
        return given
    parts = []
    for number, world, noise in known_noise(worlds, table):
        values = world.values(noise)[list(world.roots)]
        long = values.rename_axis(index="sample").reset_index().melt("sample", var_name="node")
        parts.append(long.assign(task=number))
    return pd.concat(parts, ignore_index=True) if parts else None


def _exact(worlds: Mapping[Any, World], groups: pd.DataFrame) -> pd.DataFrame | None:
    """Return the exact quantities of the pair of each group."""
    if not worlds:
        return None
    keys = groups[["task", "cause", "effect"]].astype({"cause": object, "effect": object})
    wanted = keys.drop_duplicates()
    parts = [
        worlds[task].truths(list(rows[["cause", "effect"]].itertuples(index=False, name=None))).assign(task=task)
        for task, rows in wanted.groupby("task", sort=False)
    ]
    if not parts:
        return None
    found = pd.concat(parts, ignore_index=True).astype({"cause": object, "effect": object})
    return keys.merge(found, how="left", on=["task", "cause", "effect"]).assign(
        monotonicity_violation=lambda t: t["pns"] - t["ate"]
    )


def _rows(error: StandardErrors, settings: list[str], exact: pd.DataFrame | None) -> pd.DataFrame:
    """Return the rows of one quantity of every pair."""
    arms, quantity = error.arms, error.quantity
    terms = count_terms(arms, quantity, error.estimator)
    table = arms.groups[[*settings, "task", "cause", "effect"]].copy()
    table["quantity"] = quantity
    table["relation"] = "external"
    table["truth_exact"] = np.nan if exact is None else exact[quantity].to_numpy(np.float64)
    true = arms.of_truth()
    table["truth_sample"] = estimates(count_terms(true, quantity, error.estimator))
    table["estimate"] = estimates(terms)
    table["truth"] = table["truth_exact"] if error.against == "exact" else table["truth_sample"]
    table["n"] = error.n_known.astype(np.int64)
    table["n_samples"] = arms.n_samples.astype(np.int64)
    used = _arms_used(quantity)
    missing = arms.asked & np.isnan(arms.answer)
    table["n_failed"] = arms.total(missing[:, used].sum(axis=1)).astype(np.int64)
    table["missing_low"], table["missing_high"] = missing_bounds(arms, quantity, error.estimator)
    if quantity == "pns":
        known = [arms.total(~np.isnan(arms.answer[:, i])) for i in (0, 1)]
        p1, p0 = (divide(arms.total(np.nan_to_num(arms.answer[:, i])), known[i]) for i in (0, 1))
        table["bound_low"], table["bound_high"] = np.maximum(0.0, p1 - p0), np.minimum(p1, 1 - p0)
    for name, values in zip(("n_1", "yes_1", "n_0", "yes_0", "yes_both"), terms.fields[1:], strict=True):
        table[name] = pd.array(values, dtype="Int64")
    table.loc[terms.both < 0, "yes_both"] = pd.NA
    table["counts"] = terms.texts()
    table["se"] = np.sqrt(error.variance)
    table["n_effective"] = np.nan if quantity == "ate" else error.n_effective
    if quantity == "pns" and error.estimator == "difference":
        table["n_effective"] = np.nan
    return table


def _arms_used(quantity: str) -> list[int]:
    return {"1": [0], "0": [1]}.get(quantity[-1], [0, 1])


def _kinds(result: pd.DataFrame, chains: Mapping[Any, tuple[str, ...]]) -> list[str | None]:
    """Return "global" for the pair (root, leaf), "local" for others, None where the cut tree is unknown."""
    ends = {task: (chain[0], chain[-1]) for task, chain in chains.items()}
    return [
        None if task not in ends else "global" if ends[task] == (cause, effect) else "local"
        for task, cause, effect in zip(result["task"], result["cause"], result["effect"], strict=True)
    ]


def _finish(result: pd.DataFrame, settings: list[str], worlds: Mapping[Any, World], chosen: list[str]) -> pd.DataFrame:
    """Order columns and rows, and fix types."""
    result = result.assign(level=result["quantity"].map(LEVEL), **pair_complexity(worlds, result))
    columns = [
        *settings, "task", "quantity", "level", "kind", "relation", "cause", "effect", "path", "truth", "estimate",
        "truth_exact", "truth_sample", "truth_product", "n", "n_samples", "n_failed", "missing_low", "missing_high",
        "bound_low", "bound_high", "n_1", "yes_1", "n_0", "yes_0", "yes_both", "counts", "se", "n_effective",
        "sampling_gap", "mediators", "distance",
    ]  # fmt: skip
    result = result.reindex(columns=columns)
    result["sampling_gap"] = result["sampling_gap"].fillna(0.0)
    words = ["quantity", "level", "kind", "relation", "cause", "effect", "path", "counts"]
    whole = ["n", "n_samples", "n_failed"]
    result = result.astype(dict.fromkeys(words, "str") | dict.fromkeys(whole, "int64"))
    for name in ("n_1", "yes_1", "n_0", "yes_0", "yes_both", "mediators", "distance"):
        result[name] = result[name].astype("Int64")
    rank = {name: i for i, name in enumerate(chosen)}
    order = result["quantity"].map(rank)
    families = result.groupby([*settings, "task"], sort=False, dropna=False).ngroup()
    kinds = result["kind"].map({"composition": 1}).fillna(0)
    sequence = np.lexsort((result.index.to_numpy(), kinds.to_numpy(), order.to_numpy(), families.to_numpy()))
    return result.iloc[sequence].reset_index(drop=True)
