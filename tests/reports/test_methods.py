import json

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.reshaped import read_cube
from causaleval_pd.reports.methods import Sentence, cited, has_truths, methods, references, truths_are_named
from causaleval_pd.statistics.words import listed

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


WITHOUT = RUNS["estimate"].mask(RUNS["algorithm"] == "pc")
REFERENCE = "oracle_skeleton: a point of reference that is not tested"


@pytest.mark.parametrize(
    ("columns", "settings", "words", "absent"),
    [
        ({}, {"n_draws": None}, ["nothing was tested against random guessing"], ["Skill", "seed"]),
        ({}, {"cluster": None}, ["All runs were taken as independent", "leaves out one run at a time"], ["Benjamini"]),
        ({}, {"cluster": None}, ["compared the mean of the runs"], ["were compared in pairs"]),
        ({}, {"null": "oracle_skeleton"}, [REFERENCE, "No stratum has a test"], ["How p-values"]),
        ({"estimate": WITHOUT}, {}, ["In every stratum that has a test"], []),
        (
            {"half": RUNS["replicate"] // 10},
            {"by": ["half"]},
            ["relabelling by truth", "relabels all estimates of"],
            [],
        ),
        ({}, {"metrics": ["adjacency_tp"]}, [], ["Skill"]),
        ({}, {"by": ["n"], "best_of": "algorithm"}, ["levels of algorithm (ges, lingam, pc) the best of each run"], []),
        ({"lab": RUNS["replicate"] // 2}, {"cluster": "lab"}, ["with the same value of lab depend on each other"], []),
        ({}, {"metrics": [ce.tweak("shd", reversal_cost=2)]}, ["Options of shd: reversal_cost = 2"], []),
    ],
)
def test_sentences_follow_the_settings(columns, settings, words, absent):
    usual = {"metrics": ["shd"], "by": ["algorithm"], "n_draws": 9, "rng": 1}
    cube = RUNS.assign(**columns).ceval.cube(**usual | settings)
    text = paragraph(cube, **({"summary": cube.ceval.summary(columns="full")} if cube.attrs["n_draws"] else {}))
    assert [x for x in words if x not in text] == [x for x in absent if x in text] == []


def test_ratios_may_count_as_0():
    with ce.set_options(zero_division=0):
        assert "Ratios 0/0 count as 0" in paragraph(RUNS.ceval.cube(["shd"], by=["algorithm"], n_draws=None))


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


def test_without_a_truth():
    runs = ce.datasets.sachs_estimates().drop(columns="kind")
    data = {"data": ce.datasets.sachs().head(50)}
    cube = runs.ceval.cube(["mean_abs_partial"], by=["algorithm"], truth=None, context=data, n_draws=None)
    text = paragraph(cube)
    assert "There is no truth" in text and "further inputs: data = DataFrame of 50 rows" in text
    assert not has_truths(cube) and has_truths(RUNS.ceval.cube(["shd"], by=["n"], n_draws=None))


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
