"""The variables and attributes of a cube and the columns of the tables made of it, each declared once."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

#: status of a cell of strata x replicates
NO_RUN, SCORED, FAILED = 0, 1, 2

#: dimensions of cubes, and the first column of their tables, which no stratum may be called
RESERVED = ("metric", "replicate", "draw", "null")


@dataclass(frozen=True)
class Variable:
    """One variable of a cube."""

    #: its name; of a variable that every metric has, what follows the metric's name and an underscore, "" for the
    #: metric itself
    part: str
    #: type of its values
    dtype: str
    #: value of a cell without a run
    fill: float | str
    #: {"metric", "control", "relabelled", "value", "status", "identity", "choice"}: what it holds, also in its
    #: attribute `role`
    role: str
    #: its label; `{}` stands for the metric's
    long_name: str = ""
    #: its dimensions besides the strata. Those that a metric declares follow `replicate`; a variable of controls has a
    #: leading dimension `null` where the cube has several null models.
    over: tuple[str, ...] = ("replicate",)
    #: further attributes
    attrs: Mapping[str, Any] = field(default_factory=dict)

    def name(self, metric: str = "") -> str:
        """Return the name of the variable, of a metric or of the cube itself."""
        return "_".join(word for word in (metric, self.part) if word)

    def describe(self, label: str = "", metric: str = "") -> dict[str, Any]:
        """Return the attributes of the variable; `metric` and `part` find it once a user has renamed it."""
        long_name = {"long_name": self.long_name.format(label)} if self.long_name else {}
        of_metric = metric and self.role != "value"
        origin = {"metric": metric, "part": self.part or "metric"} if of_metric else {}
        return {**long_name, "role": self.role, **origin, **self.attrs}


def _row(part: str, long_name: str) -> Variable:
    return Variable(part, "float64", np.nan, "control", long_name)


#: state of each cell: verbs count runs by it, also in a cube that was cut, put together or reindexed
STATUS = Variable(
    "status",
    "int8",
    NO_RUN,
    "status",
    "state of the run",
    attrs={"flag_values": [NO_RUN, SCORED, FAILED], "flag_meanings": "no_run scored failed"},
)

#: what tells runs and their controls apart: coordinates over strata and replicates
IDENTITIES = {
    v.part: v
    for v in (
        Variable("truth_id", "int64", 0, "identity", "identity of the truth of the run"),
        Variable("cluster_id", "int64", 0, "identity", "identity of the cluster of the run"),
        Variable("run_weight", "float64", 0.0, "choice", "weight of the run"),
        Variable("n_candidates", "int64", 0, "choice", "number of candidates of the run"),
        Variable("control_seed", "int64", 0, "identity", "seed of the draws"),
        Variable("control_draws", "int64", 0, "identity", "number of draws"),
        Variable("control_null", "object", "", "identity", "null model of the draws"),
    )
}

#: a column of the table that the cube carries along; it has no optimum and no range
CARRIED = Variable(
    "",
    "float64",
    np.nan,
    "value",
    "{}",
    attrs={"direction": "none", "valid_range": [-np.inf, np.inf], "optimum": np.nan},
)

METRIC = Variable("", "float64", np.nan, "metric", "{}")

#: row summaries of the controls of each metric, by their names in `RowControls`
ROW_VARIABLES = {
    "mean": _row("control_mean", "mean of {}, controls"),
    "mean_se": _row("control_mean_se", "Monte Carlo standard error of the mean of {}, controls"),
    "low": _row("control_low", "lower limit of {}, controls"),
    "high": _row("control_high", "upper limit of {}, controls"),
    "loss": _row("control_loss", "mean distance of {} from its optimum, controls"),
    "p": _row("p", "p-value of {} against controls"),
}

#: draws of the controls of each metric
DRAW_VARIABLES = {
    v.part: v
    for v in (
        Variable("control", "float64", np.nan, "control", "{}, controls", ("replicate", "draw")),
        Variable(
            "relabelled", "float64", np.nan, "relabelled", "{}, estimates relabelled by cluster", ("replicate", "draw")
        ),
    )
}

#: level of the candidate that counts, where a cube was made with `best_of`
CHOSEN = Variable("chosen", "float64", np.nan, "choice", "number of the chosen level, by {}")

#: variables that each metric may have, by part
METRIC_VARIABLES = {
    v.part: v for group in ({"": METRIC, "chosen": CHOSEN}, ROW_VARIABLES, DRAW_VARIABLES) for v in group.values()
}

#: attributes of a cube
ATTRIBUTES = {
    "strata": "JSON list of the strata, in the order of the dimensions",
    "metrics": "JSON list of the metrics",
    "field": "field of the cells",
    "n_draws": "draws per run, 0 without controls",
    "zero_division": "value of 0/0",
    "context": "JSON mapping of extra inputs to a description",
    "causaleval_pd_version": "version that made the cube",
    "causaleval_pd_history": "JSON list of the calls that made the cube: settings, seed, null models, versions",
    "control_cluster": "what runs that depend on each other share: truth, none, or column and its name",
    "control_relabelled": "JSON list of the null models whose tests of strata may relabel estimates by cluster",
    "control_combined": "JSON list of the null models whose draws tests combine, as those of clusters are independent",
    "control_null": "null model, or a JSON list of several; of each metric, and of the cube where all have the same",
    "control_kind": "classes of the controls",
    "control_reference": "JSON list of the null models that are points of reference, without p-values",
    "best_of": "JSON mapping of the column whose best level counts, and its levels by number",
    "control_seed": "seed of the draws",
}

#: attributes of a cube and of a metric on which its values depend; cubes that are put together agree in them
SETTINGS = ("field", "zero_division", "context", "n_draws", "control_cluster")
METRIC_SETTINGS = ("direction", "valid_range", "optimum", "options")


def write_nulls(names: Sequence[str]) -> str:
    """Return the attribute `control_null` of one or several null models."""
    return names[0] if len(names) == 1 else json.dumps(list(names))


def read_nulls(written: str) -> list[str]:
    """Return the null models that an attribute `control_null` names."""
    return list(json.loads(written)) if written.startswith("[") else [written]


def variable_name(metric: str, part: str = "") -> str:
    """Return the name of a metric's variable."""
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
    known = {"status": STATUS}
    known |= {v.name(metric): v for metric in metrics_of(cube) for v in METRIC_VARIABLES.values()}
    return {name: known.get(str(name), CARRIED) for name in cube.data_vars}


