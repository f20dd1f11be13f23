"""From a table to metric columns: alignment, missing cells, messages, and nothing mutated."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


@pytest.fixture
def runs():
    truths, estimates = ["A -> B; B -> C", "A -> B; C", "A; B; C"], ["A -> B; C -> B", None, "A -- B; B -> C"]
    return pd.DataFrame({"truth": truths, "estimate": estimates, "seconds": [1.0, 2.0, 3.0]}, index=["x", "y", "z"])


def test_one_column_a_metric_and_nothing_else_changes(runs):
    before = runs.copy(deep=True)
    scored = ce.evaluate(runs, ["shd", "adjacency_tp"])
    pd.testing.assert_frame_equal(runs, before)
    assert list(scored.columns) == ["truth", "estimate", "seconds", "shd", "adjacency_tp"]
    assert list(scored.index) == ["x", "y", "z"]
    np.testing.assert_array_equal(scored["shd"], [1, np.nan, 2])
    assert scored["shd"].dtype == "float64"
    pd.testing.assert_frame_equal(scored[list(runs.columns)], before)
    pd.testing.assert_frame_equal(scored, runs.ceval.evaluate(["shd", "adjacency_tp"]))
    pd.testing.assert_frame_equal(scored, runs.pipe(ce.evaluate, ["shd", "adjacency_tp"]))


def test_no_names_means_the_default_set(runs):
    assert list(ce.evaluate(runs).columns[3:]) == list(ce.structure.GRAPHS.default_metrics)


def test_names_metrics_and_tweaks_mix(runs):
    double = ce.tweak("shd", reversal_cost=2, name="double")
    scored = ce.evaluate(runs, [double, "shd", ce.skeleton_hd])
    assert list(scored.columns[3:]) == ["double", "shd", "skeleton_hd"]
    assert scored.loc["x", "double"] == 2
    assert ce.evaluate(runs, "shd")["shd"].iloc[0] == 1


def test_any_mix_of_unambiguous_cells_is_coerced():
    graph = nx.DiGraph([("A", "B"), ("B", "C")])
    cells = [graph, "A -> B; B -> C", ce.graph_column(["A -> B; B -> C"]).iloc[0]]
    table = pd.DataFrame({"truth": ["A -> B; B -> C"] * 3, "estimate": pd.Series(cells, dtype=object)})
    assert ce.evaluate(table, ["shd"])["shd"].tolist() == [0, 0, 0]
    # graphs of different sizes, on labels that repeat
    cells = {"truth": ["A -> B", "A -> B; B -> C", "X; Y"], "estimate": ["B -> A", "A; B; C", "X -> Y"]}
    found = ce.evaluate(pd.DataFrame(cells, index=[0, 0, 0]), ["shd", "n_nodes"])
    assert found[["shd", "n_nodes"]].to_numpy().tolist() == [[1, 2], [2, 3], [1, 2]]
    # nodes are aligned by name
    adjacency = pd.DataFrame([[0, 1], [0, 0]], index=["Z", "A"], columns=["Z", "A"])
    table = pd.DataFrame({"truth": ["Z -> A"], "estimate": ce.graph_column([adjacency], encoding="row->column")})
    assert ce.evaluate(table, ["shd"])["shd"].tolist() == [0]


def test_columns_are_checked_by_name(runs):
    misnamed, twice = runs.rename(columns={"estimate": "estimates"}), pd.concat([runs, runs[["truth"]]], axis=1)
    other = runs.assign(estimate=["A -> B; C -> B", None, "A -> D; B"])
    matrix = pd.DataFrame({"truth": ["A -> B"], "estimate": pd.Series([np.array([[0, 1], [0, 0]])], dtype=object)})
    for table, metrics, error, message in (
        (misnamed, ["shd"], ValueError, r"no column 'estimate' \(estimate\); did you mean 'estimates'\?"),
        (twice, ["shd"], ValueError, "2 columns called 'truth'"),
        ([1, 2], ["shd"], TypeError, "must be a pandas DataFrame, found list"),
        (runs, 5, TypeError, "metrics must be names or metrics, found int: 5"),
        (runs, ["sdh"], ValueError, "unknown metric 'sdh'; did you mean .*'shd'"),
        (runs, ["correctness", "shd"], ValueError, r"\['formula', 'graph'\] cannot .* one field's metrics"),
        (other, ["shd"], ValueError, r"row 2 \(index 'z'\): truth has nodes \['A', 'B', 'C'\], estimate .*'D'\]"),
        (matrix, ["shd"], ce.AmbiguousEncodingError, "encoding="),
        *((matrix.assign(estimate=text), ["shd"], ValueError, "row 0")
          for text in ("b'\\xce\\x01\\x00'", "DiGraph with 3 nodes and 2 edges", "Graph(A -> B)")),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            ce.evaluate(table, metrics)
    with pytest.raises(ValueError, match="same column 'truth'"):
        ce.evaluate(runs, ["shd"], estimate="truth")
    renamed = runs.rename(columns={"truth": "dag", "estimate": 5})
    assert ce.evaluate(renamed, ["shd"], truth="dag", estimate=5)["shd"].iloc[0] == 1


def test_existing_columns_are_kept_unless_overwritten(runs):
    scored = ce.evaluate(runs, ["shd"])
    with pytest.raises(ValueError, match=r"already has the columns \['shd'\]; pass overwrite=True"):
        ce.evaluate(scored, ["shd"])
    again = ce.evaluate(scored.assign(shd=-1.0), ["shd"], overwrite=True)
    pd.testing.assert_frame_equal(again, scored)


def test_zero_division_is_the_users_word():
    table = pd.DataFrame({"truth": ["A -> B"], "estimate": ["A; B"]})
    assert np.isnan(ce.evaluate(table, ["adjacency_precision"])["adjacency_precision"].iloc[0])
    fixed = ce.tweak("adjacency_precision", zero_division=0, name="fixed")
    with ce.set_options(zero_division=1):
        found = ce.evaluate(table, ["adjacency_precision", fixed])
    assert found[["adjacency_precision", "fixed"]].iloc[0].tolist() == [1, 0]
    assert found.attrs["causaleval_pd_history"][0]["zero_division"] == 1


def test_kinds_that_do_not_apply_are_refused_or_missing():
    estimates = ["A -> B; B -> C", "A -> B; B -- C", "A -- B; B -- C"]
    table = pd.DataFrame({"truth": "A -> B; B -> C", "estimate": estimates}, index=[10, 11, 12])
    message = r"shd_cpdag applies to dag and cpdag, not to row 1 \(index 11\), where .* a pdag"
    with pytest.raises(ValueError, match=message):
        ce.evaluate(table, ["shd_cpdag"])
    values = ce.evaluate(table, ["shd_cpdag", "shd"], invalid="nan")
    np.testing.assert_array_equal(values["shd_cpdag"], [0, np.nan, 0])
    np.testing.assert_array_equal(values["shd"], [0, 1, 2])
    with pytest.raises(ValueError, match="invalid must be 'raise' or 'nan'"):
        ce.evaluate(table, ["shd_cpdag"], invalid="drop")


def test_empty_tables_all_missing_and_tiny_graphs():
    empty = pd.DataFrame({"truth": pd.Series(dtype=object), "estimate": pd.Series(dtype=object)})
    scored = ce.evaluate(empty, ["shd"])
    assert len(scored) == 0 and scored["shd"].dtype == "float64"
    failed = pd.DataFrame({"truth": ["A -> B", "A -> B"], "estimate": [None, None]})
    assert ce.evaluate(failed, ["shd"])["shd"].isna().all()
    single = pd.DataFrame({"truth": ["A"], "estimate": ["A"]})
    assert ce.evaluate(single, ["shd", "adjacency_tn"]).iloc[0, 2:].tolist() == [0, 0]
    no_edges = pd.DataFrame({"truth": ["A; B"], "estimate": ["A; B"]})
    assert ce.evaluate(no_edges, ["shd"])["shd"].tolist() == [0]


def test_packed_cells_after_csv_are_explained_without_named_metrics(tmp_path):
    path = tmp_path / "runs.csv"
    pd.DataFrame({"truth": ce.graph_column(["A -> B"]), "estimate": ce.graph_column(["A -> B"])}).to_csv(path)
    with pytest.raises(ValueError, match=r"row 0 .*CSV.*to_strings\(\)"):
        pd.read_csv(path).ceval.evaluate()


def test_the_same_number_through_every_door(runs):
    scored = ce.evaluate(runs, ["shd"])
    direct = ce.shd(runs.loc["z", "truth"], runs.loc["z", "estimate"])
    assert direct == scored.loc["z", "shd"] == runs.ceval.evaluate(["shd"]).loc["z", "shd"]
    assert direct == ce.cube(runs.reset_index(), ["shd"], by=["index"], n_draws=None)["shd"].sel(index="z").max()
