"""Compile ahead what the first call of a metric would compile."""

from __future__ import annotations

import warnings
from contextlib import suppress

from ..contract.field import FIELDS
from ..contract.metric import get_metric
from .controls import with_controls
from .evaluate import evaluate
from .tasks import Metrics, select


def warm_up(metrics: Metrics = None) -> None:
    """Compile the kernels of metrics and of their controls, so that later calls do not wait for it.

    Numba compiles a kernel when it is first needed, which takes from a tenth of a second to some seconds, and keeps it
    in a cache on disk (``NUMBA_CACHE_DIR``, or a folder beside the package). Call this once after an installation, in
    the image of a container, or on each machine of a cluster. A process whose kernels are in the cache loads them in a
    fraction of the time.

    Parameters
    ----------
    metrics : str, Metric or iterable of these, optional
        Metrics that will be used; default the default metrics of each field. Kernels of the default null models come
        with them; those of other null models compile when they are first used.

    Raises
    ------
    ValueError
        If a metric is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.warm_up(["shd", "adjacency_f1"])

    All metrics of graphs, which takes about half a minute:

    >>> listed = ce.list_metrics()
    >>> ce.warm_up(listed.index[listed["field"] == "graph"])  # doctest: +SKIP
    """
    chosen = None if metrics is None else select(metrics)
    for field in FIELDS.every():
        if field.samples is None:
            continue
        names = [get_metric(name) for name in field.default_metrics]
        mine = names if chosen is None else [m for m in chosen if m.field == field.name]
        for table in field.samples() if mine else ():
            context = table.attrs.pop("context", None)
            with warnings.catch_warnings():
                # what users should know of their tables does not matter for these
                warnings.simplefilter("ignore", UserWarning)
                for m in mine:
                    # some metrics need data that these tables do not have, or another null model
                    with suppress(ValueError):
                        evaluate(table, [m], context=context, invalid="nan")
                        if m.direction is not None:
                            with_controls(table, [m], context=context, n_draws=10, rng=0, invalid="nan")
