"""Records of the field of formulas: scores, submodels, expositions, fit, simulated data, random models as controls."""

import warnings
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd import configurational as cf
from causaleval_pd.fields.configurational.formula import set_text
from causaleval_pd.fields.configurational.minimisation import minimal_models
from causaleval_pd.fields.configurational.reader import parse_set
from causaleval_pd.fields.configurational.simulation import add_noise, fragment, fuzzify, sample_cases
from causaleval_pd.fields.configurational.truth_table import evaluation_order

from .store import add, record

FACTORS = dict.fromkeys("ABCDEF", (0, 1))
LARGE = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"
PAIRS = [
    (LARGE, "(A*B<->D)*(D+B*C<->G)"), (LARGE, LARGE), (LARGE, "A+B<->D; C<->E; D+E<->G"), (LARGE, "{}"),
    ("A*b+c*D<->E", "A+D<->E; A*B+D<->E"), ("A*b+C<->E", "A*b<->E"), ("(A+B<->C)*(C+D<->E)", "A+D<->E"),
    ("(A+B<->C)*(C+D<->E)", "(A+B<->C)*(a+D<->E)"), ("A+B<->C", "A*B<->C"), ("A+B<->C", "b<->C"),
]  # fmt: skip
ANY_CYCLE = ["fit_consistency", "fit_coverage", "is_submodel", "lcr", "ncr", "submodel_completeness"]
NULLS = ("complexity", "relabel")
SCORES = ["correctness", "completeness", "f_beta", "correctness_literal", "is_submodel"]


def below_thresholds(compute: Callable[[], pd.DataFrame]) -> Callable[[], pd.DataFrame]:
    """Let estimates fall short of the thresholds of their data without a warning."""

    @wraps(compute)
    def quiet() -> pd.DataFrame:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*do not reach con=", UserWarning)
            return compute()

    return quiet


@cache
def table() -> pd.DataFrame:
    """Return truths beside estimates, one of them a failed run."""
    found = pd.DataFrame(PAIRS, columns=["truth", "estimate"])
    found.loc[len(found)] = ["A<->B", None]
    return found.assign(run=[f"r{i}" for i in range(len(found))])


@cache
def drawn() -> pd.DataFrame:
    truth = cf.random_models(12, list("ABCDEF"), disjuncts=2, conjuncts=(1, 2), rng=1)
    estimate = cf.random_models(12, list("ABCDEF"), disjuncts=(1, 2), conjuncts=(1, 2), rng=2)
    found = pd.DataFrame({"truth": truth, "estimate": estimate.to_numpy()})
    return found.assign(run=range(12), n=[20, 80] * 6)


@cache
def data(n: int = 60) -> pd.DataFrame:
    return cf.simulate_data("A*b+C<->D", n, noise=0.1, domains=FACTORS, rng=3)


def names() -> list[str]:
    return list(ce.list_metrics("formula").index)


@record("formula/evaluate")
def evaluate() -> pd.DataFrame:
    return table().ceval.evaluate([x for x in names() if not x.startswith("fit_")])


@record("formula/evaluate/zero_division")
def zero_division() -> pd.DataFrame:
    with ce.set_options(zero_division=0.0):
        return table().ceval.evaluate([x for x in names() if not x.startswith("fit_")])


@record("formula/evaluate/drawn")
@below_thresholds
def evaluate_drawn() -> pd.DataFrame:
    return drawn().ceval.evaluate(names(), context={"data": data(), "domains": FACTORS})


@record("formula/evaluate/context")
@below_thresholds
def context() -> pd.DataFrame:
    how = {"data": data(), "con": 0.75, "cov": 0.75, "max_size": (2, 3, 6), "domains": FACTORS}
    return drawn().ceval.evaluate(["correctness", "completeness", "f_beta"], context=how)


@record("formula/evaluate/data_by_row")
@below_thresholds
def by_row() -> pd.DataFrame:
    given = {"data": ("n", {20: data(20), 80: data(80)})}
    return drawn().ceval.evaluate(["fit_consistency", "fit_coverage", "correctness"], context=given)


