import json

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.reshaped import read_cube
from causaleval_pd.reports.methods import Sentence, cited, has_truths, listed, methods, references, truths_are_named

RUNS = ce.datasets.runs().query("density == 0.2 and n == 400")


def paragraph(cube, **results):
    return " ".join(x.text for x in methods(read_cube(cube), json.loads(cube.attrs["metrics"]), results))


def test_the_paragraph_states_what_was_computed():
    cube = RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=20, rng=11)
    tests = cube.ceval.summary(adjust="bh", columns="full")
    pairs = cube.ceval.compare("algorithm", adjust=None, columns="full")
    text = paragraph(cube, summary=tests, compare=pairs)
    for words in (
        "shd, structural Hamming distance (lower is better)",
        "Ratios 0/0 stayed undefined",
        "Runs on the same truth depend on each other",
        "20 random estimates drawn under the null model “edges”",
        "from seed 11",
        "compared the mean of the runs",
        "How p-values were found: simulated, combinations of draws (3)",
        "p counts 99,999 random combinations of one draw, or the runs, of each cluster",
        "The 3 p-values of these tests were adjusted by Benjamini and Hochberg's method",
        "The levels of algorithm were compared in pairs on the same truths by the paired t test, two-sided",
        "the effect is the mean difference",
        "The 3 p-values of these tests were not adjusted",
        f"computed by causaleval_pd {ce.__version__}",
    ):
        assert words in text


def test_other_settings_have_other_sentences():
    with ce.set_options(zero_division=0):
        cube = RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=19, rng=1, cluster=None)
    tests = cube.ceval.summary(statistic="mean", columns="full")
    text = paragraph(cube, summary=tests)
    assert "All runs were taken as independent" in text and "Ratios 0/0 count as 0" in text
    assert "compared the mean of the runs" in text and "Benjamini" not in text and "were compared in pairs" not in text


def test_without_controls_nothing_is_tested():
    cube = RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    text = paragraph(cube)
    assert "nothing was tested against random guessing" in text and "Skill" not in text and "seed" not in text


def test_reference_models_are_named():
    some = RUNS.head(12)
    upper = some.ceval.cube(["shd"], by=["algorithm"], n_draws=9, rng=1, null="oracle_skeleton")
    text = paragraph(upper, summary=upper.ceval.summary(columns="full"))
    assert "oracle_skeleton: a point of reference that is not tested" in text
    assert "No stratum has a test" in text and "How p-values" not in text


def test_strata_without_a_test_are_no_strata_with_one():
    runs = RUNS.assign(estimate=RUNS["estimate"].mask(RUNS["algorithm"] == "pc"))
    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=9, rng=1)
    assert "In every stratum that has a test" in paragraph(cube, summary=cube.ceval.summary(columns="full"))


def test_ways_to_p_values_are_explained():
    cube = RUNS.assign(half=RUNS["replicate"] // 10).ceval.cube(["shd"], by=["half"], n_draws=9, rng=1)
    text = paragraph(cube, summary=cube.ceval.summary(columns="full"))
    assert "relabelling by truth" in text and "relabels all estimates of that cluster" in text


@pytest.mark.slow
def test_skill_is_described_where_it_is_shown():
    cube = RUNS.ceval.cube(["adjacency_tp"], by=["algorithm"], n_draws=9, rng=1)
    assert "Skill" not in paragraph(cube, summary=cube.ceval.summary(columns="full"))
    cube = RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=9, rng=1, cluster=None)
    text = paragraph(cube, summary=cube.ceval.summary(columns="full"))
    assert "leaves out one run at a time" in text


def test_classes_and_means_belong_to_their_null_model():
    cube = RUNS.head(12).ceval.cube(["shd"], by=["algorithm"], n_draws=9, rng=1, null=["edges", "permutation"])
    cube.attrs["control_kind"] = "dag; pdag"  # where the classes of the null models differ
    text = paragraph(cube)
    assert "dag (“edges”); pdag" in text and "(“permutation”)." in text
    assert "shd (edges: exact" in text


