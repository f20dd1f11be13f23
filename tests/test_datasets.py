"""The shipped data are what their sources say."""

import math
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

PROTEINS = ["raf", "mek", "plc", "pip2", "pip3", "erk", "akt", "pka", "pkc", "p38", "jnk"]
SCRIPT = Path(__file__).parents[1] / "examples" / "04_how_the_runs_were_made.py"


def arcs(text: str) -> set[tuple[str, str]]:
    """Read directed edges, independently of the package's parser."""
    return {tuple(edge.strip().split(" -> ")) for edge in text.split(";")}


def test_sachs_is_the_published_table():
    data = ce.datasets.sachs()
    assert data.shape == (7466, 11)
    assert list(data.columns) == PROTEINS
    assert data.dtypes.eq(np.float64).all()
    assert data.iloc[0].tolist() == [26.4, 13.2, 8.82, 18.3, 58.8, 6.61, 17.0, 414.0, 17.0, 44.9, 40.0]
    assert data.min().eq(1).all()
    assert data.max().tolist() == [4614, 7105, 6208, 9058, 1275, 2571, 3555, 8896, 1611, 7499, 4740]
    assert not data.isna().any(axis=None)


def test_every_call_reads_anew():
    data = ce.datasets.sachs()
    data.loc[0, "raf"] = -1.0
    assert ce.datasets.sachs().loc[0, "raf"] == 26.4


@pytest.mark.parametrize("n_edges", [20, 17])
def test_sachs_truths_are_dags_on_the_proteins(n_edges):
    edges = arcs(ce.datasets.sachs_truth(n_edges))
    assert len(edges) == n_edges
    assert {node for edge in edges for node in edge} == set(PROTEINS)
    assert nx.is_directed_acyclic_graph(nx.DiGraph(edges))
    graph = ce.as_graph(ce.datasets.sachs_truth(n_edges))
    assert graph.kind == "dag"
    assert set(graph.to_networkx().edges) == edges


def test_sachs_truth_of_20_edges_has_two_v_structures():
    graph = nx.DiGraph(arcs(ce.datasets.sachs_truth()))
    colliders = {
        (frozenset((i, j)), k)
        for k in graph
        for i in graph.predecessors(k)
        for j in graph.predecessors(k)
        if i < j and not (graph.has_edge(i, j) or graph.has_edge(j, i))
    }
    assert colliders == {(frozenset(("pip3", "erk")), "akt"), (frozenset(("pip3", "pka")), "akt")}


def test_sachs_truths_differ_as_documented():
    large, small = arcs(ce.datasets.sachs_truth(20)), arcs(ce.datasets.sachs_truth(17))
    assert large - small == {("plc", "pkc"), ("pip2", "pkc"), ("pip3", "akt"), ("pip3", "plc")}
    assert small - large == {("plc", "pip3")}


def test_nine_true_edges_run_against_the_order_of_the_columns():
    against = [edge for edge in arcs(ce.datasets.sachs_truth(20)) if PROTEINS.index(edge[0]) > PROTEINS.index(edge[1])]
    assert len(against) == 9


@pytest.mark.parametrize("n_edges", [18, "20", None])
def test_sachs_truth_refuses_other_sizes(n_edges):
    with pytest.raises(ValueError, match="n_edges must be 20 or 17, the sizes of the two graphs in use, found"):
        ce.datasets.sachs_truth(n_edges)


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    return ce.datasets.runs()


def test_runs_are_a_full_design(runs):
    cells = runs.groupby(["algorithm", "density", "n"])["replicate"].agg(lambda column: sorted(column))
    assert len(cells) == 3 * 3 * 3
    assert all(replicates == list(range(20)) for replicates in cells)
    assert runs.index.equals(pd.RangeIndex(540))
    assert (runs["seconds"] > 0).all()


def test_runs_share_truths_across_algorithms_and_sample_sizes(runs):
    assert runs.groupby(["density", "replicate"])["truth"].nunique().eq(1).all()
    assert runs["truth"].nunique() == 60


def test_runs_are_what_their_settings_say(runs):
    assert (runs["truth"].graph.kind == "dag").all()
    assert (runs["truth"].graph.n_nodes == runs["n_nodes"]).all()
    assert np.allclose(runs["truth"].graph.density.to_numpy(float), runs["density"])
    assert runs["estimate"].notna().all()
    assert runs["truth"].graph.nodes.tolist() == runs["estimate"].graph.nodes.tolist()


