"""Registries: names once, the nearest names of unknown ones, third parties loaded late and once."""

import warnings
from dataclasses import replace

import pytest

import causaleval_pd as ce
from causaleval_pd.contract import registry
from causaleval_pd.contract.encoding import ENCODINGS, Encoding
from causaleval_pd.contract.field import FIELDS
from causaleval_pd.contract.figure import FIGURES
from causaleval_pd.contract.law import CLOSED_FORMS
from causaleval_pd.contract.metric import METRICS
from causaleval_pd.contract.null import Null
from causaleval_pd.contract.registry import Registry
from causaleval_pd.inference.statistical_test import TESTS, StatisticalTest


@pytest.fixture
def colours(monkeypatch):
    """A registry with one entry point, and the groups that were asked for."""
    found: Registry[str] = Registry("encoding", "example.colours")
    found.groups = []

    class Point:
        def load(self) -> None:
            found.add("green", "#0f0")

    monkeypatch.setattr(registry, "entry_points", lambda group: found.groups.append(group) or [Point()])
    found.add("red", "#f00")
    return found


def test_a_name_is_taken_once(colours):
    with pytest.raises(ValueError, match="^an encoding called 'red' is already registered; choose another name$"):
        colours.add("red", "#f01")
    assert colours["red"] == "#f00"
    del colours["red"]
    assert colours.add("red", "#f01") == "#f01"


def test_third_parties_are_loaded_when_a_name_is_missing_and_once(colours):
    assert colours.find("red") == "#f00" and colours.groups == []
    assert colours.find("green") == "#0f0" and colours.groups == ["example.colours"]
    with pytest.raises(ValueError, match="unknown encoding 'blue'; it is one of green, red"):
        colours.find("blue")
    assert list(colours.every()) == ["#f00", "#0f0"] and colours.groups == ["example.colours"]


