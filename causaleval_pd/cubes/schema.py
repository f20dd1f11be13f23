"""The variables and attributes of a cube and the columns of the tables made of it, each declared once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

#: status of a cell of strata x replicates
NO_RUN, SCORED, FAILED = 0, 1, 2

#: dimensions of every cube, which no stratum may be called
RESERVED = ("replicate", "draw", "bin", "null")

#: how the pieces of a variable that the partitions of a lazy cube hold are merged: each run is placed in its cell,
#: sums of a stratum are added, value tables of a stratum (values with their weights) are joined, a number that is
#: the same in all pieces of a stratum is taken from any, and one that rests on all runs of a stratum from the piece
#: that has them all
Merge = Literal["place", "sum", "value_table", "same", "whole"]


@dataclass(frozen=True)
class Variable:
    """One variable of a cube."""

    #: its name; of a variable that every metric has, what follows the metric's name and an underscore, "" for the
    #: metric itself
    part: str
    #: its dimensions besides the strata, `"replicate"`, `"draw"` or `"bin"`. Dimensions that a metric declares follow
    #: `replicate`; a variable of controls has a leading dimension `null` where the cube has several null models.
    over: tuple[str, ...]
    #: type of its values
    dtype: str
    #: value of a cell without a run, and of the padding of value tables
    fill: float
    #: {"metric", "control", "value", "status", "identity", "count", "settings", "choice"}: what it holds, also in its
    #: attribute `role`
    role: str
    #: its label; `{}` stands for the metric's
    long_name: str = ""
    #: how pieces of it are merged
    merge: Merge = "place"
    #: further attributes
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def name(self, metric: str = "") -> str:
        """Return the name of the variable, of a metric or of the cube itself."""
        return "_".join(word for word in (metric, self.part) if word)

    def dims(self, metric: str = "", own: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the dimensions after the strata, in their order; `own` are those that the metric declares."""
        last = [f"{metric}_bin" if dim == "bin" else dim for dim in self.over if dim != "replicate"]
        return (*(["replicate"] if "replicate" in self.over else []), *own, *last)

    def describe(self, label: str = "", metric: str = "") -> dict[str, Any]:
        """Return the attributes of the variable; `metric` and `part` find it once a user has renamed it."""
        long_name = {"long_name": self.long_name.format(label)} if self.long_name else {}
        of_metric = metric and self.role != "value"
        origin = {"metric": metric, "part": self.part or "metric"} if of_metric else {}
        return {**long_name, "role": self.role, **origin, **self.attrs}


def _row(part: str, long_name: str) -> Variable:
    return Variable(part, ("replicate",), "float64", np.nan, "control", long_name)


#: variables that every cube has. Verbs count runs by `status`, also in a cube that was cut, put together or reindexed;
#: `n_runs` is what the cube was made of, against which sums of controls over a stratum are checked.
CUBE_VARIABLES = {
    "status": Variable(
        "status",
        ("replicate",),
        "int8",
        NO_RUN,
        "status",
        "state of the run",
        attrs={"flag_values": [NO_RUN, SCORED, FAILED], "flag_meanings": "no_run scored failed"},
    ),
    "truth_id": Variable("truth_id", ("replicate",), "int64", 0, "identity", "identity of the truth of the run"),
    "cluster_id": Variable("cluster_id", ("replicate",), "int64", 0, "identity", "identity of the cluster of the run"),
    "n_candidates": Variable("n_candidates", ("replicate",), "int64", 0, "choice", "number of candidates of the run"),
    "n_runs": Variable("n_runs", (), "int64", 0, "count", "number of runs that the cube was made of", "sum"),
}

#: a column of the table that the cube carries along; it has no optimum and no range
CARRIED = Variable(
    "",
    ("replicate",),
    "float64",
    np.nan,
    "value",
    "{}",
    attrs={"direction": "none", "valid_range": [-np.inf, np.inf], "optimum": np.nan},
)

METRIC = Variable("", ("replicate",), "float64", np.nan, "metric", "{}")

#: what verbs check a metric of a reshaped cube by
CHECK_VARIABLES = {
    "defined": Variable(
        "defined", ("replicate",), "int16", 0, "status", "number that depends on the value of {}, 0 where it has none"
    ),
    "settings": Variable(
        "settings", (), "int64", 0, "settings", "number of the settings that {} was made with", "same"
    ),
}

#: row summaries of the controls of each metric, by their names in `RowControls`
ROW_VARIABLES = {
    "mean": _row("control_mean", "mean of {}, controls"),
    "mean_se": _row("control_mean_se", "Monte Carlo standard error of the mean of {}, controls"),
    "low": _row("control_low", "lower limit of {}, controls"),
    "high": _row("control_high", "upper limit of {}, controls"),
    "loss": _row("control_loss", "mean distance of {} from its optimum, controls"),
    "p": _row("p", "p-value of {} against controls"),
    "p_se": _row("p_se", "Monte Carlo standard error of the p-value of {}"),
    "as_good": _row("as_good", "share of controls at least as good in {}"),
    "better": _row("better", "share of controls strictly better in {}"),
}

