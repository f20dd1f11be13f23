"""Cubes that several tests of figures draw, and what they read off a figure."""

import functools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

NODES = list("ABCDEF")
PAIRS = [(a, b) for i, a in enumerate(NODES) for b in NODES[i + 1 :]]
ALGORITHMS = ["peter and clark", "greedy equivalence search", "zero"]
SHD = "structural Hamming distance (lower is better)"
F1 = "adjacency F1 (higher is better)"


def graph(edges):
    return "; ".join([*(f"{PAIRS[i][0]} -> {PAIRS[i][1]}" for i in edges), *NODES])


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def make(runs):
    @functools.cache
    def of(**options):
        options = {"n_draws": 60, "rng": 7, "replicate": "replicate", "control_kind": "dag", **options}
        return ce.cube(runs, ["shd", "adjacency_f1"], by=["algorithm", "density", "n"], **options)

    return of


@pytest.fixture(scope="session")
def cube(make):
    return make()


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


def many_levels(n_levels):
    names = [f"algorithm {i:02d} with a name of forty letters" for i in range(n_levels)]
    rows = [
        (name, n, truth, "A -> B; C" if (i + n) % 3 else truth)
        for i, name in enumerate(names)
        for n in (10, 100)
        for truth in ("A -> B; B -> C", "A -> C; B")
    ]
    runs = pd.DataFrame(rows, columns=["algorithm", "n", "truth", "estimate"]).assign(seconds=range(1, len(rows) + 1))
    options = {"n_draws": 19, "rng": 1, "values": {"seconds": "minimize"}}
    return runs.ceval.cube(["shd", "adjacency_f1"], by=["algorithm", "n"], **options)
