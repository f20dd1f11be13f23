"""Figures of models: what is drawn is what the models say, nothing overlaps, and scores are the metrics'."""

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import FormulaTooLargeError, parse, random_models
from causaleval_pd.fields.configurational.plot import Claim, lay_out, layers_of

D3 = "(A+B*F<->D)*(C+B*f<->E)*(D+E<->G)"


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    mpl.use("agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def drawn(ax: Any, gid: str) -> list[Any]:
    """Artists of one sort."""
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]


def claims(*texts: str) -> list[Claim]:
    return [Claim(d, a.outcome, "plain") for text in texts for a in parse(text).atoms for d in a.disjuncts]


def test_every_part_of_the_model_is_drawn() -> None:
    ax = ce.plot.hypergraph(D3)
    assert sorted(text.get_text() for text in drawn(ax, "factor")) == list("ABCDEFG")
    assert len(drawn(ax, "joint")) == 2  # B*F, B*f
    assert len(drawn(ax, "negation")) == 1  # f
    arrows = [line for line in drawn(ax, "plain") if type(line.get_arrowstyle()).__name__ != "Curve"]
    assert (len(drawn(ax, "plain")), len(arrows)) == (10, 6)  # 4 singles, 2 x (2 lines to a joint, 1 arrow from it)
    assert ax.get_title() == str(parse(D3))


def test_values_are_written_where_factors_have_several() -> None:
    ax = ce.plot.hypergraph("A=2*B=0+C=1<->E=1")
    assert Counter(text.get_text() for text in drawn(ax, "value")) == {"=2": 1, "=0": 1, "=1": 2}
    assert not drawn(ax, "negation")


def test_negative_outcomes_are_marked() -> None:
    assert len(drawn(ce.plot.hypergraph("a+B*c<->d"), "negation")) == 2 + 2


@pytest.mark.parametrize("text", [*random_models(12, 9, outcomes=3, rng=8), "(A<->B)*(B<->C)*(C<->A)", D3])
def test_layout_keeps_things_apart_and_in_order(text: str) -> None:
    found = lay_out(claims(text))
    layers = layers_of(claims(text))
    assert len(set(found.factors.values())) == len(found.factors) == len(parse(text).factors)
    ways = {point for route in found.ways.values() for point in route}
    assert not ways & set(found.factors.values()), "lines pass no factor"
    for one, two in itertools.combinations(found.joints.values(), 2):
        assert one[0] != two[0] or abs(one[1] - two[1]) > 0.4
    acyclic = text != "(A<->B)*(B<->C)*(C<->A)"
    for claim in claims(text):
        assert not acyclic or all(layers[name] < layers[claim.outcome[0]] for name, _ in claim.disjunct)


def test_chains_do_not_cross() -> None:
    found = lay_out(claims("(A<->D)*(B<->E)*(C<->F)*(D<->G)*(E<->H)*(F<->I)"))
    order = [[n for n, p in sorted(found.factors.items(), key=lambda f: f[1][1]) if p[0] == x] for x in (0, 1, 2)]
    assert [["ABC".index(n) for n in order[0]], ["DEF".index(n) for n in order[1]]] == [
        ["GHI".index(n) for n in order[2]]
    ] * 2


def looks(ax: Any) -> dict[str, int]:
    """Lines by look, without those that are not drawn."""
    names = ("both", "part", "indirect", "bypass", "literal", "false", "missing")
    return {look: n for look in names if (n := len(drawn(ax, look)))}


@pytest.mark.slow
def test_difference_tells_true_false_indirect_and_missing() -> None:
    ax = ce.plot.model_difference(D3, "(A+B*F<->D)*(B+c<->G)")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "in truth and estimate",
        "only in the estimate, true of the chain",  # B, through E
        "only in the estimate, false",
        "only in the truth",
    ]
    assert looks(ax) == {"both": 4, "indirect": 1, "false": 1, "missing": 6}
    assert looks(ce.plot.model_difference(D3, "B+c<->G")) == {"indirect": 1, "false": 1, "missing": 10}
    same = ce.plot.model_difference(D3, D3)
    assert [text.get_text() for text in same.get_legend().get_texts()] == ["in truth and estimate"]


