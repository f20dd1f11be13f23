"""Own runs among published results: a row per algorithm, by its median skill."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


@pytest.fixture(scope="module")
def cube():
    return ce.datasets.runs().ceval.cube(["adjacency_f1"], by=["algorithm", "density", "n"], n_draws=60, rng=7)


@pytest.fixture(scope="module")
def results():
    claims = ce.datasets.published_results().query("metric == 'adjacency_f1' and n_nodes == 10")
    table = claims.rename(columns={"value": "adjacency_f1"}).drop(columns="truth").dropna(axis=1, how="all")
    return ce.from_published(table, "adjacency_f1")


def test_rows_are_algorithms_by_their_median(cube, results):
    ax = cube.ceval.plot.published("adjacency_f1", results, by="algorithm")
    names = [x.get_text() for x in ax.get_yticklabels()]
    own = cube.ceval.summary().groupby("algorithm")["skill"].median()
    others = results.groupby("method")["adjacency_f1_skill"].median().rename(lambda name: f"{name} (published)")
    medians = pd.concat([own, others])
    assert sorted(names) == sorted(medians.index)
    np.testing.assert_allclose(medians[names], medians.sort_values(ascending=False), rtol=0, atol=1e-12)
    bars = [line.get_xdata()[0] for line in ax.get_lines() if line.get_gid() != "guessing"]
    np.testing.assert_allclose(bars, medians[names])
    n_points = sum(len(x.get_offsets()) for x in ax.collections)
    assert n_points == len(cube.ceval.summary()) + len(results)


def test_filled_points_beat_guessing(cube, results):
    ax = cube.ceval.plot.published("adjacency_f1", results, by="algorithm", caption=False)
    filled = sum((x.get_facecolors()[:, 3] > 0).sum() for x in ax.collections if len(x.get_facecolors()))
    better = (cube.ceval.summary()["verdict"] == "better").sum()
    better += (results["adjacency_f1_verdict"] == "better").sum()
    assert filled == better
    assert not [x for x in ax.figure.texts if x.get_gid() == "caption"]


def test_skills_below_the_axis_are_triangles_at_its_edge(cube):
    rows = {"method": ["none", "some"], "skeleton_hd": ["40", "10"], "n_nodes": 10, "true_edges": 20, "n_runs": 1}
    results = ce.from_published(pd.DataFrame({**rows, "estimated_edges": [20, 20]}))
    results["skeleton_hd_skill"] = [-3.0, 0.5]
    runs = ce.datasets.runs().query("density == 0.2").ceval.cube(["skeleton_hd"], by=["algorithm"], n_draws=20, rng=1)
    ax = plt.figure().subplots()
    assert runs.ceval.plot.published("skeleton_hd", results, by="algorithm", ax=ax) is ax
    assert min(x.get_offsets()[:, 0].min() for x in ax.collections if len(x.get_offsets())) == -1
    assert ax.get_xlim()[0] >= -1.1


def test_distances_of_another_convention_are_refused():
    printed = pd.DataFrame({"method": ["BOSS"], "shd": ["20"], "n_nodes": 10, "true_edges": 20, "estimated_edges": 20})
    results = ce.from_published(printed.assign(n_runs=1, kind="dag", shd_convention="tetrad"))
    cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm"], n_draws=20, rng=7)
    with pytest.raises(ValueError, match="shd_convention"):
        cube.ceval.plot.published("shd", results, by="algorithm")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="adjacency_f1_skill"), "from_published"),
        (lambda table: table.rename(columns={"method": "tool"}), "'method'"),
        (lambda table: table.assign(method=[None, *table["method"][1:]]), "row 0 .*'method' is missing"),
        (lambda table: table.assign(control_null="shuffle"), "beside the null model 'edges'"),
    ],
)
def test_other_tables_are_refused(cube, results, change, message):
    with pytest.raises(ValueError, match=message):
        cube.ceval.plot.published("adjacency_f1", change(results), by="algorithm")
    with pytest.raises(ValueError, match="stratum"):
        cube.ceval.plot.published("adjacency_f1", results, by="tool")
    with pytest.raises(TypeError, match="results"):
        cube.ceval.plot.published("adjacency_f1", results.to_numpy(), by="algorithm")
