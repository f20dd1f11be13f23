"""Functions from printed values: one that agrees, or none."""

from __future__ import annotations

import io

import pytest

from causaleval_pd.reasoning import read_published


def table(observations):
    """A raw file of A -> C <- B with given (values of A, B, C, noise of C)."""
    head = "Context ID,Sample ID,DAG adjacency matrix,DAG nodes,CCT nodes,Bernoulli parameters,Causal context,"
    lines = [head + "Sample context,Factual queries"]
    for sample, (a, b, c, u) in enumerate(observations):
        values = {"A": a, "B": b, "C": c}
        noise = {"U_A": a, "U_B": b, "U_C": u}
        query = str({"C": {"all true endogenous": values, "all true exogenous": noise, "true response": c}})
        cells = ["[[0 0 1] [0 0 1] [0 0 0]]", "['A', 'B', 'C']", "['A', 'C']", "[.5, .5, .5]", "w", "s", query]
        lines.append(",".join([f"0,{sample}", *(f'"{cell}"' for cell in cells)]))
    return io.StringIO("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("observations", "function"),
    [
        ([(1, 1, 1, 1)], None),  # all three agree
        ([(1, 1, 1, 1), (0, 1, 0, 1)], "and"),
        ([(0, 0, 0, 0), (0, 1, 1, 0), (1, 1, 1, 0)], "or"),
        ([(0, 0, 0, 0), (0, 1, 1, 0), (1, 1, 0, 0)], "xor"),
        ([(0, 0, 0, 0)], None),
    ],
)
def test_the_function_that_agrees(observations, function):
    nodes = read_published(table(observations)).nodes.set_index("node")["function"]
    found = None if nodes.isna()["C"] else nodes["C"]
    assert found == function
    assert nodes[["A", "B"]].isna().all()


def test_values_that_fit_no_function_are_refused():
    # C is true though its noise and both parents are false
    with pytest.raises(ValueError, match="the values of node 'C' agree neither with AND nor with OR nor XOR"):
        read_published(table([(0, 0, 1, 0)]))


def test_values_of_other_nodes_are_refused():
    text = table([(1, 1, 1, 1)]).getvalue().replace("'U_A': 1, ", "")
    with pytest.raises(ValueError, match="expected a value of 0 or 1 for each of 3 variables, found 2"):
        read_published(io.StringIO(text))
