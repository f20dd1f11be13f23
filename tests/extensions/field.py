from dataclasses import dataclass

import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.contract.field import Field, register_field
from causaleval_pd.contract.pairs import Batch, Pairs


@dataclass(frozen=True, eq=False)
class RankingPairs(Pairs):
    """Places of the same items in true and estimated rankings, (n, k) each."""

    truth: np.ndarray
    estimate: np.ndarray

    @property
    def n(self):
        return len(self.truth)

    def take(self, positions):
        return RankingPairs(self.truth[positions], self.estimate[positions])

    def unique(self):
        return self, np.arange(self.n)

    def refused(self, kinds, truth_kinds=None):
        return np.full(self.n, "ranking" not in kinds)

    def describe(self, position):
        return f"the estimate ranks {self.estimate.shape[1]} items"


def places(cell):
    """Return the places of the items, by name: "b > a" is [1, 0]."""
    items = cell.split(" > ")
    return tuple(items.index(item) for item in sorted(items))


def batches(truth, estimate, context=None):
    """Align rankings by the names of their items; one batch per number of items."""
    sizes = estimate[truth.notna() & estimate.notna()].str.count(" > ")
    for rows in sizes.groupby(sizes).indices.values():
        sides = (side.iloc[rows].map(places).tolist() for side in (truth, estimate))
        yield Batch(rows, RankingPairs(*map(np.array, sides)))


def is_ranking(cells):
    """Return whether all cells are rankings."""
    return all(isinstance(cell, str) and " > " in cell for cell in cells.dropna())


def pair(truth, estimate):
    return next(iter(batches(pd.Series([truth]), pd.Series([estimate])))).pairs


register_field(
    Field(
        name="ranking",
        default_metrics=("footrule",),
        default_null="shuffled",
        holds=is_ranking,
        coerce=lambda cells, column: cells.astype("str"),
        batches=batches,
        pair=pair,
    )
)


@ce.metric(
    field="ranking",
    kinds=("ranking",),
    direction="minimize",
    range=(0, np.inf),
    optimum=0,
    long_name="footrule",
)
def footrule(pairs):
    """Sum the distances between the items' places in both rankings."""
    return np.abs(pairs.truth - pairs.estimate).sum(axis=1).astype(float)


pd.DataFrame({"truth": ["a > b > c"], "estimate": ["c > a > b"]}).ceval.evaluate()
