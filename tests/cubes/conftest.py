"""Cubes of the shipped runs, shared by the tests of this folder."""

import pytest

import causaleval_pd as ce

BY = ["algorithm", "density", "n"]
NAMES = ["shd", "adjacency_f1"]


@pytest.fixture(scope="session")
def runs():
    return ce.datasets.runs()


@pytest.fixture(scope="session")
def small(runs):
    return runs[runs["replicate"] < 4]


@pytest.fixture(scope="session")
def cube(small):
    return ce.cube(small, NAMES, by=BY, n_draws=60, rng=7, control_kind="kind")