_RESULT_COLUMNS: dict[str, tuple[str, ...]] = {}


def declare_columns(verb: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Register the columns of the table that a verb makes of a cube, besides the strata, and return them."""
    _RESULT_COLUMNS[verb] = tuple(columns)
    return _RESULT_COLUMNS[verb]


def result_columns() -> frozenset[str]:
    """Return the columns of all tables made of a cube."""
    return frozenset(name for columns in _RESULT_COLUMNS.values() for name in columns)


def stratum_name(name: str) -> str:
    """Return what verbs and their tables call a stratum: that of the name of one of their own columns gets a suffix."""
    clash = isinstance(name, str) and name not in RESERVED and name in result_columns() | {"status"}
    return f"{name}_stratum" if clash else name


def with_stratum_names(cube: xr.Dataset) -> xr.Dataset:
    """Return a cube whose strata are called as in the tables made of it."""
    words = {dim: stratum_name(str(dim)) for dim in cube.dims}
    renamed = {dim: word for dim, word in words.items() if dim != word}
    if not renamed:
        return cube
    # the variable beside a stratum of its name is called run_status
    run_names = {f"run_{dim}": dim for dim in renamed if f"run_{dim}" in cube.variables}
    strata = [words.get(name, name) for name in json.loads(cube.attrs["strata"])]
    return cube.rename(renamed).rename(run_names).assign_attrs(strata=json.dumps(strata))


def with_own_names(cube: xr.Dataset) -> xr.Dataset:
    """Return a cube whose strata are called as the columns of the table that it was made of."""
    bases = {dim: str(dim).removesuffix("_stratum") for dim in cube.dims}
    renamed = {dim: base for dim, base in bases.items() if dim != base and stratum_name(base) == dim}
    if not renamed:
        return cube
    run_names = {name: f"run_{name}" for name in renamed.values() if name in cube.variables}
    strata = [renamed.get(name, name) for name in json.loads(cube.attrs["strata"])]
    return cube.rename(run_names).rename(renamed).assign_attrs(strata=json.dumps(strata))
