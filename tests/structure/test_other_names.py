"""Names that other tools use: each leads to metrics and null models that exist, with the right ones first."""

import re
from pathlib import Path

import pytest

import causaleval_pd as ce
from causaleval_pd.contract.metric import METRICS


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SHD", ["shd"]), ("Shd-Cpdag", ["shd_cpdag"]), ("SHD-C", ["shd_cpdag"]), ("shdc", ["shd_cpdag"]),
        ("dice", ["adjacency_f1"]), ("IoU", ["adjacency_jaccard"]), ("f1", ["adjacency_f1", "directed_f1"]),
        ("F1-score", ["adjacency_f1", "directed_f1"]), ("tpr", ["adjacency_recall", "directed_recall"]),
        ("recall", ["adjacency_recall", "directed_recall", "orientation_recall"]),
        ("precision", ["adjacency_precision", "directed_precision", "orientation_precision"]),
        ("fdr", ["adjacency_fdr", "orientation_fdr"]), ("FPR", ["adjacency_specificity"]),
        ("hamming", ["skeleton_hd", "shd"]), ("SID_CPDAG", ["sid_lower", "sid_upper"]), ("nnz", ["estimated_edges"]),
        ("AHPC", ["orientation_precision"]), ("get_adj_recall", ["adjacency_recall"]),
        ("sensitivty", ["adjacency_recall", "directed_recall"]), ("kl_divergence", ["kl"]), ("mae", ["quantity_error"]),
        ("consistency", ["fit_consistency"]),
    ],
)  # fmt: skip
def test_metrics_are_found_by_the_names_of_other_tools(name, meant):
    with pytest.raises(ValueError, match=rf"^unknown metric '{name}'; ") as error:
        ce.get_metric(name)
    assert re.findall(r"'(\w+)'", str(error.value).partition("; ")[2]) == meant
    assert str(error.value).endswith("list_metrics() shows all")


def test_several_metrics_are_told_apart():
    with pytest.raises(ValueError, match=r"'adjacency_f1' \([^()]*adjacency[^()]*\), 'directed_f1' \([^()]*directed"):
        ce.tweak("f1")


@pytest.mark.parametrize(("name", "meant"), [("auprc", "average_precision"), ("AUC", "auroc")])
def test_areas_name_metrics_of_scores_and_of_graphs(name, meant):
    with pytest.raises(ValueError, match=rf"scores of edges and graphs have '{meant}'.*'adjacency_"):
        ce.get_metric(name)


@pytest.mark.parametrize(
    ("name", "meant"), [("Edges", ["edges"]), ("er", ["edges"]), ("shuffle", ["permutation"]), ("tiers", ["knowledge"])]
)
def test_null_models_are_found_by_the_names_of_other_tools(name, meant):
    with pytest.raises(ValueError, match=rf"unknown null '{name}' for field 'graph'; did you mean ") as error:
        ce.with_controls(ce.datasets.runs().head(2), ["shd"], null=name)
    assert re.findall(r"'(\w+)'", str(error.value).partition("did you mean")[2]) == meant


@pytest.mark.parametrize(
    ("name", "meant"), [("pcalg", "column->row"), ("gcastle", "gCastle"), ("causallearn", "causal-learn")]
)
def test_encodings_are_found_by_their_tools(name, meant):
    with pytest.raises(ValueError, match=f"unknown encoding '{name}'; did you mean '{meant}'"):
        ce.graph_column([[[0, 1], [0, 0]]], encoding=name)


def test_tests_and_figures_are_found_by_other_names():
    cube = ce.datasets.runs().head(40).ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    with pytest.raises(ValueError, match=r"unknown test 'signed-rank'; did you mean 'wilcoxon'\?"):
        ce.compare(cube, "algorithm", test="signed-rank", columns="full")
    for name in ("SHD", "Shd", "structural-hamming distance"):
        with pytest.raises(ValueError, match=rf"unknown metric of this cube '{name}'; did you mean 'shd'\?"):
            cube.ceval.summary(name, columns="full")
    with pytest.raises(AttributeError, match=r"unknown figure 'boxplot' of a cube; did you mean 'distributions'\?"):
        cube.ceval.plot.boxplot("shd")
    with pytest.raises(AttributeError, match=r"unknown figure 'CD'; did you mean 'critical_difference'\?"):
        getattr(ce.plot, "CD")  # noqa: B009


@pytest.mark.slow
def test_every_suggestion_exists():
    for registry in (METRICS, ce.structure.GRAPHS.nulls):
        for name in list(registry):
            assert registry.suggest(name.upper()).startswith(f"did you mean '{name}'"), name


PAGE = Path(__file__).parents[2] / "docs" / "mixed_graphs.md"


@pytest.mark.slow
def test_every_statistic_has_a_metric_or_a_reason():
    table = PAGE.read_text(encoding="utf-8").split("| statistics of Tetrad | here |")[1]
    rows = re.findall(r"^\| (\w[^|]*) \| ([^|]+) \|$", table, re.MULTILINE)
    statistics = [name for names, _ in rows for name in names.split(", ")]
    assert len(statistics) == len(set(statistics)) == 195
    for names, here in rows:
        named = re.findall(r"`(\w+)`", here)
        assert set(named) <= set(ce.list_metrics("graph").index), here
        assert named or here.startswith(("none: ", "`series.graph", "a column")), names
