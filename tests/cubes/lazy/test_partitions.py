"""Checks of partitions, and the order of labels that partitions know only in part."""

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.lazy.partitions import check_cells, in_partition, level_ranks


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("graph", "DiGraph with 4 nodes and 4 edges"),
        ("graph", "[[0 1]\n [0 0]]"),
        ("network", "DiscreteNetwork with 4 nodes"),
        ("formula", "<Model object at 0x7f>"),
    ],
)
def test_printed_objects_are_refused_in_every_field(field, text):
    part = pd.DataFrame({"truth": [None, text], "estimate": [None, None]}, dtype="str")
    with pytest.raises(ValueError, match=r"row 1 .* the printed text of an object: dask turns objects into text"):
        check_cells(part, {"field": field})


def test_cells_that_read_as_the_field_pass():
    check_cells(ce.datasets.runs().head(3), {"field": "graph"})
    check_cells(pd.DataFrame({"truth": ["A -> B"], "estimate": [None]}), {"field": "graph"})


def test_errors_name_the_partition_once():
    with pytest.raises(TypeError, match="^partition 3: wrong$"), in_partition({"zero_division": 0.0}, 3):
        raise TypeError("wrong")


def test_labels_are_ranked_as_along_their_axis():
    sizes = pd.DataFrame({"size": pd.Categorical([], categories=["s", "m", "l"])})
    labels = pd.Series(["l", "missing", "s"])
    assert level_ranks(labels, sizes, "size", None).tolist() == [2, 3, 0]
    cuts = pd.Series(["(10, 100]", "missing", "[-1, 2]", "(2, 10]"])
    assert level_ranks(cuts, sizes, "x", [-1, 2, 10, 100]).tolist() == [2, 3, 0, 1]
    assert level_ranks(pd.Series([3.5, None, 1.0]), sizes, "k", None).tolist() == [1, 2, 0]
