"""Desiderata of a measure of causal discovery, and networks that show which measures satisfy them.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from ...contract.metric import Metric
from ...contract.metric_sets import select_metrics
from ..example_networks import deterministic_copy, impossible_combination, metastatic, metastatic_mutations
from ..fitting import from_joint

__all__ = ["desiderata"]

Witness = tuple[str, str, bool, list[float]]


def desiderata(
    metrics: Iterable[str | Metric] = ("edit_distance", "kl", "ckl1", "ckl2", "ckl3"),
) -> pd.DataFrame:
    """Check which measures satisfy which desideratum, with the networks that show it.

    A desideratum that a witness refutes does not hold; one that none refutes holds on these examples, no more.

    Parameters
    ----------
    metrics : iterable of str or Metric
        Measures of networks to minimise.

    Returns
    -------
    DataFrame
        One row a witness and metric: `desideratum`, `witness`, `metric`, `holds`, `values`. The desiderata:

        - sensitivity: a parameter that matters more costs more when it is wrong (equally wrong rows).
        - D1a: to miss a strong arc costs more than to miss a weak one.
        - causality: an arc reversed within its equivalence class costs.
        - uniqueness: nothing that differs from the truth under interventions scores as well as the truth does. With a
          deterministic copy, CKL3 is 0 for a wrong parent.
        - finiteness: an estimate with the true joint law has a finite value. Not so for a deterministic copy reversed.
        - consistency: with infinite data the true structure scores 0. Where a combination of parents is impossible, no
          data show what would follow, and measures that intervene on it are undefined.

    Raises
    ------
    ValueError
        If a metric is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> table = ce.causal_kl.desiderata()
    >>> table.groupby(["desideratum", "metric"], sort=False)["holds"].all().unstack()
    metric         edit_distance     kl   ckl1   ckl2   ckl3
    desideratum
    sensitivity            False   True   True   True   True
    D1a                    False   True   True   True   True
    causality               True  False   True   True   True
    uniqueness             False  False   True   True  False
    finiteness              True   True  False  False  False
    consistency             True   True  False  False   True
    """
    rows = [
        {"desideratum": what, "witness": why, "metric": metric.name, "holds": holds, "values": values}
        for metric in select_metrics(metrics)
        for what, why, holds, values in _witnesses(metric)
    ]
    table = pd.DataFrame(rows)
    order = list(dict.fromkeys(table["desideratum"]))
    table["desideratum"] = pd.Categorical(table["desideratum"], order)
    names = pd.Categorical(table["metric"], list(dict.fromkeys(table["metric"])))
    return table.assign(metric=names).sort_values(["desideratum", "witness", "metric"], ignore_index=True)


def _witnesses(metric: Metric) -> Iterator[Witness]:
    """Yield desideratum, witness, whether it holds there, and the values that show it."""
    truth, mutated = metastatic(), metastatic_mutations()

    def of(name: str) -> float:
        return float(metric(truth, mutated[name]))

    pairs = [("sensitivity", "tweak"), ("D1a", "del")]
    for what, mutation in pairs:
        weak, strong = of(f"{mutation}.weak"), of(f"{mutation}.strong")
        yield what, f"{mutation}.strong > {mutation}.weak", weak < strong, [weak, strong]
    reversed_ = of("rev.in.weak")
    yield "causality", "rev.in.weak > 0", reversed_ > 0, [reversed_]
    for name in ("rev.in.weak", "tweak.weak", "del.weak", "rev.out.weak"):
        value = of(name)
        yield "uniqueness", f"{name} > 0", value > 0, [value]
    copy = deterministic_copy()
    wrong = float(metric(copy, from_joint("A -> B; B -> C", copy)))
    yield "uniqueness", "copy: wrong parent > 0", wrong != 0, [wrong]
    turned = float(metric(copy, from_joint("B -> A; A -> C", copy)))
    yield "finiteness", "copy: reversed < inf", not np.isinf(turned), [turned]
    full = of("true")
    yield "consistency", "true structure = 0", full == 0, [full]
    pregnant = impossible_combination()
    again = float(metric(pregnant, from_joint(pregnant, pregnant)))
    yield "consistency", "impossible combination: true structure = 0", again == 0, [again]