@record("formula/evaluate/options")
def options() -> pd.DataFrame:
    conventions = {
        "paper": "paper",
        "strict": cf.Convention(partial_credit=False),
        "uncapped": cf.Convention(size_caps=False),
    }
    metrics = [ce.tweak("correctness", convention=c, name=f"c_{n}") for n, c in conventions.items()]
    metrics += [ce.tweak("completeness", convention=c, name=f"d_{n}") for n, c in conventions.items()]
    metrics += [ce.tweak("correctness", models=m, name=f"m_{m}") for m in ("max", "mean", "any", "all")[:2]]
    metrics += [ce.tweak("is_submodel", models=m, name=f"s_{m}") for m in ("any", "all")]
    metrics += [ce.tweak("f_beta", beta=0.5, name="f_half")]
    return table().ceval.evaluate(metrics)


@record("formula/evaluate/multi_value")
def multi_value() -> pd.DataFrame:
    pairs = [("X=2*Y=0<->Z=1", "X=2<->Z=1"), ("X=1+Y=2<->Z=0", "X=1+Y=2<->Z=0"), ("X=1<->Z=0", "X=2<->Z=0")]
    rows = pd.DataFrame(pairs, columns=["truth", "estimate"])
    domains = {"X": (0, 1, 2), "Y": (0, 1, 2), "Z": (0, 1)}
    metrics = [x for x in names() if not x.startswith("fit_")]
    return rows.ceval.with_controls(
        [x for x in SCORES], rng=2, n_draws=20, context={"domains": domains}, columns="full"
    ).merge(rows.ceval.evaluate(metrics, context={"domains": domains}))


@record("formula/evaluate/cyclic")
def cyclic() -> pd.DataFrame:
    rows = pd.DataFrame({"truth": ["(A+C<->B)*(B+D<->A)"] * 2, "estimate": ["(A+C<->B)*(B+D<->A)", "A<->B"]})
    return rows.ceval.evaluate([x for x in ANY_CYCLE if not x.startswith("fit_")])


def with_controls(metrics: Any = None, **settings: Any) -> pd.DataFrame:
    how = {"n_draws": 40, "rng": 7, "key": "run", "context": {"domains": FACTORS}} | settings
    return drawn().head(6).ceval.with_controls(metrics or SCORES, **how, columns="full")


for _null in NULLS:
    add(f"formula/null/{_null}", with_controls, null=_null)
    add(f"formula/null/{_null}/simulate", with_controls, null=_null, method="simulate")
    add(
        f"formula/null/{_null}/sets",
        lambda null: (
            table()
            .head(4)
            .ceval.with_controls(SCORES, null=null, rng=1, n_draws=30, columns="full", context={"factors": ()})
        ),
        _null,
    )
add(
    "formula/with_controls/every_metric",
    below_thresholds(lambda: with_controls(names(), context={"data": data(), "domains": FACTORS})),
)
add(
    "formula/with_controls/data",
    below_thresholds(lambda: with_controls(context={"data": data(), "con": 0.7, "cov": 0.7})),
)


@record("formula/cube")
def cube() -> Any:
    how: dict[str, Any] = {"by": ["n"], "n_draws": 30, "rng": 7, "key": "run", "context": {"domains": FACTORS}}
    kept = drawn().ceval.cube(["correctness", "completeness"], **how)
    both = drawn().ceval.cube(["correctness"], null=list(NULLS), **how)
    return kept, both, kept.ceval.summary(columns="full"), both.ceval.summary(columns="full")


@record("configurational/draws")
def draws() -> dict[str, Any]:
    switched = cf.random_models(4, 7, outcomes=2, disjuncts=2, conjuncts=(1, 2), switch=1, rng=1)
    domains = {"A": (0, 1, 2), "B": (0, 1), "C": (0, 1, 2), "D": (0, 1)}
    return {
        "one": str(cf.random_models(1, 5, disjuncts=2, conjuncts=2, rng=1)[0]),
        "many": cf.random_models(10, 6, disjuncts=(1, 3), conjuncts=(1, 3), negated=0.2, rng=5).astype("str"),
        "chains": cf.random_models(6, list("ABCDEF"), outcomes=["E", "F"], disjuncts=2, rng=4).astype("str"),
        "switched": switched.astype("str"),
        "domains": cf.random_models(4, list("ABCD"), domains=domains, rng=3).astype("str"),
    }


