"""Null models of networks made from a user's function that draws one control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.null import Controls, Matching, Null
from ....graphs.column import as_graph
from ..family_fits import FamilyFits, fits_of_row
from ..fitting import parameterise, parents_of
from ..networks.formats import is_network, read_network
from ..networks.network import Network
from ..networks.pairs import NetworkPairs, Networks, differing
from ..networks.structure import Structure
from .random_networks import FittedControls, no_fits

#: draws one control for an estimate
DrawOne = Callable[[Network, np.random.Generator], Any]


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model from a function that draws one control.

    `function(estimate, rng)` returns a DAG over the estimate's nodes in any format of `as_graph`, which gets its
    parameters as those of the other null models, or a whole network. It must draw from `rng` alone: draw r depends on
    the seed, the row's key and r.
    """

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        fits: list[Callable[[], FamilyFits]] = [
            partial(fits_of_row, matching.context, row, pairs.true_network(t), matching.prepared)
            for row, t in zip(rows.tolist(), pairs.truth_index.tolist(), strict=True)
        ]
        return CustomNetworks(function, name, pairs, rows, fits, keys)

    return Null(name, f"random networks drawn by the function {name}", controls, prepare=no_fits)


@dataclass(frozen=True, eq=False)
class CustomNetworks(FittedControls):
    """Controls of the rows of one batch, drawn one by one."""

    function: DrawOne
    name: str
    pairs: NetworkPairs
    rows: NDArray[np.int64]
    #: makes the fits of each row, for functions that return DAGs
    fits: list[Callable[[], FamilyFits]]
    keys: NDArray[np.uint64]

    @property
    def work(self) -> float:
        """Nanoseconds that drawing one control takes, roughly: it is a call of the user's function."""
        return 1e6

    def draw(self, start: int, count: int) -> NetworkPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        networks = []
        for at, (row, key) in enumerate(zip(self.rows.tolist(), self.keys.tolist(), strict=True)):
            estimate = self.pairs.estimate.network(int(self.pairs.estimate_index[at]))
            for r in range(start, start + count):
                # a counter-based generator: draw r needs none of the draws before it
                rng = np.random.Generator(np.random.Philox(key=key + (r << 64)))
                networks.append(self._checked(self.function(estimate, rng), estimate, self.fits[at], row))
        truth_index = np.repeat(self.pairs.truth_index, count)
        every = np.arange(len(networks), dtype=np.int64)
        return NetworkPairs(self.pairs.truth, Networks.of(networks), truth_index, every)

    def _checked(self, found: Any, estimate: Network, fits: Callable[[], FamilyFits], row: int) -> Network:
        """Read the network or DAG that the function returned, and refuse one that does not match the estimate."""
        what = f"row {row}: null {self.name!r} returned {type(found).__name__}"
        try:
            if is_network(found):
                control = read_network(found)
            else:
                graph = as_graph(found, nodes=estimate.nodes if isinstance(found, str) else None)
                structure = Structure(graph.nodes, estimate.structure.states, parents_of(graph))
                control = parameterise(structure, fits())
        except (TypeError, ValueError) as error:
            raise ValueError(f"{what}, which is not a DAG or network over the estimate's nodes: {error}") from error
        fault = differing(estimate.structure, control.structure, ("estimate", "control"))
        if fault:
            raise ValueError(f"{what}, which does not match the estimate: {fault}")
        return control
