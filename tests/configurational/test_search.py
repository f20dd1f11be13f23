"""The null model of a search run again: its law, what it keeps, its cache, and its refusals."""

import itertools
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.configurational import simulate_data

FACTORS = dict.fromkeys("ABCD", (0, 1))


def best_cause(data: pd.DataFrame, outcome: str = "D") -> str:
    """Return the literal that agrees with the outcome most often."""
    share = {name: (data[name] == data[outcome]).mean() for name in data.columns if name != outcome}
    name = max(share, key=lambda x: max(share[x], 1 - share[x]))
    return f"{name if share[name] >= 0.5 else name.lower()}<->{outcome}"


def all_causes(data: pd.DataFrame) -> list[str]:
    """Return one model per factor."""
    return [f"{name}<->D" for name in data.columns if name != "D"]


def guess(data: pd.DataFrame, rng: np.random.Generator) -> str:
    return f"{rng.choice(list('ABC'))}<->D"


def runs(n: int, n_cases: int, truth: str, method: str = "best") -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    data = {str(i): simulate_data(truth, n_cases, domains=FACTORS, rng=i) for i in range(n)}
    table = pd.DataFrame({"truth": truth, "study": list(data), "algorithm": method})
    return table.assign(estimate=[best_cause(frame) for frame in data.values()]), data


def context(data: dict[str, pd.DataFrame], **more: object) -> dict[str, object]:
    return {"method": best_cause, "search_data": ("study", data), **more}


@pytest.mark.slow
def test_the_law_is_that_of_the_method_in_permuted_data() -> None:
    table, data = runs(1, 6, "A<->D")
    frame = data["0"]
    law = Counter(
        ce.correctness("A<->D", best_cause(frame.assign(D=frame["D"].to_numpy()[list(order)])))
        for order in itertools.permutations(range(6))
    )
    found = ce.cube(
        table.assign(x=1), ["correctness"], by=["x"], null="search", n_draws=300, rng=3, context=context(data)
    )
    drawn = Counter(found["correctness_control"].to_numpy().ravel().tolist())
    drawn.pop(float("nan"), None)
    values = sorted(law)
    assert {x for x in drawn if x == x} == set(values)
    expected = np.array([law[x] for x in values]) / law.total()
    assert stats.chisquare([drawn[x] for x in values], 300 * expected).pvalue > 1e-3


@pytest.mark.slow
def test_a_real_cause_is_found_and_a_false_one_is_not() -> None:
    table, data = runs(4, 40, "A<->D")
    noise = {
        study: frame.assign(D=np.random.default_rng(100 + i).integers(0, 2, len(frame)))
        for i, (study, frame) in enumerate(data.items())
    }
    lost = table.assign(estimate=[best_cause(frame) for frame in noise.values()])
    how = {"null": "search", "n_draws": 40, "rng": 1, "columns": "full"}
    right = ce.with_controls(table, ["correctness"], context=context(data), **how)
    wrong = ce.with_controls(lost, ["correctness"], context=context(noise), **how)
    assert right["correctness_skill"].eq(1).all() and wrong["correctness_skill"].mean() < 0.6
    assert right["control_kind"].unique().tolist() == ["found in shuffled data"]
    assert right["correctness_control_undefined"].eq(0).all()


@pytest.mark.slow
def test_rows_do_not_depend_on_order_and_neighbours_and_each_has_its_method() -> None:
    table, data = runs(4, 12, "A+B*C<->D")
    table["algorithm"] = ["best", "random", "every", "partial"]
    methods = {"best": best_cause, "random": guess, "every": all_causes, "partial": partial(best_cause, outcome="D")}
    given = context(data, method=("algorithm", methods))
    how = {"null": "search", "n_draws": 25, "rng": 5, "context": given, "key": "study", "columns": "full"}
    whole = ce.with_controls(table, ["completeness", "lcr"], **how)
    pd.testing.assert_frame_equal(ce.with_controls(table[::-1], ["completeness", "lcr"], **how)[::-1], whole)
    with ce.set_options(engine="threads", n_jobs=2):
        threads = ce.with_controls(table, ["completeness", "lcr"], **how)
    pd.testing.assert_frame_equal(threads, whole)
    for name in methods:
        part = ce.with_controls(table[table["algorithm"] == name], ["completeness", "lcr"], **how)
        pd.testing.assert_frame_equal(part, whole[whole["algorithm"] == name])
    # a set of all factors has a member that is right in every data set
    assert whole.loc[2, "completeness_control_low"] == whole.loc[2, "completeness_control_high"]


