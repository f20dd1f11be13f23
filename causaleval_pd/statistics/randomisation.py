"""An observed value among the same values over draws of its controls."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .direction import as_good
from .paired_tests import Outcome


def randomisation_test(
    observed: ArrayLike, drawn: ArrayLike, *, alternative: Literal["less", "greater"] = "greater"
) -> Outcome:
    """Test whether an observed value (...) is exchangeable with its draws (..., n) under the null model.

    p is (1 + #{draws at least as extreme}) / (n + 1) over the defined draws; NaN without an observed value or a draw.
    Values within `1e-12 max(1, |observed|)` tie, and ties count as extreme.

    Notes
    -----
    Null hypothesis: the observed value is one more draw of the null model. Alternative: it tends to the named side.
    Assumption: the observed value and its draws are exchangeable under the null model, so draws of dependent runs must
    be drawn jointly. Not for draws of another model, such as other margins: their distance from the observed value is
    no evidence.
    """
    if alternative not in ("less", "greater"):
        raise ValueError(f"alternative must be 'less' or 'greater', found {alternative!r}")
    observed, drawn = np.asarray(observed, np.float64), np.asarray(drawn, np.float64)
    direction = "maximize" if alternative == "greater" else "minimize"
    extreme = as_good(drawn, observed[..., None], direction=direction, optimum=0.0).sum(axis=-1)
    n = (~np.isnan(drawn)).sum(axis=-1)
    return Outcome(observed, np.where(np.isnan(observed) | (n == 0), np.nan, (1 + extreme) / (n + 1)))
