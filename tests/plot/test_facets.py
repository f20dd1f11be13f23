"""What figures of cubes share: facets, names of levels, and messages about strata."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

from .conftest import ALGORITHMS, captions, inside, spaced


@pytest.mark.slow
def test_nine_facets_with_three_hues(cube):
    long = cube.assign_coords(density=["a density that takes a long name", "another such density", "third"])
    for grid in (
        ce.plot.strata(cube.isel(replicate=[0]), "shd", x="algorithm", col="n", row="density"),
        ce.plot.distributions(long, "shd", hue="algorithm", col="density", row="n"),
    ):
        assert grid.axes.shape == (3, 3)
        inside(grid.figure)
        legend = grid.figure.legends[0].get_window_extent()
        assert all(legend.x0 >= ax.get_window_extent().x1 for ax in grid.axes.flat)


@pytest.mark.slow
@pytest.mark.parametrize("call", [ce.plot.strata, ce.plot.distributions])
def test_without_controls_there_is_no_band(make, call):
    options = {"x": "density", "hue": "algorithm", "col": "n"} if call is ce.plot.strata else {"hue": "density"}
    grid = call(make(n_draws=None), "shd", **options)
    for ax in grid.axes.flat:
        drawn = {patch.get_gid() for patch in ax.patches if np.isfinite(patch.get_extents().bounds).all()}
        assert not drawn & {"controls"}
        heights = [patch.get_height() for patch in ax.patches if patch.get_gid() == "band"]
        assert np.isnan(heights).all()
    assert "There are no controls." in captions(grid.figure)
    assert "controls" not in [text.get_text() for text in grid.figure.legends[0].get_texts()]


@pytest.mark.slow
def test_cubes_with_one_replicate_or_failed_runs_only(cube, make):
    ce.plot.strata(cube.isel(replicate=[0]), "shd", x="density", hue="algorithm", col="n").figure.canvas.draw()
    failed = cube.isel(algorithm=[2], density=[2], n=[0])
    ce.plot.strata(failed, "shd", x="density").figure.canvas.draw()
    ce.plot.distributions(failed, "shd").figure.canvas.draw()
    ce.plot.distributions(make().isel(algorithm=[2], density=[2], n=[0]), "shd").figure.canvas.draw()
    ax = ce.plot.heat_map(failed, "shd", value="p", x="density", y="algorithm")
    ax.figure.canvas.draw()
    assert not ax.texts


@pytest.mark.slow
def test_figures_do_not_change_the_cube(cube):
    before = cube.copy(deep=True)
    ce.plot.strata(cube, "shd", x="density", hue="algorithm", col="n")
    ce.plot.distributions(cube, "shd")
    assert cube.identical(before)


@pytest.mark.slow
def test_strata_that_are_not_named_take_the_places_that_are_free(cube):
    grid = ce.plot.strata(cube, "shd")
    shown = {spaced(text.get_text()) for legend in grid.figure.legends for text in legend.get_texts()}
    assert grid.axes.flat[0].get_xlabel() == "n" and set(ALGORITHMS) <= shown
    assert [ax.get_title() for ax in grid.axes.flat] == ["density = 0.2", "density = 0.4", "density = 0.6"]
    assert ce.plot.strata(cube.sel(n=[100], density=[0.2]), "shd").axes.flat[0].get_xlabel() == "algorithm"
    by_hue = ce.plot.strata(cube.sel(n=[100]), "shd", hue="algorithm")
    assert by_hue.axes.flat[0].get_xlabel() == "density"
    heat = ce.plot.heat_map(cube.sel(n=[100]), "shd")
    assert (heat.get_xlabel(), heat.get_ylabel()) == ("density", "algorithm")
    assert ce.plot.heat_map(cube.sel(n=[100]), "shd", x="algorithm").get_ylabel() == "density"
    heat = ce.plot.heat_map(cube.sel(n=[100]), "shd", y="density")
    assert (heat.get_xlabel(), heat.get_ylabel()) == ("algorithm", "density")


def test_a_place_without_a_stratum_is_an_error(runs):
    none = ce.cube(runs.head(6), ["shd"], by=[], n_draws=None)
    with pytest.raises(ValueError, match=r"no stratum is left for x=; the strata of the cube are \[\]"):
        ce.plot.strata(none, "shd")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.strata("shd", x="algorithm"), r"not show: density \(3 levels\), n \(3 levels\); .*col=, row="),
        (lambda c: c.strata("shd", x="algorithm"), r"cube.sel\(density=0.2, n=100\), or .*hue=, col=, row="),
        (lambda c: c.strata("shd", x="density"), r"cube.sel\(algorithm='peter and clark', n=100\)"),
        (lambda c: c.heat_map("shd", x="density", y="algorithm"), r"n \(3 levels\); choose one by cube.sel\(n=100\)$"),
        (lambda c: c.critical_difference("shd", "algorithm"), r"choose one by cube.sel\(density=0.2, n=100\)$"),
        (lambda c: c.distributions("sdh"), "unknown metric of this cube 'sdh'; did you mean 'shd'"),
        (lambda c: c.strata("shd", hue="algoritm"), r"unknown dimension \(hue\) 'algoritm'; did you mean 'algorithm'"),
        (lambda c: c.critical_difference("shd", "densty"), "unknown dimension 'densty'; did you mean 'density'"),
        (lambda c: c.strata("shd", x="n", hue="n", col="density"), "'n' is used twice, as x and as hue"),
        (lambda c: c.strata("shd", x="density", hue="algorithm", col="n", values="mean"), "values must be"),
    ],
)
def test_strata_without_a_place_and_unknown_names_are_refused(cube, call, message):
    with pytest.raises(ValueError, match=message):
        call(cube.ceval.plot)


def test_a_cube_of_one_replicate_that_lost_its_dimension_is_refused(cube):
    with pytest.raises(ValueError, match="dimension 'replicate'"):
        ce.plot.strata(cube.isel(replicate=0), "shd", x="density", hue="algorithm", col="n")


def words_of(figure, gid):
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_gid() == gid]


def test_facets_of_infinite_values_say_so():
    """A divergence is infinite where the estimate excludes what is true: means are at no place of an axis."""
    networks = [ce.DiscreteNetwork({"A": []}, {"A": [p, 1 - p]}) for p in (0.5, 1.0)]
    runs = pd.DataFrame({"truth": networks[:1] * 4, "estimate": networks[1:] * 4, "arm": list("xxyy")})
    cube = runs.ceval.cube(["kl"], by=["arm"], n_draws=None, cluster=None)
    for grid in (cube.ceval.plot.strata("kl", x="arm"), cube.ceval.plot.distributions("kl", hue="arm")):
        assert words_of(grid.figure, "empty") == ["no finite value"]


@pytest.mark.slow
def test_facets_without_a_value_say_so(runs):
    none = runs.assign(estimate=runs["estimate"].where(runs["algorithm"] != "zero", None))
    found = ce.cube(none, ["shd"], by=["algorithm", "density", "n"], n_draws=20, rng=7, replicate="replicate")
    grid = found.ceval.plot.distributions("shd", col="algorithm")
    assert words_of(grid.figure, "empty") == ["no finite value"]
    assert len(grid.axes.flat[0].get_xticks())
    nothing = found.isel(algorithm=[2], density=[0])
    for grid in (nothing.ceval.plot.strata("shd", x="n"), nothing.ceval.plot.distributions("shd", hue="n")):
        assert words_of(grid.figure, "empty") == ["no finite value"]
        assert not len(grid.ax.get_yticks())
    ax = found.isel(density=0, n=0).ceval.plot.critical_difference("shd", "algorithm")
    assert "not ranked: zero" in captions(ax.figure)


@pytest.mark.slow
def test_many_columns_go_on_in_further_rows():
    rows = [(f"method {i}", "A -> B", "A -> B" if i % 2 else "B -> A") for i in range(20) for _ in range(2)]
    table = pd.DataFrame(rows, columns=["algorithm", "truth", "estimate"])
    found = ce.cube(table, ["shd"], by=["algorithm"], n_draws=None)
    grid = found.ceval.plot.distributions("shd", col="algorithm")
    assert len(grid.axes) == 20
    assert [ax.get_title() for ax in grid.axes[:2]] == ["algorithm = method 0", "algorithm = method 1"]
    assert grid.figure.get_figwidth() < 30
    inside(grid.figure)


@pytest.mark.slow
def test_single_panels_of_lazy_cubes_are_those_of_cubes_in_memory(cube):
    found = []
    for part in (cube.sel(density=0.2), cube.sel(density=0.2).chunk({"algorithm": 1})):
        drawn = [
            ce.plot.strata(part, "shd", x="n", hue="algorithm", scale="log").ax,
            ce.plot.heat_map(part, "shd", x="n", y="algorithm"),
        ]
        lines = [np.asarray(line.get_ydata(), float) for ax in drawn for line in ax.lines]
        found.append((lines, captions(drawn[1].figure)))
    np.testing.assert_equal(found[1], found[0])


def named_by(algorithm, metric="shd"):
    runs = ce.datasets.runs().query("algorithm != 'ges' and n > 100").groupby(["algorithm", "n"]).head(6)
    runs = runs.assign(algorithm=runs["algorithm"].replace({"pc": algorithm}))
    return runs.ceval.cube([metric], by=["algorithm", "n"], n_draws=20, rng=7, values={"seconds": "minimize"})


@pytest.mark.slow
@pytest.mark.parametrize("name", [r"$\bad{", "cost of $5 to $6", "$a$ & $b$"])
def test_dollar_signs_in_names_are_no_formulas(name):
    cube = named_by(name)
    plot = cube.ceval.plot
    figures = [plot.strata("shd", scale="log"), plot.heat_map("shd")]
    figures += [ce.plot.forest(cube.ceval.summary("shd", columns="full"))]
    figures += [plot.strata("shd", x="algorithm", hue="n")]
    for drawn in figures:
        drawn.figure.canvas.draw()
        texts = drawn.figure.findobj(mpl.text.Text)
        named = [text for text in texts if name in text.get_text().replace("\n", " ")]
        assert named and not any(text.get_parse_math() for text in named)


@pytest.mark.slow
def test_levels_that_a_cube_with_several_null_models_was_cut_to_are_named(runs):
    cube = ce.cube(runs, ["shd"], by=["algorithm", "density", "n"], n_draws=9, rng=7, null=["permutation", "empty"])
    ax = ce.plot.heat_map(cube.sel(density=0.2, algorithm=ALGORITHMS[0]), "shd")
    assert "density = 0.2" in captions(ax.figure) and ALGORITHMS[0] in captions(ax.figure)
    # one of the null models is a point of reference
    assert "p above .05, not adjusted, or the interval of the effect holds 0, or no test" in captions(ax.figure)


def test_messages_select_strata_whose_names_are_no_words(runs):
    cube = ce.cube(runs.rename(columns={"n": "size of n"}), ["shd"], by=["algorithm", "size of n"], n_draws=9, rng=7)
    with pytest.raises(ValueError, match=r"cube\.sel\(\{'size of n': 100\}\)"):
        ce.plot.critical_difference(cube, "shd", "algorithm")


@pytest.mark.parametrize(("dim", "words"), [("n", "no levels of 'n'"), ("replicate", "no runs")])
def test_a_cube_without_levels_or_runs_is_refused(cube, dim, words):
    empty, names = cube.isel({dim: []}), [str(x) for x in cube.dims]
    calls = [
        lambda plot: plot.strata("shd", x="n"),
        lambda plot: plot.distributions("shd", col="n"),
        lambda plot: plot.heat_map("shd"),
    ]
    assert dim in names
    for call in calls:
        with pytest.raises(ValueError, match=f"the cube has {words}, so that there is nothing to draw"):
            call(empty.ceval.plot)
