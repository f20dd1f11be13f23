"""Colours of figures follow the colours of text and of paper, light or dark."""

import itertools
import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import causaleval_pd as ce
from causaleval_pd.drawing import colours, opacity, tone

DARK = "dark_background"
PACKAGE = Path(ce.__file__).parent


def contrast(first, second):
    """Return the contrast of two colours as the Web Content Accessibility Guidelines define it, from 1 to 21."""
    channels = np.array([to_rgb(first), to_rgb(second)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    low, high = np.sort(linear @ [0.2126, 0.7152, 0.0722])
    return (high + 0.05) / (low + 0.05)


def on_paper(colour, share, paper):
    return share * np.array(to_rgb(colour)) + (1 - share) * np.array(to_rgb(paper))


@pytest.mark.parametrize("n", [1, 3, 10, 20])
def test_colours_are_seen_on_dark_paper_and_stay_apart(n):
    with mpl.style.context(DARK):
        found = colours(n)
        assert min(contrast(colour, "black") for colour in found) > (5 if n <= 10 else 2.5)
    if n <= 10:
        assert all(np.abs(np.subtract(a, b)).max() > 0.1 for a, b in itertools.combinations(found, 2))


def test_areas_and_pale_ink_are_seen_on_dark_paper_as_on_white():
    for share in (0.18, 0.22, 0.3):
        white = contrast(on_paper(colours(1)[0], opacity(share), "white"), "white")
        with mpl.style.context(DARK):
            black = contrast(on_paper(colours(1)[0], opacity(share), "black"), "black")
        assert black > white - 0.05
    for share in (0.12, 0.4, 0.65):
        white = contrast(tone(share), "white")
        with mpl.style.context(DARK):
            assert contrast(tone(share), "black") > min(white, 4.5) - 0.05


def test_on_light_paper_ink_is_mixed_by_its_share():
    assert tone(0.15) == pytest.approx([0.85] * 3) and opacity(0.3) == 0.3 and tone(0.0) == (1, 1, 1)


@pytest.mark.parametrize(("ink", "paper"), [("black", "white"), ("white", "black")])
def test_transparent_axes_have_the_paper_that_their_text_can_be_read_on(ink, paper):
    with mpl.rc_context({"axes.facecolor": "none", "text.color": ink}):
        assert tone(0.0) == to_rgb(paper) and tone(1.0) == to_rgb(ink)
        assert (opacity(0.2) == 0.2) == (paper == "white")


def test_missing_edges_and_controls_are_seen_on_dark_paper(cube):
    with mpl.style.context(DARK):
        ax = ce.plot.difference("A -> B; B -> C", "A -> B; C")
        [missing] = [x for x in ax.get_legend().legend_handles if x.get_label() == "missing: 1"]
        assert contrast(missing.get_color(), "black") > 5
        panel = cube.ceval.plot.distributions("shd").axes.flat[0]
        [controls] = [x for x in panel.patches if x.get_gid() == "controls"]
        assert contrast(on_paper(controls.get_facecolor()[:3], controls.get_alpha(), "black"), "black") > 1.8


@pytest.mark.parametrize("draw", [ce.plot.hypergraph, ce.plot.lagged_graph], ids=["hypergraph", "lagged_graph"])
def test_nodes_of_graphs_have_the_colour_of_paper(draw):
    with mpl.style.context(DARK):
        ax = draw("A + B <-> C" if draw is ce.plot.hypergraph else "A@-1 -> B")
        faces = [text.get_bbox_patch().get_facecolor() for text in ax.texts if text.get_bbox_patch() is not None]
        faces += [face for dots in ax.collections for face in dots.get_facecolor()]
        assert faces and {to_rgb(face) for face in faces} == {to_rgb("black")}
        assert all(contrast(patch.get_edgecolor(), "black") > 5 for patch in ax.patches)
        plt.close("all")


def test_no_figure_has_its_own_black_white_or_grey():
    fixed = r"""["'](?:black|white|gr[ae]y|0?\.\d+|#[0-9a-fA-F]{3,8})["']"""
    colour = re.compile(rf"""(?:colors?|mfc|mec|foreground)["']?(?:=|: )(?:.*else )?{fixed}""")
    texts = {file: file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py") if file.name != "drawing.py"}
    assert {file: found for file, text in texts.items() if (found := colour.findall(text))} == {}
    assert colour.search('color=shade if shade else "0.2"') and colour.search('"edgecolor": "white"')
