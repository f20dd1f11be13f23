"""Figures of a cube: what they return, what they say, and that they show the numbers of the tables."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from seaborn import FacetGrid

import causaleval_pd as ce

NODES = list("ABCDEF")
PAIRS = [(a, b) for i, a in enumerate(NODES) for b in NODES[i + 1 :]]
ALGORITHMS = ["peter and clark", "greedy equivalence search", "zero"]
SHD = "structural Hamming distance (lower is better)"
F1 = "adjacency F1 (higher is better)"


def graph(edges):
    return "; ".join([*(f"{PAIRS[i][0]} -> {PAIRS[i][1]}" for i in edges), *NODES])


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(5)
    rows = []
    for density in (0.2, 0.4, 0.6):
        truths = [rng.choice(15, round(15 * density), replace=False) for _ in range(6)]
        for n in (100, 1000, 10_000):
            for keep, algorithm in enumerate(ALGORITHMS):
                for replicate, truth in enumerate(truths):
                    estimate = graph(np.unique(np.r_[truth[keep:], rng.choice(15, 1 + keep)]))
                    if (algorithm, density, n) == ("zero", 0.6, 100):
                        estimate = None
                    if (algorithm, density, n) != ("zero", 0.4, 100):
                        rows.append((algorithm, density, n, replicate, graph(truth), estimate))
    table = pd.DataFrame(rows, columns=["algorithm", "density", "n", "replicate", "truth", "estimate"])
    return table.astype({"algorithm": pd.CategoricalDtype(ALGORITHMS)})


@pytest.fixture(scope="module")
def make(runs):
    def of(**options):
        options = {"n_draws": 60, "rng": 7, "replicate": "replicate", "control_kind": "dag", **options}
        return ce.cube(runs, ["shd", "adjacency_f1"], by=["algorithm", "density", "n"], **options)

    return of


@pytest.fixture(scope="module")
def cube(make):
    return make()


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def captions(figure):
    found = [text for text in figure.findobj(mpl.text.Text) if text.get_gid() == "caption"]
    return " ".join(text.get_text().replace("\n", " ") for text in found)


def spaced(text):
    return text.replace("\n", " ")


def inside(figure):
    """Check that nothing is drawn beyond the edges of a figure."""
    figure.canvas.draw()
    tight = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert tight.x0 > -0.02 and tight.y0 > -0.02 and tight.x1 < width + 0.02 and tight.y1 < height + 0.02


@pytest.mark.parametrize("interval", ["mean_ci", "quantile"])
def test_strata_show_the_summary(cube, interval):
    grid = ce.plot.strata(cube, "shd", x="density", hue="algorithm", col="n", interval=interval)
    assert isinstance(grid, FacetGrid)
    table = ce.summary(cube, "shd", interval=interval)
    for ax, n in zip(grid.axes.flat, (100, 1000, 10_000), strict=True):
        assert ax.get_title() == f"n = {n}"
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.2", "0.4", "0.6"]
        points = [line for line in ax.lines if line.get_gid() == "means"]
        assert len(points) == 3
        bands = [patch for patch in ax.patches if patch.get_gid() == "band"]
        for algorithm, line in zip(ALGORITHMS, points, strict=True):
            part = table[(table["algorithm"] == algorithm) & (table["n"] == n)]
            np.testing.assert_array_equal(line.get_ydata(), part["mean"])
            # the dodge keeps every point in the field of its density
            np.testing.assert_array_equal(np.round(line.get_xdata()), np.searchsorted([0.2, 0.4, 0.6], part["density"]))
        part = table[table["n"] == n].set_index(["algorithm", "density"])
        found = [(patch.get_y(), patch.get_y() + patch.get_height()) for patch in bands]
        expected = part.loc[ALGORITHMS, ["control_low", "control_high"]].to_numpy()
        np.testing.assert_allclose(np.array(found), expected)
        dashes = np.concatenate(
            [path.vertices[:1, 1] for lines in ax.collections[::2] for path in lines.get_paths() if len(path.vertices)]
        )
        np.testing.assert_allclose(dashes, part.loc[ALGORITHMS, "control_mean"])
    assert spaced(grid.axes[0, 0].get_ylabel()) == SHD
    words = "Null model: edges (random graphs with the estimate's class and number of edges), 60 draws a run."
    assert words in captions(grid.figure)
    inside(grid.figure)


def test_open_points_are_not_better_than_controls(cube, make):
    # one run a stratum: some of them are not better
    one = cube.isel(replicate=[0])
    grid = ce.plot.strata(one, "shd", x="density", hue="algorithm", col="n")
    tests = ce.test_controls(one, "shd")
    expected = tests.loc[~(tests["p_value"] <= 0.05) & tests["statistic"].notna(), "statistic"]
    drawn = [line for ax in grid.axes.flat for line in ax.lines if line.get_gid() == "open"]
    assert all(line.get_markerfacecolor() == "white" for line in drawn)
    heights = np.concatenate([line.get_ydata() for line in drawn])
    np.testing.assert_allclose(np.sort(heights[~np.isnan(heights)]), np.sort(expected))
    assert 0 < len(expected) < len(tests)
    words = [text.get_text() for text in grid.figure.legends[0].get_texts()]
    assert words[-3:] == ["runs, p at most .05", "runs, p above .05", "controls"]
    assert "filled points: better than controls" in captions(grid.figure)
    plain = ce.plot.strata(make(n_draws=None), "shd", x="density", hue="algorithm", col="n")
    assert "open" not in {line.get_gid() for ax in plain.axes.flat for line in ax.lines}
    assert "filled" not in captions(plain.figure)


def test_many_levels_and_hues_fit(runs):
    tables = [
        runs[runs["n"] == 100].assign(algorithm=f"{kind} {i:02d}") for kind in ("pc", "lingam") for i in range(14)
    ]
    many = ce.cube(
        pd.concat(tables, ignore_index=True).drop_duplicates(["algorithm", "density", "replicate"]),
        ["shd"],
        by=["algorithm", "density"],
        n_draws=20,
        rng=1,
        replicate="replicate",
        control_kind="dag",
    )
    for use in ({"x": "density", "hue": "algorithm"}, {"x": "algorithm", "hue": "density"}):
        figure = ce.plot.strata(many, "shd", **use).figure
        inside(figure)
        legend = figure.legends[0].get_window_extent()
        assert legend.y0 >= 0 and legend.y1 <= figure.bbox.height
        assert figure.get_figwidth() < 22


def test_levels_keep_the_order_of_the_cube(cube):
    grid = ce.plot.strata(cube.sel(n=100, density=0.2), "adjacency_f1", x="algorithm")
    assert [spaced(tick.get_text()) for tick in grid.ax.get_xticklabels()] == ALGORITHMS
    assert spaced(grid.ax.get_ylabel()) == F1
    assert "density = 0.2, n = 100." in captions(grid.figure)
    inside(grid.figure)


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


@pytest.mark.parametrize("call", [ce.plot.strata, ce.plot.distributions])
def test_without_controls_there_is_no_band(make, call):
    options = {"x": "density", "hue": "algorithm", "col": "n"} if call is ce.plot.strata else {"hue": "density"}
    grid = call(make(n_draws=None), "shd", **options)
    for ax in grid.axes.flat:
        drawn = {patch.get_gid() for patch in ax.patches if np.isfinite(patch.get_extents().bounds).all()}
        assert not drawn & {"controls"}
        heights = [patch.get_height() for patch in ax.patches if patch.get_gid() == "band"]
        assert np.isnan(heights).all()
    assert "The cube has no controls." in captions(grid.figure)
    assert "controls" not in [text.get_text() for text in grid.figure.legends[0].get_texts()]


def test_cubes_with_one_replicate_or_failed_runs_only(cube, make):
    ce.plot.strata(cube.isel(replicate=[0]), "shd", x="density", hue="algorithm", col="n").figure.canvas.draw()
    failed = cube.isel(algorithm=[2], density=[2], n=[0])
    ce.plot.strata(failed, "shd", x="density").figure.canvas.draw()
    ce.plot.distributions(failed, "shd").figure.canvas.draw()
    ce.plot.distributions(make(keep_draws=False).isel(algorithm=[2], density=[2], n=[0]), "shd").figure.canvas.draw()
    ax = ce.plot.p_values(failed, "shd", x="density", y="algorithm")
    ax.figure.canvas.draw()
    assert not ax.texts
    empty = ce.plot.comparisons(cube.isel(algorithm=[0, 2], density=2, n=0), "shd", "algorithm")
    empty.figure.canvas.draw()
    assert not empty.texts


def test_distributions_have_unit_bins_and_area_one(cube, make):
    raw = ce.plot.distributions(cube, "shd", hue="algorithm", col="density")
    tables = ce.plot.distributions(make(keep_draws=False), "shd", hue="algorithm", col="density")
    assert spaced(raw.axes[0, 0].get_xlabel()) == SHD
    assert "pooled over n" in captions(raw.figure)
    for one, two in zip(raw.axes.flat, tables.axes.flat, strict=True):
        assert [p.get_gid() for p in one.patches] == ["controls", "runs"] * 3
        for a, b in zip(one.patches, two.patches, strict=True):
            values, edges, _ = a.get_data()
            np.testing.assert_allclose(values, b.get_data().values)
            np.testing.assert_array_equal(np.diff(edges), 1)
            np.testing.assert_array_equal(edges % 1, 0.5)
            assert values.sum() == pytest.approx(-1 if a.get_gid() == "controls" else 1)
    runs = cube["shd"].isel(algorithm=0, density=0).to_numpy().ravel()
    values, edges, _ = raw.axes[0, 0].patches[1].get_data()
    np.testing.assert_allclose(values, [(runs == edge + 0.5).mean() for edge in edges[:-1]])
    inside(raw.figure)


def test_triangles_are_medians(cube, make):
    for found in (cube, make(keep_draws=False)):
        grid = ce.plot.distributions(found, "shd", hue="algorithm", row="density")
        for d, ax in enumerate(grid.axes.flat):
            for side, name in (("runs", "shd"), ("controls", "shd_control")):
                marks = [line for line in ax.lines if line.get_gid() == f"median of {side}"]
                expected = cube[name].isel(density=d).transpose("algorithm", ...).to_numpy().reshape(3, -1)
                at = np.concatenate([mark.get_xdata() for mark in marks])
                np.testing.assert_allclose(at, np.nanmedian(expected, axis=1))
    assert "triangles: medians" in captions(grid.figure)


def test_proportions_have_no_unit_bins(cube):
    _, edges, _ = ce.plot.distributions(cube, "adjacency_f1").ax.patches[0].get_data()
    assert len(edges) == 21


def test_p_values_show_the_tests(cube):
    part = cube.sel(n=100)
    ax = ce.plot.p_values(part, "shd", x="density", y="algorithm", adjust="bh")
    assert isinstance(ax, Axes)
    table = ce.test_controls(part, "shd", adjust="bh")
    table = table[table["p_adjusted"].notna()]
    assert len(table) == 7
    assert [text.get_text() for text in ax.texts] == [
        f"{p:.2g}\nn {n}" for p, n in zip(table["p_adjusted"], table["n_pairs"], strict=True)
    ]
    frames = [patch for patch in ax.patches if patch.get_gid() == "frame"]
    assert len(frames) == 2 * (table["p_adjusted"] <= 0.05).sum() > 0
    assert np.ma.getmaskarray(ax.images[0].get_array()).sum() + np.isnan(ax.images[0].get_array()).sum() == 2
    assert isinstance(ax.images[0].norm, mpl.colors.LogNorm)
    assert spaced(ax.get_title()) == SHD
    assert "grey: no test" in captions(ax.figure) and "60 draws" in captions(ax.figure)
    inside(ax.figure)


def test_comparisons_show_compare(cube):
    part = cube.sel(n=100, density=0.2)
    ax = ce.plot.comparisons(part, "shd", "algorithm", test="sign")
    table = ce.compare(part, "algorithm", metrics="shd", test="sign")
    effect = np.ma.filled(ax.images[0].get_array(), np.nan)
    np.testing.assert_array_equal(effect[np.triu_indices(3, 1)], table["effect"])
    np.testing.assert_array_equal(effect, -effect.T)
    first = f"{table['effect'][0]:.3g}\np {table['p_adjusted'][0]:.2g}"
    assert ax.texts[0].get_text() == first
    assert "sign, two-sided; p adjusted: holm" in captions(ax.figure)
    inside(ax.figure)


@pytest.mark.parametrize(("metric", "side"), [("shd", "below"), ("adjacency_f1", "above")])
def test_blue_is_a_better_row(cube, metric, side):
    ax = ce.plot.comparisons(cube.sel(n=100, density=0.2), metric, "algorithm", adjust=None)
    assert f"({side} 0, blue: the row is better)" in ax.images[0].colorbar.ax.get_ylabel()
    image = ax.images[0]
    good = image.norm.vmin if metric == "shd" else image.norm.vmax
    red, _, blue, _ = image.cmap(image.norm(good))
    assert blue > red
    assert "p adjusted: no" in captions(ax.figure)


def test_failed_runs_can_count_as_worst(cube, runs):
    part = cube.isel(density=[2]).sel(n=100)
    some = runs[(runs["n"] == 100) & (runs["density"] == 0.2)].copy()
    some.loc[(some["algorithm"] == "zero") & (some["replicate"] < 2), "estimate"] = None
    options = {"n_draws": 60, "rng": 7, "replicate": "replicate", "control_kind": "dag"}
    failing = ce.cube(some, ["shd"], by=["algorithm", "density"], **options)
    ax = ce.plot.p_values(failing, "shd", x="density", y="algorithm", missing="worst")
    assert [text.get_text().split("\n")[1] for text in ax.texts] == ["n 6"] * 3
    assert "failed runs counted as worst" in captions(ax.figure)
    ax = ce.plot.comparisons(part.isel(density=0), "adjacency_f1", "algorithm", missing="worst")
    assert "failed runs counted as worst" in captions(ax.figure)
    table = ce.compare(part.isel(density=0), "algorithm", metrics="adjacency_f1", missing="worst")
    assert table["effect"].notna().all()
    effect = np.ma.filled(ax.images[0].get_array(), np.nan)
    np.testing.assert_array_equal(effect[np.triu_indices(3, 1)], table["effect"])


def test_comparisons_against_a_reference(cube):
    ax = ce.plot.comparisons(cube.sel(n=100, density=0.2), "shd", "algorithm", reference=ALGORITHMS[0])
    mask = np.ma.getmaskarray(ax.images[0].get_array())
    assert mask[1, 2] and mask[2, 1]
    assert not mask[1:, 0].any()


def test_one_sided_comparisons_fill_one_side(cube):
    ax = ce.plot.comparisons(cube.sel(n=100, density=0.2), "shd", "algorithm", alternative="less")
    assert len(ax.texts) == 3


def test_figures_draw_into_given_axes(cube):
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    assert ce.plot.p_values(cube.sel(n=100), "shd", x="density", y="algorithm", ax=axes[0]) is axes[0]
    part = cube.sel(n=100, density=0.2)
    assert part.ceval.plot.comparisons("shd", "algorithm", ax=axes[1]) is axes[1]
    assert captions(figure).count("Test: ") == 2
    assert plt.get_fignums() == [figure.number]
    inside(figure)


def test_the_namespace_calls_the_functions(cube):
    plots = cube.ceval.plot
    assert isinstance(plots.strata("shd", x="density", hue="algorithm", col="n"), FacetGrid)
    assert isinstance(plots.distributions("shd", row="n"), FacetGrid)
    assert isinstance(cube.sel(n=100).ceval.plot.p_values("shd", x="density", y="algorithm"), Axes)


def test_figures_do_not_change_the_cube(cube):
    before = cube.copy(deep=True)
    ce.plot.strata(cube, "shd", x="density", hue="algorithm", col="n")
    ce.plot.distributions(cube, "shd")
    assert cube.identical(before)


def test_other_strata_must_have_one_level(cube):
    message = (
        r"does not show: density \(3 levels\), n \(3 levels\); .*cube.sel\(density=0.2, n=100\), or .*hue=, col=, row="
    )
    with pytest.raises(ValueError, match=message):
        ce.plot.strata(cube, "shd", x="algorithm")
    with pytest.raises(ValueError, match=r"cube.sel\(algorithm='peter and clark', n=100\)"):
        ce.plot.strata(cube, "shd", x="density")
    with pytest.raises(ValueError, match=r"n \(3 levels\); choose one by cube.sel\(n=100\)$"):
        ce.plot.p_values(cube, "shd", x="density", y="algorithm")
    with pytest.raises(ValueError, match=r"choose one by cube.sel\(density=0.2, n=100\)$"):
        ce.plot.comparisons(cube, "shd", "algorithm")


def test_unknown_names_tell_the_nearest(cube):
    with pytest.raises(ValueError, match="unknown metric 'sdh'; did you mean 'shd'"):
        ce.plot.distributions(cube, "sdh")
    with pytest.raises(ValueError, match=r"unknown dimension \(hue\) 'algoritm'; did you mean 'algorithm'"):
        ce.plot.strata(cube, "shd", x="density", hue="algoritm")
    with pytest.raises(ValueError, match="unknown dimension 'densty'; did you mean 'density'"):
        ce.plot.comparisons(cube, "shd", "densty")
    with pytest.raises(ValueError, match="'density' is used twice, as x and as hue"):
        ce.plot.strata(cube, "shd", x="density", hue="density", col="n")
    with pytest.raises(ValueError, match="dimension 'replicate'"):
        ce.plot.strata(cube.isel(replicate=0), "shd", x="density", hue="algorithm", col="n")
    with pytest.raises(ValueError, match="interval must be"):
        ce.plot.strata(cube, "shd", x="density", hue="algorithm", col="n", interval="sd")


def words_of(figure, gid):
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_gid() == gid]


def test_facets_without_a_value_say_so(runs):
    none = runs.assign(estimate=runs["estimate"].where(runs["algorithm"] != "zero", None))
    found = ce.cube(none, ["shd"], by=["algorithm", "density", "n"], n_draws=20, rng=7, replicate="replicate")
    grid = found.ceval.plot.distributions("shd", col="algorithm")
    assert words_of(grid.figure, "empty") == ["no run has a value"]
    assert len(grid.axes.flat[0].get_xticks())
    nothing = found.isel(algorithm=[2], density=[0])
    for grid in (nothing.ceval.plot.strata("shd", x="n"), nothing.ceval.plot.distributions("shd", hue="n")):
        assert words_of(grid.figure, "empty") == ["no run has a value"]
        assert not len(grid.ax.get_yticks())
    ax = found.isel(density=0, n=0).ceval.plot.comparisons("shd", "algorithm")
    assert "grey: not compared" in captions(ax.figure)
    ax = found.isel(density=0, n=0).ceval.plot.critical_difference("shd", "algorithm")
    assert "not ranked: zero" in captions(ax.figure)


def test_many_columns_go_on_in_further_rows():
    rows = [(f"method {i}", "A -> B", "A -> B" if i % 2 else "B -> A") for i in range(20) for _ in range(2)]
    table = pd.DataFrame(rows, columns=["algorithm", "truth", "estimate"])
    found = ce.cube(table, ["shd"], by=["algorithm"], n_draws=None)
    grid = found.ceval.plot.distributions("shd", col="algorithm")
    assert len(grid.axes) == 20
    assert [ax.get_title() for ax in grid.axes[:2]] == ["algorithm = method 0", "algorithm = method 1"]
    assert grid.figure.get_figwidth() < 30
    inside(grid.figure)


def test_long_names_of_levels_stay_apart():
    names = ["a-very-long-name-without-any-spaces-whatsoever", "the PC algorithm with Fisher-z tests at .01", "x"]
    rows = [(name, "A -> B; C", "A -> B; C") for name in names for _ in range(3)]
    found = ce.cube(
        pd.DataFrame(rows, columns=["algorithm", "truth", "estimate"]), ["shd"], by=["algorithm"], n_draws=None
    )
    for ax in (
        found.ceval.plot.comparisons("shd", "algorithm"),
        found.ceval.plot.critical_difference("shd", "algorithm"),
    ):
        inside(ax.figure)
        texts = [*ax.get_yticklabels(), *ax.get_xticklabels(), *ax.texts] if ax.axison else ax.texts
        boxes = [text.get_window_extent() for text in texts if text.get_text()]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
