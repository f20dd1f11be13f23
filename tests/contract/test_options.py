"""Options that several metrics share are explained once, conventions too; refusals name what applies."""

from dataclasses import replace

import pytest

import causaleval_pd as ce
from causaleval_pd.contract.options import Convention, with_options
from causaleval_pd.fields.structure.field import pair

TEXTS = {"floor": "floor : float\n    Smallest denominator.", "cap": "cap : float\n    Largest value."}


def test_entries_follow_the_signature_and_own_ones_are_kept(declare):
    @declare()
    @with_options(TEXTS)
    def ratio(pairs, *, cap=1.0, floor=0.0):
        """Compute a ratio.

        More prose.

        Parameters
        ----------
        floor : float
            My own floor,
            in one more line.

        Examples
        --------
        >>> 1 + 1
        2
        """
        return pairs.counts.fp

    prose, more, _, parameters = ratio.__doc__.split("\n\n")[:4]
    assert (prose, more) == ("Compute a ratio.", "More prose.")
    assert parameters.split("\n")[4:] == [
        *("cap : float", "    Largest value."),
        *("floor : float", "    My own floor,", "    in one more line."),
    ]
    assert ratio.__doc__.endswith("Examples\n--------\n>>> 1 + 1\n2")


def test_metrics_without_docstrings_have_their_options_too(declare):
    @declare()
    @with_options(TEXTS)
    def ratio(pairs, *, cap=1.0):
        return pairs.counts.fp

    assert ratio.__doc__.startswith("Compute the declared.\n") and TEXTS["cap"] in ratio.__doc__


def test_every_option_of_every_metric_is_documented():
    import inspect

    for name in ce.list_metrics().index:
        found = ce.get_metric(name)
        for option in list(inspect.signature(found).parameters)[1:]:
            assert f"\n{option} : " in found.__doc__, (name, option)


DAG, CPDAG, PDAG = (pair("A -> B; B -> C", text) for text in ("A -> B; C", "A -- B; B -- C", "A -> B; B -- C"))


@pytest.fixture
def strict(declare):
    """A metric of DAGs that takes PDAGs by an option."""
    loose = Convention("mode", "loose", ("pdag",), "edges are counted")

    @declare(conventions=[loose], instead=("sid_lower", "of another package"))
    def strict(pairs, *, mode="strict"):
        return pairs.counts.fp

    return strict


def test_an_option_adds_kinds_to_both_sides(strict):
    loose = ce.tweak(strict, mode="loose")
    assert [bool(strict.refused(x)[0]) for x in (DAG, CPDAG, PDAG)] == [False, True, True]
    assert [bool(loose.refused(x)[0]) for x in (DAG, CPDAG, PDAG)] == [False, True, False]
    assert not loose.refused(PDAG.swapped)[0] and strict.refused(DAG, {"mode": "loose"}).tolist() == [False]
    assert strict("A -> B; B -> C", "A -> B; B -- C", mode="loose") == 0


def test_hints_name_what_takes_the_pairs_and_how_many(strict):
    assert strict.what_applies([CPDAG]) == "; use 'sid_lower'"
    assert strict.what_applies([PDAG]) == (
        "; use ce.tweak('strict', mode='loose') (edges are counted); or ce.tweak('sid_lower', beyond='local') "
        "(bounds that need not be attained)"
    )
    either = replace(strict, instead=("parent_aid", "shd"))
    assert either.what_applies([CPDAG, PDAG]) == (
        "; use ce.tweak('strict', mode='loose') for 1 of them (edges are counted); or 'parent_aid' for 1 of them; or "
        "'shd'"
    )
    assert replace(ce.sid, instead=("parent_aid",)).what_applies([PDAG]) == ""


def test_names_are_sequences():
    with pytest.raises(TypeError, match=r"instead must be a sequence, found 'shd'; write \('shd',\)"):
        ce.metric(field="graph", kinds=("dag",), direction=None, range=(0, 1), long_name="x", instead="shd")


def test_unknown_values_are_refused_before_cells(strict):
    with pytest.raises(ValueError, match="mode must be 'strict' or 'loose', found 'lose'"):
        ce.tweak(strict, mode="lose")
    for call in (ce.shd_cpdag, ce.sid_lower):
        option = call.conventions[0].option
        with pytest.raises(ValueError, match=f"^{option} must be '.*' or '.*', found 'local_'"):
            call("A -> B; B -> C", "A -> B; B -- C", **{option: "local_"})
