"""Families of metrics made from confusion counts: adjacencies, arrowheads, v-structures and others alike."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .checks import check_known
from .confusion import MEASURES, Confusion, Measure, MeasureName, Values
from .metric import Metric, metric
from .pairs import Pairs

_BETA = "beta : float\n    Weight of recall relative to precision; default 0.5."


@dataclass(frozen=True)
class ConfusionFamily:
    """Metrics of one kind of positives."""

    #: first part of the metrics' names
    prefix: str
    #: `counts(pairs, **options)`; its keywords are options of all metrics of the family
    counts: Callable[..., Confusion]
    #: `__name__` of the module that declares the metrics
    module: str
    #: first part of the long names
    label: str
    #: what is counted, in the plural
    positives: str
    #: what `metric` needs besides: field, kinds; where they apply closed_form, reference, costly, symmetric
    spec: Mapping[str, Any]
    negatives: str = ""
    #: sentences of every docstring: over what is counted, and when
    convention: str = ""
    #: source code of a truth and an estimate for the docstrings
    example: tuple[str, str] = ("", "")
    #: entries of the docstrings' parameters, by name, of the options of `counts`
    options: Mapping[str, str] = field(default_factory=dict)

    def metric(
        self,
        name: MeasureName,
        *,
        gives: float,
        long_name: str = "",
        note: str = "",
        example: str = "",
        counted: Callable[[Any], Values] | None = None,
    ) -> Metric:
        """Make and register the metric `prefix_name` of a measure; it `gives` this value for the family's example.

        Counts need a `long_name`. `note` continues the docstring, and `example` is source code of the options of its
        call. `counted(pairs)` returns the values where the pairs hold them, so that no other count is computed.
        """
        check_known(name, MEASURES, "measure")
        measure = MEASURES[name]

        first, *choices = inspect.signature(self.counts).parameters.values()
        asked = inspect.signature(measure.value)
        options = [*choices, *list(asked.parameters.values())[1:]]
        of_counts = [x.name for x in choices]

        def function(pairs: Any, **options: Any) -> Values:
            if counted is not None:
                return counted(pairs)
            chosen = {name: options.pop(name) for name in of_counts if name in options}
            key = (self.module, self.prefix, *chosen.items())
            # metrics of the family share the counts; closed forms pass counts without pairs
            shared = isinstance(pairs, Pairs)
            found = (
                pairs.remember(key, lambda: self.counts(pairs, **chosen)) if shared else self.counts(pairs, **chosen)
            )
            return measure.value(found, **options)

        function.__name__ = function.__qualname__ = f"{self.prefix}_{name}"
        function.__module__ = self.module
        function.__doc__ = self._document(measure, function.__name__, gives, note, example)
        vars(function)["__signature__"] = asked.replace(parameters=[first.replace(name="pairs"), *options])
        declare = metric(
            long_name=long_name or f"{self.label} {measure.long_name}",
            direction=measure.direction,
            range=measure.range,
            optimum=measure.optimum,
            **{"symmetric": measure.symmetric, **self.spec},
        )
        return declare(function)

    def _document(self, measure: Measure, name: str, gives: float, note: str, example: str) -> str:
        """Write the docstring of a metric; `Metric` adds what follows from the spec."""
        undefined = f"; 0/0 {measure.undefined}" if measure.undefined else ""
        formula = f"{measure.formula}{undefined}." if measure.formula else ""
        words = {"label": self.label, "positives": self.positives, "negatives": self.negatives}
        prose = " ".join(filter(None, [formula.format(**words), self.convention, note]))
        truth, estimate = self.example
        call = ", ".join(filter(None, [f'"{truth}"', f'"{estimate}"', example]))
        parts = [measure.summary.format(**words), "", *textwrap.wrap(prose, 112), ""]
        entries = [*self.options.values()]
        entries += [_BETA] if "beta" in inspect.signature(measure.value).parameters else []
        if entries:
            parts += ["Parameters", "----------", *entries, ""]
        parts += [
            "Examples",
            "--------",
            ">>> import causaleval_pd as ce",
            f">>> ce.{name}({call})",
            repr(float(gives)),
        ]
        return "\n".join(parts)
