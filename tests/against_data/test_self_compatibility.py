"""Runs of a learner on subsets of columns, against the projection of its graph of all columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

NAMES = list("ABCDEF")
DATA = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 6)), columns=NAMES)
DAG = "A -> B; B -> C; A -> D; D -> E; C -> E; F -> E"


def oracle(kind):
    """Learn the right graph of any columns: the projection of one DAG."""
    truth = ce.graph_column([DAG])

    def learner(frame):
        hidden = [name for name in NAMES if name not in frame.columns]
        if kind == "dag":
            return DAG if not hidden else None
        return getattr(truth.graph, kind)(latents=hidden)[0]

    return learner


@pytest.mark.parametrize("kind", ["pag", "mag", "admg"])
def test_a_learner_that_is_right_agrees_with_itself(kind):
    runs = ce.against_data.self_compatibility(oracle(kind), DATA, n_subsets=12, rng=4, target=kind)
    assert len(runs) == 12 and runs["nodes"].nunique() == 12 and (runs["n_nodes"] == 3).all()
    assert runs["truth"].equals(runs["estimate"].rename("truth")) and (runs["estimate"].graph.kind == kind).all()
    assert (ce.evaluate(runs, ["shd"])["shd"] == 0).all()


def test_classes_are_compared_as_pags_and_failures_stay():
    def learner(frame):
        names = list(frame.columns)
        if len(names) == 6:
            return ce.graph_column([DAG]).graph.cpdag()[0]
        if "A" not in names:
            return None
        a, b, c = names
        # the cycle has no DAG in its class
        return f"{a} -- {b}; {b} -- {c}" if "B" in names else f"{a} -> {b}; {b} -> {c}; {c} -> {a}"

    runs = ce.against_data.self_compatibility(learner, DATA, n_subsets=100, rng=1)
    assert len(runs) == 20  # as many as there are
    has_a, has_b = runs["nodes"].str.contains("A"), runs["nodes"].str.contains("B")
    assert runs["estimate"].isna().equals(~(has_a & has_b)) and runs["truth"].notna().all()
    assert runs["learned"].isna().equals(~has_a)
    found = ce.with_controls(runs, ["adjacency_f1"], null="permutation", rng=1)
    assert found["adjacency_f1_p"].isna().equals(runs["estimate"].isna())


def test_seeds_subsets_and_learners_are_checked():
    def empty(frame):
        return "; ".join(frame.columns)

    one, other = (ce.against_data.self_compatibility(empty, DATA, n_subsets=5, rng=2, share=0.7) for _ in range(2))
    pd.testing.assert_frame_equal(one, other)
    assert (one["n_nodes"] == 4).all()
    # a learner that finds nothing agrees with itself, and is no better than its controls
    scored = ce.with_controls(one, ["shd"], null="permutation", rng=1)
    assert (scored["shd"] == 0).all() and (scored["shd_p"] == 1).all()
    for learner, data, words, error in [
        ("pc", DATA, "learner must be a function", TypeError),
        (empty, DATA.to_numpy(), "data must be a DataFrame", TypeError),
        (empty, DATA[["A", "B"]], "at least three columns", ValueError),
        (lambda frame: None, DATA, "returned None for all columns", ValueError),
        (lambda frame: "A -> Q", DATA, r"a graph over \['A', 'Q'\] for the columns", ValueError),
        (lambda frame: "A -> B; B -> C; C -> A; D; E; F", DATA, "no DAG has as its class", ValueError),
    ]:
        with pytest.raises(error, match=words):
            ce.against_data.self_compatibility(learner, data, rng=1)
    with pytest.raises(ValueError, match="share must lie between 0 and 1"):
        ce.against_data.self_compatibility(empty, DATA, share=1.5)
    with pytest.raises(ValueError, match="target must be 'pag', 'mag' or 'admg'"):
        ce.against_data.self_compatibility(empty, DATA, target="dag")
