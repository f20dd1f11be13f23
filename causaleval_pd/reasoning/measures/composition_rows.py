"""Rows of compositions: products of PNS along the cut tree, beside the PNS of the whole."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..tasks.worlds_by_task import composition_paths
from .answer_arms import count_terms, missing_bounds
from .standard_errors import StandardErrors, product_gradient
from .yes_counts import Floats, Integers, equation_text, estimates, product_text


def composition_rows(
    pns: StandardErrors,
    settings: list[str],
    chains: Mapping[Any, tuple[str, ...]],
    exact: pd.DataFrame | None,
    n: int | None,
) -> pd.DataFrame:
    """Return two rows a composition: against the world, and against the reasoner's own global PNS.

    `chains` are root, cut nodes and leaf by task, `exact` the quantities of known worlds; `n` compositions a task, or
    all.
    """
    groups = pns.arms.groups
    factors = _PairPNS.of(pns, exact)
    rows: list[dict[str, Any]] = []
    names = [*settings, "task"]
    for key, indices in groups.groupby(names, sort=False, dropna=False).indices.items():
        labels = dict(zip(names, key if isinstance(key, tuple) else (key,), strict=True))
        task = labels["task"]
        if task not in chains:
            continue
        members: Integers = np.asarray(indices, np.int64)
        pairs = zip(groups["cause"].iloc[members], groups["effect"].iloc[members], strict=True)
        position = {pair: i for i, pair in enumerate(pairs)}
        chain = chains[task]
        covariances = _covariances(pns, members)
        for path in composition_paths(chain, n, task):
            local = [_place(pair, position, task) for pair in pairwise(path)]
            whole = _place((chain[0], chain[-1]), position, task)
            common = labels | {"cause": chain[0], "effect": chain[-1], "path": " > ".join(path)}
            rows += [common | row for row in factors.rows(members, local, whole, covariances)]
    table = pd.DataFrame(rows)
    return table.assign(quantity="pns", kind="composition") if len(table) else table


@dataclass(frozen=True, eq=False)
class _PairPNS:
    """What compositions need of the PNS of every pair; arrays by pair."""

    error: StandardErrors
    #: the same of the true answers
    true: StandardErrors
    counts: list[str]
    exact: Floats
    sample_truth: Floats
    smooth: Floats
    smooth_truth: Floats
    n_failed: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, pns: StandardErrors, exact: pd.DataFrame | None) -> _PairPNS:
        """Compute the values of all pairs."""
        arms = pns.arms
        missing = arms.asked & np.isnan(arms.answer)
        true = replace(pns, arms=arms.of_truth(), against="exact")
        return cls(
            pns,
            true,
            count_terms(arms, "pns", pns.estimator).texts(),
            np.full(len(arms.groups), np.nan) if exact is None else exact["pns"].to_numpy(np.float64),
            estimates(count_terms(true.arms, "pns", pns.estimator)),
            _smooth(pns),
            _smooth(true),
            arms.total(missing[:, 0]) + arms.total(missing[:, 1]),
            *missing_bounds(arms, "pns", pns.estimator),
        )

    def rows(
        self, members: Integers, local: list[int], whole: int, covariances: tuple[Floats, Floats]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return one composition against the world, and against the whole.

        `local` and `whole` are places among `members` (pairs of one reasoner and task) of the factors and of (root,
        leaf); the covariances are those of the estimates' distances from the truth, and of the estimates.
        """
        pns, factors, top = self.error, members[local], members[whole]
        gradient = np.zeros(len(members))
        gradient[local] = product_gradient(pns.estimate[factors], self.smooth[factors])
        text = product_text(self.counts[i] for i in factors)
        n_failed = int(self.n_failed[factors].sum())
        common = {
            "estimate": float(np.prod(pns.estimate[factors])),
            "n": int(pns.n_known[factors].min()),
            "n_samples": int(pns.arms.n_samples[factors].min()),
            "missing_low": float(np.prod(self.low[factors].clip(min=0.0))),
            "missing_high": float(np.prod(self.high[factors])),
            "truth_product": float(np.prod(self.sample_truth[factors])),
        }
        of_world = {
            "relation": "external",
            "truth_exact": float(np.prod(self.exact[factors])),
            "truth_sample": common["truth_product"],
            "n_failed": n_failed,
            "counts": text,
            "se": _error(covariances[0], gradient),
        }
        of_world["truth"] = of_world["truth_exact" if pns.against == "exact" else "truth_sample"]
        gradient[whole] -= 1.0
        gap, internal_error = self._unexplained(members, local, whole, gradient, covariances[1])
        of_self = {
            "relation": "internal",
            "truth": float(pns.estimate[top]),
            "truth_exact": float(self.exact[top]),
            "truth_sample": float(self.sample_truth[top]),
            "n_failed": n_failed + int(self.n_failed[top]),
            "counts": equation_text(self.counts[top], text),
            "se": internal_error,
            "sampling_gap": gap,
        }
        return common | of_world, common | of_self

    def _unexplained(
        self, members: Integers, local: list[int], whole: int, gradient: Floats, covariance: Floats
    ) -> tuple[float, float]:
        """Return the part of a product's distance from the whole that samples explain, and the rest's standard error.

        The true answers to the same questions have such a distance too, whose expectation is 0: a control variate.
        """
        if self.error.against == "exact":
            return 0.0, _error(covariance, gradient)
        factors, top = members[local], members[whole]
        slope = np.zeros(len(members))
        slope[local] = product_gradient(self.true.estimate[factors], self.smooth_truth[factors])
        slope[whole] -= 1.0
        own, true = (error.moves[:, members] @ by for error, by in ((self.error.alone, gradient), (self.true, slope)))
        share = float(own @ true) / float(true @ true) if true.any() else 0.0
        rest = own - share * true
        n = self.error.n_effective[members]
        # a pseudo-disagreement in each direction, as for pairs
        variance = float(rest @ rest) + float(
            (gradient**2 * 2 / np.where(n > 0, n, np.nan) ** 2)[[*local, whole]].sum()
        )
        gap = float(np.prod(self.true.estimate[factors])) - float(self.true.estimate[top])
        return share * gap, math.sqrt(variance)


def _smooth(pns: StandardErrors) -> Floats:
    """Return estimates a little away from 0 and 1, where the derivative of a product is taken."""
    return np.asarray((np.clip(pns.estimate, 0, 1) * pns.n_effective + 2) / (pns.n_effective + 4))


def _covariances(pns: StandardErrors, members: Integers) -> tuple[Floats, Floats]:
    """Return the covariances of the estimates' distances from the truth, and of the estimates themselves."""
    covariance = pns.covariance(members)
    return covariance, covariance if pns.against == "exact" else pns.alone.covariance(members)


def _error(covariance: Floats, gradient: Floats) -> float:
    return math.sqrt(max(float(gradient @ covariance @ gradient), 0.0))


def _place(pair: tuple[str, str], position: Mapping[tuple[Any, Any], int], task: Any) -> int:
    if pair not in position:
        raise ValueError(
            f"task {task!r}: the composition needs the pair {pair}, about which no answers are in the table; ask about "
            "all pairs of cut nodes, or leave compositions out by n_compositions=0"
        )
    return position[pair]
