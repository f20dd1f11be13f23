"""Consistency and coverage against cna's numbers, against a plain loop over cases, and their refusals."""

from __future__ import annotations

import io
import pathlib

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import fit_by_atom

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers" / "configurational_fit.csv.gz"
CASES = pd.read_csv(KNOWN)
NAMES = ["consistency", "coverage"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cs", "mv", "fs"])
def test_known_answers(kind: str) -> None:
    cases = CASES[CASES.type == kind]
    assert len(cases) >= 20
    for case in cases.itertuples():
        found = fit_by_atom(case.model, pd.read_csv(io.StringIO(case.data)))[NAMES].min()
        assert found.tolist() == pytest.approx([case.scon, case.scov], abs=1e-12), case.model


def test_crisp_measures_are_cell_counts() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        data = pd.DataFrame(rng.integers(0, 2, (25, 3)), columns=list("abC"))
        p, y = ((data.a == 1) & (data.b == 0)).tolist(), (data.C == 1).tolist()
        both = sum(i and j for i, j in zip(p, y, strict=True))
        assert fit_by_atom("A*b<->C", data)[NAMES].iloc[0].tolist() == [both / sum(p), both / sum(y)]


def test_row_order_and_column_names_do_not_matter() -> None:
    case = CASES[CASES.type == "fs"].iloc[3]
    data = pd.read_csv(io.StringIO(case.data))
    mixed = data.sample(frac=1, random_state=1)[data.columns[::-1]].rename(columns=str.lower)
    found, other = (fit_by_atom(case.model, frame)[NAMES].to_numpy() for frame in (data, mixed))
    assert found == pytest.approx(other, abs=1e-12)


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
    with pytest.raises(error, match=message):
        fit_by_atom("A<->B", data)


def test_a_multi_value_literal_of_a_fuzzy_factor_is_refused() -> None:
    with pytest.raises(ValueError, match="A=2 needs multi-value data"):
        fit_by_atom("A=2<->B=1", pd.DataFrame({"A": [0.3, 0.6], "B": [1, 0]}))


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
    )
    scored = ce.evaluate(runs, metrics, context={"data": ("study", STUDIES)})
    assert scored["fit_consistency"].tolist() == pytest.approx([1, 0, 0.5, 0.5, np.nan, np.nan], nan_ok=True)
    assert scored["fit_coverage"].tolist() == pytest.approx([2 / 3, 0, 0.5, 0.5, np.nan, np.nan], nan_ok=True)
    assert scored["mean"].tolist()[3] == pytest.approx(0.25)


def test_metrics_in_a_cube_with_controls() -> None:
    runs = pd.DataFrame({"truth": "A+B<->C", "estimate": ["A<->C", "A+B<->C"], "study": ["one", "two"]})
    settings = {"n_draws": 20, "rng": 1, "context": {"data": ("study", STUDIES)}}
    cube = ce.cube(runs, ["fit_coverage"], by=["study"], **settings)
    rows = ce.with_controls(runs, ["fit_coverage"], **settings)
    assert cube["fit_coverage"].to_numpy().ravel().tolist() == rows["fit_coverage"].tolist()
    assert rows["fit_coverage_control_mean"].between(0, 1).all()


def test_metrics_need_data() -> None:
    runs = pd.DataFrame({"truth": ["A+B<->C"], "estimate": ["A<->C"]})
    with pytest.raises(ValueError, match="fit_consistency needs the data"):
        ce.evaluate(runs, ["fit_consistency"])