@record("configurational/simulation")
def simulation() -> dict[str, Any]:
    ideal = cf.ideal_data("A*b+C<->D")
    return {
        "ideal": ideal,
        "domains": cf.ideal_data("A=2+B<->C", {"A": (0, 1, 2), "B": (0, 1), "C": (0, 1)}),
        "simulated": cf.simulate_data("A*b+C<->D", 50, noise=0.1, fragmentation=0.25, prevalence=0.4, rng=1),
        "fuzzy": cf.simulate_data("A*b+C<->D", 30, fuzziness=0.3, domains=FACTORS, rng=2),
        "whole": cf.simulate_data("(A+B<->C)*(C+D<->E)", rng=2),
        "fragment": fragment(ideal, 0.5, np.random.default_rng(1)),
        "noise": add_noise(ideal, cf.parse("A*b+C<->D"), 0.3, None, {}, np.random.default_rng(1)),
        "sampled": sample_cases(ideal, 40, ("D", 1), 0.25, None, np.random.default_rng(1)),
        "fuzzified": fuzzify(ideal, 0.4, list("ABCD"), np.random.default_rng(1)),
    }


def full() -> pd.DataFrame:
    rows = np.arange(16)[:, None] >> np.arange(4) & 1
    return pd.DataFrame(rows, columns=list("ABCD"))


@record("configurational/fit")
def fit() -> dict[str, Any]:
    models = ("A*b+C<->D", "A<->D", "(A<->B)*(B<->D)")
    fuzzy = fuzzify(full(), 0.4, list("ABCD"), np.random.default_rng(1))
    found: dict[str, Any] = {}
    for name, cases in {"crisp": data(), "fuzzy": fuzzy}.items():
        found |= {f"{name}/{m}/atoms": cf.fit_by_atom(m, cases) for m in models}
    return found


@record("configurational/exposition")
def exposition() -> dict[str, Any]:
    settings = {
        "none": None,
        "data": cf.Setting(data=data(), con=0.75, cov=0.75),
        "domains": cf.Setting(domains=FACTORS),
    }
    found: dict[str, Any] = {}
    for name, setting in settings.items():
        found[name] = cf.exposition_table("(A<->B)*(B+C<->D)", setting)
    found["large"] = cf.exposition_table(LARGE)
    return found


@record("configurational/quality_table")
def quality() -> Any:
    truths, estimates = (table()[x].drop([3, 10]) for x in ("truth", "estimate"))
    return cf.quality_table(truths, estimates), cf.quality_table(LARGE, "A+B<->D", convention="paper")


@record("configurational/minimisation")
def minimisation() -> dict[str, Any]:
    models = ("A*B+a*B+A*C<->D", "A*b+B<->C", "(A<->B)*(a<->b)", "(A+C<->B)*(B<->A)", LARGE, "A+A*B<->E")
    acyclic = [x for x in models if evaluation_order(cf.parse(x)) is not None]
    return {
        "minimal": [" ".join(sorted(str(m) for m in minimal_models(x))) for x in acyclic],
        "flags": [cf.redundancy_free(x) for x in models],
    }


@record("configurational/parse")
def parsed() -> list[Any]:
    texts = ("(D + E => G), (B*F + ~a <-> D)", "SMOKING*age + GENE=1 <-> CANCER", "b+A<->C", LARGE)
    models = [cf.parse(x) for x in texts]
    told = [[str(m), m.complexity, m.multi_value, *sorted(m.factors), *sorted(map(str, m.outcomes))] for m in models]
    return [*told, set_text(parse_set("b<->C;A<->C")), set_text(parse_set("{}"))]
