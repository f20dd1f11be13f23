"""Records of cubes and of the verbs on them."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import causaleval_pd as ce

from .graphs import runs, some_graph
from .store import add, record

METRICS = ["shd", "adjacency_f1", "orientation_precision"]


def cube(metrics: Any = None, **settings: Any) -> xr.Dataset:
    how = {"by": ["algorithm", "density"], "n_draws": 40, "rng": 7, "key": "run"} | settings
    return runs().ceval.cube(metrics or METRICS, **how)


@cache
def kept() -> xr.Dataset:
    return cube(values=["seconds", "run"])


@cache
def nulls() -> xr.Dataset:
    null = ["edges", ce.null_model("orientation", orientation_law="uniform"), "oracle_skeleton"]
    return cube(["shd", "adjacency_f1"], null=null)


@cache
def larger() -> xr.Dataset:
    """Return a cube of more runs, with a metric that is 0 or 1."""
    rows = ce.datasets.runs().query("n != 1600 and replicate < 12").reset_index(drop=True)
    rows["block"] = rows["replicate"] // 3
    return rows.ceval.cube(METRICS, by=["algorithm", "density", "n"], n_draws=60, rng=3, values=["seconds", "block"])


OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "no_controls": {"n_draws": None, "values": ["run", "seconds"]},
    "edges_of_strata": {"by": ["algorithm", {"density": [0, 0.3, 0.5, 1]}]},
    "metric_strata": {"by": ["algorithm", {"true_density": [0, 0.3, 1]}]},
    "one_stratum": {"by": []},
    "replicate": {"replicate": "replicate"},
    "null/several": {"null": ["edges", "permutation", "empty"]},
    "null/function": {"null": some_graph, "n_draws": 5, "metrics": ["shd"]},
    "control_kind": {"control_kind": "kind"},
    "permute": {"null": ce.null_model("edges", permute=False)},
    "default_metrics": {"metrics": None},
}
for _name, _settings in OPTIONS.items():
    add(f"cube/{_name}", cube, **_settings)


@record("cube/zero_division")
def zero_division() -> xr.Dataset:
    with ce.set_options(zero_division=0.0):
        return cube()


@record("cube/values")
def with_values() -> xr.Dataset:
    return kept()


@record("cube/several_nulls")
def several() -> Any:
    return nulls(), nulls().ceval.summary(columns="full"), nulls().ceval.summary(columns="full")


CUBES = {"kept": kept, "nulls": nulls, "larger": larger}


def verb(which: str, name: str, *arguments: Any, **settings: Any) -> Any:
    return getattr(CUBES[which]().ceval, name)(*arguments, **settings)


for _which in ("kept", "larger"):
    add(f"summary/{_which}", verb, _which, "summary", columns="full")
    add(f"summary/{_which}/mean_ci", verb, _which, "summary", interval="mean_ci", level=0.9, columns="full")
    for _adjust in ("holm", "bh", "by", "bonferroni", "none"):
        add(f"summary/{_which}/{_adjust}", verb, _which, "summary", adjust=_adjust, columns="full")
    add(f"rank_test/{_which}", verb, _which, "rank_test", "algorithm", by="all", adjust="holm")
add("summary/worst", verb, "kept", "summary", missing="worst", columns="full")
add("summary/pooled", verb, "larger", "summary", by=["algorithm"], columns="full")
add("summary/short", verb, "larger", "summary")
add("runs", verb, "larger", "runs")
add("rank_test/worst", verb, "kept", "rank_test", "algorithm", by="all", missing="worst", level=0.9)

COMPARE: dict[str, dict[str, Any]] = {
    **{f"adjust/{x}": {"adjust": x} for x in ("holm", "bh", "by", "bonferroni", "none", None)},
    "test/t": {"test": "t"},
    "reference": {"reference": "pc"},
    "unpaired": {"test": "welch_t"},
    "worst": {"missing": "worst"},
    "less": {"alternative": "less"},
    "greater": {"alternative": "greater", "test": "t"},
    "equivalent": {
        "alternative": "equivalent",
        "margin": {"shd": 2.0, "adjacency_f1": 0.1, "orientation_precision": 0.2},
    },
    "excess": {"on": "excess"},
}
#: every stratum by itself
STRATA: dict[str, Any] = {"by": "all", "test": "wilcoxon"}
for _name, _settings in COMPARE.items():
    add(f"compare/{_name}", verb, "larger", "compare", "algorithm", **STRATA | _settings, columns="full")
add("compare/failed_runs", verb, "kept", "compare", "algorithm", by="all", columns="full")
add(
    "compare/failed_runs/worst",
    verb,
    "kept",
    "compare",
    "algorithm",
    missing="worst",
    on="excess",
    by="all",
    columns="full",
)
add("compare/other_dimension", verb, "larger", "compare", "density", **STRATA | {"test": "welch_t"}, columns="full")
add("compare/nulls", verb, "nulls", "compare", "algorithm", on="excess", by="all", columns="full")
for _on in ("metric", "excess", "skill"):
    add(f"compare/pooled/{_on}", verb, "larger", "compare", "algorithm", on=_on, columns="full")
add("compare/pooled/one_kept", verb, "larger", "compare", "algorithm", by="density", missing="worst", columns="full")
add("compare/pooled/unpaired", verb, "larger", "compare", "density", test="welch_t", columns="full")
add("compare/max_t/strata", verb, "larger", "compare", "algorithm", by="all", test="max_t", columns="full")


@record("compare/mcnemar")
def mcnemar() -> pd.DataFrame:
    yes = pd.DataFrame({"truth": [True, False] * 12, "estimate": [True, False, True, True, False, False] * 4})
    rows = yes.assign(model=["x"] * 12 + ["y"] * 12, question=[*range(12)] * 2)
    rows.loc[12:, "estimate"] = np.random.default_rng(8).permutation(yes["estimate"].to_numpy()[12:])
    cube = rows.ceval.cube(["answer_accuracy"], by=["model"], replicate="question", n_draws=None)
    return cube.ceval.compare("model", test="mcnemar", columns="full")
