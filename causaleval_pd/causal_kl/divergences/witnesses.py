"""Desiderata of a measure of causal discovery, and networks that show which measures satisfy them.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pandas as pd

from ...contract.metric import Metric
from ...contract.metric_sets import select_metrics
from ..example_networks import deterministic_copy, impossible_combination, metastatic, metastatic_mutations
from ..fitting import from_joint
from .divergence import kl

__all__ = ["desiderata"]

#: desideratum, witness, whether all probabilities of the truth are positive, whether it holds, values
Witness = tuple[str, str, bool, bool, list[float]]

_METRICS = ("edit_distance", "wed_d", "kl", "ckl1", "ckl2", "ckl3")
#: networks with the true arcs and a wrong parameter
_TWEAKED = ("tweak.weak", "tweak.strong")


def desiderata(metrics: Iterable[str | Metric] = _METRICS) -> pd.DataFrame:
    """Check which measures satisfy which desideratum of [1]_, with the networks that show it.

    A desideratum that a witness refutes does not hold; one that none refutes holds on these examples, no more.
    Deterministic truths refute more than those whose probabilities are positive.

    Parameters
    ----------
    metrics : iterable of str or Metric
        Measures of networks to minimise.

    Returns
    -------
    DataFrame
        One row a witness and metric: `desideratum`, `witness`, `positive` (whether all probabilities of the truth are),
        `metric`, `holds`, `values`. The desiderata:

        - D1, sensitivity: to miss a strong arc costs more than to miss a weak one.
        - D1a: among networks with the true arcs the measure is proportional to the KL divergence.
        - D2, causality: an arc reversed within its equivalence class costs.
        - D3, range: values lie in [0, infinity). Not so for a deterministic copy that is reversed.
        - D4, uniqueness: only a network that agrees with the truth under interventions scores as well as the truth. A
          wrong parameter counts too. With a deterministic copy, CKL3 is 0 for a wrong parent.
        - consistency (ours): with infinite data the true structure scores 0. Where a combination of parents is
          impossible, no data show what would follow, and measures that intervene on it are undefined.

    Raises
    ------
    ValueError
        If a metric is unknown.

    Notes
    -----
    D1 to D4 are those of [1]_; witnesses and tests are ours. All 30 cells of D1 to D4 and six measures, where all
    probabilities are positive, are compared with the definitions by enumeration: sums over the joint law, all
    interventions and the differing arcs. Compared with the printed Table 1 of [1]_ are D1 and D1a of WED_D, D1a of CKL1
    and CKL2, and that CKL3 fulfils all, and these agree; the other cells were not compared with the printed table.

    References
    ----------
    .. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
       doi:10.48550/arXiv.2111.06029

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> table = ce.causal_kl.desiderata()
    >>> positive = table[table["positive"] & (table["desideratum"] != "consistency")]
    >>> found = positive.groupby(["desideratum", "metric"], sort=False, observed=True)["holds"].all()
    >>> found.map({True: "Y", False: "N"}).unstack()
    metric      edit_distance wed_d kl ckl1 ckl2 ckl3
    desideratum
    D1                      N     Y  Y    Y    Y    Y
    D1a                     N     N  Y    N    N    Y
    D2                      Y     Y  N    Y    Y    Y
    D3                      Y     Y  Y    Y    Y    Y
    D4                      N     N  N    Y    Y    Y
    """
    rows = [
        {"desideratum": what, "witness": why, "positive": positive, "metric": metric.name, "holds": holds}
        | {"values": values}
        for metric in select_metrics(metrics)
        for what, why, positive, holds, values in _witnesses(metric)
    ]
    table = pd.DataFrame(rows)
    order = list(dict.fromkeys(table["desideratum"]))
    table["desideratum"] = pd.Categorical(table["desideratum"], order)
    names = pd.Categorical(table["metric"], list(dict.fromkeys(table["metric"])))
    return table.assign(metric=names).sort_values(["desideratum", "witness", "metric"], ignore_index=True)


def _witnesses(metric: Metric) -> Iterator[Witness]:
    """Yield the witnesses of every desideratum: first those of a positive truth, then those of others."""
    truth, mutated = metastatic(), metastatic_mutations()

    def of(name: str) -> float:
        return float(metric(truth, mutated[name]))

    yield from _on_metastatic(of, [float(kl(truth, mutated[name])) for name in _TWEAKED])
    copy = deterministic_copy()
    turned = float(metric(copy, from_joint("B -> A; A -> C", copy)))
    yield "D3", "copy: reversed < inf", False, bool(0 <= turned < np.inf), [turned]
    wrong = float(metric(copy, from_joint("A -> B; B -> C", copy)))
    yield "D4", "copy: wrong parent > 0", False, wrong != 0, [wrong]
    full = of("true")
    yield "consistency", "true structure = 0", True, full == 0, [full]
    pregnant = impossible_combination()
    again = float(metric(pregnant, from_joint(pregnant, pregnant)))
    yield "consistency", "impossible combination: true structure = 0", False, again == 0, [again]


def _on_metastatic(of: Callable[[str], float], divergences: list[float]) -> Iterator[Witness]:
    """Yield the witnesses of the mutations of metastatic cancer, all of whose probabilities are positive."""
    weak, strong = of("del.weak"), of("del.strong")
    yield "D1", "del.strong > del.weak", True, weak < strong, [weak, strong]
    values = [of(name) for name in _TWEAKED]
    shares = [value / divergence for value, divergence in zip(values, divergences, strict=True)]
    same = bool(shares[0] > 0 and np.isclose(shares[0], shares[1], rtol=1e-9))
    yield "D1a", "tweaks: the same multiple of KL", True, same, shares
    for name in ("rev.in.weak", "rev.in.strong"):
        value = of(name)
        yield "D2", f"{name} > 0", True, value > 0, [value]
    every = [of(name) for name in metastatic_mutations()]
    yield "D3", "all mutations in [0, inf)", True, bool(min(every) >= 0 and max(every) < np.inf), every
    for name in ("rev.in.weak", "tweak.weak", "del.weak", "rev.out.weak"):
        value = of(name)
        yield "D4", f"{name} > 0", True, value > 0, [value]
