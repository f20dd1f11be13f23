"""Fits that `context=` names for each row: the data and the estimator of its parameters."""

from __future__ import annotations

from ..contract.context import Context
from .family_fits import FamilyFits, fits_to_data, fits_to_joint
from .networks.network import Network

#: fits to data by the code of the row's data and the variables
Fits = dict[tuple[int, object], FamilyFits]


def fits_of_row(context: Context | None, row: int, truth: Network, fits: Fits) -> FamilyFits:
    """Return the fits of a row: to its data by its estimator, or to the true joint law where the user asks for that.

    The truth gives variables and states. Fits to data are kept in `fits`.
    """
    code = -1 if context is None else int(context.codes[row])
    given = {} if context is None else context.values[code]
    data, estimator = given.get("data"), given.get("estimator")
    if isinstance(estimator, str) and estimator == "joint":
        return fits_to_joint(truth)
    if data is None:
        lacking = "context= is missing" if estimator is None else f"estimator={estimator!r} needs data"
        raise ValueError(
            f"{lacking}: the parameters of controls, and of estimates that are graphs, are fitted as those of the "
            "estimates were; pass context={'data': ..., 'estimator': ...}, or context={'estimator': 'joint'} if they "
            "come from the true joint law, as from infinitely many data"
        )
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
