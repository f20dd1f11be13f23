"""Controls matched to rows: null models, random streams, classes, given controls."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.tables.clusters import Clusters
from causaleval_pd.tables.matching import check_directions, control_kinds, find_null, match_rows
from causaleval_pd.tables.settings import NullChoice

FIVE = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> D; D -> E"
SEVEN = "A -> B; A -> C; A -> D; B -> C; B -> D; B -> E; C -> E"


def test_control_kind_is_the_users_word():
    dags = pd.DataFrame({"truth": [FIVE], "estimate": [SEVEN], "kind": ["cpdag"]})
    by_word = ce.with_controls(dags, ["shd"], rng=7, control_kind="cpdag", n_draws=50)
    by_column = ce.with_controls(dags, ["shd"], rng=7, control_kind="kind", n_draws=50)
    pd.testing.assert_frame_equal(by_word, by_column)
    assert by_word["control_kind"].tolist() == ["cpdag"]
    with pytest.raises(ValueError, match="row 0 .*: control_kind is 'dagg'; expected one of dag, cpdag, pdag"):
        ce.with_controls(dags, ["shd"], rng=7, control_kind="dagg")
    with pytest.raises(ValueError, match="'undirected'.*'pdag' keeps the number of undirected edges"):
        ce.with_controls(dags, ["shd"], rng=7, control_kind="undirected")
    with pytest.raises(ValueError, match=r"declare estimates by graph_column\(\.\.\., kind='skeleton'\)"):
        ce.with_controls(dags, ["adjacency_f1"], rng=7, control_kind="skeleton")


RUNS = pd.DataFrame({"truth": [FIVE] * 3, "estimate": [SEVEN, None, "A -> B; C; D; E"], "a": 0}, index=["x", "y", "z"])


def test_null_models_are_found_with_their_options():
    field = ce.structure.GRAPHS
    assert find_null(field, None).name == "edges"
    assert find_null(field, ce.null_model("edges", permute=False)).options["permute"] is False
    chosen = find_null(field, ce.null_model("degree", switches=5, name="few"))
    assert chosen.name == "few" and chosen.options["switches"] == 5
    assert field.nulls["degree"].options["switches"] != 5, "the registered model keeps its defaults"
    with pytest.raises(ValueError, match="null must be one null model here, found 2; cube"):
        find_null(field, ["edges", "degree"])
    with pytest.raises(ValueError, match="null 'degree' has no option 'permute'; its options: switches"):
        find_null(field, ce.null_model("degree", permute=False))
    with pytest.raises(ValueError, match="field 'quantity' takes no function as null; its null models: "):
        find_null(get_field("quantity"), lambda estimate, rng: estimate)


def test_streams_are_named_by_key():
    own = match_rows(RUNS, NullChoice(None, 7))
    assert len(set(own.keys)) == 3 and own.kinds is None and own.seed == 7
    assert (match_rows(RUNS.iloc[::-1], NullChoice(None, 7)).keys == own.keys[::-1]).all()
    clusters = Clusters("truth", np.array([5, 0, 9]))
    jointly = find_null(get_field("graph"), "permutation")
    assert (match_rows(RUNS, NullChoice(None, 7), clusters).keys_of(jointly) == clusters.keys(7)).all()


def test_classes_are_a_word_for_all_or_a_column():
    assert control_kinds(RUNS, None) is None
    assert control_kinds(RUNS, "cpdag").tolist() == ["cpdag"] * 3
    assert control_kinds(RUNS.assign(kind=["dag", None, "cpdag"]), "kind")[0] == "dag"
    with pytest.raises(TypeError, match="control_kind must be a class of graphs or the name of a column, found 3"):
        control_kinds(RUNS, 3)


def test_metrics_of_controls_need_a_direction():
    check_directions([ce.shd])
    with pytest.raises(ValueError, match="no metrics were named; controls need at least one"):
        check_directions([])
    with pytest.raises(ValueError, match="true_density, true_edges has no direction: .* use evaluate"):
        check_directions([ce.get_metric(name) for name in ("shd", "true_density", "true_edges")])
    with pytest.raises(ValueError, match="^edge_confusion has no direction"):
        ce.with_controls(pd.DataFrame({"truth": ["A -> B"], "estimate": ["B -> A"]}), ["edge_confusion"], n_draws=3)


@pytest.mark.parametrize("key", [None, "run", ["run", "algorithm"]])
def test_repeated_keys_name_the_rows_that_share_one(key):
    runs = ce.datasets.runs().query("algorithm != 'lingam'").groupby("algorithm").head(5)
    twice = runs.assign(run=[*range(5)] * 2, algorithm="x").set_axis([*range(5)] * 2)
    shared = r"0" if key in (None, "run") else r"\(0, 'x'\)"
    message = rf"repeat: rows \[0, 5\] share the key {shared}, and 4 more keys repeat"
    with pytest.raises(ValueError, match=message):
        twice.ceval.with_controls(["shd"], key=key, n_draws=5)
    with pytest.raises(ValueError, match=message):
        twice.ceval.cube(["shd"], by=["density"], key=key, n_draws=5)
    if key is None:
        levels = twice.set_index(["algorithm", "run"])
        with pytest.raises(ValueError, match=r"the index labels repeat: rows \[0, 5\] share the key \('x', 0\), and 4"):
            levels.ceval.with_controls(["shd"], n_draws=5)
