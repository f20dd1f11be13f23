"""Records of the field of networks: divergences, fits, samples, random DAGs as controls."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd import causal_kl as ck

from .graphs import random_dags
from .store import add, record

DISCRETE = [
    "edit_distance", "kl", "ckl", "ckl1", "ckl2", "ckl3", "wed_3", "wed_d", "pattern_edit_distance", "zero_mass",
    "undefined_mass",
]  # fmt: skip
GAUSSIAN = ["edit_distance", "kl", "ckl1", "ckl2", "ckl3", "wed_3", "wed_p", "pattern_edit_distance"]
#: controls with parameters from the true joint law
JOINT = {"estimator": "joint"}
NULLS = ("dags", "edges", "permutation", "orientation", "oracle_skeleton")


def parts(network: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": network.kind, "nodes": list(network.nodes)}
    names = ("parents", "cpts", "states") if network.kind == "discrete" else ("coefficients", "variances", "intercepts")
    for name in names:
        values = getattr(network, name)
        found[name] = {
            key: np.asarray(values[key]) if name != "parents" else list(values[key]) for key in sorted(values)
        }
    return found


@cache
def cases(n: int = 200) -> pd.DataFrame:
    return ck.sample(ck.metastatic(), n, rng=3)


@cache
def gaussian() -> ce.GaussianNetwork:
    parents = {"A": [], "B": ["A"], "C": ["A", "B"], "D": ["C"], "E": ["B", "D"]}
    coefficients = {"A": [], "B": [0.6], "C": [0.5, -0.4], "D": [1.2], "E": [0.3, 0.7]}
    variances = {"A": 1.0, "B": 0.64, "C": 0.5, "D": 0.8, "E": 1.5}
    return ce.GaussianNetwork(parents, coefficients, variances, {"A": 1.0, "B": 0.0, "C": -0.5, "D": 0.25, "E": 0.0})


@cache
def discrete_table() -> pd.DataFrame:
    """Return the metastatic network and its mutations, fitted networks, and a failed run."""
    found = dict(ck.metastatic_mutations())
    for i, text in enumerate(random_dags(4, 9, tuple(ck.metastatic().nodes))):
        found[f"fitted{i}"] = ck.from_data(text, cases(), 0.5)
    found["mle"] = ck.from_data(random_dags(1, 2, tuple(ck.metastatic().nodes))[0], cases(30), "mle")
    found["failed"] = None
    return pd.DataFrame({"run": list(found), "truth": [ck.metastatic()] * len(found), "estimate": list(found.values())})


@cache
def gaussian_table() -> pd.DataFrame:
    """Return a linear-Gaussian truth and fits of random DAGs."""
    data = ck.sample(gaussian(), 100, rng=4)
    found = [ck.from_data(text, data) for text in random_dags(6, 7, tuple("ABCDE"), 8)]
    return pd.DataFrame({"run": range(6), "truth": [gaussian()] * 6, "estimate": found})


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """Leave the cells out: a packed network is a hash of its floats."""
    return table.drop(columns=["truth", "estimate"])


@record("network/evaluate/discrete")
def discrete() -> pd.DataFrame:
    return numbers(discrete_table().ceval.evaluate([*DISCRETE, "shd", "adjacency_f1", "sid"]))


@record("network/evaluate/gaussian")
def gaussians() -> pd.DataFrame:
    return numbers(gaussian_table().ceval.evaluate([*GAUSSIAN, "shd", "v_structure_f1"]))


@record("network/evaluate/options")
def options() -> pd.DataFrame:
    metrics = [
        *(ce.tweak(x, scaled=False, name=f"{x}_whole") for x in ("ckl1", "ckl2", "ckl3")),
        *(ce.tweak("zero_mass", of=x, name=f"zero_{x}") for x in ("kl", "ckl1", "ckl2")),
        *(ce.tweak("undefined_mass", of=x, name=f"undefined_{x}") for x in ("kl", "ckl1", "ckl2")),
        ce.tweak("pattern_edit_distance", undirected_cost=1.0, name="pattern"),
    ]
    return numbers(discrete_table().ceval.evaluate(metrics))


def with_controls(which: str, metrics: list[str], rows: int = 6, **settings: Any) -> pd.DataFrame:
    table = {"discrete": discrete_table, "gaussian": gaussian_table}[which]().tail(rows)
    return numbers(
        table.ceval.with_controls(
            metrics, **({"n_draws": 40, "rng": 7, "key": "run", "context": JOINT} | settings), columns="full"
        )
    )


for _null in NULLS:
    # metrics of graphs have no null model of this name
    _of_graphs = [] if _null == "dags" else ["shd"], [] if _null == "dags" else ["sid"]
    for _method in ("auto", "simulate"):
        add(
            f"network/null/{_null}/{_method}",
            with_controls,
            "discrete",
            ["kl", "ckl3", *_of_graphs[0]],
            null=_null,
            method=_method,
        )
    _metrics = ["kl", "ckl1", "wed_p", *_of_graphs[1]]
    add(f"network/null/{_null}/gaussian", with_controls, "gaussian", _metrics, null=_null, rows=3)
add("network/with_controls/every_metric", with_controls, "discrete", [*DISCRETE[:9]], rows=4)
add("network/with_controls/every_metric/gaussian", with_controls, "gaussian", GAUSSIAN, rows=1, n_draws=5)


@record("network/context")
def context() -> dict[str, pd.DataFrame]:
    data = {name: cases(60 + 10 * i) for i, name in enumerate(discrete_table()["run"])}
    estimators = {"half": {"estimator": 0.5}, "uniform": {"estimator": "uniform rows"}}
    return {
        name: with_controls("discrete", ["kl", "ckl3"], 3, context={"data": ("run", data), **how}, n_draws=20)
        for name, how in estimators.items()
    }


def some_dag(estimate: Any, rng: np.random.Generator) -> str:
    return random_dags(1, int(rng.integers(2**31)), tuple(estimate.nodes), 6)[0]


@record("network/null/function")
def custom() -> pd.DataFrame:
    return with_controls("discrete", ["kl", "ckl3"], 3, null=ce.null_model(some_dag, name="mine"), n_draws=10)


def cube_of(which: str, metrics: list[str], **settings: Any) -> Any:
    table = {"discrete": discrete_table, "gaussian": gaussian_table}[which]()
    rows = table.assign(half=["a", "b"] * (len(table) // 2) + ["a"] * (len(table) % 2))
    cube = rows.ceval.cube(metrics, by=["half"], n_draws=30, rng=5, context=JOINT, **settings)
    return cube, cube.ceval.summary(columns="full"), cube.ceval.summary(adjust="by", columns="full")


add("network/cube/discrete", cube_of, "discrete", ["ckl3", "shd"])
add("network/cube/draws", cube_of, "gaussian", ["kl", "edit_distance"])
add("network/cube/nulls", cube_of, "discrete", ["ckl3"], null=["dags", "orientation", "oracle_skeleton"])


@record("network/large")
def large() -> pd.DataFrame:
    nodes = tuple(f"N{i}" for i in range(8))
    truth = ck.from_data(random_dags(1, 1, nodes, 9)[0], binary(nodes), 0.5)
    estimates = [ck.from_data(x, binary(nodes), 0.5) for x in random_dags(3, 5, nodes, 9)]
    table = pd.DataFrame({"truth": [truth] * 3, "estimate": estimates})
    return numbers(
        table.ceval.with_controls(["kl", "ckl1", "ckl2", "ckl3"], n_draws=15, rng=2, context=JOINT, columns="full")
    )


@cache
def binary(nodes: tuple[str, ...]) -> pd.DataFrame:
    values = np.random.default_rng(6).integers(0, 2, (80, len(nodes)))
    return pd.DataFrame(values | np.roll(values, 1, axis=1), columns=list(nodes))


@record("causal_kl/fitting")
def fitting() -> dict[str, Any]:
    text = "S -> M; M -> B; S -> C; B -> C"
    found = {str(x): parts(ck.from_data(text, cases(), x)) for x in ("mle", "uniform rows", 0.5, 2.0)}
    found["few"] = parts(ck.from_data(text, cases(3), "mle"))
    for rule in ("nan", "uniform"):
        found[rule] = parts(ck.from_joint(text, ck.metastatic(coma_given_serum=1.0), undefined=rule))
    found["gaussian"] = parts(ck.from_data("B -> A; C -> A; D -> E", ck.sample(gaussian(), 50, rng=1)))
    found["gaussian joint"] = parts(ck.from_joint("B -> A; C -> A; D -> E; E -> B", gaussian()))
    return found


@record("causal_kl/sample")
def samples() -> dict[str, Any]:
    return {"discrete": cases(), "gaussian": ck.sample(gaussian(), 100, rng=4)}


@record("causal_kl/metastatic")
def metastatic() -> dict[str, Any]:
    found = {"truth": parts(ck.metastatic(coma_given_serum=0.7, coma_given_tumour=0.6))}
    return found | {name: parts(x) for name, x in ck.metastatic_mutations().items()}


@record("causal_kl/base")
def bits() -> dict[str, float]:
    other = ck.metastatic_mutations()["rev.out.strong"]
    names = ("kl", "ckl", "ckl1", "ckl2", "ckl3", "wed_3", "wed_d")
    return {name: float(getattr(ce, name)(ck.metastatic(), other, base=2)) for name in names}


@record("network_column")
def columns() -> dict[str, Any]:
    column = ce.network_column(discrete_table()["estimate"])
    again = ce.as_network(column.iloc[0])
    printed = ce.as_network(
        {"A": {"parents": [], "prob": [0.3, 0.7]}, "B": {"parents": ["A"], "prob": [[0.9, 0.2], [0.1, 0.8]]}}
    )
    return {
        "missing": column.isna(),
        "first": parts(again),
        "mapping": parts(printed),
        "repr": [repr(again), repr(gaussian())],
    }


@record("network_column/bytes")
def packed() -> list[bytes]:
    simple = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.25, 0.75], "B": [[0.5, 0.5], [0.125, 0.875]]})
    return [simple.to_bytes(), gaussian().to_bytes(), ck.metastatic().to_bytes()]
