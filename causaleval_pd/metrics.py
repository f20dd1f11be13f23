"""All metrics by name, those of third parties among them: `ce.metrics.shd(truth, estimate)`, which `ce.shd` is too."""

from __future__ import annotations

from typing import Any

from .contract.metric import METRICS


def __getattr__(name: str) -> Any:
    """Return the metric of a name."""
    if name == "__all__":
        return __dir__()
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in METRICS:
        METRICS.load()
    if name not in METRICS:
        raise AttributeError(f"unknown metric {name!r}; {METRICS.suggest(name)}list_metrics() shows all")
    return METRICS[name]


def __dir__() -> list[str]:
    """List the names of all metrics."""
    METRICS.load()
    return sorted(METRICS)
