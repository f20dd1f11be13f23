"""Controls whose parameters are fitted to the same data by the same estimator as those of the estimate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...contract.null import Controls, Matching
from ..context_fits import Fits
from ..networks.pairs import NetworkPairs


class FittedControls(Controls):
    """Base of the controls of networks: their class is that of DAGs, and their cost is that of their tables."""

    pairs: NetworkPairs

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls: DAGs."""
        return np.full(self.pairs.n, "dag", object)

    @property
    def cost(self) -> int:
        """Bytes that a control takes while it is scored, roughly: its tables, their logarithms, and copies."""
        return 64 * max((structure.size for structure in self.pairs.estimate.structures), default=1)


def no_fits(matching: Matching) -> Fits:
    """Start the store of a table's fits, so that batches of rows with the same data share them."""
    return {}
