"""Inputs of pairs from the context of a call, grouped by those that share them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.context import Memory, MissingInputError
from ...contract.pairs import PairError
from ...graphs.pairs import GraphPairs

Ints = NDArray[np.int64]


class Group(NamedTuple):
    """Pairs that share their inputs and the names of their nodes."""

    #: (n,): positions of the pairs
    rows: Ints
    #: inputs by name
    values: dict[str, Any]
    #: names of the nodes
    nodes: tuple[str, ...]
    #: what was computed from the inputs of the call, and the group's key in it
    memory: Memory
    key: tuple[int, int]

    def compute(self, name: str, function: Callable[[], Any]) -> Any:
        """Return what `function()` did when first called for these inputs and name; errors name the pairs."""
        try:
            return self.memory.remember((name, *self.key), function)
        except PairError:
            raise
        except (ValueError, TypeError) as error:
            raise PairError(self.rows, str(error)) from error


def groups(pairs: GraphPairs, metric: str, names: Sequence[str], hint: str) -> Iterator[Group]:
    """Yield the pairs group by group."""
    inputs = pairs.truth.inputs
    lacking = [name for name in names if inputs is None or not inputs.context.gives([name])]
    if inputs is None or lacking:
        raise MissingInputError(f"{metric} needs {' and '.join(map(repr, lacking))} in the context: {hint}")
    numbers = inputs.numbers[pairs.truth_index]
    distinct, inverse = np.unique(numbers, axis=0, return_inverse=True)
    for i, (code, node_set) in enumerate(distinct.tolist()):
        rows = np.flatnonzero(inverse.reshape(-1) == i)
        values, nodes = dict(inputs.context.values[code]), inputs.node_sets[node_set]
        yield Group(rows, values, nodes, inputs.context.memory, (code, node_set))
