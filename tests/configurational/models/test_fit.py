"""Fit measures against cna's numbers, against a plain loop over cases, and their refusals."""

from __future__ import annotations

import io
import pathlib

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import parse
from causaleval_pd.configurational.formulas.measures import MEASURES
from causaleval_pd.configurational.models.fit import (
    coherence,
    exhaustiveness,
    faithfulness,
    fit_by_atom,
    fit_measures,
)

KNOWN = pathlib.Path(__file__).parents[2] / "known_answers" / "configurational_fit.csv.gz"
COLUMNS = ["scon", "scov", "ccon", "ccov", "PAcon", "AAcov", "AACcon", "PACcov"]
OTHERS = ["coherence", "exhaustiveness", "faithfulness"]
CASES = pd.read_csv(KNOWN)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cs", "mv", "fs"])
def test_known_answers(kind: str) -> None:
    cases = CASES[CASES.type == kind]
    assert len(cases) >= 20
    for case in cases.itertuples():
        found = fit_measures(case.model, pd.read_csv(io.StringIO(case.data)))
        for name, column in zip([*MEASURES, *OTHERS], [*COLUMNS, *OTHERS], strict=True):
            expected = getattr(case, column)
            if not np.isnan(expected):
                assert found[name] == pytest.approx(expected, abs=1e-12), (case.model, name)


def counted(p: list[int], y: list[int]) -> list[float]:
    """The eight measures of crisp cases, by counting and by the odds in words."""
    a, b = sum(i and j for i, j in zip(p, y, strict=True)), sum(i and not j for i, j in zip(p, y, strict=True))
    c, d = sum(j and not i for i, j in zip(p, y, strict=True)), sum(not i and not j for i, j in zip(p, y, strict=True))
    odds_y, odds_p = sum(y) / (len(y) - sum(y)), sum(p) / (len(p) - sum(p))
    return [
        a / (a + b),
        a / (a + c),
        d / (d + b),
        d / (d + c),
        a / (a + odds_y * b),
        a / (a + odds_p * c),
        d / (d + b / odds_p),
        d / (d + c / odds_y),
    ]


def test_crisp_measures_are_cell_counts() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        data = pd.DataFrame(rng.integers(0, 2, (25, 3)), columns=list("abC"))
        left = ((data.a == 1) & (data.b == 0)).astype(int).tolist()
        found = fit_by_atom("A*b<->C", data).iloc[0]
        assert found[list(MEASURES)].tolist() == pytest.approx(counted(left, data.C.tolist()))


def test_contraposition() -> None:
    """P -> Y read backwards is y -> p: consistency and contrapositive coverage of the negated atom agree."""
    data = pd.DataFrame(np.random.default_rng(4).integers(0, 2, (40, 2)), columns=["A", "B"])
    forward, backward = fit_measures("A<->B", data), fit_measures("b<->a", data)
    assert forward["contrapositive_consistency"] == backward["consistency"]
    assert forward["coverage"] == backward["contrapositive_coverage"]
    assert forward["prevalence_adjusted_consistency"] == pytest.approx(
        backward["antecedent_adjusted_contrapositive_consistency"]
    )


def test_row_order_and_column_names_do_not_matter() -> None:
    case = CASES[CASES.type == "fs"].iloc[3]
    data = pd.read_csv(io.StringIO(case.data))
    mixed = data.sample(frac=1, random_state=1)[data.columns[::-1]].rename(columns=str.lower)
    assert fit_measures(case.model, mixed).to_numpy() == pytest.approx(
        fit_measures(case.model, data).to_numpy(), abs=1e-12
    )


def test_a_model_of_its_ideal_data() -> None:
    data = pd.DataFrame({"A": [0, 0, 1, 1], "B": [0, 1, 0, 1], "C": [0, 1, 1, 1]})
    assert fit_measures("A+B<->C", data).tolist() == [1.0] * 11


def test_groups_of_atoms_that_share_no_factor() -> None:
    data = pd.DataFrame({"A": [1, 0, 1], "B": [1, 0, 0], "C": [1, 0, 1], "D": [1, 0, 1], "E": [1, 0, 1]})
    assert coherence("(A<->B)*(C<->D)", data) == 1
    assert coherence("(A<->B)*(C<->D)*(D<->E)", data) == 1
    assert coherence("(A<->B)*(B<->C)*(D<->E)", data) == 1  # each case fits both atoms or neither
    assert coherence("(A<->B)*(A<->C)", data) == pytest.approx(2 / 3)