#: draws of the controls of each metric: all of them, or their sums and value tables by stratum
DRAW_VARIABLES = {
    v.part: v
    for v in (
        Variable("control", ("replicate", "draw"), "float64", np.nan, "control", "{}, controls"),
        Variable(
            "relabelled", ("replicate", "draw"), "float64", np.nan, "relabelled", "{}, estimates relabelled by cluster"
        ),
        Variable(
            "relabelled_defined",
            ("replicate",),
            "int64",
            -1,
            "relabelled",
            "number of relabelled estimates whose {} is defined, -1 for runs that were not relabelled",
        ),
        Variable("control_defined", ("replicate",), "int64", 0, "control", "number of controls whose {} is defined"),
        Variable("control_sum", ("draw",), "float64", 0, "control", "{}, controls", "sum"),
        Variable("control_count", ("draw",), "int64", 0, "control", "{}, controls", "sum"),
        Variable("control_value", ("bin",), "float64", np.nan, "control", "{}, controls", "value_table"),
        Variable("control_weight", ("bin",), "float64", 0, "control", "{}, controls", "value_table"),
        *(
            Variable(part, over, dtype, 0, "control", long_name, "sum")
            for part, over, dtype, long_name in (
                ("tested_sum", ("draw",), "float64", "{}, controls that the test of a stratum rests on"),
                ("tested_count", ("draw",), "int64", "number of {}, controls that the test of a stratum rests on"),
                ("tested_mean", ("draw",), "float64", "sum of {} less its mean over draws, controls"),
                ("tested_rank", ("draw",), "float64", "sum of ranks of {} over clusters, controls"),
                ("mean", (), "float64", "sum of {} less its mean over draws"),
                ("rank", (), "float64", "sum of ranks of {} over clusters"),
                ("runs_tested", (), "int64", "number of runs in the sums of {}"),
                ("no_information", (), "int64", "number of runs in the sums of {} whose controls all equal them"),
                (
                    "outside_draws",
                    (),
                    "int64",
                    "number of runs in the sums of {} unlike their controls, which are equal",
                ),
            )
        ),
    )
}

#: level of the candidate that counts, where a cube was made with `best_of`
CHOSEN = Variable("chosen", ("replicate",), "float64", np.nan, "choice", "number of the chosen level, by {}")

#: methods of p-values by random combinations of the clusters' draws, and of those that no combination reached
COMBINED, COMBINED_AT_FLOOR = "combinations of draws", "combinations of draws at the floor"
#: how the p-value of a stratum was found, by its number in `tail_method`; 0 means by its draws
TAIL_METHODS = (
    *("simulated", "exact convolution", "splitting", "splitting to a bound"),
    *(COMBINED, COMBINED_AT_FLOOR),
)
#: those of p-values that more draws, or further levels, would make smaller
FLOOR_METHODS = ("splitting to a bound", COMBINED_AT_FLOOR)
#: statistics of a stratum that may have p-values which do not rest on draws
TAIL_STATISTICS: tuple[Literal["mean", "rank"], ...] = ("mean", "rank")
#: those whose law follows from the laws of the runs
LAW_STATISTICS: tuple[Literal["mean"], ...] = ("mean",)


def _tail(statistic: str) -> list[Variable]:
    """Declare the p-value of a statistic of the stratum, its limits, and how it was found."""
    words = {"p": "p-value", "p_low": "lower limit of the p-value", "p_high": "upper limit of the p-value"}
    numbers = [
        Variable(f"{statistic}_{part}", (), "float64", np.nan, "control", f"{label} of the {statistic} {{}}", "whole")
        for part, label in words.items()
    ]
    flags = {
        "flag_values": list(range(len(TAIL_METHODS))),
        "flag_meanings": " ".join(x.replace(" ", "_") for x in TAIL_METHODS),
    }
    label = f"how the p-value of the {statistic} {{}} was found"
    return [*numbers, Variable(f"{statistic}_p_method", (), "int8", 0, "control", label, "whole", flags)]


#: p-values of strata that do not rest on draws; a metric has them where one of its strata has
TAIL_VARIABLES = {v.part: v for statistic in TAIL_STATISTICS for v in _tail(statistic)}

#: variables that each metric may have, by part
METRIC_VARIABLES = {
    v.part: v
    for group in ({"": METRIC, "chosen": CHOSEN}, CHECK_VARIABLES, ROW_VARIABLES, DRAW_VARIABLES, TAIL_VARIABLES)
    for v in group.values()
}

