"""Records of engines, lazy tables and cubes of dask, and files: the same bits whatever does the work."""

import tempfile
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd
import xarray as xr

import causaleval_pd as ce
import causaleval_pd.dask

from . import formulas, networks, reasoners
from .graphs import runs
from .store import add, record

METRICS = ["shd", "adjacency_f1", "orientation_precision", "sid_upper"]
HOW: dict[str, Any] = {"n_draws": 40, "rng": 7, "key": "run"}
ENGINES: dict[str, dict[str, Any]] = {
    "serial": {"engine": "serial"},
    "threads": {"engine": "threads", "n_jobs": 2},
    "dask": {"engine": "dask", "n_jobs": 2},
    "default": {},
}


def rows() -> pd.DataFrame:
    return runs().drop(columns="seconds")


def evaluate(engine: str) -> pd.DataFrame:
    with ce.set_options(**ENGINES[engine]):
        return rows().ceval.evaluate(METRICS)


def with_controls(engine: str, **settings: Any) -> pd.DataFrame:
    with ce.set_options(**ENGINES[engine]):
        return rows().ceval.with_controls(METRICS, **HOW, **settings, columns="full")


def cube(engine: str, **settings: Any) -> xr.Dataset:
    with ce.set_options(**ENGINES[engine]):
        return rows().ceval.cube(METRICS, by=["algorithm", "density"], **HOW, **settings)


def other_field(engine: str) -> dict[str, Any]:
    with ce.set_options(**ENGINES[engine]):
        return other_fields(n_draws=20, rng=7)


def other_fields(**how: Any) -> dict[str, Any]:
    network = (
        networks.discrete_table()
        .tail(5)
        .ceval.with_controls(["ckl3"], method="simulate", key="run", context=networks.JOINT, **how, columns="full")
    )
    formula = formulas.drawn().ceval.with_controls(
        ["correctness"], context={"domains": formulas.FACTORS}, **how, columns="full"
    )
    counts = reasoners.quantities().head(30)
    answer = counts.ceval.with_controls(["rae"], context=ce.reasoning.COUNTS, method="simulate", **how, columns="full")
    return {
        "network": networks.numbers(network),
        "formula": formula,
        "quantity": answer[[x for x in answer.columns if x not in counts.columns]],
    }


for _engine in ENGINES:
    add(f"engine/{_engine}/evaluate", evaluate, _engine)
    add(f"engine/{_engine}/with_controls", with_controls, _engine, method="simulate")
    add(f"engine/{_engine}/cube", cube, _engine)
    add(f"engine/{_engine}/fields", other_field, _engine)


def lazy(npartitions: int = 3) -> dd.DataFrame:
    return dd.from_pandas(rows(), npartitions=npartitions)


def computed(value: Any) -> Any:
    with dask.config.set(scheduler="threads", num_workers=2):
        return value.compute()


BY: list[Any] = ["algorithm", {"density": [0, 0.3, 0.5, 1]}]


@record("dask/evaluate")
def lazy_evaluate() -> pd.DataFrame:
    return computed(lazy().ceval.evaluate(METRICS))


@record("dask/with_controls")
def lazy_controls() -> pd.DataFrame:
    return computed(lazy().ceval.with_controls(METRICS, **HOW, columns="full"))


@record("dask/with_controls/options")
def lazy_options() -> pd.DataFrame:
    how: dict[str, Any] = {"null": "permutation", "control_kind": "kind", "method": "simulate"}
    return computed(causaleval_pd.dask.with_controls(lazy(4), ["shd"], **HOW, **how, columns="full"))


@record("dask/summary")
def lazy_summary() -> pd.DataFrame:
    return lazy().ceval.cube(METRICS, by=BY, **HOW).ceval.summary(columns="full")


@record("dask/summary/mean_ci")
def lazy_intervals() -> pd.DataFrame:
    return lazy().ceval.cube(METRICS, by=["algorithm"], **HOW).ceval.summary(interval="mean_ci", columns="full")


@record("dask/summary/nulls")
def lazy_nulls() -> pd.DataFrame:
    cube = lazy().ceval.cube(["shd"], by=["n_nodes", "algorithm"], null=["edges", "degree"], **HOW)
    return cube.ceval.summary(columns="full")


@record("dask/compare")
def lazy_compare() -> pd.DataFrame:
    by = ["algorithm", "density"]
    return lazy().ceval.cube(METRICS, by=by, **HOW).ceval.compare("algorithm", by="all", on="excess", columns="full")


@record("dask/compare/pooled")
def lazy_pooled() -> pd.DataFrame:
    return lazy().ceval.cube(METRICS, by=["algorithm", "density"], **HOW).ceval.compare("algorithm", columns="full")


def lazy_cube(**settings: Any) -> Any:
    found = lazy().ceval.cube(METRICS[:3], **({"by": BY} | HOW | settings))
    verbs = [
        found.ceval.summary(columns="full"),
        found.ceval.summary(columns="full"),
        found.ceval.compare("algorithm", by="all", columns="full"),
    ]
    return computed(found), *verbs


add("dask/cube", lazy_cube)
add("dask/cube/nulls", lazy_cube, null=["edges", "degree"])


@record("dask/cube/no_controls")
def lazy_scores() -> xr.Dataset:
    how = {"n_draws": None, "key": "run", "rng": 7}
    return computed(lazy().ceval.cube(METRICS[:2], by=["algorithm", "density"], values=["run"], **how))


@record("files/to_parquet")
def parquet() -> pd.DataFrame:
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="threads", num_workers=2):
        path = lazy().ceval.with_controls(["shd"], **HOW, columns="full").ceval.to_parquet(Path(folder) / "scored")
        return pd.read_parquet(path, dtype_backend="pyarrow").astype({"algorithm": "str", "kind": "str"})


@record("files/to_zarr")
def zarr() -> Any:
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="threads", num_workers=2):
        made = lazy().ceval.cube(METRICS[:2], by=["algorithm", "density"], **HOW)
        back = xr.open_zarr(made.ceval.to_zarr(Path(folder) / "cube.zarr"))
        return back.load(), ce.summary(back, columns="full")


@record("files/to_zarr/chunks")
def zarr_of_memory() -> Any:
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="threads", num_workers=2):
        made = cube("serial").chunk(algorithm=1)
        return xr.open_zarr(made.ceval.to_zarr(Path(folder) / "cube.zarr")).load()


@record("files/netcdf")
def netcdf() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        cube("serial").to_netcdf(Path(folder) / "cube.nc")
        with xr.open_dataset(Path(folder) / "cube.nc") as back:
            return back.load(), ce.summary(back, columns="full")