@pytest.mark.slow
def test_equal_data_are_searched_once_and_results_can_be_kept(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Within a call by the package, beyond it by joblib, as the page says."""
    memory = pytest.importorskip("joblib").Memory(tmp_path, verbose=0)
    table, data = runs(1, 5, "A<->D")
    calls = []

    def counted(frame: pd.DataFrame) -> str:
        calls.append(tuple(frame["D"]))
        return best_cause(frame)

    how = {"null": "search", "n_draws": 80, "rng": 2}
    first = ce.with_controls(table, ["correctness"], context=context(data, method=counted), **how)
    assert len(calls) == len(set(calls)) <= 10
    n_searches = len(calls)
    kept = memory.cache(counted)
    for _ in range(2):
        again = ce.with_controls(table, ["correctness"], context=context(data, method=kept), **how)
        pd.testing.assert_frame_equal(first, again)
    assert len(calls) == 2 * n_searches, "the second call reads what the first has kept"


@pytest.mark.slow
def test_outcomes_move_together_or_within_equal_configurations() -> None:
    truth = "(A+B<->C)*(C<->D)"
    seen: list[pd.DataFrame] = []

    def look(data: pd.DataFrame) -> str:
        seen.append(data)
        return "(A<->C)*(C<->D)"

    data = pd.DataFrame(
        {"A": [0, 0, 0, 1, 1, 1], "B": [0, 0, 0, 1, 1, 1], "c": [0, 0, 1, 1, 1, 0], "D": [0, 1, 1, 1, 0, 0]},
        index=list("uvwxyz"),
    )
    table = pd.DataFrame({"truth": [truth], "estimate": ["C<->D"]})
    how = {"n_draws": 30, "rng": 1, "context": {"method": look, "search_data": data}}
    ce.with_controls(table, ["completeness"], null="search", **how)
    assert len(seen) > 5 and all(list(one.columns) == ["A", "B", "c", "D"] for one in seen)
    pairs = Counter(map(tuple, data[["c", "D"]].to_numpy()))
    for one in seen:
        pd.testing.assert_frame_equal(one[["A", "B"]], data[["A", "B"]])
        assert Counter(map(tuple, one[["c", "D"]].to_numpy())) == pairs
    assert len({tuple(one["c"]) for one in seen}) > 3
    seen.clear()
    ce.with_controls(table, ["completeness"], null=ce.null_model("search", shuffle="within"), **how)
    for one in seen:
        for name in ("c", "D"):
            assert one.groupby("A")[name].sum().equals(data.groupby("A")[name].sum())
    assert any(Counter(map(tuple, one[["c", "D"]].to_numpy())) != pairs for one in seen)


@pytest.mark.slow
def test_controls_are_judged_relative_to_the_data_in_which_they_were_found() -> None:
    table, data = runs(3, 16, "A<->D")
    given = {"method": best_cause, "data": ("study", data), "con": 0.5, "cov": 0.5}
    found = ce.with_controls(table, ["correctness"], null="search", n_draws=40, rng=1, context=given, columns="full")
    # the method's model fits shuffled data by these thresholds much more often than it fits the data as they were
    assert found["correctness_control_undefined"].max() < 0.5
    assert (found["correctness_control_mean"] < 1).all()


def test_failed_runs_are_counted() -> None:
    table, data = runs(1, 10, "A<->D")
    found = ce.with_controls(
        table,
        ["correctness"],
        null="search",
        n_draws=5,
        context=context(data, method=lambda frame: None),
        columns="full",
    )
    assert found["correctness_control_undefined"].tolist() == [1]
    assert found["correctness_p"].isna().all()


def test_refusals() -> None:
    table, data = runs(2, 10, "A<->D")

    def score(null: object = "search", **given: object) -> None:
        ce.with_controls(table, ["correctness"], null=null, n_draws=3, context=given or None)

    with pytest.raises(ValueError, match=r"runs a method again .* no 'method'; pass context=\{'method': function"):
        score()
    with pytest.raises(ValueError, match="no 'search_data'"):
        score(method=best_cause)
    with pytest.raises(TypeError, match="method must be a function of a DataFrame"):
        score(method=3, search_data=data["0"])
    with pytest.raises(TypeError, match="search_data must be a DataFrame"):
        score(method=best_cause, search_data=[1])
    with pytest.raises(
        ValueError, match=r"row 0 .*: null 'search': .*returned no models: expected '\*', '\+' or '<->'"
    ):
        score(method=lambda frame: "A", search_data=data["0"])
    with pytest.raises(ValueError, match=r"row 0 .*: null 'search': .*A=2 occurs, but factor A"):
        score(method=lambda frame: "A=2<->D", search_data=data["0"])
    with pytest.raises(ValueError, match="unknown value of shuffle 'all'"):
        score(ce.null_model("search", shuffle="all"), **context(data))
    with pytest.raises(ValueError, match="two methods have one"):
        methods = {"0": lambda frame: "A<->D", "1": lambda frame: "B<->D"}
        score(method=("study", methods), search_data=("study", data))