@pytest.mark.slow
def test_difference_marks_what_is_true_of_the_chain_only_and_right_literals_of_wrong_conjunctions() -> None:
    # A and B are causes of G, but not directly beside D and E
    ax = ce.plot.model_difference(D3, "A+B+E+D<->G")
    assert looks(ax) == {"both": 2, "bypass": 2, "missing": 8}
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "only in the estimate, true of the chain but not direct" in labels
    assert looks(ce.plot.model_difference(D3, "A+B+E<->G")) == {"both": 1, "indirect": 2, "missing": 9}
    # A and B are causes of D, B and C of G, but not together
    found = looks(ce.plot.model_difference(D3, "(A*B<->D)*(D+B*C<->G)"))
    assert found == {"both": 1, "literal": 4, "false": 2, "missing": 9}
    # B is part of B*F
    found = looks(ce.plot.model_difference(D3, "(A+B<->D)*(B*C<->G)"))
    assert found == {"both": 1, "part": 1, "literal": 2, "false": 1, "missing": 9}


def test_outcomes_that_the_truth_does_not_explain_are_false() -> None:
    assert looks(ce.plot.model_difference("A+a<->B", "A<->B")) == {"both": 1, "missing": 1}
    assert looks(ce.plot.model_difference("A<->B", "A*C<->D")) == {"false": 3, "missing": 1}
    found = looks(ce.plot.model_difference("A=2+B=1<->Y=1", "A=1*B=1+A=2<->Y=1", domains={"A": [0, 1, 2]}))
    assert found == {"both": 1, "literal": 1, "false": 2, "missing": 1}


SEVERAL = [
    "A=2*B=0+C=1+D=2*A=1<->E=1",
    "(A=2*B=0+C=1<->E=1)*(A=1+B=2<->E=2)*(E=1*C=2+E=2<->F=1)",
    "(A=1+B=1<->Y=0)*(A=2+B=2<->Y=1)*(A=3+B=3<->Y=2)*(A=0*B=0<->Y=3)",
    *random_models(3, 6, outcomes=2, disjuncts=(2, 3), domains=dict.fromkeys("ABC", range(3)), rng=4),
]


def texts_of(ax: Any) -> list[Any]:
    """All texts of a figure that are not empty."""
    from matplotlib.text import Text

    hidden = {*ax.get_yticklabels(), *([] if ax.axison else ax.get_xticklabels())}  # some stand outside the axes
    return [x for x in ax.figure.findobj(Text) if x.get_text().strip() and x.get_visible() and x not in hidden]


@pytest.mark.slow
@pytest.mark.parametrize("text", [*SEVERAL[:3], *(pytest.param(x, marks=pytest.mark.slow) for x in SEVERAL[3:]), D3])
def test_labels_never_collide(text: str) -> None:
    estimate = text.replace("*B=0", "*B=1", 1)
    domains = dict.fromkeys("ABCDEFY", range(4)) if "=" in text else None
    figures = [ce.plot.hypergraph(text), ce.plot.model_difference(text, estimate, domains=domains)]
    if text in (D3, SEVERAL[0]):
        figures.append(ce.plot.score_profile(text, estimate, domains=domains, n_draws=0))
    for ax in figures:
        ax.figure.canvas.draw()
        boxes = [(found.get_text(), found.get_window_extent()) for found in texts_of(ax)]
        for (one, first), (two, second) in itertools.combinations(boxes, 2):
            assert not first.overlaps(second), (one, two)


def test_an_outcome_has_one_label_a_value() -> None:
    ax = ce.plot.hypergraph("A=2*B=0+C=1+D=2<->E=1")
    assert Counter(text.get_text() for text in drawn(ax, "value")) == {"=2": 2, "=0": 1, "=1": 2}


