"""Random numbers: one seed per call, one stream per row, whatever the place or type of its key."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.execution.random_streams import resolve_seed, row_keys, uniforms


def test_seeds_are_recorded_whatever_rng_is():
    assert resolve_seed(7) == 7
    assert resolve_seed(np.int64(7)) == 7
    assert resolve_seed(np.random.default_rng(3)) == resolve_seed(np.random.default_rng(3))
    assert resolve_seed(None) != resolve_seed(None)
    with pytest.raises(ValueError, match="from 0 to"):
        resolve_seed(-1)
    for wrong in ("7", 7.0, True):
        with pytest.raises(TypeError, match="rng must be None, an integer or a numpy Generator"):
            resolve_seed(wrong)


def test_keys_follow_the_label_not_the_place():
    table = pd.DataFrame({"x": range(4)}, index=list("abcd"))
    shuffled = table.iloc[[2, 0, 3, 1]]
    keys = dict(zip(table.index, row_keys(table, None, 1), strict=True))
    assert dict(zip(shuffled.index, row_keys(shuffled, None, 1), strict=True)) == keys
    assert not set(row_keys(table, None, 2)) & set(keys.values())


@pytest.mark.parametrize(
    "other", ["float64", "Int64", "int8", "UInt16", "Float64", "double[pyarrow]", "int64[pyarrow]", "object"]
)
def test_numbers_are_hashed_by_value(other):
    table = pd.DataFrame({"k": [0, 1, 2, 100]})
    assert (row_keys(table, "k", 5) == row_keys(table.astype({"k": other}), "k", 5)).all()


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "UInt64", "object"])
def test_large_integers_beside_a_missing_value_stay_distinct(dtype):
    """Beyond 2**53 a float holds no integer but every second; the others keep the streams that they have alone."""
    numbers = [2**53, 2**53 + 1, 2**53 + 2, 2**60 + 1, 5]
    with_missing = pd.DataFrame({"k": pd.array([*numbers, None], dtype=dtype)})
    keys = row_keys(with_missing, "k", 1)
    assert len(set(keys)) == 6
    assert (keys[:5] == row_keys(pd.DataFrame({"k": numbers}), "k", 1)).all()
    # the missing value has the stream that it has beside small numbers
    small = pd.DataFrame({"k": pd.array([1, None], dtype=dtype)})
    assert keys[5] == row_keys(small, "k", 1)[1]


def test_integers_beyond_64_bits_name_rows():
    numbers = [2**64, 2**64 + 1, -(2**63) - 1, 2**127 + 5, 7]
    table = pd.DataFrame({"k": pd.Series(numbers, dtype=object)})
    keys = row_keys(table, "k", 1)
    assert len(set(keys)) == len(numbers)
    assert keys[4] == row_keys(pd.DataFrame({"k": [7]}), "k", 1)[0]
    assert (row_keys(table.iloc[[2, 0]], "k", 1) == keys[[2, 0]]).all()
    # from 2**63 to 2**64 the integers of one column and those among larger ones agree
    unsigned = pd.DataFrame({"k": np.array([2**63, 2**64 - 1], np.uint64)})
    mixed = pd.DataFrame({"k": pd.Series([2**63, 2**64 - 1, 2**64], dtype=object)})
    assert (row_keys(unsigned, "k", 1) == row_keys(mixed, "k", 1)[:2]).all()


def test_keys_and_clusters_may_be_the_integers_of_uuids():
    runs = ce.datasets.runs().query("n_nodes == 10 and n == 400").reset_index(drop=True)
    truth = pd.factorize(runs["truth"])[0]
    named = runs.assign(run=[2**120 + 3 * i for i in range(len(runs))], seed=[2**100 + int(i) for i in truth])
    how = {"by": ["algorithm"], "n_draws": 20, "rng": 7}
    found = ce.cube(named, ["shd"], key="run", cluster="seed", **how).ceval.summary(columns="full")
    assert found["n_clusters"].tolist() == [len(set(truth))] * 3


def test_fractions_text_and_several_columns():
    table = pd.DataFrame({"a": [0.5, 0.25, np.nan, 0.5], "b": ["x", "x", "x", "y"]})
    keys = row_keys(table, ["a", "b"], 1)
    assert len(set(keys)) == 4
    part = row_keys(table.iloc[[3, 1]], ["a", "b"], 1)
    assert (part == keys[[3, 1]]).all()
    categorical = row_keys(table.astype({"b": "category"}), ["a", "b"], 1)
    assert (categorical == keys).all()
    huge = row_keys(pd.DataFrame({"a": [2.0**63, -(2.0**63)]}), "a", 1)
    assert len(set(huge)) == 2, "no integer of 64 bits is 2^63"


def test_repeated_keys_and_unknown_columns_are_errors():
    table, pairs = pd.DataFrame({"a": [1, 1, 2]}, index=[0, 1, 1]), {"a": [*"yxxyy"], "b": [2, 3, 3, 2, 3]}
    for rows, key, message in (
        (table, None, r"the index labels repeat: rows \[1, 2\] share the key 1"),
        (table, "a", r"columns \['a'\] repeat: rows \[0, 1\] share the key 1"),
        (pd.DataFrame(pairs), ["a", "b"], r"rows \[0, 3\] share the key \('y', 2\), and 1 more key repeats, so"),
        (pd.DataFrame({"a": [*"xxxxxxx"]}), "a", r"rows \[0, 1, 2, 3, 4\] and 2 more share the key 'x', so"),
        (table, ["a", "c"], r"key names columns that the table lacks: \['c'\]"),
        (table, [], "key names .*no column"),
        (table, [["a"]], r"key names .*lacks: \[\['a'\]\]"),
        (table, {}, "key names .*lacks"),
    ):
        with pytest.raises(ValueError, match=message):
            row_keys(rows, key, 1)


def test_multiindex_levels_are_the_key():
    index = pd.MultiIndex.from_product([["pc", "ges"], [1, 2]])
    keys = row_keys(pd.DataFrame({"x": range(4)}, index=index), None, 1)
    flat = pd.DataFrame({"a": ["pc", "pc", "ges", "ges"], "b": [1, 2, 1, 2]})
    assert (keys == row_keys(flat, ["a", "b"], 1)).all()


def test_uniform_numbers_do_not_depend_on_chunks():
    keys = np.arange(50, dtype=np.uint64) * np.uint64(977)
    whole = uniforms(keys, 0, 40)
    assert (np.hstack([uniforms(keys, 0, 13), uniforms(keys, 13, 27)]) == whole).all()
    assert whole.min() >= 0 and whole.max() < 1
    assert abs(whole.mean() - 0.5) < 4 * np.sqrt(1 / 12 / whole.size)
