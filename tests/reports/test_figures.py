import matplotlib.pyplot as plt
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.reshaped import read_cube
from causaleval_pd.plot import strata
from causaleval_pd.reports import figures
from causaleval_pd.reports.figures import Omitted, Picture, levels_share_truths, pictures
from causaleval_pd.reports.level_comparison import compare_in_blocks

RUNS = ce.datasets.runs().query("density == 0.2").groupby(["algorithm", "n"]).head(4)

LEAST = "p at most 0.1, adjusted by {} method, and the interval"


def cube_of(runs=RUNS, by=("algorithm",), **settings):
    return read_cube(runs.ceval.cube(["shd"], by=list(by), **({"n_draws": 9, "rng": 7} | settings)))


def titles(cube, over=None):
    return [x.title.partition(": ")[2] for x in pictures(cube, "shd", over) if isinstance(x, Picture)]


@pytest.mark.slow
def test_figures_that_fit_one_stratum():
    assert titles(cube_of(), "algorithm") == [
        "skill by stratum",
        "distribution of the runs and of their controls",
        "differences between levels with their intervals",
        "mean ranks of levels, and groups without a detected difference",
    ]


@pytest.mark.slow
def test_figures_of_runs_alone_claim_nothing_of_controls():
    found = list(pictures(cube_of(n_draws=None), "shd", None))
    assert [x.title.partition(": ")[2] for x in found] == ["mean of the runs by stratum", "distribution of the runs"]
    assert not any("better than" in x.caption for x in found)
    [first, *_] = pictures(cube_of(null="oracle_skeleton"), "shd", None)
    assert "No stratum is tested" in first.caption and "better than their" not in first.caption


@pytest.mark.slow
def test_figures_have_the_level_and_the_correction_of_the_report():
    first, *_, pairs, ranks = pictures(cube_of(), "shd", "algorithm", level=0.9, adjust="bh")
    assert "skill and its 90 % interval" in first.caption and LEAST.format("Benjamini and Hochberg's") in first.caption
    assert "90 %" in pairs.caption and "(Benjamini and Hochberg's method)" in pairs.caption
    assert "any difference is detected in 10 % of studies" in ranks.caption
    assert first.title.startswith("shd, structural Hamming distance: ")


@pytest.mark.slow
def test_captions_are_joined_at_hyphens():
    for cube in (cube_of(), cube_of(by=["algorithm", "n"])):
        assert all("- " not in x.caption for x in pictures(cube, "shd", None))


@pytest.mark.slow
def test_two_strata_have_their_skill_and_the_differences_in_each():
    by_class = RUNS.assign(size=RUNS["n"].map({100: "small", 400: "medium", 1600: "large"}))
    cube = cube_of(by_class, by=["algorithm", "size"])
    pairs = "differences between levels with their intervals"
    # over all strata, and in each
    assert titles(cube, "algorithm") == ["skill by stratum", pairs, pairs]
    assert titles(cube) == ["skill by stratum"]
    assert "skill by stratum" not in titles(cube_of(by_class, n_draws=None, by=["algorithm", "size"]))


@pytest.mark.slow
def test_the_forest_shows_the_comparison_of_the_report():
    cube = read_cube(RUNS.ceval.cube(["shd", "adjacency_f1"], by=["algorithm"], n_draws=None))
    tables = compare_in_blocks(cube, "algorithm", ["shd", "adjacency_f1"], adjust="bonferroni")
    [found] = [x for x in pictures(cube, "shd", "algorithm", compared=tables) if "differences" in x.title]
    assert "adjusted p (Bonferroni's method)" in found.caption
    several = read_cube(RUNS.ceval.cube(["shd"], by=["algorithm", "n"], n_draws=None))
    drawn = [x.title for x in pictures(several, "shd", "algorithm") if "differences" in x.title]
    assert len(drawn) == 2 and "by stratum: " not in drawn[0] and "by stratum: " in drawn[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("levels", "scale"),
    [([100, 400, 1600], "log"), ([100, 120, 200], "linear"), ([0, 400, 1600], "linear"), (["a", "b", "c"], None)],
)
def test_numbers_have_lines_along_them(levels, scale, monkeypatch):
    scales = []

    def noted(*args, **how):
        scales.append(how["scale"])
        return strata(*args, **how)

    monkeypatch.setattr(figures, "strata", noted)
    named = RUNS["n"].map(dict(zip([100, 400, 1600], levels, strict=True)))
    cube = cube_of(RUNS.assign(n=named), by=["algorithm", "n"])
    drawn, *_ = [x for x in pictures(cube, "shd", "algorithm", level=0.9) if isinstance(x, Picture)]
    assert scales == [scale]
    assert drawn.title.endswith(": skill by stratum")
    assert "skill and its 90 % interval" in drawn.caption and LEAST.format("Holm's") in drawn.caption


@pytest.mark.slow
def test_a_cube_without_strata_has_distributions():
    assert titles(cube_of(by=[])) == ["distribution of the runs and of their controls"]


@pytest.mark.slow
def test_null_models_are_facets():
    [first, *_] = pictures(cube_of(null=["edges", "permutation"]), "shd", "algorithm")
    assert "Null model: edges, permutation" in first.caption


@pytest.mark.slow
def test_a_figure_that_would_not_be_readable_is_named():
    runs = RUNS.head(1).loc[RUNS.index[:1].repeat(60)].assign(algorithm=[f"a{i}" for i in range(60)])
    [first, *_] = pictures(cube_of(runs, n_draws=None), "shd", None)
    assert first == Omitted("No figure of the strata of structural Hamming distance: algorithm has 60 levels.")
    wide = RUNS.assign(a=RUNS["replicate"] % 2, b=RUNS["replicate"] // 2 % 2, c=RUNS["seconds"] > 0.01)
    found = list(pictures(cube_of(wide, ["algorithm", "n", "a", "b", "c"], n_draws=None), "shd", None))
    assert [type(x) for x in found] == [Omitted] and "more than four strata" in found[0].reason


@pytest.mark.slow
def test_files_have_no_time_stamp_and_figures_are_closed():
    open_before = plt.get_fignums()
    one, other = ([x.content for x in pictures(cube_of(), "shd", None)] for _ in range(2))
    assert one == other and all(x.startswith(b"\x89PNG") for x in one)
    assert plt.get_fignums() == open_before


@pytest.mark.slow
def test_dollar_signs_in_names_are_no_formulas():
    runs = RUNS.assign(algorithm=RUNS["algorithm"] + r" $\frac$")
    assert len(list(pictures(cube_of(runs), "shd", None))) == 2


def test_levels_share_truths_where_their_runs_do():
    cube = cube_of(ce.datasets.runs().query("n == 400"), ["algorithm", "density"], n_draws=None)
    assert levels_share_truths(cube, "algorithm") and not levels_share_truths(cube, "density")


@pytest.mark.slow
def test_differences_of_too_many_pairs_are_named():
    few = RUNS[RUNS["n"] < 1000]
    copies = [few.assign(algorithm=few["algorithm"] + str(i)) for i in range(3)]
    cube = cube_of(pd.concat(copies, ignore_index=True), by=("algorithm", "n"))
    found = list(pictures(cube, "shd", "algorithm"))
    reason = "No figure of the differences of structural Hamming distance"
    reasons = [f"{reason}: there are 36 pairs of levels.", f"{reason} by stratum: there are 72 rows."]
    assert [x for x in found if isinstance(x, Omitted)] == [Omitted(x) for x in reasons]
