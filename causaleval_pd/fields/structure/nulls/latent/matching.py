"""Which class of controls a graph with latent confounders gets, and the controls of one batch of such graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .....contract.law import ClosedForm
from .....contract.metric import Metric
from .....contract.null import Controls, Matching
from .....graphs.kernels.planes import ADMG, KINDS, MAG, MIXED, PAG, SKELETON
from .....graphs.mixed.marks import is_mixed
from .....graphs.pairs import GraphBatch, GraphPairs
from ..graph_controls import check_declared

Planes = NDArray[np.uint64]
Kinds = NDArray[np.uint8]

#: classes by which estimates of a class may be matched; the first is the default
_CLASSES = {MAG: (MAG, PAG), PAG: (PAG, MAG), ADMG: (ADMG,), SKELETON: (SKELETON,), MIXED: (PAG, MAG)}

#: rough bytes of a drawn control besides its planes
_COUNT_BYTES = 200
#: option of null models that draw bidirected edges, with its values
BIDIRECTED = {"bidirected": "matched"}
_BIDIRECTED = ("matched", "free")


def are_mixed(pairs: GraphPairs) -> bool:
    """Return whether the estimates of a batch are graphs of four planes."""
    return is_mixed(pairs.estimate.planes)


def check_bidirected(matching: Matching) -> str:
    """Return how bidirected edges are drawn, after checking it."""
    word = matching.options.get("bidirected", "matched")
    if word not in _BIDIRECTED:
        raise ValueError(f"bidirected must be 'matched' or 'free', found {word!r}")
    return str(word)


def latent_kinds(matching: Matching, rows: NDArray[np.int64], pairs: GraphPairs) -> Kinds:
    """Return the class of each row's controls: MAG, PAG, ADMG or skeleton; mixed graphs need a `control_kind`."""
    check_declared(rows, pairs)
    own = pairs.estimate.kinds[pairs.estimate_index]
    given = np.full(len(rows), None, object) if matching.control_kind is None else matching.control_kind[rows]
    found = np.empty(len(rows), np.uint8)
    for i, (row, kind, word) in enumerate(zip(rows.tolist(), own.tolist(), given, strict=True)):
        allowed = _CLASSES[kind]
        names = [KINDS[other] for other in allowed]
        if pd.isna(word):
            if kind == MIXED:
                raise ValueError(
                    f"row {row}: the estimate is a mixed graph, not the PAG of any MAG; pass control_kind='pag' to "
                    "match it by PAGs with its numbers of edges and of <->, or null='permutation', which keeps it as "
                    "it is"
                )
            found[i] = allowed[0]
        elif word in names:
            found[i] = KINDS.index(word)
        else:
            raise ValueError(
                f"row {row}: control_kind is {word!r}, and controls of {KINDS[kind]} estimates are "
                f"{' or '.join(names)}; state one of these words, or a column that holds them"
            )
    return found


def refuse_fixed_order(matching: Matching) -> None:
    """Refuse an order of the nodes that is not random."""
    if not matching.options.get("permute", True):
        raise ValueError(
            "permute=False directs the edges of DAGs along the order of the nodes' names; graphs with latent "
            "confounders are drawn along random orders: leave permute out"
        )


class Drawn(NamedTuple):
    """Drawn graphs, and which of them could not be drawn (and have no edges), or None."""

    graphs: GraphBatch
    lacking: NDArray[np.bool_] | None = None


class LatentControls(Controls):
    """Controls of rows with four planes, some of which have none, for `reasons` (n,), else "".

    `known(metric)` returns the closed form or None. `pace` is the mean time that drawing a control takes, in
    nanoseconds. `drawn(start, count)` draws n * count graphs, a row's draws together.
    """

    def __init__(
        self,
        pairs: GraphPairs,
        kinds: Kinds,
        known: Callable[[Metric], ClosedForm | None],
        pace: float,
        reasons: NDArray[np.object_],
        drawn: Callable[[int, int], Drawn],
    ) -> None:
        self.pairs, self._kinds, self._pace, self._reasons = pairs, kinds, pace, reasons
        self._known, self._drawn = known, drawn

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls by name, one row each, with the reason for rows without controls."""
        words = np.array(KINDS, object)[self._kinds]
        return np.array([f"{x}: {why}" if why else x for x, why in zip(words, self._reasons, strict=True)], object)

    @property
    def cost(self) -> int:
        """Bytes of one control: its planes twice, and counts."""
        return 64 * self.pairs.estimate.planes.shape[2] + _COUNT_BYTES

    @property
    def work(self) -> float:
        """Nanoseconds to draw one control."""
        return self._pace

    def draw(self, start: int, count: int) -> GraphPairs:
        """Pair draws start .. start + count - 1 of every row with its truth."""
        graphs, lacking = self._drawn(start, count)
        index = np.arange(len(graphs), dtype=np.int64)
        truth = np.repeat(self.pairs.truth_index, count)
        return replace(self.pairs, estimate=graphs, truth_index=truth, estimate_index=index, lacking=lacking, room=())

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the metric's exact law, or None."""
        return self._known(metric)
