"""Data sets of a context, as metrics without a truth read them: columns by node, faults by row, types."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

RNG = np.random.default_rng(5)
DATA = pd.DataFrame(RNG.normal(size=(60, 4)), columns=list("ABCD"))
PAIRS = pd.DataFrame({"estimate": ["A -> B; C", "A -> B; C"], "dataset": ["good", "bad"]})


def scored(data, metrics=("separation_share",), **context):
    given = {"data": ("dataset", {"good": DATA, "bad": data}), **context}
    return ce.evaluate(PAIRS, metrics, truth=None, context=given)


def with_column(name, values):
    return DATA.assign(**{name: values})


FAULTS = {
    "no column": (DATA[["A", "C"]], r"no columns for the nodes \['B'\]; their columns are \['A', 'C'\]"),
    "twice": (DATA[["A", "B", "C", "B"]], "two columns called 'B'; rename or drop one"),
    "missing": (with_column("B", [np.nan, *range(59)]), r"missing values, by column \{'B': 1\}.*'missing': 'drop'"),
    "infinite": (with_column("B", [np.inf, *range(59)]), "column 'B' holds infinite values"),
    "constant": (with_column("C", 2.5), r"columns \['C'\] are constant over 60 rows"),
    "copies": (with_column("C", DATA["A"]), "columns 'A' and 'C' are equal in every row"),
    "dependent": (with_column("C", DATA["A"] + DATA["B"]), r"columns \['A', 'B', 'C'\] are linearly dependent over 60"),
    "mixed": (with_column("C", range(60)), "floats and others; name the test, by context=.*'test'"),
    "few rows": (DATA.head(2), "2 rows, and the test 'fisher_z' given 0 nodes needs at least 4"),
    "no rows": (DATA.head(0), "no rows without missing values"),
    "dates": (with_column("C", pd.date_range("2020", periods=60)), "column 'C' has the type datetime64"),
    "complex": (with_column("C", DATA["C"] * 1j), "column 'C' has the type complex128"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_name_the_row_and_what_was_found(fault):
    data, words = FAULTS[fault]
    with pytest.raises(ValueError, match=rf"separation_share: row 1 \(index 1\): .*{words}.*invalid='nan'"):
        scored(data)
    ce.evaluate(PAIRS.head(1), ["separation_share"], truth=None, context={"data": DATA})


@pytest.mark.parametrize("fault", FAULTS)
def test_the_rows_of_faulty_data_can_be_undefined(fault):
    given = {"data": ("dataset", {"good": DATA, "bad": FAULTS[fault][0]})}
    found = ce.evaluate(PAIRS, ["separation_share", "n_implied"], truth=None, context=given, invalid="nan")
    assert found["separation_share"].isna().tolist() == [False, True] and found["n_implied"].tolist() == [2, 2]


def test_too_few_rows_for_a_test_name_the_graph_that_needs_them():
    # five rows allow a set of one node with Fisher's z, of two with the t test
    runs = pd.DataFrame({"estimate": ["A -> B; C; D", "A -> B; A -> C; B -> D; C -> D"]})
    words = "fisher_c_p: row 1 .*5 rows, and the test 'fisher_z' given 2 nodes needs at least 6"
    with pytest.raises(ValueError, match=words):
        ce.evaluate(runs, ["fisher_c_p"], truth=None, context={"data": DATA.head(5)})
    for test, missing in (("fisher_z", [False, True]), ("t", [False, False])):
        given = {"data": DATA.head(5), "test": test}
        found = ce.evaluate(runs, ["fisher_c_p"], truth=None, context=given, invalid="nan")
        assert found["fisher_c_p"].isna().tolist() == missing


def test_as_many_columns_as_rows_are_refused():
    wide = pd.DataFrame(np.random.default_rng(3).normal(size=(6, 6)), columns=list("ABCDEF"))
    runs = pd.DataFrame({"estimate": ["A -> B; C; D; E; F"]})
    for metric in ("bic", "deviance", "mean_abs_partial", "separation_share"):
        with pytest.raises(ValueError, match=f"{metric}: row 0 .*6 rows for 6 columns, .*give more rows than columns"):
            ce.evaluate(runs, [metric], truth=None, context={"data": wide})


def test_data_are_needed_and_are_a_table():
    with pytest.raises(ValueError, match="lmc_share|pass the data by context={'data': frame}"):
        ce.evaluate(PAIRS, ["lmc_share"], truth=None)
    with pytest.raises(ValueError, match="pass the data by context={'data': frame}"):
        ce.lmc_share(None, "A -> B; C")
    with pytest.raises(TypeError, match="context 'data' must be a DataFrame with one column per node.*ndarray"):
        ce.evaluate(PAIRS, ["lmc_share"], truth=None, context={"data": DATA.to_numpy()})
    for name, odd, words in [
        ("test", "fisher", "context 'test' must be 'fisher_z', 't', 'pearsonr'"),
        ("alpha", 5, "context 'alpha' must lie between 0 and 1, found 5"),
        ("missing", "omit", "context 'missing' must be 'raise' or 'drop', found 'omit'"),
        ("missing", ["drop"], "context 'missing' must be 'raise' or 'drop'"),
    ]:
        with pytest.raises(ValueError, match=words):
            ce.evaluate(PAIRS, ["lmc_share"], truth=None, context={"data": DATA, name: odd})


def test_complete_rows_alone_are_used_on_request():
    bad = with_column("B", [np.nan, *DATA["B"][1:]])
    found = scored(bad, ["bic"], missing="drop")["bic"]
    own = ce.evaluate(PAIRS, ["bic"], truth=None, context={"data": DATA.iloc[1:]})["bic"]
    assert found[1] == own[1] and found[0] != own[0]
    # columns that the graph does not have may miss values
    extra = DATA.assign(E=np.nan)
    assert scored(extra)["separation_share"].nunique() == 1


def test_order_of_columns_and_index_do_not_matter_and_data_stay_as_they_are():
    other = DATA[list("DCBA")].set_index(pd.Index(range(60)[::-1]))
    before = other.copy()
    found = scored(other, ["separation_share", "bic", "cv_log_likelihood"])
    assert (found.iloc[0, 2:] == found.iloc[1, 2:]).all()
    pd.testing.assert_frame_equal(other, before)


def test_labels_of_columns_that_are_numbers_match_nodes_by_their_text():
    runs = pd.DataFrame({"estimate": ["0 -> 1; 2", "1 -> 0; 2"]})
    numbered = DATA[list("ABC")].set_axis(range(3), axis=1)
    found, own = (
        ce.evaluate(runs, ["bic", "lmc_share"], truth=None, context={"data": data})
        for data in (numbered, numbered.set_axis(list("012"), axis=1))
    )
    pd.testing.assert_frame_equal(found, own)
    missing = pd.concat([numbered, numbered.iloc[:1] * np.nan])
    more = runs.assign(truth=runs["estimate"])
    for names in (["var_sortability"], ["bic"]):
        again = ce.evaluate(more, names, context={"data": missing, "missing": "drop"})
        pd.testing.assert_frame_equal(again, ce.evaluate(more, names, context={"data": numbered}))
    with pytest.raises(ValueError, match="two columns called '1'"):
        ce.evaluate(runs, ["bic"], truth=None, context={"data": numbered.assign(**{"1": DATA["D"]})})


@pytest.mark.parametrize("kind", ["floats", "with integers"])
def test_floats_in_columns_of_objects_are_no_categories(kind):
    values = DATA["B"].round().astype(object) if kind == "floats" else pd.Series([1, 0.5, 2] * 20, dtype=object)
    with pytest.raises(ValueError, match=r"row 1 \(index 1\).*column 'B' holds floats in a column of objects"):
        scored(with_column("B", values))


def test_functions_get_ordered_categories_in_their_order():
    seen = []

    def test(x, y, z):
        seen.append(x)
        return 0.5

    words = np.array(["high", "low", "medium"] * 20)
    data = with_column("A", pd.Categorical(words, categories=["low", "medium", "high", "never"], ordered=True))
    ce.evaluate(PAIRS.iloc[:1], ["separation_share"], truth=None, context={"data": data[list("ABC")], "test": test})
    np.testing.assert_array_equal(seen[0][:3], [2, 0, 1])
