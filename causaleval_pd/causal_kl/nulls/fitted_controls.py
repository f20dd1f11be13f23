"""Controls whose parameters are fitted to the same data by the same estimator as those of the estimate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...contract.context import Context
from ...contract.null import Controls, Matching
from ..family_fits import FamilyFits, fits_to_data, fits_to_joint
from ..networks.network import Network
from ..networks.pairs import NetworkPairs

#: fits to data by the code of the row's data and the variables
Fits = dict[tuple[int, object], FamilyFits]


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


def fits_of_row(context: Context | None, row: int, truth: Network, fits: Fits) -> FamilyFits:
    """Return the fits of a row's controls: to its data by its estimator, else to the true joint law.

    The truth gives variables and states. Fits to data are kept in `fits`. A row has both an estimator and data, or
    neither.
    """
    code = -1 if context is None else int(context.codes[row])
    given = {} if context is None else context.values[code]
    data, estimator = given.get("data"), given.get("estimator")
    if isinstance(estimator, str) and estimator == "joint":
        return fits_to_joint(truth)
    if data is None:
        if estimator is not None:
            raise ValueError(
                f"estimator={estimator!r} needs data: pass context={{'data': ..., 'estimator': ...}}, or "
                "estimator='joint' for parameters from the true joint law"
            )
        return fits_to_joint(truth)
    if estimator is None:
        raise ValueError(
            "data without an estimator: pass the one that parameterised the estimates, "
            "context={'data': ..., 'estimator': 'mle', 'uniform rows' or a pseudo-count}"
        )
    structure = truth.structure
    key = (code, (structure.nodes, structure.states))
    if key not in fits:
        states = None if structure.states is None else dict(zip(structure.nodes, structure.states, strict=True))
        fits[key] = fits_to_data(data, structure.nodes, estimator, states, structure.states is None)
    return fits[key]
