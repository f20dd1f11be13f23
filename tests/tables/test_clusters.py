"""Clusters of rows: by truth, by a column, or none; what is refused, and which strata repeat one."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.tables.clusters import PlacedClusters, read_clusters, repeated_strata
from causaleval_pd.tables.settings import Cells
from causaleval_pd.tables.tasks import read_tasks

TRUTHS = ["A -> B; C", "C -> B; A", "A -> B; C", "A -> B; C; D"]
RUNS = pd.DataFrame({"truth": TRUTHS, "estimate": ["A; B -> C", "A -> B; C", None, "A -> D; B; C"], "g": list("aaab")})


def clusters(table=RUNS, cluster="truth"):
    [task], _ = read_tasks(table, ["shd"], Cells())
    return read_clusters(table, cluster, task, task.identity())


def test_rows_of_one_truth_are_a_cluster():
    found = clusters()
    assert found.setting == "truth" and len(set(found.ids.tolist())) == 3
    assert found.ids[0] == found.ids[2]
    turned = clusters(RUNS[::-1])
    assert turned.ids[::-1].tolist() == found.ids.tolist()
    written_otherwise = RUNS.assign(truth=["C; A -> B", *TRUTHS[1:]])
    assert clusters(written_otherwise).ids.tolist() == found.ids.tolist()


def test_none_gives_every_row_a_cluster_of_its_own():
    found = clusters(cluster=None)
    assert found.setting == "none" and len(set(found.ids.tolist())) == 4


def test_a_column_may_merge_truths():
    found = clusters(cluster="g")
    assert found.setting == "column g"
    assert found.ids[0] == found.ids[1] != found.ids[3] and found.ids[2] == 0
    zero = clusters(RUNS.assign(g=[0, 0, 0, 1]), "g")
    assert zero.ids[0] == zero.ids[1] != 0, "0 names a cluster, and marks rows without one"


def test_streams_depend_on_seed_and_cluster_alone():
    a, b = clusters(), clusters(RUNS.iloc[[2, 0]])
    assert a.keys(3)[0] == a.keys(3)[2] == b.keys(3)[0] != a.keys(4)[0]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (list("abcd"), None),
        (list("abbc"), None),
        (["a", None, "a", "b"], r"row 1 \(index 1\): cluster='g' has no value"),
        (list("aaaa"), r"row 0 \(index 0\) and row 3 \(index 3\) are in one cluster, but their truths have different"),
    ],
)
def test_columns_that_are_no_clusters_are_refused(column, message):
    if message is None:
        # the third run failed, so nothing of its cluster matters
        assert clusters(RUNS.assign(g=column), "g").ids[2] == 0
        return
    with pytest.raises(ValueError, match=message):
        clusters(RUNS.assign(g=column), "g")


def test_clusters_that_are_lists_are_refused():
    with pytest.raises(TypeError, match="column 'g' holds values of type list"):
        clusters(RUNS.assign(g=[[1]] * 4), "g")


def test_a_column_that_splits_a_truth_is_refused():
    table = RUNS.assign(estimate="A; B; C", g=list("abcd")).iloc[:3]
    with pytest.raises(ValueError, match=r"row 0 .* and row 2 .* have the same truth, but different clusters"):
        clusters(table, "g")
    with pytest.raises(ValueError, match="cluster"):
        clusters(RUNS, "unknown")


def test_answers_have_no_clusters_unless_a_column_names_them():
    table = pd.DataFrame({"truth": [True, True, False], "estimate": [True, False, False], "g": [1, 1, 2]})
    [task], _ = read_tasks(table, ["answer_accuracy"], Cells())
    assert read_clusters(table, "truth", task, task.identity()).setting == "none"
    found = read_clusters(table, "g", task, task.identity())
    assert found.setting == "column g" and found.ids[0] == found.ids[1] != found.ids[2]


def test_strata_that_repeat_a_cluster():
    ids, stratum = np.array([5, 6, 5, 5, 6]), np.array([0, 0, 1, 1, 2])
    every = np.ones(5, bool)
    assert repeated_strata(ids, stratum, every).tolist() == [False, True, False]
    assert repeated_strata(ids, stratum, np.array([1, 1, 1, 0, 1], bool)).tolist() == [False, False, False]
    marks = pd.DataFrame({"c": [1, 1], "r": [True, False]})
    [task], _ = read_tasks(RUNS.iloc[:2].assign(**marks), ["shd"], Cells())
    placed = read_clusters(marks, PlacedClusters("truth", "c", "r", True, 9), task, np.zeros(2, np.int64))
    assert placed.repeats(np.zeros(2, np.int64), np.ones(2, bool)).tolist() == [True, False]
    assert placed.n_rows == 9


def test_networks_and_formulas_have_labels():
    truths = pd.Series(["A*b+C<->E", "A*b+c<->E", "A*B<->E"], dtype="str")
    labels = ce.configurational.FORMULAS.labels(truths)
    assert labels[0] == labels[1] != labels[2]


@pytest.fixture(scope="module")
def repeated():
    """Nine runs on three truths of ten nodes, twice, with guesses that two truths share."""
    runs = ce.datasets.runs().query("replicate < 3 and density == 0.2 and n == 100")
    guesses = runs.ceval.placebo(rng=3, joint="all")
    return pd.concat([guesses, guesses], ignore_index=True).assign(lab=0)


DRAWN = {"n_draws": 60, "rng": 5, "method": "simulate", "columns": "full"}


@pytest.mark.parametrize(("null", "joint"), [("permutation", True), ("edges", False), ("degree", False)])
def test_rows_of_a_cluster_are_relabelled_alike(repeated, null, joint):
    found = repeated.ceval.with_controls(["shd", "directed_f1"], null=null, **DRAWN)
    first, second = (x.reset_index(drop=True) for x in (found[:9], found[9:]))
    alone = repeated.ceval.with_controls(["shd", "directed_f1"], null=null, cluster=None, **DRAWN)
    names = [name for name in found if "control_" in name]
    assert first.equals(second) == joint
    assert not alone[:9].equals(alone[9:].reset_index(drop=True))
    # other null models draw for each row by itself, whatever its cluster
    assert found[names].equals(alone[names]) != joint
    by_lab = repeated.ceval.with_controls(["shd", "directed_f1"], null=null, cluster="lab", **DRAWN)
    assert by_lab[:9].reset_index(drop=True).equals(by_lab[9:].reset_index(drop=True)) == joint


@pytest.mark.slow
def test_joint_draws_are_the_same_in_any_order_chunk_and_engine(repeated):
    dd = pytest.importorskip("dask.dataframe")
    pytest.importorskip("causaleval_pd.dask")
    for cluster in ("truth", "lab", None):
        how = DRAWN | {"null": "permutation", "cluster": cluster}
        found = repeated.ceval.with_controls(["shd"], **how)
        shuffled = repeated.sample(frac=1, random_state=2).ceval.with_controls(["shd"], **how).sort_index()
        with ce.set_options(engine="threads", n_jobs=2):
            threads = repeated.ceval.with_controls(["shd"], **how)
        streamed = dd.from_pandas(repeated, npartitions=5).ceval.with_controls(["shd"], **how).compute()
        for other in (shuffled, threads, streamed):
            pd.testing.assert_frame_equal(other, found, check_dtype=False)


def test_a_cube_relabels_as_the_rows_do(repeated):
    how = {"by": ["algorithm"], "null": "permutation", "n_draws": 60, "rng": 5}
    cube = repeated.ceval.cube(["shd"], **how)
    np.testing.assert_array_equal(cube["shd_control"], cube["shd_relabelled"])
    rows = repeated.ceval.with_controls(["shd"], null="permutation", **DRAWN)
    assert sorted(rows["shd_p"]) == sorted(cube["shd_p"].to_numpy().reshape(-1).tolist())


def test_clusters_of_rows_that_are_refused(repeated):
    with pytest.raises(ValueError, match="have the same truth, but different clusters"):
        repeated.assign(g=range(18)).ceval.with_controls(["shd"], cluster="g", n_draws=5)
    with pytest.raises(ValueError, match=r"no column 'labs' \(cluster\); did you mean 'lab'"):
        repeated.ceval.with_controls(["shd"], cluster="labs", n_draws=5)
    with pytest.raises(TypeError, match="cluster must be the name of a column"):
        repeated.ceval.with_controls(["shd"], cluster=["lab"], n_draws=5)
    with pytest.raises(ValueError, match="takes no cluster="):
        repeated.ceval.with_controls(["shd"], best_of="algorithm", cluster="lab", n_draws=5)
    # truths over different nodes can share a column unless one relabelling has to serve both
    mixed = RUNS.iloc[[0, 3]].assign(g="a")
    assert len(mixed.ceval.with_controls(["shd"], cluster="g", n_draws=5)) == 2
    with pytest.raises(ValueError, match="are in one cluster, but their truths have different nodes"):
        mixed.ceval.with_controls(["shd"], cluster="g", null="permutation", n_draws=5)


#: nodes that the data sets do not hold
HIDDEN = {"one": ["H"], "two": ["H", "L"], "three": []}


@pytest.fixture
def size(declare):
    @declare(truth_kinds=())
    def size_without_truth(pairs):
        """Count the edges of the estimate."""
        return pairs.estimate.edge_counts.edges[pairs.estimate_index]

    return "size_without_truth"


@pytest.fixture
def estimates():
    cells = ["A -> B; C", "A -> B; B -> C", "A; B; C"]
    return pd.DataFrame(
        {"study": ["one"] * 4 + ["two"] * 3 + ["three"], "estimate": (cells * 3)[:8], "s": 0, "number": range(8)}
    )


@pytest.mark.slow
def test_runs_on_one_data_set_are_a_cluster(size, estimates):
    how = {"by": ["s"], "truth": None, "context": {"latents": ("study", HIDDEN)}, "rng": 1}
    by_column = estimates.ceval.cube([size], cluster="study", n_draws=20, **how)
    for n_draws in (None, 20):
        made = estimates.ceval.cube([size], n_draws=n_draws, **how)
        assert made.attrs["control_cluster"] == "column study"
        named = made.ceval.summary(interval="mean_ci", columns="full")[["mean", "low", "high"]]
        other = by_column.ceval.summary(interval="mean_ci", columns="full")[["mean", "low", "high"]]
        pd.testing.assert_frame_equal(named, other)
    assert made.ceval.summary(columns="full")["n_clusters"].iloc[0] == 3


def test_inputs_that_all_rows_share_mark_no_cluster(size, estimates):
    made = estimates.ceval.cube([size], by=["s"], truth=None, context={"latents": ["H"]}, n_draws=None)
    assert made.attrs["control_cluster"] == "none"
    assert len(np.unique(made["truth_id"])) == 8


@pytest.mark.slow
def test_partitions_agree_on_data_sets(size, estimates):
    how = {"by": ["s"], "truth": None, "context": {"latents": ("study", HIDDEN)}, "rng": 1, "n_draws": 20}
    whole = estimates.ceval.cube([size], **how)
    parts = dd.from_pandas(estimates, npartitions=3).ceval
    lazy = parts.cube([size], replicate="number", **how).compute()
    assert set(np.unique(lazy["cluster_id"])) == set(np.unique(whole["cluster_id"]))
    expected = whole.ceval.summary(columns="full")[["p_value", "n_clusters", "p_method"]]
    pd.testing.assert_frame_equal(lazy.ceval.summary(columns="full")[["p_value", "n_clusters", "p_method"]], expected)
    for interval in ("mean_ci", "quantile"):
        found = lazy.ceval.summary(interval=interval, columns="full")
        columns = ["mean", "low", "high", "p_value", "n_clusters"]
        pd.testing.assert_frame_equal(found[columns], whole.ceval.summary(interval=interval, columns="full")[columns])
