"""Clusters of comparisons: those of the cube, coarser ones, and what is refused."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.inference.compare import compare
from causaleval_pd.inference.linear_model import model
from causaleval_pd.inference.ranking import rank_test

#: verbs that group runs, with the number of groups in their results
VERBS = {
    "compare": lambda cube: compare(cube, "algorithm")["n_truths"],
    "skill": lambda cube: compare(cube, "algorithm", on="skill")["n_truths"],
    "max_t": lambda cube: compare(cube, "algorithm", test="max_t")["n_truths"],
    "rank_test": lambda cube: rank_test(cube, "algorithm")["n_blocks"],
    "model": lambda cube: model(cube, "shd ~ algorithm")["n_clusters"],
}
CONTROLS = {"by": ["algorithm"], "n_draws": 19, "rng": 7}


@pytest.fixture(scope="module")
def runs():
    """Three algorithms on 20 truths, of which a laboratory has 4, and two of these a batch."""
    table = ce.datasets.runs().query("density == 0.2 and n == 400").reset_index(drop=True)
    return table.assign(lab=table["replicate"] // 4, batch=table["replicate"] // 2)


@pytest.fixture(scope="module")
def by_lab(runs):
    """A cube whose runs depend on each other by laboratory."""
    return runs.ceval.cube(["shd"], cluster="lab", values=["lab", "batch"], **CONTROLS)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_the_clusters_are_those_of_the_cube(runs, by_lab, verb):
    groups = VERBS[verb]
    assert set(groups(by_lab)) == {5}
    by_truth = runs.ceval.cube(["shd"], **CONTROLS)
    assert set(groups(by_truth)) == {20}
    twice = pd.concat([runs, runs], ignore_index=True)
    n = {"model": 120}.get(verb, 40)
    assert set(groups(twice.ceval.cube(["shd"], cluster=None, **CONTROLS))) == {n}


@pytest.mark.slow
def test_a_cube_without_controls_has_clusters(runs):
    how = {"by": ["algorithm"], "n_draws": None}
    cube = runs.ceval.cube(["shd"], cluster="lab", **how)
    found = compare(cube, "algorithm")
    assert set(found["n_truths"]) == {5}
    lazy = dd.from_pandas(runs, npartitions=3)
    made = lazy.ceval.cube(["shd"], cluster="lab", **how)
    pd.testing.assert_frame_equal(compare(made, "algorithm"), found)
    with pytest.raises(ValueError, match=r"no column 'replicates' \(cluster\)"):
        runs.ceval.cube(["shd"], cluster="replicates", **how)
    split = runs.assign(part=np.arange(len(runs)) % 7)
    with pytest.raises(ValueError, match="have the same truth, but different clusters"):
        split.ceval.cube(["shd"], cluster="part", **how)
    # nothing is relabelled, so that truths of one cluster may have different nodes
    nodes = pd.DataFrame(
        {"truth": ["A -> B", "B -> C"] * 2, "estimate": ["A -> B", "B; C"] * 2, "a": [0, 0, 1, 1], "g": 1}
    )
    assert nodes.ceval.cube(["shd"], by=["a"], cluster="g", n_draws=None).sizes["a"] == 2


@pytest.mark.slow
def test_saved_cubes_keep_their_clusters(by_lab, tmp_path):
    xr = pytest.importorskip("xarray")
    by_lab.to_netcdf(tmp_path / "cube.nc")
    read = xr.open_dataset(tmp_path / "cube.nc").load()
    pd.testing.assert_frame_equal(compare(read, "algorithm"), compare(by_lab, "algorithm"))


@pytest.mark.slow
def test_answers_have_no_clusters_by_truth():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"truth": rng.random(24) < 0.5, "estimate": rng.random(24) < 0.7, "q": np.arange(24) % 12})
    table["truth"] = table.groupby("q")["truth"].transform("first")
    table["model"] = np.repeat(["x", "y"], 12)
    how = {"by": ["model"], "replicate": "q", "n_draws": 19, "rng": 1}
    cube = table.ceval.cube(["answer_accuracy"], **how)
    assert compare(cube, "model")["n_truths"].tolist() == [12]
    assert set(rank_test(cube, "model")["n_blocks"]) == {12}
    by_question = table.ceval.cube(["answer_accuracy"], cluster="q", **how)
    assert compare(by_question, "model")["n_truths"].tolist() == [12]
    assert model(by_question, "answer_accuracy ~ model")["n_clusters"].tolist() == [12, 12]


@pytest.mark.slow
def test_the_size_of_comparisons_of_dependent_truths(make_cube):
    """Eight laboratories have five truths each, and their truths favour one algorithm alike, by chance."""
    rng = np.random.default_rng(11)
    n, labs = 800, np.repeat(np.arange(1, 9), 5)
    values = rng.normal(size=(2, n, 40)) + rng.normal(size=(2, n, 8))[..., labs - 1]
    cube = make_cube({"a": ["x", "y"], "study": np.arange(n)}, {"m": (values, "minimize")})
    ids = cube["truth_id"].copy(data=np.broadcast_to(labs, values.shape))
    grouped = cube.assign_coords(cluster_id=ids).assign_attrs(control_cluster="column lab")
    for test, highest in (("wilcoxon", 0.05), ("t", 0.07), ("max_t", 0.07)):
        by_lab, by_truth = (
            (compare(c, "a", by="all", test=test, adjust=None)["p_value"] <= 0.05).mean()
            for c in (grouped, cube.assign_attrs(control_cluster="truth"))
        )
        assert 0.02 < by_lab < highest and by_truth > 0.25
