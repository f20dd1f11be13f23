"""Estimate divergences from samples of the intervened truth, for networks too dense for an exact answer."""

from __future__ import annotations

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import metric
from ...execution.random_streams import RNGLike, resolve_seed
from ..laws.family_laws import LAWS, scale
from ..laws.sampling import draw_rows, draw_states
from ..networks.network import DiscreteNetwork
from ..networks.packed import contents
from ..networks.pairs import Group, pair
from ..networks.structure import Structure

__all__ = ["MonteCarlo", "monte_carlo", "sampling_error"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK_CASES = 20_000
_MAX_SAMPLES = 10**9


class MonteCarlo(NamedTuple):
    """An estimated value and its standard error.

    Parameters
    ----------
    value : float
        The estimate.
    standard_error : float
        Its standard error.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> coin = ce.DiscreteNetwork({"A": []}, {"A": [0.5, 0.5]})
    >>> ce.causal_kl.monte_carlo(coin, coin, n_samples=100, rng=1)
    MonteCarlo(value=0.0, standard_error=0.0)
    """

    value: float
    standard_error: float


def monte_carlo(
    truth: Any, estimate: Any, law: str = "ckl2", *, n_samples: int = 100_000, rng: RNGLike = None
) -> MonteCarlo:
    """Estimate a scaled divergence of discrete networks, in nats, by sampling the intervened truth.

    Parameters
    ----------
    truth, estimate : DiscreteNetwork
        The networks.
    law : {"kl", "ckl1", "ckl2", "ckl3"}
        Law of interventions.
    n_samples : int
        Number of cases.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    MonteCarlo
        Value and standard error.

    Raises
    ------
    ValueError
        If the networks do not align or an option is out of range.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> found = ce.causal_kl.monte_carlo(truth, turned, "ckl2", n_samples=20_000, rng=1)
    >>> abs(found.value - ce.ckl2(truth, turned)) < 4 * found.standard_error
    True
    """
    [group] = pair(truth, estimate).groups()
    if not isinstance(group.truth, DiscreteNetwork):
        raise TypeError("linear-Gaussian networks have closed forms: use the metrics")
    value, error = simulate_divergence(group, law, n_samples, resolve_seed(rng))
    return MonteCarlo(float(value[0]), float(error[0]))


def simulate_divergence(group: Group, law: str, n_samples: int, seed: int) -> tuple[Floats, Floats]:
    """Return scaled divergences in nats and their standard errors for a stack of estimates, all from the same cases.

    The cases depend on the seed and the truth alone, so neither the order of rows nor their chunks matter.
    """
    if law not in LAWS:
        raise ValueError(f"law must be one of {', '.join(LAWS)}, found {law!r}")
    whole = isinstance(n_samples, (int, np.integer)) and not isinstance(n_samples, bool)
    if not whole or not 2 <= n_samples <= _MAX_SAMPLES:
        raise ValueError(f"n_samples must be an integer from 2 to {_MAX_SAMPLES}, found {n_samples!r}")
    if not isinstance(group.truth, DiscreteNetwork):
        raise TypeError(f"expected a discrete network, found {group.truth!r}")
    # without the line of text, so that the samples of earlier releases are drawn
    digest = int.from_bytes(hashlib.blake2b(contents(group.truth.to_bytes()), digest_size=8).digest(), "little")
    generator = np.random.default_rng([seed, digest])
    with np.errstate(divide="ignore"):
        estimated = np.log(group.parameters)
        true = np.log(group.truth.parameters)[None]
    own = group.truth.structure
    first = total = squares = np.zeros(len(estimated))
    for start in range(0, n_samples, _BLOCK_CASES):
        n = min(_BLOCK_CASES, n_samples - start)
        context, drawn, free = _cases(group.truth, law, n, generator)
        ratios = _log_probability(own, true, context, drawn, free) - _log_probability(
            group.structure, estimated, context, drawn, free
        )
        ratios *= scale(law, len(own.nodes)) if law != "ckl3" else 1.0
        if start == 0:
            # deviations from a first mean keep the squares small
            first = np.where(np.isfinite(ratios.mean(axis=1)), ratios.mean(axis=1), 0.0)
        with np.errstate(invalid="ignore"):
            total = total + (ratios - first[:, None]).sum(axis=1)
            squares = squares + ((ratios - first[:, None]) ** 2).sum(axis=1)
    with np.errstate(invalid="ignore"):
        mean = total / n_samples
        variance = np.maximum(squares / n_samples - mean**2, 0.0) * n_samples / (n_samples - 1)
    return first + mean, np.sqrt(variance / n_samples)


def _cases(
    truth: DiscreteNetwork, law: str, n: int, generator: np.random.Generator
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Draw cases: the states of all nodes as parents, as children, and which children are not intervened on."""
    k = len(truth.nodes)
    free = np.ones((n, k), bool)
    if law == "kl":
        states = draw_states(truth, n, generator)
        return states, states, free
    if law == "ckl3":
        states = draw_states(truth, n, generator)
        fresh = np.empty_like(states)
        for i, parents in enumerate(truth.structure.parents):
            rows = truth.values_of(i)[tuple(states[:, p] for p in parents)]
            fresh[:, i] = draw_rows(np.broadcast_to(rows, (n, rows.shape[-1])), generator)
        return states, fresh, free
    if law == "ckl2":
        to = draw_states(truth, n, generator)
    else:
        to = np.stack([generator.integers(card, size=n) for card in truth.structure.cards], axis=1)
    free = generator.random((n, k)) < 0.5
    states = draw_states(truth, n, generator, intervened=~free, to=to)
    return states, states, free


def _log_probability(structure: Structure, logs: Floats, context: Ints, drawn: Ints, free: NDArray[np.bool_]) -> Floats:
    """Return the log probability (m, n) of the free nodes of each case under each network of a stack."""
    total = np.zeros((len(logs), len(drawn)))
    for i, (parents, shape, part) in enumerate(zip(structure.parents, structure.shapes, structure.slices, strict=True)):
        at = np.ravel_multi_index((*(context[:, p] for p in parents), drawn[:, i]), shape)
        total += np.where(free[:, i], logs[:, part][:, at], 0.0)
    return total


@metric(
    field="network",
    kinds=("discrete",),
    instead=("kl",),
    direction=None,
    range=(0, math.inf),
    long_name="standard error of a sampled divergence",
    reference="10.48550/arXiv.2111.06029",
    costly=True,
)
def sampling_error(pairs: Any, *, of: str = "ckl3", n_samples: int = 100_000, seed: int = 0) -> Floats:
    """Monte Carlo standard error of a scaled divergence in nats that is estimated with the same `n_samples` and `seed`.

    Parameters
    ----------
    of : {"kl", "ckl1", "ckl2", "ckl3"}
        Divergence whose error is estimated.
    n_samples : int
        Number of samples.
    seed : int
        Seed of the samples.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> error = ce.sampling_error(truth, turned, of="ckl2", n_samples=10_000)
    >>> abs(ce.ckl2(truth, turned, n_samples=10_000) - ce.ckl2(truth, turned)) < 4 * error
    True
    """
    values = np.empty(pairs.n)
    for group in pairs.groups():
        values[group.rows] = simulate_divergence(group, of, n_samples, seed)[1]
    return values
