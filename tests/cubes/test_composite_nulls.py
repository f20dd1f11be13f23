"""Composite null models of strata: the rows of the member with the largest p."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce

LAWS = [ce.null_model("orientation", orientation_law=law, name=law) for law in ("order", "uniform")]


@pytest.fixture
def runs():
    """Estimates of other truths than those that they are scored by."""
    found = ce.datasets.runs().query("density == 0.2 and replicate < 6")
    others = np.random.default_rng(1).permutation(len(found))
    return found.assign(estimate=found["estimate"].array.take(others))


def cube(runs, null, **settings):
    how = {"by": ["algorithm", "n"], "n_draws": 99, "rng": 7, "key": ["algorithm", "n", "replicate"]}
    return runs.ceval.cube(["shd", "adjacency_f1"], null=null, **(how | settings))


@pytest.mark.slow
def test_a_stratum_has_the_row_of_the_largest_p(runs):
    members = ["edges", "permutation", "degree"]
    side_by_side = cube(runs, members).ceval.summary(columns="full")
    found = cube(runs, ce.worst_of(*members)).ceval.summary(columns="full")
    assert found["null"].unique().tolist() == ["worst of edges, permutation, degree"]
    strata = ["algorithm", "n", "metric"]
    others = [c for c in side_by_side if c not in ("null", "p_adjusted")]
    for _, row in found.iterrows():
        mine = side_by_side[(side_by_side[strata] == row[strata]).all(axis=1)]
        assert len(mine) == 3 and row["p_value"] == mine["p_value"].max()
        member = mine[mine["null"] == row["control_null"]].iloc[0]
        pd.testing.assert_series_equal(row[others], member[others], check_names=False)
        assert mine["null"][mine["p_value"].idxmax()] == row["control_null"]
    assert len(found) == len(side_by_side) / 3 and found["control_null"].nunique() > 1


@pytest.mark.slow
@pytest.mark.parametrize("null", [["edges", "permutation"], ce.worst_of("edges", "permutation")])
def test_a_cube_of_one_stratum_has_several_null_models(runs, null):
    found = cube(runs, null, by=[]).ceval.summary(columns="full")
    apart = [cube(runs, name, by=[]).ceval.summary(columns="full") for name in ("edges", "permutation")]
    p = [table["p_value"].to_numpy() for table in apart]
    wanted = np.concatenate(p) if isinstance(null, list) else np.maximum(*p)
    assert sorted(found["p_value"]) == sorted(wanted)


@pytest.mark.slow
def test_p_values_are_adjusted_after_the_largest_is_taken(runs):
    found = cube(runs, ce.worst_of("edges", "degree")).ceval.summary(adjust="bonferroni", columns="full")
    np.testing.assert_allclose(found["p_adjusted"], np.minimum(1, found["p_value"] * len(found)))


@pytest.mark.slow
def test_composite_null_models_stand_beside_others(runs):
    either = ce.worst_of("edges", "degree", name="either")
    alone = cube(runs, ["edges", "permutation"]).ceval.summary(columns="full")
    for null in (["edges", either, "permutation"], [either, "edges", "permutation"]):
        made = cube(runs, null)
        assert sorted(made["null"].to_numpy().tolist()) == ["degree", "edges", "permutation"]
        found = made.ceval.summary(columns="full")
        assert found["null"].unique().tolist() == [getattr(one, "name", one) for one in null]
        for name in ("edges", "permutation"):
            mine, expected = found[found["null"] == name], alone[alone["null"] == name]
            assert (mine["control_null"] == name).all()
            np.testing.assert_array_equal(mine["p_value"], expected["p_value"])
    # a member alone is a null model of its own
    part = made.sel(null=["degree", "permutation"]).ceval.summary(columns="full")
    assert part["null"].unique().tolist() == ["degree", "permutation"] == part["control_null"].unique().tolist()
    assert "control_null" not in made.sel(null="degree").ceval.summary(columns="full")


@pytest.mark.slow
def test_what_describes_p_is_missing_with_it():
    """Controls with the estimate's own adjacencies do not vary in them."""
    truths = [f"{edges}; A; B; C; D" for edges in ("A -> B; B -> C", "A -> C; C -> D", "B -> D; A -> D")]
    runs = pd.DataFrame({"truth": truths, "estimate": truths, "s": 0})

    def table(null):
        made = runs.ceval.cube(["adjacency_f1"], by=["s"], null=null, n_draws=9, rng=1)
        return made.ceval.summary(columns="full").iloc[0]

    edges, orientation = table("edges"), table("orientation")
    assert edges["p_value"] < 1 and orientation["p_method"] == "none: no variation under the null"
    of_p = [c for c in ("p_value", "p_se", "p_at_floor", "p_method") if c in edges]
    for null in (ce.worst_of("edges", "orientation"), ce.worst_of("orientation", "edges")):
        found, first = table(null), table(null.members[0].name)
        assert found["control_null"] == null.members[0].name
        pd.testing.assert_series_equal(found[of_p], orientation[of_p], check_names=False)
        others = [c for c in edges.index if c not in (*of_p, "p_adjusted", "null")]
        pd.testing.assert_series_equal(found[others], first[others], check_names=False)


