"""Confusion counts of truth and estimate, their measures (precision, recall, F1 ...), and families of metrics."""

from __future__ import annotations

import functools
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .checks import check_known, check_number
from .metric import Direction, Metric, metric
from .options import with_call, with_options
from .pairs import Pairs

Values = NDArray[np.float64]


def ratio(numerator: Any, denominator: Any, zero_division: float) -> Values:
    """Return numerator / denominator, and `zero_division` where the denominator is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    return np.divide(top, bottom, out=np.full(top.shape, float(zero_division)), where=bottom != 0)


class Confusion(NamedTuple):
    """Positives of truth and estimate, (n,) each."""

    #: positives that truth and estimate have
    both: Any
    true: Any
    estimated: Any
    #: positives and negatives together; NaN where negatives are not counted
    total: Any = math.nan

    @property
    def tp(self) -> Values:
        """Positives of both."""
        return np.asarray(self.both)

    @property
    def fp(self) -> Values:
        """Positives of the estimate only."""
        return np.asarray(self.estimated - self.both)

    @property
    def fn(self) -> Values:
        """Positives of the truth only."""
        return np.asarray(self.true - self.both)

    @property
    def tn(self) -> Values:
        """Negatives of both."""
        return np.asarray(self.total - self.true - self.fp)


class Measure(NamedTuple):
    """A function of a `Confusion`, in words and numbers; `direction` and what follows are as in `Metric`."""

    #: `value(confusion, **options)` returns float64 numbers, one per pair
    value: Callable[..., Values]
    #: follows the family's label; counts have long names of their own
    long_name: str
    #: parts of the docstring, templates over the family's `label`, `positives` and `negatives`
    summary: str
    formula: str = ""
    undefined: str = ""
    direction: Direction = "maximize"
    range: tuple[float, float] = (0, 1)
    optimum: float = 1
    symmetric: bool = False


def _share(numerator: Callable[[Confusion], Any], denominator: Callable[[Confusion], Any]) -> Callable[..., Values]:
    """Return the value of a measure that is a ratio."""

    def value(c: Confusion, *, zero_division: float = math.nan) -> Values:
        return ratio(numerator(c), denominator(c), zero_division)

    return value


def _portion(side: str, of: str, part: str, long_name: str, formula: str) -> Measure:
    """Return the measure that divides a part of the positives or negatives of one side by all of them."""
    other = "estimate" if side == "truth" else "truth"
    positives = "true" if side == "truth" else "estimated"

    def whole(c: Confusion) -> Any:
        return getattr(c, positives) if of == "positives" else c.total - getattr(c, positives)

    return Measure(
        _share(lambda c: getattr(c, part), whole),
        long_name,
        f"Share of the {side}'s {{{of}}} that the {other} {'has' if part in ('tp', 'tn') else 'lacks'}.",
        formula,
        f"if the {side} has no {{{of}}}",
        **({} if part in ("tp", "tn") else _ERRORS),
    )


_ERRORS: dict[str, Any] = {"direction": "minimize", "optimum": 0}
_MISTAKES: dict[str, Any] = {**_ERRORS, "range": (0, math.inf)}
_COUNT: dict[str, Any] = {"range": (0, math.inf), "optimum": math.inf, "symmetric": True}
_RECALL = _portion("truth", "positives", "tp", "recall", "tp / (tp + fn)")
_SPECIFICITY = _portion("truth", "negatives", "tn", "specificity", "tn / (tn + fp)")


def _f_beta(c: Confusion, *, beta: float = 0.5, zero_division: float = math.nan) -> Values:
    check_number(beta, "beta", "(0, inf)")
    weight = 1 + beta**2
    return ratio(weight * c.tp, weight * c.tp + beta**2 * c.fn + c.fp, zero_division)


def _balanced_accuracy(c: Confusion, *, zero_division: float = math.nan) -> Values:
    recall, specificity = (x.value(c, zero_division=zero_division) for x in (_RECALL, _SPECIFICITY))
    return (recall + specificity) / 2


def _mcc(c: Confusion, *, zero_division: float = math.nan) -> Values:
    rows, columns = c.true * (c.total - c.true), c.estimated * (c.total - c.estimated)
    # one root per side: the product of four large margins would lose digits
    return ratio(c.tp * c.tn - c.fp * c.fn, np.sqrt(rows) * np.sqrt(columns), zero_division)


#: what a family can make of its counts, by the last part of the metric's name
MEASURES: dict[str, Measure] = {
    "tp": Measure(lambda c: c.tp, "", "Count the {positives} of both.", **_COUNT),
    "fp": Measure(lambda c: c.fp, "", "Count the {positives} of the estimate that the truth lacks.", **_MISTAKES),
    "fn": Measure(lambda c: c.fn, "", "Count the {positives} of the truth that the estimate lacks.", **_MISTAKES),
    "tn": Measure(lambda c: c.tn, "", "Count the {negatives} of both.", **_COUNT),
    "precision": _portion("estimate", "positives", "tp", "precision", "tp / (tp + fp)"),
    "recall": _RECALL,
    "npv": _portion("estimate", "negatives", "tn", "negative predictive value", "tn / (tn + fn)"),
    "specificity": _SPECIFICITY,
    "fdr": _portion("estimate", "positives", "fp", "false discovery rate", "fp / (tp + fp) = 1 - precision"),
    "for": _portion(
        *("estimate", "negatives", "fn", "false omission rate"), "fn / (tn + fn) = 1 - negative predictive value"
    ),
    "g1": Measure(
        _share(lambda c: 2 * c.tn, lambda c: 2 * c.tn + c.fp + c.fn),
        "G1",
        "Return the harmonic mean of {label} specificity and negative predictive value.",
        "2 tn / (2 tn + fp + fn), F1 with the {negatives} as positives",
        "only if truth and estimate have no {negatives}",
        symmetric=True,
    ),
    "jaccard": Measure(
        _share(lambda c: c.tp, lambda c: c.tp + c.fp + c.fn),
        "Jaccard index",
        "Share of the {positives} of truth or estimate that both have.",
        "tp / (tp + fp + fn)",
        "if truth and estimate have no {positives}",
        symmetric=True,
    ),
    "accuracy": Measure(
        _share(lambda c: c.tp + c.tn, lambda c: c.total),
        "accuracy",
        "Share of the {positives} and {negatives} on which truth and estimate agree.",
        "(tp + tn) / (tp + fp + fn + tn)",
        "if there are neither {positives} nor {negatives}",
        symmetric=True,
    ),
    "f1": Measure(
        _share(lambda c: 2 * c.tp, lambda c: 2 * c.tp + c.fn + c.fp),
        "F1",
        "Return the harmonic mean of {label} precision and recall.",
        "2 tp / (2 tp + fp + fn), also where precision or recall alone is 0/0",
        "only if truth and estimate have no {positives}",
        symmetric=True,
    ),
    "f_beta": Measure(
        _f_beta,
        "F-beta",
        "Return the weighted harmonic mean of {label} precision and recall.",
        "(1 + b^2) tp / ((1 + b^2) tp + b^2 fn + fp), where recall counts b = `beta` times as much as precision",
        "only if truth and estimate have no {positives}",
    ),
    "balanced_accuracy": Measure(
        _balanced_accuracy,
        "balanced accuracy",
        "Return the mean of {label} recall and specificity.",
        "(recall + specificity) / 2, of which random guessing expects 1/2; either half is `zero_division` where it is "
        "0/0",
    ),
    "mcc": Measure(
        _mcc,
        "Matthews correlation",
        "Correlate the {positives} of truth and estimate.",
        "(tp tn - fp fn) / sqrt((tp + fp)(tp + fn)(tn + fp)(tn + fn)), of which random guessing expects 0",
        "if truth or estimate has no {positives} or no {negatives}",
        range=(-1, 1),
        symmetric=True,
    ),
}

_BETA = "beta : float\n    Weight of recall relative to precision; default 0.5."


@dataclass(frozen=True)
class ConfusionFamily:
    """Metrics of one kind of positives."""

    #: first part of the metrics' names
    prefix: str
    #: `counts(pairs, **options)`, of the module that declares the metrics; keywords are options of all of them
    counts: Callable[..., Confusion]
    #: what is counted, in the plural
    positives: str
    #: what `metric` needs besides: field, kinds; where they apply closed_form, reference, costly, symmetric
    spec: Mapping[str, Any]
    negatives: str = ""
    #: first part of the long names; default the prefix in words
    label: str = ""
    #: sentences of every docstring: over what is counted, and when
    convention: str = ""
    #: source code of a truth and an estimate for the docstrings
    example: tuple[str, str] = ("", "")
    #: entries of the docstrings' parameters, by name, of the options of `counts`
    options: Mapping[str, str] = field(default_factory=dict)

    def metric(self, name: str, *, gives: float, long_name: str = "", note: str = "", example: str = "") -> Metric:
        """Make and register `prefix_name` of a measure, which `gives` a value for the example of the family."""
        # `note` continues the docstring; `example` is code of options, for the call that the docstring shows
        check_known(name, MEASURES, "measure")
        measure, label = MEASURES[name], self.label or self.prefix.replace("_", " ")
        first, *choices = inspect.signature(self.counts).parameters.values()
        asked = inspect.signature(measure.value)
        parameters = [first.replace(name="pairs"), *choices, *list(asked.parameters.values())[1:]]

        def function(pairs: Any, **options: Any) -> Values:
            chosen = {x.name: options.pop(x.name) for x in choices if x.name in options}
            counts = functools.partial(self.counts, pairs, **chosen)
            # metrics of the family share the counts; closed forms pass counts without pairs
            key = (self.counts.__module__, self.prefix, *chosen.items())
            return measure.value(pairs.remember(key, counts) if isinstance(pairs, Pairs) else counts(), **options)

        function.__name__ = function.__qualname__ = f"{self.prefix}_{name}"
        function.__module__ = self.counts.__module__
        function.__doc__ = self._document(measure, label, note)
        call = ", ".join(filter(None, [*map('"{}"'.format, self.example), example]))
        with_call(call, float(gives))(function)
        with_options({**self.options, "beta": _BETA})(function)
        vars(function)["__signature__"] = asked.replace(parameters=parameters)
        spec = {x: getattr(measure, x) for x in ("direction", "range", "optimum", "symmetric")}
        return metric(long_name=long_name or f"{label} {measure.long_name}", **{**spec, **self.spec})(function)

    def _document(self, measure: Measure, label: str, note: str) -> str:
        """Write the prose of a metric's docstring; `Metric` adds what follows from the spec."""
        words = {"label": label, "positives": self.positives, "negatives": self.negatives}
        undefined = f"; 0/0 {measure.undefined}" if measure.undefined else ""
        formula = f"{measure.formula}{undefined}.".format(**words) if measure.formula else ""
        prose = " ".join(filter(None, [formula, self.convention, note]))
        return "\n".join([measure.summary.format(**words), "", *textwrap.wrap(prose, 112)])