def test_equal_answers_are_no_truths():
    table = pd.DataFrame({"model": ["a", "b"] * 9, "truth": [True, True, False] * 6, "estimate": [True, False] * 9})
    cube = table.ceval.cube(["answer_accuracy"], by=["model"], n_draws=9, rng=1)
    text = paragraph(cube, compare=cube.ceval.compare("model", columns="full"))
    assert "run by run" in text and "same truth" not in text
    assert not truths_are_named(cube) and truths_are_named(RUNS.ceval.cube(["shd"], by=["n"], n_draws=None))


def test_ranks_are_described_where_they_are_drawn():
    cube = read_cube(RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=None))
    one, other = (methods(cube, ["shd"], {}, ranked=x) for x in (True, False))
    assert [x.cites for x in one if x not in other] == [("friedman1937", "westfall1993")]


def test_the_best_of_several_levels_is_named():
    cube = RUNS.ceval.cube(["shd"], by=["n"], n_draws=9, rng=1, best_of="algorithm")
    assert "Of the levels of algorithm (ges, lingam, pc) the best of each run counts" in paragraph(cube)


def test_without_a_truth():
    runs = ce.datasets.sachs_estimates().drop(columns="kind")
    data = {"data": ce.datasets.sachs().head(50)}
    cube = runs.ceval.cube(["mean_abs_partial"], by=["algorithm"], truth=None, context=data, n_draws=None)
    text = paragraph(cube)
    assert "There is no truth" in text and "further inputs: data = DataFrame of 50 rows" in text
    assert not has_truths(cube) and has_truths(RUNS.ceval.cube(["shd"], by=["n"], n_draws=None))


def test_clusters_by_a_column_are_named():
    runs = RUNS.assign(batch=RUNS["replicate"] // 2)
    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=None, cluster="batch")
    assert "Runs with the same value of batch depend on each other" in paragraph(cube)


def test_options_of_metrics_are_stated():
    metric = ce.tweak("shd", reversal_cost=2)
    cube = RUNS.ceval.cube([metric], by=["algorithm"], n_draws=None)
    assert "Options of shd: reversal_cost = 2" in paragraph(cube)


def test_a_cube_without_history_still_names_its_version():
    cube = RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    del cube.attrs["causaleval_pd_history"]
    assert f"causaleval_pd {ce.__version__}" in paragraph(cube)


def test_other_versions_are_kept_apart():
    cube = RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=None)
    history = cube.attrs["causaleval_pd_history"]
    cube.attrs["causaleval_pd_history"] = history.replace(f'"{ce.__version__}"', '"0.0.9"')
    text = paragraph(cube)
    assert "computed by causaleval_pd 0.0.9" in text and f"tables and tests by causaleval_pd {ce.__version__}" in text


def test_references_are_listed_in_order_and_once():
    found = references([Sentence("a", ("holm1979",)), Sentence("b", ("10.9/x}y", "holm1979"))])
    assert [x.cited for x in found] == ["holm1979", "10.9/x}y"]
    assert found[0].text.startswith("Holm, Sture (1979). A simple sequentially rejective")
    assert "doi" not in found[0].text
    assert found[1].bibtex == "@misc{doi-10-9-x-y,\n  doi = {10.9/xy},\n}"


def test_metrics_are_cited_by_their_doi():
    assert cited("10.1007/s10994-006-6889-7") == "tsamardinos2006"
    assert cited("10.9/unknown") == "10.9/unknown"


def test_every_entry_of_the_library_is_whole():
    keys = [cited(x) for x in ce.list_metrics()["reference"].unique() if x]
    for entry in references([Sentence("all", tuple(keys))]):
        assert entry.bibtex.count("{") == entry.bibtex.count("}") and entry.bibtex.startswith("@")
        assert "{" not in entry.text and "\\" not in entry.text and entry.text.endswith(".")


def test_long_lists_are_cut():
    assert listed(["a"] * 13).endswith("a and 1 more") and listed(["a"] * 12) == ", ".join(["a"] * 12)