#: attributes of a cube
ATTRIBUTES = {
    "strata": "JSON list of the strata, in the order of the dimensions",
    "metrics": "JSON list of the metrics",
    "field": "field of the cells",
    "n_draws": "controls a row, 0 without controls",
    "draws_kept": "1 if the cube holds every draw",
    "draws_shared": "1 if rows met the same controls",
    "zero_division": "value of 0/0",
    "context": "JSON mapping of extra inputs to a description",
    "causaleval_pd_version": "version that made the cube",
    "causaleval_pd_history": "JSON list of the calls that made the cube: settings, seed, null models, versions",
    "control_cluster": "what runs that depend on each other share: truth, none, or column and its name",
    "control_relabelled": "JSON list of the null models whose tests of strata may relabel estimates by cluster",
    "control_combined": "JSON list of the null models whose draws tests combine, as those of clusters are independent",
    "control_null": "null models; on each metric its own, on the cube where all metrics have the same",
    "control_kind": "classes of the controls",
    "control_reference": "JSON list of the null models that are points of reference, without p-values",
    "control_composites": "JSON mapping of the null models to their members, where one is composite",
    "best_of": "JSON mapping of the column whose best level counts, and its levels by number",
    "control_seed": "seed of the draws",
    "control_level": "probability of the rows' reference intervals",
}

#: attributes of a cube and of a metric on which its values depend; cubes that are put together agree in them
SETTINGS = (
    *("field", "zero_division", "context"),
    *("n_draws", "draws_shared", "control_seed", "control_level", "control_cluster"),
)
METRIC_SETTINGS = ("direction", "valid_range", "optimum", "options", "control_null")


def settings_number(cube: Mapping[Any, Any], metric: Mapping[Any, Any]) -> int:
    """Return a number that stands for the settings of a metric, from the attributes of its cube and its own.

    It has 52 bits, so that it stays exact where xarray turns integers into floats to mark missing cells.
    """
    settings = [cube.get(name) for name in SETTINGS] + [metric.get(name) for name in METRIC_SETTINGS]
    words = json.dumps([np.asarray(x).tolist() for x in settings])
    return (int.from_bytes(hashlib.blake2b(words.encode(), digest_size=8).digest(), "little") >> 12) + 1


def check_numbers(values: NDArray[np.float64]) -> NDArray[np.int16]:
    """Return a number from 1 to 32,767 that depends on each value, 0 where it is missing.

    It stays exact where xarray turns integers into 32-bit floats.

    Examples
    --------
    >>> check_numbers(np.array([3.0, 3.0, np.nan])).tolist()
    [26449, 26449, 0]
    """
    values = np.asarray(values, np.float64) + 0.0  # -0.0 equals 0.0
    words = values.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return np.where(np.isnan(values), 0, 1 + (words >> np.uint64(32)) % np.uint64(32_767)).astype(np.int16)


def variable_name(metric: str, part: str = "") -> str:
    """Return the name of a metric's variable.

    Examples
    --------
    >>> variable_name("shd"), variable_name("shd", "control_mean")
    ('shd', 'shd_control_mean')
    """
    return METRIC_VARIABLES[part].name(metric)


def metrics_of(cube: xr.Dataset) -> list[str]:
    """Return the metrics that the cube was made with."""
    return list(json.loads(cube.attrs["metrics"]))


def values_of(cube: xr.Dataset) -> list[str]:
    """Return the columns that the cube carries along."""
    # `variables` makes no DataArray of each: every verb asks this often
    return [str(name) for name in cube.data_vars if cube.variables[name].attrs.get("role") == "value"]


def declared(cube: xr.Dataset) -> dict[Hashable, Variable]:
    """Return the declaration of every variable of a cube."""
    known = dict(CUBE_VARIABLES)
    known |= {v.name(metric): v for metric in metrics_of(cube) for v in METRIC_VARIABLES.values()}
    return {name: known.get(str(name), CARRIED) for name in cube.data_vars}


def value_tables(cube: xr.Dataset) -> dict[str, str]:
    """Return the variables that hold the values of value tables, each with the one that holds their weights."""
    values, weights = DRAW_VARIABLES["control_value"], DRAW_VARIABLES["control_weight"]
    return {values.name(metric): weights.name(metric) for metric in metrics_of(cube)}


_RESULT_COLUMNS: dict[str, tuple[str, ...]] = {}


def declare_columns(verb: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Register the columns of the table that a verb makes of a cube, besides the strata, and return them."""
    _RESULT_COLUMNS[verb] = tuple(columns)
    return _RESULT_COLUMNS[verb]


def result_columns() -> frozenset[str]:
    """Return the columns of all tables made of a cube; a stratum of such a name would be overwritten there."""
    return frozenset(name for columns in _RESULT_COLUMNS.values() for name in columns)