@pytest.mark.slow
def test_profile_shows_the_metrics() -> None:
    estimate = "(A*B<->D)*(D+B*C<->G)"
    ax = ce.plot.score_profile(D3, estimate, n_draws=30)
    points = {line.get_label(): line.get_ydata() for line in ax.lines if line.get_marker() in ("o", "s")}
    for measure in ("correctness", "completeness"):
        names = [measure, *(f"{measure}_{c}" for c in ("literal", "conjunctive", "disjunctive", "sequential"))]
        assert points[measure] == pytest.approx([ce.get_metric(name)(D3, estimate) for name in names])
    assert "21/28" in {text.get_text() for text in ax.texts}
    bars = [patch for patch in ax.patches if patch.get_width() == pytest.approx(0.2)]
    assert len(bars) == 10
    assert np.isfinite([bar.get_height() for bar in bars]).all()
    assert not [p for p in ce.plot.score_profile(D3, estimate, n_draws=0).patches if p.get_width() < 0.3]
    assert "over the factors of truth and estimate alone" in " ".join(ax.figure.get_supxlabel().split())
    wide = ce.plot.score_profile(D3, estimate, n_draws=30, factors=list("ABCDEFGHIJKL"))
    assert "alone" not in wide.figure.get_supxlabel()
    tops = [[bar.get_y() + bar.get_height() for bar in one.patches if bar.get_width() < 0.3] for one in (ax, wide)]
    assert sum(tops[1]) < sum(tops[0])  # guesses among more factors are right less often


@pytest.mark.slow
def test_figures_can_be_drawn_into_given_axes() -> None:
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 3, figsize=(14, 4))
    assert ce.plot.hypergraph("A<->B", ax=axes[0]) is axes[0]
    assert ce.plot.model_difference("A<->B", "a<->B", ax=axes[1]) is axes[1]
    assert ce.plot.score_profile("A<->B", "a<->B", n_draws=5, ax=axes[2]) is axes[2]


def test_too_large_models_are_refused() -> None:
    with pytest.raises(FormulaTooLargeError, match="101 disjuncts are too many to draw"):
        ce.plot.hypergraph("+".join(f"A{i}" for i in range(101)) + "<->B")


def test_cyclic_models_have_a_hypergraph_but_no_difference() -> None:
    ce.plot.hypergraph("(A+C<->B)*(B<->A)")
    with pytest.raises(ValueError, match="cyclic"):
        ce.plot.model_difference("(A+C<->B)*(B<->A)", "A<->B")


LONG = "(UNEMPLOYMENT*inflation+SPENDING<->POPULAR_UNREST)*(POPULAR_UNREST*POLICE_VIOLENCE+INTERVENTION<->REVOLUTION)"
MANY = "(A*b*C+D*E*f+G*h+I<->Q)*(A*B+c*D+E*F+g*H+Q<->R)*(R*Q*a+B*C+D*e+F+I<->S)"


@pytest.mark.slow
@pytest.mark.parametrize("text", [LONG, MANY, D3, "A<->B", "(A<->B)*(B<->C)*(C<->A)", "A=2*B=1+C=3<->D=1"])
def test_nothing_is_cut_and_no_factors_overlap(text: str) -> None:
    ax = ce.plot.hypergraph(text)
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    boxes = [box.get_bbox_patch().get_window_extent(renderer) for box in drawn(ax, "factor")]
    assert not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))
    frame = ax.get_window_extent()
    for line in drawn(ax, "plain"):
        (x0, y0), (x1, y1) = ax.transData.transform(line.get_path().get_extents())
        assert x0 > frame.x0 and y0 > frame.y0 and x1 < frame.x1 and y1 < frame.y1
    for figure in (ax, ce.plot.score_profile(text, text, n_draws=0) if text in (LONG, MANY) else ax):
        figure.figure.canvas.draw()
        title = figure.title.get_window_extent()
        assert title.x0 >= 0 and title.x1 <= figure.figure.bbox.x1
        assert "".join(figure.get_title().split()).count(str(parse(text)).replace(" ", "")) >= 1


def test_undefined_scores_are_said_to_be() -> None:
    ax = ce.plot.score_profile("C+c<->B", "A<->B", n_draws=0)
    assert [text.get_text() for text in ax.texts].count("undefined") == 5