def test_runs_have_the_classes_documented(runs):
    kinds = runs["estimate"].graph.kind
    named = runs.groupby("algorithm")["kind"].unique().map(list)
    assert named.to_dict() == {"pc": ["cpdag"], "ges": ["cpdag"], "lingam": ["dag"]}
    assert (kinds[runs["algorithm"] == "lingam"] == "dag").all()
    assert not (kinds[runs["algorithm"] == "ges"] == "pdag").any()
    assert ((kinds == "pdag").sum(), (kinds == "digraph").sum()) == (11, 4)
    assert (~runs["estimate"].graph.is_acyclic.astype(bool)).sum() == 5
    assert (kinds[runs["algorithm"] == "pc"] == "dag").any()


def test_arrows_of_the_runs_point_the_right_way(runs):
    """A matrix read the wrong way round would turn a good orientation precision into a bad one."""
    large = runs[runs["n"] == 1600].ceval.evaluate(["orientation_precision", "adjacency_f1"])
    means = large.groupby("algorithm")[["orientation_precision", "adjacency_f1"]].mean()
    assert means.loc["lingam", "orientation_precision"] > 0.9
    assert means.loc["pc", "orientation_precision"] > 0.6
    assert means.loc["ges", "orientation_precision"] > 0.6
    assert (means["adjacency_f1"] > 0.7).all()


def test_runs_with_a_missing_estimate_keep_it(runs, monkeypatch):
    table = runs.drop(columns=["truth", "estimate"]).assign(truth="X0 -> X1", estimate="X0 -- X1")
    table.loc[3, "estimate"] = math.nan
    monkeypatch.setattr(ce.datasets.pd, "read_csv", lambda path: table)
    [kept] = [x for x in vars(ce.datasets).values() if hasattr(x, "cache_clear")]
    kept.cache_clear()  # `runs` reads the shipped table once
    try:
        assert ce.datasets.runs()["estimate"].isna().to_numpy().nonzero()[0].tolist() == [3]
    finally:
        kept.cache_clear()


