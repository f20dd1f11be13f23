"""Weights of edges in messages: where to cut them, and which columns of numbers a table of edges has besides."""

from __future__ import annotations

import pandas as pd

from causaleval_pd.graphs.weights import advised_threshold, explain_weights, unread_numbers


def test_the_threshold_lies_in_a_wide_gap_or_in_proportion():
    assert advised_threshold([1.2, 0.8, 0.1, 0.02]) == 0.3
    assert advised_threshold([0.02, 0.015, 0.0001]) == 0.005


def test_a_threshold_is_advised_with_the_edges_that_it_leaves():
    assert explain_weights([0, 1, 2], [1, 2, 1], [0.9, 0.7, 0.004]) == (
        "threshold weights by their size, as in abs(W) > 0.3: 2 edges; W != 0 would make 2 edges, 1 of them undirected"
    )


def test_columns_of_numbers_may_be_printed_as_text():
    table = pd.DataFrame({"from": ["A", "B"], "to": ["B", "C"], "p": ["<0.001", ""], "tool": ["pc", "ges"]})
    assert unread_numbers(table, ["from", "to"]) == ["p"]
