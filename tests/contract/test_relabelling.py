"""What fields say of relabelled estimates: cells of pairs, the order of labels."""

import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field


def of_field(name):
    return get_field(name).relabelling


def test_cells_of_pairs_are_the_estimates():
    runs = ce.datasets.runs().head(9)
    networks = [ce.GaussianNetwork({"A": [], "B": ["A"]}, {"B": [w]}, {"A": 1.0, "B": 1.0}) for w in (0.5, 0.8)]
    columns = {
        "graph": (runs["truth"], runs["estimate"]),
        "network": (ce.network_column(networks), ce.network_column(networks[::-1])),
        "formula": (pd.Series(["A+B<->C"] * 2, dtype="str"), pd.Series(["A*B<->C", "A<->C"], dtype="str")),
    }
    for name, (truth, estimate) in columns.items():
        for batch in get_field(name).batches(truth, estimate, None):
            found = of_field(name).cells(batch.pairs, truth.iloc[batch.rows])
            assert (found.to_numpy(object) == estimate.iloc[batch.rows].to_numpy(object)).all(), name


def test_relations_that_follow_the_labels_are_counted_once_a_truth():
    graphs = ce.graph_column(["X2 -> X10; X10 -> X1", "X2 -> X10; X10 -> X1", None, "B -> A; B -- C"])
    assert of_field("graph").forward(graphs) == (1, 3)
    network = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.3, 0.7], "B": [[0.9, 0.1], [0.2, 0.8]]})
    assert of_field("network").forward(ce.network_column([network])) == (1, 1)
    assert of_field("formula").forward is None and of_field("answer") is None
    assert np.sum(of_field("graph").forward(ce.graph_column([None, None]))) == 0
