"""Composite null models: the largest p, and the columns that belong to it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce

METRICS = ["shd", "adjacency_f1"]


def orientation(*laws):
    return [ce.null_model("orientation", orientation_law=law) for law in laws]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("null", "how"),
    [
        (["edges", "degree"], {}),
        (["edges", "permutation", "degree"], {"stop_after": 3}),
        (["edges", "orientation"], {"method": "simulate"}),
        (["edges", "permutation"], {"p_rule": "mid"}),
    ],
)
def test_a_row_has_the_columns_of_the_largest_p(guesses, null, how):
    runs = guesses.head(30)
    alone = [ce.with_controls(runs, METRICS, null=one, n_draws=99, rng=1, columns="full", **how) for one in null]
    found = ce.with_controls(runs, METRICS, null=ce.worst_of(*null), n_draws=99, rng=1, columns="full", **how)
    assert found["control_null"].unique().tolist() == [f"worst of {', '.join(null)}"]
    for name in METRICS:
        p = np.stack([table[f"{name}_p"] for table in alone])
        worst = p.argmax(axis=0)
        np.testing.assert_array_equal(found[f"{name}_p"], p.max(axis=0))
        assert found[f"{name}_control_null"].tolist() == [null[i] for i in worst]
        for column in [c for c in alone[0] if c.startswith(name)]:
            expected = [alone[i][column].iloc[row] for row, i in enumerate(worst)]
            assert (
                found[column].tolist() == pytest.approx(expected, nan_ok=True)
                if found[column].dtype.kind == "f"
                else (found[column].tolist() == expected)
            )


def test_members_are_named_by_their_options():
    null = ce.worst_of(*orientation("uniform", "order"), "edges")
    assert [member.name for member in null.members] == [
        "orientation (orientation_law=uniform)",
        "orientation (orientation_law=order)",
        "edges",
    ]
    assert ce.worst_of(null, "degree", name="any") == ce.WorstOf("any", (*null.members, ce.null_model("degree")))


@pytest.mark.slow
def test_the_level_holds_for_guessers_of_either_law():
    """Stars whose edges point along a random order reject .197 at .05 under uniform directions."""
    rng = np.random.default_rng(4)
    d, n = 9, 600
    star = "; ".join(f"X0 -> X{i}" for i in range(1, d))
    guesses = []
    for _ in range(n):
        place = rng.permutation(d)
        guesses.append("; ".join(f"X0 {'->' if place[0] < place[i] else '<-'} X{i}" for i in range(1, d)))
    runs = pd.DataFrame({"truth": [star] * n, "estimate": guesses})

    def rejected(null):
        p = ce.with_controls(runs, ["directed_tp"], null=null, n_draws=199, rng=1)["directed_tp_p"]
        return int((p <= 0.05).sum())

    most = stats.binom.ppf(0.999, n, 0.05)
    assert rejected(orientation("uniform")[0]) > most >= rejected(ce.worst_of(*orientation("uniform", "order")))


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        (["edges"], ValueError, "compares two or more null models, found 1"),
        (["edges", "edges"], ValueError, "worst_of has edges twice; name each"),
        (["edges", 3], TypeError, "null must be a name"),
    ],
)
def test_bad_members_are_refused(members, error, message):
    with pytest.raises(error, match=message):
        ce.worst_of(*members)


def test_where_composite_null_models_are_refused(guesses):
    runs, null = guesses.head(4), ce.worst_of("edges", "degree")
    with pytest.raises(
        ValueError, match="'worst of edges, degree' is composite, .*; name one of its members here: edges, degree"
    ):
        ce.control_distribution("A -> B; C", n_edges=1, kind="dag", null=null)
    with pytest.raises(TypeError, match="'worst of edges, degree' is composite; name it by ce.worst_of"):
        ce.null_model(null, switches=3)
    with pytest.raises(ValueError, match="has oracle_skeleton, under which rows have no p-values"):
        ce.with_controls(runs, ["shd"], null=ce.worst_of("edges", "oracle_skeleton"))
    with pytest.raises(ValueError, match="unknown null 'edge'"):
        ce.with_controls(runs, ["shd"], null=ce.worst_of("edge", "degree"))
    with pytest.raises(ValueError, match="no member with the option 'permute'"):
        ce.with_controls(runs, ["shd"], null=ce.worst_of("degree", "orientation"), permute=False)
