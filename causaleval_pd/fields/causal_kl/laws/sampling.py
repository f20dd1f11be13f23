"""Draw cases from a network, parents before children."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....contract.checks import check_whole
from ....execution.random_streams import RNGLike, resolve_seed
from ..networks.network import DiscreteNetwork, GaussianNetwork, Network

__all__ = ["sample"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def sample(network: Network, n: int, *, rng: RNGLike = None) -> pd.DataFrame:
    """Draw cases from a network.

    Parameters
    ----------
    network : DiscreteNetwork or GaussianNetwork
        The network.
    n : int
        Number of cases.
    rng : int, Generator or None
        Source of randomness; a Generator is advanced.

    Returns
    -------
    DataFrame
        One case per row, one column per node: categorical with the network's states, or float.

    Raises
    ------
    ValueError
        If `n` is negative, or an undefined row of a table is reached; names the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[1, 0], [0, 1]]})
    >>> cases = ce.causal_kl.sample(network, 100, rng=1)
    >>> bool((cases["A"] == cases["B"]).all()), len(cases)
    (True, 100)
    """
    check_whole(n, "n")
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(resolve_seed(rng))
    if isinstance(network, GaussianNetwork):
        return pd.DataFrame(_draw_values(network, int(n), generator), columns=list(network.nodes))
    if not isinstance(network, DiscreteNetwork):
        raise TypeError(f"expected a DiscreteNetwork or a GaussianNetwork, found {type(network).__name__}")
    codes = draw_states(network, int(n), generator)
    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(codes[:, i], categories=pd.Index(network.states[name]))
            for i, name in enumerate(network.nodes)
        },
        columns=list(network.nodes),
    )


def _draw_values(network: GaussianNetwork, n: int, generator: np.random.Generator) -> Floats:
    values = np.zeros((n, len(network.nodes)))
    for i in network.structure.order:
        own = network.values_of(i)
        noise = generator.standard_normal(n) * np.sqrt(own[-1])
        values[:, i] = own[0] + values[:, list(network.structure.parents[i])] @ own[1:-1] + noise
    return values


def draw_states(
    network: DiscreteNetwork,
    n: int,
    generator: np.random.Generator,
    *,
    intervened: NDArray[np.bool_] | None = None,
    to: Ints | None = None,
) -> Ints:
    """Draw cases as positions of states, (n, k), nodes that are `intervened` on set `to` given states.

    An error names a node whose undefined row is reached.
    """
    structure = network.structure
    states = np.zeros((n, len(structure.nodes)), np.int64)
    for i in structure.order:
        rows = network.values_of(i)[tuple(states[:, p] for p in structure.parents[i])]
        states[:, i] = draw_rows(np.broadcast_to(rows, (n, rows.shape[-1])), generator)
        free = np.ones(n, bool)
        if intervened is not None and to is not None:
            free = ~intervened[:, i]
            states[~free, i] = to[~free, i]
        if np.isnan(rows).any() and np.isnan(np.broadcast_to(rows, (n, rows.shape[-1]))[free]).any():
            raise ValueError(
                f"node {structure.nodes[i]!r}: a row of its table that is undefined has positive probability, so no "
                "case can be drawn; estimate with pseudo-counts or fill the row"
            )
    return states


def draw_rows(rows: Floats, generator: np.random.Generator) -> Ints:
    """Draw one position from each row of probabilities; never one of probability 0."""
    cumulative = np.cumsum(rows, axis=1)
    at = (generator.random(len(rows)) * cumulative[:, -1])[:, None]
    return np.asarray((cumulative <= at).sum(axis=1).clip(max=rows.shape[1] - 1), np.int64)