def test_zero_over_zero_is_missing() -> None:
    found = fit_by_atom("A<->B", pd.DataFrame({"A": [0, 0], "B": [0, 1]})).iloc[0]
    assert np.isnan(found["consistency"])
    assert found["coverage"] == 0


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (pd.DataFrame({"A": [1]}), ValueError, "no column for factor B"),
        (pd.DataFrame({"A": [1], "a": [1], "B": [1]}), ValueError, "2 columns for factor A"),
        (pd.DataFrame({"A": [1, None], "B": [1, 1]}), ValueError, r"column 'A', row 1 \(index 1\) is nan"),
        (pd.DataFrame({"A": [0.5, 2.0], "B": [1, 1]}), ValueError, "mixes memberships"),
        (pd.DataFrame({"A": [1, -1], "B": [1, 1]}), ValueError, "is -1; expected 0 or 1"),
        (pd.DataFrame({"A": [1, 10**6], "B": [1, 1]}), ValueError, "is 1000000; expected"),
        (pd.DataFrame({"A": ["x"], "B": [1]}), TypeError, "must hold numbers"),
        ({"A": [1], "B": [1]}, TypeError, "must be a DataFrame"),
    ],
)
def test_refusals(data: pd.DataFrame, error: type[Exception], message: str) -> None:
    for function in (fit_measures, fit_by_atom, coherence, exhaustiveness, faithfulness):
        with pytest.raises(error, match=message):
            function("A<->B", data)


def test_a_multi_value_literal_of_a_fuzzy_factor_is_refused() -> None:
    with pytest.raises(ValueError, match="A=2 needs multi-value data"):
        fit_measures("A=2<->B=1", pd.DataFrame({"A": [0.3, 0.6], "B": [1, 0]}))


def test_too_many_configurations_are_refused() -> None:
    names = [f"F{i}" for i in range(24)]
    model = parse("+".join(names[:-1]) + f"<->{names[-1]}")
    with pytest.raises(ValueError, match="the limit is 1048576"):
        exhaustiveness(model, pd.DataFrame([[1] * 24], columns=pd.Index(names)))


STUDIES = {
    "one": pd.DataFrame({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0], "C": [1, 1, 1, 0]}),
    "two": pd.DataFrame({"A": [1, 0, 0, 0], "B": [1, 0, 1, 0], "C": [0, 1, 1, 0]}),
}


def test_metrics_take_each_rows_data() -> None:
    runs = pd.DataFrame(
        {
            "truth": "A+B<->C",
            "estimate": ["A<->C", "A<->C", "A+B<->C", "A<->C; B<->C", "{}", None],
            "study": ["one", "two", "two", "two", "one", "one"],
        }
    )
    metrics = ce.metric_set(
        "fit_consistency",
        "fit_coverage",
        mean=ce.tweak("fit_consistency", models="mean"),
        specificity=ce.tweak("fit_consistency", measure="contrapositive_consistency"),
    )
    scored = ce.evaluate(runs, metrics, context={"data": ("study", STUDIES)})
    assert scored["fit_consistency"].tolist() == pytest.approx([1, 0, 0.5, 0.5, np.nan, np.nan], nan_ok=True)
    assert scored["fit_coverage"].tolist() == pytest.approx([2 / 3, 0, 0.5, 0.5, np.nan, np.nan], nan_ok=True)
    assert scored["mean"].tolist()[3] == pytest.approx(0.25)
    expected = fit_measures("A<->C", STUDIES["one"])["contrapositive_consistency"]
    assert scored["specificity"].tolist()[0] == expected


def test_metrics_in_a_cube_with_controls() -> None:
    runs = pd.DataFrame({"truth": "A+B<->C", "estimate": ["A<->C", "A+B<->C"], "study": ["one", "two"]})
    settings = {"n_draws": 20, "rng": 1, "context": {"data": ("study", STUDIES)}}
    cube = ce.cube(runs, ["fit_coverage"], by=["study"], **settings)
    rows = ce.with_controls(runs, ["fit_coverage"], **settings)
    assert cube["fit_coverage"].to_numpy().ravel().tolist() == rows["fit_coverage"].tolist()
    assert rows["fit_coverage_control_mean"].between(0, 1).all()


def test_metrics_need_data_and_known_measures() -> None:
    runs = pd.DataFrame({"truth": ["A+B<->C"], "estimate": ["A<->C"]})
    with pytest.raises(ValueError, match="fit_consistency needs the data"):
        ce.evaluate(runs, ["fit_consistency"])
    with pytest.raises(ValueError, match="unknown coverage measure 'consistency'"):
        wrong = ce.tweak("fit_coverage", measure="consistency")
        ce.evaluate(runs, [wrong], context={"data": STUDIES["one"]})