@pytest.mark.slow
def test_the_script_makes_the_shipped_truths(runs, tmp_path):
    command = [sys.executable, str(SCRIPT), "--quick"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = pd.read_csv(tmp_path / "runs_made" / "runs.csv.gz")
    assert list(made.columns) == list(runs.columns)
    settings = ["algorithm", "density", "n", "replicate", "kind", "n_nodes"]
    both = made.merge(runs, on=settings, suffixes=("_made", ""), validate="one_to_one")
    assert len(both) == len(made) == 9
    assert ce.graph_column(both["truth_made"]).tolist() == both["truth"].tolist()
    assert both["estimate_made"].notna().all()


def test_lipset_has_the_published_truth_table():
    data = ce.datasets.lipset()
    rows = data.astype(str).agg("".join, axis=1)
    assert rows.value_counts().to_dict() == {
        "111111": 4,
        "101111": 2,
        "101011": 2,
        "101100": 1,
        "111100": 1,
        "001010": 1,
        "001000": 2,
        "000010": 2,
        "000000": 3,
    }
    assert rows[["Austria", "Germany", "Estonia", "Italy"]].tolist() == ["101100", "111100", "001010", "000010"]


PUBLISHED = [(name, i) for name, n in (("lipset", 7), ("women_in_parliaments", 4), ("education", 5)) for i in range(n)]


@pytest.mark.parametrize(("name", "number"), PUBLISHED)
def test_published_models_have_the_printed_fit(name, number):
    models = getattr(ce.datasets, f"{name}_models")()
    assert len(models) == sum(one == name for one, _ in PUBLISHED)
    row = models.loc[number]
    options = {"multi_value": True} if "=" in row["outcome"] else {}
    data = getattr(ce.datasets, name)(**options)
    fit = ce.configurational.fit_by_atom(row["model"], data)[["consistency", "coverage"]]
    assert len(fit) == row["outcome"].count(",") + 1
    assert fit.min().round(3).tolist() == row[["consistency", "coverage"]].tolist()


@pytest.mark.parametrize(
    ("model", "coverage"),
    [("WS", 0.455), ("ES*WM", 0.545), ("QU*LP", 0.545), ("es*LP", 0.182), ("WM*LP", 0.636), ("ES*QU*ws*LP", 0.273)],
)
def test_disjuncts_cover_the_printed_share_of_parliaments(model, coverage):
    data = ce.datasets.women_in_parliaments()
    [fit] = ce.configurational.fit_by_atom(f"{model}<->WNP", data).to_dict("records")
    assert (fit["consistency"], round(fit["coverage"], 3)) == (1, coverage)


def test_parliaments_have_the_published_truth_table():
    """Configurations by number of countries, as the first reference of the solutions prints them."""
    data = ce.datasets.women_in_parliaments()
    rows = data.astype(str).agg("".join, axis=1)
    assert rows.value_counts().to_dict() == {
        "000100": 2, "000111": 1, "010000": 1, "010100": 4, "010111": 1, "100010": 1, "101001": 1, "101111": 1,
        "110000": 3, "110011": 1, "110101": 1, "110111": 2, "111001": 1, "111111": 2,
    }  # fmt: skip
    assert rows[["Sweden", "Finland", "Norway"]].tolist() == ["111001", "101001", "111111"]


def test_development_has_three_values_on_request():
    crisp, multi = ce.datasets.lipset(), ce.datasets.lipset(multi_value=True)
    pd.testing.assert_frame_equal(multi.clip(upper=1), crisp)
    assert multi.index[multi["DEV"] == 2].tolist() == ["Belgium", "France", "Netherlands", "Sweden", "United Kingdom"]
    with pytest.raises(TypeError, match="multi_value"):
        ce.datasets.lipset(multi_value="yes")


def test_a_published_short_solution_is_a_part_of_the_long_one():
    models = ce.datasets.lipset_models()
    long, short = models.query("outcome == 'SURV'")["model"]
    assert ce.is_submodel(long, short) == 1


def test_published_estimates_are_those_of_the_source():
    """Edges and SHD as the source's own functions give them, for the truth with 20 edges as its Table 6 prints them."""
    estimates = ce.datasets.sachs_estimates().set_index("algorithm")
    assert estimates["kind"].to_dict() == {"pc": "cpdag", "lingam": "dag", "ges": "cpdag", "boss": "cpdag"}
    assert estimates["estimate"].graph.n_edges.tolist() == [24, 33, 30, 32]
    assert estimates["estimate"].graph.n_undirected.tolist() == [0, 0, 3, 6]
    for n_edges, expected in ((20, [23, 30, 30, 35]), (17, [21, 30, 27, 32])):
        scored = estimates.assign(truth=ce.datasets.sachs_truth(n_edges)).ceval.evaluate(["shd", "skeleton_p"])
        assert scored["shd"].tolist() == expected
        if n_edges == 20:
            np.testing.assert_allclose(scored["skeleton_p"], [0.158, 0.196, 0.186, 0.145], atol=5e-4)


@pytest.mark.slow
def test_controls_of_the_published_estimates():
    """Means and p of 100,000 draws of the source's functions; exact means for DAGs."""
    runs = ce.datasets.sachs_estimates().assign(truth=ce.datasets.sachs_truth(20))
    found = runs.ceval.with_controls(["shd"], n_draws=20_000, rng=3, control_kind="kind", columns="full")
    np.testing.assert_allclose(found["shd_control_mean"], [31.494, 35.0, 34.258, 35.199], atol=0.1)
    np.testing.assert_allclose(found["shd_p"], [0.0059, 0.0900, 0.1162, 0.5301], atol=0.015)


@pytest.mark.slow
def test_results_of_causal_learn_are_those_that_the_project_stores():
    runs = ce.datasets.causal_learn_results()
    folder = SCRIPT.parent / "causal_learn_results"
    stored = {}
    for path in folder.glob("*.txt"):
        network, ending, _ = path.name.split(".")
        how = {} if ending == "truth" else {"encoding": "causal-learn matrix"}
        nodes = ce.read_graphs(folder / f"{network}.truth.txt").graph.n_nodes.iloc[0]
        names = {} if ending == "truth" else {"nodes": [f"X{i + 1}" for i in range(nodes)]}
        stored[network, ending] = ce.read_graphs(path, **how, **names).graph.to_strings().iloc[0]
    assert len(stored) == 24
    for column, ending in (("truth", "truth"), ("estimate", None)):
        mine = zip(runs["network"], runs["algorithm"], runs[column].graph.to_strings(), strict=True)
        for network, algorithm, text in mine:
            if network != "win95pts":
                assert text == stored[network, ending or algorithm]
    # the repository's page of win95pts: 76 nodes, 112 arcs
    last = runs[runs["network"] == "win95pts"]["truth"].graph
    assert last.n_nodes.tolist() == [76, 76] and last.n_edges.tolist() == [112, 112]


@pytest.mark.slow
def test_where_the_results_of_causal_learn_beat_guessing():
    """The page of other people's results: skeletons everywhere, directions in large networks only."""
    runs = ce.datasets.causal_learn_results()
    assert runs.ceval.evaluate(["skeleton_p"], context={"latents": []})["skeleton_p"].max() < 0.0055
    small = runs["truth"].graph.n_nodes <= 11
    runs["size"] = np.where(small, "small", "large")
    cube = runs.ceval.cube(
        ["v_structure_f1"],
        by=["algorithm", "size"],
        null="orientation",
        control_kind="kind",
        context={"latents": []},
        n_draws=1000,
        rng=7,
    )
    p = cube.ceval.summary(columns="full").set_index(["algorithm", "size"])["p_value"]
    assert (p.xs("large", level="size") < 0.002).all()
    assert (p.xs("small", level="size") > 0.2).all()
