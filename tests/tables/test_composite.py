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
        (["edges", "dags"], {}),
        (["edges", "permutation", "degree"], {"stop_after": 3}),
        (["edges", "scale_free"], {"method": "simulate"}),
        (["edges", "erdos_renyi"], {"p_rule": "mid"}),
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


def test_a_missing_p_of_one_member_is_missing():
    nodes = "A; B; C; D; E; F"
    runs = pd.DataFrame({"truth": [f"A -> B; {nodes}"] * 3, "estimate": [nodes, f"B -> A; {nodes}", None]})
    found = ce.with_controls(runs, ["shd"], null=ce.worst_of("edges", "erdos_renyi"), n_draws=20, rng=1)
    assert found["shd_p"].isna().tolist() == [True, False, True] == found["shd_p_method"].isna().tolist()
    assert found["shd_control_null"].tolist() == ["edges"] * 3 and found["shd_control_mean"].iloc[0] == 1


def test_members_are_named_by_their_options():
    null = ce.worst_of(*orientation("uniform", "order"), "edges")
    assert [member.name for member in null.members] == [
        "orientation (orientation_law=uniform)",
        "orientation (orientation_law=order)",
        "edges",
    ]
    assert ce.worst_of(null, "dags", name="any") == ce.WorstOf("any", (*null.members, ce.null_model("dags")))


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
    runs, null = guesses.head(4), ce.worst_of("edges", "dags")
    with pytest.raises(
        ValueError, match="'worst of edges, dags' is composite, .*; name one of its members here: edges, dags"
    ):
        ce.control_distribution("A -> B; C", n_edges=1, kind="dag", null=null)
    with pytest.raises(TypeError, match="'worst of edges, dags' is composite; name it by ce.worst_of"):
        ce.null_model(null, switches=3)
    for other in ("oracle_skeleton", "stratum"):
        with pytest.raises(ValueError, match=f"has {other}, under which rows have no p-values"):
            ce.with_controls(runs, ["shd"], null=ce.worst_of("edges", other))
    with pytest.raises(ValueError, match="unknown null 'edge'"):
        ce.with_controls(runs, ["shd"], null=ce.worst_of("edge", "dags"))
    with pytest.raises(ValueError, match="no member with the option 'permute'"):
        ce.with_controls(runs, ["shd"], null=ce.worst_of("degree", "dags"), permute=False)
