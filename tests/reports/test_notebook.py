"""A cube in a notebook: what its HTML states, and that names are escaped."""

from operator import methodcaller

import pytest

import causaleval_pd as ce


@pytest.fixture(scope="module")
def runs():
    runs = ce.datasets.runs().query("n == 100 and density == 0.2").copy()
    runs.iloc[0, runs.columns.get_loc("estimate")] = None
    return runs


def html(cube):
    """Return what a notebook shows of `cube.ceval`, by the method that it calls."""
    return methodcaller("_repr_html_")(cube.ceval)


def test_it_states_metrics_strata_runs_and_the_null_model(runs):
    cube = runs.ceval.cube(["shd", "adjacency_f1"], by=["algorithm"], n_draws=20, rng=7, values={"seconds": "minimize"})
    found = html(cube)
    for words in (
        "A cube of shd, adjacency_f1 by algorithm (3), 60 runs, 20 controls each (edges)",
        "structural Hamming distance",
        "0 to ∞",
        "0 to 1<",
        ">seconds<",
        "ges, lingam, pc",
        "60 runs on 20 truths; 1 failed.",
        "Ratios 0/0 stayed undefined",
        "with 20 random estimates drawn under the null model “edges”",
        "from seed 7",
    ):
        assert words in found
    assert found.count("<table>") == found.count("</table>") == 2


def test_without_controls_without_strata_and_other_datasets(runs):
    plain = html(runs.ceval.cube(["shd"], by=[], n_draws=None))
    assert "No negative controls were drawn" in plain and plain.count("<table>") == 1
    assert "a dataset that was not made by cube()" in html(runs.ceval.cube(["shd"], by=[], n_draws=None).drop_attrs())


def test_a_lazy_cube_is_not_computed(runs):
    import dask

    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=20, rng=7).chunk()

    def refuse(*args, **kwargs):
        raise AssertionError("computed")

    with dask.config.set(scheduler=refuse):
        assert "The cube is lazy" in html(cube)


def test_names_are_escaped(runs):
    named = runs.assign(algorithm=runs["algorithm"].replace("pc", "<b>pc</b>"))
    cube = named.ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    assert "&lt;b&gt;pc&lt;/b&gt;" in html(cube) and "<b>pc" not in html(cube)
