"""Compositions: products of PNS along the cut tree, beside the PNS of the whole."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..tasks.worlds_by_task import composition_paths
from .answer_arms import Floats, Integers
from .standard_errors import Precision, product_gradient
from .tally import count_terms, missing_bounds
from .yes_counts import equation_text, estimates, product_text


def composition_rows(
    pns: Precision,
    settings: list[str],
    chains: Mapping[Any, tuple[str, ...]],
    exact: pd.DataFrame | None,
    n: int | None,
) -> pd.DataFrame:
    """Make two rows a composition: against the world, and against the reasoner's own global PNS."""
    groups = pns.arms.groups
    texts = count_terms(pns.arms, "pns", pns.estimator).texts()
    true = estimates(count_terms(pns.arms.of_truth(), "pns", pns.estimator))
    exact_pns = None if exact is None else exact["pns"].to_numpy(np.float64)
    smooth = _smoothed(pns)
    missing = pns.arms.asked & np.isnan(pns.arms.answer)
    n_missing = pns.arms.total(missing[:, 0]) + pns.arms.total(missing[:, 1])
    low, high = missing_bounds(pns.arms, "pns", pns.estimator)
    rows: list[dict[str, Any]] = []
    family_names = [*settings, "task"]
    for key, indices in groups.groupby(family_names, sort=False, dropna=False).indices.items():
        members: Integers = np.asarray(indices, np.int64)
        names = dict(zip(family_names, key if isinstance(key, tuple) else (key,), strict=True))
        if names["task"] not in chains:
            continue
        position = {
            pair: i
            for i, pair in enumerate(zip(groups["cause"].iloc[members], groups["effect"].iloc[members], strict=True))
        }
        covariance = pns.covariance(members)
        chain = chains[names["task"]]
        for path in composition_paths(chain, n, names["task"]):
            local = [_place(pair, position, names["task"]) for pair in pairwise(path)]
            whole = _place((chain[0], chain[-1]), position, names["task"])
            factors, top = members[local], members[whole]
            gradient = np.zeros(len(members))
            gradient[local] = product_gradient(pns.estimate[factors], smooth[factors])
            product = float(np.prod(pns.estimate[factors]))
            common = names | {
                "cause": chain[0],
                "effect": chain[-1],
                "path": " > ".join(path),
                "estimate": product,
                "n": int(pns.n_known[factors].min()),
                "n_samples": int(pns.arms.n_samples[factors].min()),
                "n_missing": int(n_missing[factors].sum()),
                "missing_low": float(np.prod(low[factors].clip(min=0.0))),
                "missing_high": float(np.prod(high[factors])),
                "truth_product": float(np.prod(true[factors])),
            }
            text = product_text(texts[i] for i in factors)
            of_world = {
                "relation": "external",
                "truth_exact": np.nan if exact_pns is None else float(np.prod(exact_pns[factors])),
                "truth_sample": common["truth_product"],
                "counts": text,
                "se": _error(covariance, gradient),
            }
            of_world["truth"] = of_world["truth_exact" if pns.against == "exact" else "truth_sample"]
            gradient[whole] -= 1.0
            of_self = {
                "relation": "internal",
                "truth": float(pns.estimate[top]),
                "truth_exact": np.nan if exact_pns is None else float(exact_pns[top]),
                "truth_sample": float(true[top]),
                "n_missing": common["n_missing"] + int(n_missing[top]),
                "counts": equation_text(texts[top], text),
                "se": _error(_own_covariance(pns, members, covariance), gradient),
            }
            rows += [common | of_world, common | of_self]
    table = pd.DataFrame(rows)
    return table.assign(quantity="pns", kind="composition") if len(table) else table


def _own_covariance(pns: Precision, members: Any, covariance: Floats) -> Floats:
    """Return the covariance of the estimates themselves, to which the truth of the samples is nothing."""
    if pns.against == "exact":
        return covariance
    return Precision(pns.arms, pns.quantity, pns.estimator, "exact").covariance(members)


def _error(covariance: Floats, gradient: Floats) -> float:
    return math.sqrt(max(float(gradient @ covariance @ gradient), 0.0))


def _smoothed(pns: Precision) -> Floats:
    """Return estimates moved a little from 0 and 1, where the derivative of a product is taken."""
    n = pns.n_effective
    return np.asarray((np.clip(pns.estimate, 0, 1) * n + 2) / (n + 4))


def _place(pair: tuple[str, str], position: Mapping[tuple[Any, Any], int], task: Any) -> int:
    if pair not in position:
        raise ValueError(
            f"task {task!r}: the composition needs the pair {pair}, about which no answers are in the table; ask about "
            "all pairs of cut nodes, or leave compositions out by n_compositions=0"
        )
    return position[pair]
