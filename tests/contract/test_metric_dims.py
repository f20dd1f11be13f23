"""Metrics with further dimensions: one component per coordinate, one evaluation for all, shapes checked."""

import inspect
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.metric import component
from causaleval_pd.contract.pairs import Batch, Pairs
from causaleval_pd.tables.tasks import with_components


@dataclass(frozen=True, eq=False)
class Numbers(Pairs):
    """Numbers, one row per pair."""

    values: np.ndarray

    @property
    def n(self):
        return len(self.values)

    def take(self, positions):
        return Numbers(self.values[positions])

    def unique(self):
        return self, np.arange(self.n)

    def refused(self, kinds, truth_kinds=None):
        return np.zeros(self.n, bool)

    def describe(self, position):
        return "numbers"


@pytest.fixture
def lags(declare):
    """A metric with a side and as many lags as the data have, and its calls: each is repeated for the first pair."""
    calls = []

    @declare(range=(-np.inf, np.inf), long_name="error", dims={"side": ("left", "right"), "lag": None})
    def lagged(pairs, *, scale=1.0):
        """Return the numbers on both sides."""
        calls.append(pairs.n)
        return scale * np.stack([pairs.values, -pairs.values], axis=1)

    return lagged, calls


def batch(n, width):
    return Batch(np.arange(n), Numbers(np.arange(n * width, dtype=float).reshape(n, width)))


def test_a_metric_without_dimensions_is_its_own_component():
    assert with_components(ce.shd, iter(())) == (ce.shd,)


def test_components_are_named_by_their_labels(lags):
    lagged, _ = lags
    found = with_components(lagged, [batch(3, 1), batch(2, 2)])
    assert [m.name for m in found] == ["lagged_left_0", "lagged_left_1", "lagged_right_0", "lagged_right_1"]
    assert found[1].long_name == "error (side left, lag 1)" and not found[1].dims
    assert (found[1].direction, found[1].range, found[1].component.whole) == ("minimize", (-np.inf, np.inf), lagged)
    assert with_components(lagged, []) == (), "no data have no lags"


def test_components_share_one_evaluation_and_short_rows_are_undefined(lags):
    lagged, calls = lags
    found = with_components(lagged, [batch(3, 1), batch(2, 2)])
    calls.clear()
    short, long = batch(3, 1).pairs, batch(2, 2).pairs
    assert [m(short).tolist() for m in found[:2]] == [[0, 1, 2], [np.nan] * 3] or np.isnan(found[1](short)).all()
    assert found[2](short).tolist() == [0, -1, -2] and calls == [3, 1]
    assert found[3](long).tolist() == [-1, -3] and calls == [3, 1, 2, 1]
    scaled = component(replace(lagged, options={"scale": 2.0}), found[3].component.labels, (1, 1))
    assert scaled(long).tolist() == [-2, -6] and calls == [3, 1, 2, 1, 2, 1], "other options are another evaluation"


def test_components_keep_signature_docstring_and_identity_across_processes(lags):
    lagged, _ = lags
    one = with_components(lagged, [batch(2, 2)])[3]
    assert list(inspect.signature(one).parameters) == ["pairs", "scale"]
    assert "Return the numbers on both sides." in one.__doc__
    again = pickle.loads(pickle.dumps(one))
    assert (again.name, again.component.place, again.component.whole) == ("lagged_right_1", (1, 1), lagged)
    with pytest.raises(ValueError, match="has no option 'scal'; did you mean 'scale'"):
        one(batch(2, 2).pairs, scal=1)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((), r"declares the dimensions side, lag, but returned an array of shape \(1,\) for one pair"),
        ((2,), r"declares the dimensions side, lag, but returned an array of shape \(1, 2\) for one pair"),
        ((2, 2, 1), r"but returned an array of shape \(1, 2, 2, 1\)"),
    ],
)
def test_results_of_another_number_of_dimensions_are_refused(lags, shape, message):
    lagged, _ = lags
    wrong = replace(lagged, function=lambda pairs: np.zeros((pairs.n, *shape)))
    with pytest.raises(ValueError, match=message):
        with_components(wrong, [batch(2, 2)])


def test_results_longer_than_their_labels_are_refused(lags):
    lagged, _ = lags
    one = component(lagged, (("left", "right"), (0,)), (0, 0))
    with pytest.raises(ValueError, match=r"lagged returned an array of shape \(2, 2, 2\) for 2 pairs; its dimensions"):
        one(batch(2, 2).pairs)
    few = component(replace(lagged, function=lambda pairs: np.zeros((1, 2, 1))), (("left", "right"), (0,)), (0, 0))
    with pytest.raises(ValueError, match=r"shape \(1, 2, 1\) for 2 pairs"):
        few(batch(2, 2).pairs)
