"""Fields: registered once, found by name; missing cells and the identity of cells."""

import hashlib

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import FIELDS, Field, get_field, identify_cells, missing_cells


def test_equal_cells_have_equal_numbers_in_any_table():
    cells = pd.Series(["a > b", None, "b > a", "a > b"], index=list("wxyz"), dtype="str")
    found = identify_cells(cells)
    assert found[0] == found[3] != found[2] and found[1] == 0 and found.dtype == np.int64
    digest = hashlib.blake2b(b"a > b", digest_size=8).digest()
    assert found[0] == int.from_bytes(digest, "little", signed=True), "the same on any machine"
    np.testing.assert_array_equal(identify_cells(cells.iloc[::-1]), found[::-1])
    np.testing.assert_array_equal(identify_cells(cells.astype(object)), found)


def test_bytes_and_tables_without_cells_have_numbers_too():
    assert (
        identify_cells(pd.Series([b"ab", "ab"], dtype=object)).tolist()
        == identify_cells(pd.Series([b"ab"] * 2, dtype=object)).tolist()
    )
    assert identify_cells(pd.Series([], dtype="str")).shape == (0,)
    assert identify_cells(pd.Series([None, None], dtype="str")).tolist() == [0, 0]


def test_missing_cells_are_not_empty_ones():
    assert missing_cells(pd.Series(["", None, "a"], dtype="str")).tolist() == [False, True, False]


def test_fields_are_found_by_name():
    assert get_field("graph") is FIELDS["graph"] is ce.structure.GRAPHS
    for name in ("graphs", ["graph"], None):
        with pytest.raises(ValueError, match=r"^unknown field .*it is one of answer, .*formula, graph,"):
            get_field(name)


def test_truths_may_be_of_another_field():
    graphs = ce.structure.GRAPHS
    scores = Field("scores", ("shd",), "edges", graphs.holds, graphs.coerce, graphs.batches, graphs.pair)
    assert scores.of_truth is scores
    weights = Field("w", (), "", graphs.holds, graphs.coerce, graphs.batches, graphs.pair, truth_field="graph")
    assert weights.of_truth is graphs
    assert scores.nulls is not weights.nulls and scores.nulls == {}, "each field has null models of its own"


def test_the_list_names_what_each_field_takes():
    table = ce.list_fields()
    assert set(table.index) == set(FIELDS)
    assert table.loc["graph", "default_null"] == "edges" and table.loc["graph", "truth_field"] == "graph"
    for name, field in FIELDS.items():
        assert {ce.get_metric(m).field for m in field.default_metrics} <= {name, *field.views}
        assert field.default_null in field.nulls
