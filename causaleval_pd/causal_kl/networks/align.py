"""Which networks can be compared: the same variables and states, by name."""

from __future__ import annotations

from typing import Any

from .formats import read_network
from .layout import Layout
from .network import Network


def align(truth: Any, estimate: Any) -> tuple[Network, Network]:
    """Read two cells and refuse networks that cannot be compared.

    Parameters
    ----------
    truth, estimate : network
        Cells as in `network_column`.

    Returns
    -------
    tuple of networks
        The two networks; being canonical, they are aligned by name.

    Raises
    ------
    ValueError
        If variables, states or kinds differ; names the node.
    TypeError
        If a cell is missing or no network.
    """
    for cell, side in ((truth, "truth"), (estimate, "estimate")):
        if cell is None:
            raise TypeError(f"a metric of networks needs a truth and an estimate, found None as the {side}")
    left, right = read_network(truth), read_network(estimate)
    fault = differing(left.layout, right.layout)
    if fault:
        raise ValueError(fault)
    return left, right


def differing(truth: Layout, estimate: Layout, sides: tuple[str, str] = ("truth", "estimate")) -> str | None:
    """Say why two networks cannot be compared, or None; `sides` are what the message calls them."""
    left, right = sides
    if truth.nodes != estimate.nodes:
        only = [sorted(set(a) - set(b))[:5] for a, b in ((truth.nodes, estimate.nodes), (estimate.nodes, truth.nodes))]
        return (
            f"{left} has {len(truth.nodes)} nodes, {right} {len(estimate.nodes)}; only in the {left}: {only[0]}, only "
            f"in the {right}: {only[1]}; give both the same variables"
        )
    if truth.kind != estimate.kind:
        return (
            f"node {truth.nodes[0]!r} is {_word(truth)} in the {left} and {_word(estimate)} in the {right}; compare "
            "networks of one kind"
        )
    # a linear-Gaussian network has no states
    for name, true, estimated in zip(truth.nodes, truth.states or (), estimate.states or (), strict=False):
        if true != estimated:
            return (
                f"node {name!r} has the states {_some(true)} in the {left} and {_some(estimated)} in the {right}; name "
                "the same states (a state never observed too: states= of from_data)"
            )
    return None


def _word(layout: Layout) -> str:
    return "discrete" if layout.kind == "discrete" else "continuous"


def _some(states: tuple[str, ...]) -> str:
    return str(list(states)) if len(states) <= 10 else f"{list(states[:10])} and {len(states) - 10} more"