def test_a_broken_third_party_is_named_once_and_left_out(monkeypatch):
    class Point:
        name, value = "theirs", "their_colours"

        def __init__(self, fails: bool) -> None:
            self.fails = fails

        def load(self) -> None:
            if self.fails:
                raise ImportError("no module named their_dependency")
            found.add("green", "#0f0")

    found: Registry[str] = Registry("colour", "example.colours")
    monkeypatch.setattr(registry, "entry_points", lambda group: [Point(True), Point(False)])
    words = r"'theirs' of 'example.colours' \(their_colours\) .*left out: ImportError: no module named their_dependency"
    with pytest.warns(RuntimeWarning, match=words):
        assert list(found.every()) == ["#0f0"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.find("green") == "#0f0" and list(found.every()) == ["#0f0"]


def test_every_object_includes_those_of_third_parties_and_bears_removal(colours):
    seen = []
    for value in colours.every():
        seen.append(value)
        colours.pop("green", None)
    assert seen == ["#f00", "#0f0"]


@pytest.mark.parametrize("name", [["red"], {"red": 1}, ("red", []), None, 3])
def test_what_is_no_name_is_refused_with_the_known_ones(colours, name):
    with pytest.raises(ValueError, match=r"^unknown encoding .*it is one of green, red$"):
        colours.find(name)


CELL = """
@ce.metric(field="graph", kinds=("dag",), direction="minimize", range=(0, 9), optimum=0, long_name="cell metric")
def cell_metric(pairs):
    return pairs.counts.fn + {shift}

def cell_controls(matching, rows, pairs, keys):
    return edges.controls(matching, rows, pairs, keys)

ce.register_null("graph", Null("cell_null", "null {shift}", cell_controls, options=dict(edges.options)))

def cell_test(difference, *, alternative="two-sided"):
    return None

ce.register_test(StatisticalTest("cell_test", "test {shift}", cell_test, "paired"))

@ce.figure("figure {shift}", of="cube", concludes="nothing")
def cell_figure(cube):
    return {shift}

def cell_read(cell):
    return None

ce.register_encoding(Encoding(name="cell_encoding", tool="tool {shift}", cells="x", meaning="x", mark="x", example="x",
                              read=cell_read, types=(frozenset,), by_name=True))

def cell_probe(value):
    return None

ce.register_closed_form(ce.ClosedFormRule("cell_rule", "graph", "Rule {shift}.", cell_probe))

def cell_holds(cells):
    return False

ce.register_field(replace(ce.structure.GRAPHS, name="cell_field", default_metrics=("m{shift}",), holds=cell_holds,
                          nulls=Registry("null model", "example.nulls")))
"""


def run_cell(shift: int, module: str = "__main__") -> None:
    """Run a cell that registers one object of each kind."""
    names = {"ce": ce, "Null": Null, "StatisticalTest": StatisticalTest, "Encoding": Encoding, "Registry": Registry}
    names |= {"replace": replace, "edges": ce.structure.GRAPHS.nulls["edges"], "__name__": module}
    exec(CELL.format(shift=shift), names)


@pytest.fixture
def forget_cell():
    """Unregister what the cell registers."""
    yield
    METRICS.pop("cell_metric"), ce.structure.GRAPHS.nulls.pop("cell_null"), TESTS.pop("cell_test")
    FIGURES.pop("cell_figure"), ENCODINGS.pop("cell_encoding"), CLOSED_FORMS.pop("cell_rule"), FIELDS.pop("cell_field")


@pytest.mark.usefixtures("forget_cell")
def test_a_cell_that_runs_again_replaces_what_it_registered():
    run_cell(0)
    assert ce.get_metric("cell_metric")("A -> B", "B -> A") == 0
    ce.register_null("cell_field", replace(ce.structure.GRAPHS.nulls["edges"], name="of_another_cell"))
    run_cell(1)
    assert ce.get_metric("cell_metric")("A -> B", "B -> A") == 1
    assert ce.list_nulls("graph").loc[("graph", "cell_null"), "long_name"] == "null 1"
    assert ce.list_tests().loc["cell_test", "long_name"] == "test 1"
    assert ce.plot.cell_figure(None) == 1
    assert ce.list_encodings().loc["cell_encoding", "tool"] == "tool 1"
    assert ce.list_closed_forms().loc["cell_rule", "explanation"] == "Rule 1."
    assert ce.list_fields().loc["cell_field", "default_metrics"] == "m1"
    assert "of_another_cell" in FIELDS["cell_field"].nulls
    with pytest.raises(ValueError, match="a metric called 'cell_metric' is already registered"):
        run_cell(2, "another_module")


def test_objects_of_the_package_are_not_replaced():
    for register, declared in [
        (ce.register_field, ce.structure.GRAPHS),
        (ce.register_encoding, ENCODINGS["networkx"]),
        (ce.register_closed_form, CLOSED_FORMS["linear"]),
    ]:
        with pytest.raises(ValueError, match="is already registered"):
            register(declared)
    with pytest.raises(ValueError, match="a null model called 'edges' is already registered"):
        ce.register_null("graph", replace(ce.structure.GRAPHS.nulls["edges"], controls=lambda *matched: None))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("RED", "did you mean 'red'? "), ("sky-blue", "did you mean 'sky_blue'? "), ("crimson", "did you mean 'red'? "),
        ("Crimsn", "did you mean 'red'? "), ("hue", "did you mean 'red', 'sky_blue'? "),
        ("azure", "in another table 'sky_blue'; "), ("qqq", ""), ("", ""), (None, ""),
    ],
)  # fmt: skip
def test_names_of_other_tools_are_suggested(colours, name, hint):
    colours.add("sky_blue", "#0af")
    colours.other_names({"crimson": ["red"], "hue": ["red", "sky_blue", "not there"]})
    colours.other_names({"azure": ["sky_blue"]}, "in another table")
    assert colours.suggest(name) == hint
    assert colours.suggest("hue", among=["sky_blue"]) == "did you mean 'sky_blue'? "
