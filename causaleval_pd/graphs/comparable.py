"""Which classes of graphs are compared with which as they are: a PAG with a PAG, and how to compare others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .kernels.planes import ADMG, DAG, KINDS, MAG, MIXED, PAG, PLAIN_KINDS, SKELETON, a_kind

_PLAIN = range(len(PLAIN_KINDS))

#: classes of truths that estimates of a class are compared with; a skeleton is compared with all
_COMPARED: dict[int, tuple[int, ...]] = {
    **{kind: (*_PLAIN, MIXED) for kind in _PLAIN},
    DAG: (*_PLAIN, MAG, ADMG, MIXED),
    MAG: (DAG, MAG, MIXED),
    ADMG: (DAG, MAG, ADMG, MIXED),
    PAG: (PAG, MIXED),
    MIXED: (PAG, MIXED),
    SKELETON: tuple(range(len(KINDS))),
}


def _table() -> NDArray[np.bool_]:
    found = np.zeros((len(KINDS), len(KINDS)), bool)
    for estimate, truths in _COMPARED.items():
        found[[*truths, SKELETON], estimate] = True
    return found


#: whether a truth of the class of a row is compared with an estimate of the class of a column
COMPARABLE = _table()


def explain_classes(truth: int, estimate: int) -> str:
    """Describe the classes of a truth and an estimate, and how to compare them where the marks mean other things."""
    sides = f"truth is {a_kind(truth)} and estimate {a_kind(estimate)}"
    if COMPARABLE[truth, estimate]:
        return sides
    if estimate in (PAG, MIXED):
        return (
            f"{sides}, which is compared with the truth's PAG: pass context={{'latents': []}}, with the names of the "
            "latent nodes; .graph.pag(latents=) returns that PAG"
        )
    if truth == PAG and estimate in (DAG, MAG, ADMG):
        return f"{sides}, whose PAG is compared with it: .graph.pag() of the estimate returns that"
    if truth == ADMG and estimate == MAG:
        return f"{sides}, which is compared with the truth's MAG: pass context={{'latents': []}}, or take .graph.mag()"
    return (
        f"{sides}, whose marks mean other things: context={{'target': 'pag'}} reads the estimate's marks as they are, "
        "-- as two tails, which is not o-o"
    )
