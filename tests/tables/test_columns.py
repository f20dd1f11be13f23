"""Columns of tables: found by name, typed by their metric, never replaced unasked."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.tables.columns import (
    add_columns,
    check_labels,
    column,
    column_or_level,
    near_equal,
    numbers,
    with_cells,
)


def test_words_and_booleans_become_typed_columns(declare):
    @declare(direction="maximize", range=(0, 1), optimum=1, dtype="boolean")
    def same_skeleton(pairs):
        return (pairs.counts.fp + pairs.counts.fn == 0).astype(np.float64)

    @declare(direction=None, range=(0, 1), optimum=np.nan, dtype=("sparse", "dense"))
    def size_word(pairs):
        return (pairs.counts.true_edges > 1).astype(np.float64)

    runs = pd.DataFrame({"truth": ["A -> B; C", "A -> B; B -> C"] * 2, "estimate": ["A -> B; C"] * 3 + [None]})
    scored = ce.evaluate(runs, ["same_skeleton", "size_word"])
    assert scored["same_skeleton"].dtype == "boolean"
    assert scored["same_skeleton"].tolist() == [True, False, True, pd.NA]
    assert scored["size_word"].astype(object).tolist()[:3] == ["sparse", "dense", "sparse"]
    assert scored["size_word"].isna().tolist() == [False, False, False, True]


TABLE = pd.DataFrame({"truth": ["A"], "n": [3], "word": ["x"]}, index=["r"])


def test_columns_are_found_or_the_nearest_named():
    assert column(TABLE, "n", "by").tolist() == [3]
    message = r"'trut' \(truth\); did you mean 'truth'.*\['truth', 'n', 'word'\]; name it by"
    with pytest.raises(ValueError, match=message):
        column(TABLE, "trut", "truth")
    with pytest.raises(TypeError, match=r"truth must be the name of one column, found \['truth'\]"):
        column(TABLE, ["truth"], "truth")
    twice = pd.concat([TABLE, TABLE], axis=1)
    with pytest.raises(ValueError, match="the table has 2 columns called 'n'; column names must be unique"):
        column(twice, "n", "by")
    assert column(TABLE.rename(columns={"n": ("a", 1)}), ("a", 1), "by").tolist() == [3]


def test_numbers_are_floats_with_missing_ones():
    table = pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "b": [True, False], "word": ["x", "y"]})
    np.testing.assert_array_equal(numbers(table, "n", "values"), [1.0, np.nan])
    np.testing.assert_array_equal(numbers(table, "b", "values"), [1.0, 0.0])
    with pytest.raises(ValueError, match="values='word' holds str, expected numbers"):
        numbers(table, "word", "values")
    with pytest.raises(ValueError, match="values='n' holds complex128, expected numbers"):
        numbers(pd.DataFrame({"n": [1 + 2j]}), "n", "values")


def test_existing_columns_stay_unless_they_are_to_be_replaced():
    with pytest.raises(ValueError, match=r"already has the columns \['n'\]; pass overwrite=True, or rename"):
        add_columns(TABLE, {"m": [1.0], "n": [2.0]}, overwrite=False)
    added = add_columns(TABLE, {"m": [1.0], "n": [2.0]}, overwrite=True)
    assert list(added) == ["truth", "word", "m", "n"] and added["n"].tolist() == [2.0] and TABLE["n"].tolist() == [3]
    assert list(add_columns(TABLE, {}, overwrite=False)) == list(TABLE)


def test_canonical_cells_take_the_place_of_others_whatever_their_index():
    found = with_cells(TABLE, {"truth": pd.Series(["B"], index=[9])})
    assert found.loc["r", "truth"] == "B" and TABLE.loc["r", "truth"] == "A" and list(found) == list(TABLE)


def test_index_levels_are_columns_where_rows_are_grouped():
    table = pd.DataFrame({"x": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 0), ("b", 1)], names=["group", "run"]))
    found = column_or_level(table, "group", "by")
    assert found.tolist() == ["a", "b"] and found.index is table.index
    assert column_or_level(table, "x", "by").tolist() == [1, 2]
    assert numbers(table, "run", "values").tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"'group' \(by\) is both a column and an index level, which is ambiguous"):
        column_or_level(table.assign(group=1), "group", "by")
    with pytest.raises(ValueError, match=r"no column 'group' \(truth\).*index levels \['group', 'run'\], which reset_"):
        column(table, "group", "truth")


def test_verbs_take_index_levels():
    runs = ce.datasets.runs().head(60)
    how = {"by": ["algorithm", "density"], "n_draws": 20, "rng": 7, "control_kind": "kind", "replicate": "run"}
    flat = runs.assign(run=range(60))
    levels = flat.set_index(["algorithm", "density", "kind", "run"])
    wanted = flat.ceval.cube(["shd"], key="run", **how)
    assert levels.ceval.cube(["shd"], key="run", **how).equals(wanted)
    assert flat.set_index("run").ceval.cube(["shd"], **how).equals(wanted)
    assert levels.ceval.cube(["shd"], key=["run"], **how).equals(wanted)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([True, 1, "x"], r"'k': found the labels True and 1, which count as equal; make .* table\['k'\].astype\(str\)"),
        ([0.0, "x", False], r"found the labels False and 0.0, which count as equal"),
        ([np.True_, 1], r"True.* and 1, which count as equal"), ([None, 1, True], r"True and 1, which count as equal"),
        (["pc", "ges", "pc "],
         r"'pc' and 'pc ' look alike, but differ in blanks; .*table\['k'\]\.str\.normalize\('NFC'\)"),
        (["\u00e9", "e\u0301", 3], r"Unicode's normal form \(NFC, NFD\)"),
        ([0.3, 0.1 + 0.2, np.nan], r"0.3 and 0.30000000000000004, equal but .*; round: table\['k'\].round\(9\)"),
    ],
)  # fmt: skip
def test_labels_that_may_be_one(labels, message):
    with pytest.raises(ValueError, match=message):
        check_labels(pd.Series(labels), "k")
    with pytest.raises(ValueError, match=message.replace("table", "cube")):
        check_labels(pd.Series(labels), "k", "cube")


def test_labels_of_categories():
    with pytest.raises(ValueError, match="'a' and 'a ' look alike"):
        check_labels(pd.Series(["a", "a ", None], dtype="category"), "k")


@pytest.mark.parametrize(
    "labels",
    [
        [True, False], [1, 1.0, 2], [True, 2, "1"], ["a", "b", None], [0.1, 0.2, 1e-300, -0.0, np.inf, -np.inf, np.nan],
        [],
    ],
)  # fmt: skip
def test_labels_that_differ(labels):
    assert check_labels(pd.Series(labels, dtype=object), "k") is None
    assert check_labels(pd.Series(labels), "k") is None


def test_near_equal_looks_on_both_sides():
    others = np.array([0.1, 0.3, np.inf])
    assert near_equal(np.array([0.1 + 0.2]), others) == (0.1 + 0.2, 0.3)
    assert near_equal(np.nextafter([0.1], 0), others) == (np.nextafter(0.1, 0), 0.1)
    assert near_equal(np.array([0.1, 0.3, np.nan, np.inf, 0.3001]), others) is None
