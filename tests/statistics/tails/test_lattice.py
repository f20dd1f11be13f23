"""Steps between the values of sums of weighted counts."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.statistics.tails.lattice import common_step


@pytest.mark.parametrize(
    ("weights", "step"),
    [([-2, -1], 1), ([2, -4, 6], 2), ([0, 0], 0), ([2 / 17, 6 / 17], 2 / 17), ([np.nan, 3], 3), ([1, np.sqrt(2)], 0)],
)
def test_steps_divide_every_weight(weights, step):
    found = common_step(np.array([weights, weights[::-1]], float))
    np.testing.assert_allclose(found, step, atol=1e-12)
