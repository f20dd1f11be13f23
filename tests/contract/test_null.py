"""Null models: prepared once a table, registered by field, chosen with options."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.null import Controls, Matching, Null
from causaleval_pd.fields.structure.field import pair
from causaleval_pd.tables.settings import null_model

GRAPHS = ce.structure.GRAPHS
RUNS = pd.DataFrame(
    {
        "truth": ["A -> B; B -> C", "A -> B", "B -> A", "A -> B; C"],
        "estimate": ["A -> B; C", "A -> B", None, "A; B; C"],
        "run": [3, 1, 2, 0],
    }
)


@pytest.fixture
def toy():
    """A null model of two batches that records what it is asked."""
    seen = {"prepared": [], "batches": []}

    def prepare(matching: Matching) -> str:
        seen["prepared"].append(dict(matching.options))
        return f"ready for {len(matching.truth)}"

    def controls(matching, rows, pairs, keys):
        seen["batches"].append((matching.prepared, rows.tolist()))
        return GRAPHS.nulls["edges"].controls(matching, rows, pairs, keys)

    model = Null("toy", "toy controls", controls, prepare, options={"permute": True, "depth": 2})
    ce.register_null("graph", model)
    yield seen
    del GRAPHS.nulls["toy"]


def test_a_table_is_prepared_once_whatever_its_batches(toy):
    found = ce.with_controls(RUNS, ["shd"], null=null_model("toy", depth=5), n_draws=4, rng=7)
    assert toy["prepared"] == [{"permute": True, "depth": 5}]
    assert {prepared for prepared, _ in toy["batches"]} == {"ready for 4"}
    assert sorted({row for _, rows in toy["batches"] for row in rows}) == [0, 1, 3], "failed runs are not matched"
    wanted = ce.with_controls(RUNS, ["shd"], null="edges", n_draws=4, rng=7)
    pd.testing.assert_frame_equal(found.drop(columns="control_null"), wanted.drop(columns="control_null"))


def test_options_are_those_of_the_model(toy):
    with pytest.raises(ValueError, match="null 'toy' has no option 'dept'; its options: permute, depth"):
        ce.with_controls(RUNS, ["shd"], null=null_model("toy", dept=5), rng=7)
    assert toy["prepared"] == []


@pytest.mark.slow
def test_the_list_has_options_and_defaults(toy):
    table = ce.list_nulls("graph")
    assert table.loc[("graph", "toy"), "options"] == "permute=True, depth=2"
    assert table["default"].sum() == 1 and table.loc[("graph", "edges"), "default"]
    assert ce.list_nulls()["default"].sum() == len(ce.list_fields()), "every field has one default"
    with pytest.raises(ValueError, match="unknown field 'grap'; did you mean 'graph'"):
        ce.list_nulls("grap")
    with pytest.raises(ValueError, match="a null model called 'toy' is already registered"):
        ce.register_null("graph", replace(GRAPHS.nulls["edges"], name="toy"))
    with pytest.raises(ValueError, match="unknown field 'grap'"):
        ce.register_null("grap", GRAPHS.nulls["toy"])


def test_choices_of_null_models_add_up():
    first = null_model("degree", switches=5)
    again = null_model(first, name="few", switches=3, permute=False)
    assert (first.name, dict(first.options)) == ("degree", {"switches": 5})
    assert (again.model, again.name, dict(again.options)) == ("degree", "few", {"switches": 3, "permute": False})


def test_functions_have_names_and_no_options():
    def flip(estimate, rng):
        return estimate

    assert null_model(flip).name == "flip" and null_model(flip, name="other").name == "other"
    assert null_model(partial(flip, rng=None)).name == "partial"
    with pytest.raises(TypeError, match=r"a function takes no options here, found depth; bind them by functools"):
        null_model(flip, depth=1)
    for wrong in (3, None, ["edges"]):
        with pytest.raises(TypeError, match=r"null must be a name, a function or ce.null_model\(...\), found"):
            null_model(wrong)


def test_controls_need_only_draw():
    class Same(Controls):
        def __init__(self, pairs):
            self.pairs = pairs

        def draw(self, start, count):
            return self.pairs.take(np.repeat(np.arange(self.pairs.n), count))

    same = Same(pair("A -> B", "B -> A"))
    assert same.kind.tolist() == ["control"] and same.closed_form(ce.shd) is None
    assert same.cost > 0 and same.work > 0
    with pytest.raises(TypeError, match="abstract method '?draw'?"):
        Controls()


def test_a_cluster_is_drawn_by_a_models_own_joint_law_or_by_relabelling():
    relabelling, own = GRAPHS.nulls["permutation"], GRAPHS.nulls["degree"]
    by_name = replace(GRAPHS.nulls["edges"], together=None, label_invariant=True, options={"permute": True})
    assert by_name.by_cluster(relabelling) is relabelling and by_name.by_cluster(None) is None
    assert replace(by_name, together=own).by_cluster(relabelling) is own
    for no_relabelling in ({"options": {"permute": False}}, {"label_invariant": False}, {"reference": True}):
        assert replace(by_name, **no_relabelling).by_cluster(relabelling) is None