@pytest.mark.slow
def test_cubes_of_composite_null_models_are_saved_and_lazy(runs, tmp_path):
    import dask.dataframe as dd
    import xarray as xr

    import causaleval_pd.dask  # noqa: F401, which registers the accessor

    made = cube(runs, ce.worst_of(*LAWS))
    expected = made.ceval.summary(columns="full")
    made.to_netcdf(tmp_path / "cube.nc")
    with xr.open_dataset(tmp_path / "cube.nc") as read:
        pd.testing.assert_frame_equal(read.ceval.summary(columns="full"), expected)
    lazy = cube(dd.from_pandas(runs, npartitions=2), ce.worst_of(*LAWS))
    table = lazy.ceval.summary(columns="full")
    found = table
    assert found.columns.tolist() == expected.columns.tolist()
    np.testing.assert_allclose(found["p_value"], expected["p_value"])
    assert found["control_null"].tolist() == expected["control_null"].tolist()


@pytest.mark.parametrize(
    ("null", "message"),
    [
        (ce.worst_of("edges", "empty"), "has empty, under which rows have no p-values"),
        (ce.worst_of("edges", "edge"), "unknown null 'edge'"),
        ([ce.worst_of("edges", "degree"), ce.worst_of("edges", "degree")], "null has worst of edges, degree twice"),
        (["edges", "edges"], "null has edges twice"),
        (["edges", ce.worst_of(ce.null_model("orientation", name="edges"), "degree")], "null has edges twice"),
    ],
)
def test_bad_composite_null_models_are_refused(runs, null, message):
    with pytest.raises(ValueError, match=message):
        cube(runs, null)


@pytest.mark.slow
def test_the_level_holds_for_guessers_of_either_law():
    """Stars whose edges point along a random order reject too often under uniform directions."""
    rng = np.random.default_rng(4)
    d, strata, runs = 7, 150, 6
    star = "; ".join(f"X0 -> X{i}" for i in range(1, d))
    guesses = []
    for _ in range(strata * runs):
        place = rng.permutation(d)
        guesses.append("; ".join(f"X0 {'->' if place[0] < place[i] else '<-'} X{i}" for i in range(1, d)))
    table = pd.DataFrame({"truth": star, "estimate": guesses, "s": np.repeat(np.arange(strata), runs)})

    def rejected(null):
        found = table.ceval.cube(["directed_tp"], by=["s"], null=null, n_draws=99, rng=1, cluster=None).ceval.summary(
            columns="full"
        )
        return int((found["p_value"] <= 0.05).sum())

    most = stats.binom.ppf(0.999, strata, 0.05)
    assert rejected(LAWS[1]) > most >= rejected(ce.worst_of(*LAWS))
