"""The accessor ``series.score`` on columns of edge scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import ColumnAccessor, one_per_row
from ...contract.checks import check_choice, check_flag, check_number, name_row
from ...graphs.column import graph_column
from ...graphs.node_names import short
from .cells import KINDS, TYPE_PLANES, WEIGHT, Floats, is_score_column, unpack_column


class Scores(NamedTuple):
    """One decoded cell."""

    #: names in code-point order
    nodes: tuple[str, ...]
    #: (planes, d, d)
    planes: Floats
    #: (d, d): scores of ordered pairs
    values: Floats
    #: position in `KINDS`
    kind: int
    #: whether scores are of unordered pairs
    symmetric: bool


class SeriesScoreAccessor(ColumnAccessor):
    """Properties and conversions of a column of edge scores: ``series.score``.

    Every result is on the index of the column, and a missing cell gives a missing result.

    Parameters
    ----------
    series : Series
        Packed scores, made by `score_column`.

    Raises
    ------
    AttributeError
        If the column does not hold packed scores.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> column = ce.score_column([[[0, 0.9], [0.2, 0]], None], nodes=["A", "B"], encoding="row->column")
    >>> column.score.n_scored.tolist(), column.score.symmetric.tolist()
    ([2, <NA>], [False, <NA>])
    """

    _name, _nouns, _maker = "score", "scores", "score_column"

    @staticmethod
    def _holds(series: pd.Series) -> bool:
        return is_score_column(series) or bool(series.isna().all())

    @property
    def nodes(self) -> pd.Series:
        """Names of the nodes, one tuple per row, in code-point order."""
        return self._each(lambda cell: cell.nodes)

    @property
    def kind(self) -> pd.Series:
        """Kind of the scores: "weight", "probability", "score", or "types" (probabilities of types of edge)."""
        return self._each(lambda cell: KINDS[cell.kind])

    @property
    def symmetric(self) -> pd.Series:
        """Whether the scores are of unordered pairs."""
        return self._each(lambda cell: cell.symmetric).astype("boolean")

    @property
    def n_scored(self) -> pd.Series:
        """Number of ordered pairs of different nodes that have a score."""

        def count(cell: Scores) -> int:
            scored = ~np.isnan(cell.values)
            return int(scored.sum() - scored.trace())

        return self._each(count).astype("Int64")

    def threshold(self, x: float, *, magnitude: bool | None = None, orient: str = "both") -> pd.Series:
        """Make graphs of the pairs whose score is above a threshold.

        Parameters
        ----------
        x : float
            Threshold. The edge i -> j is made where its score is strictly larger; pairs that are not scored have none.
        magnitude : bool, optional
            Compare absolute values; default for weights only.
        orient : {"both", "larger"}
            Where both directions of a pair are above: an undirected edge, or the direction with the larger score
            (undirected where they tie).

        Returns
        -------
        Series
            Packed graphs of the narrowest class, for every metric of graphs. Symmetric scores give undirected edges.

        Raises
        ------
        ValueError, TypeError
            If the threshold is not a number, or `orient` is unknown.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.score_column([[[0, 0.9], [0.6, 0]]], nodes=["A", "B"], encoding="row->column")
        >>> [column.score.threshold(x).graph.to_strings()[0] for x in (0.5, 0.7, 0.9)]
        ['A -- B', 'A -> B', 'A; B']
        >>> column.score.threshold(0.5, orient="larger").graph.to_strings()[0]
        'A -> B'
        """
        check_number(x, "x", "(-inf, inf)")
        check_choice(orient, ("both", "larger"), "orient")
        _check_magnitude(magnitude)

        def marks(row: int, cell: Scores) -> NDArray[np.bool_]:
            keys = _keys(cell, magnitude)
            return _marks(keys, keys > x, orient)

        return self._graphs(marks)

    def top_k(self, k: Any, *, magnitude: bool | None = None, orient: str = "both") -> pd.Series:
        """Make graphs of the k largest scores.

        Parameters
        ----------
        k : int or sequence of int
            Number of ordered pairs, or of unordered ones where scores are symmetric; one for all rows, or a column with
            one per row. Pairs that tie with the k-th are all taken, because their order is arbitrary; use
            `graph.n_edges` to see how many there are.
        magnitude, orient
            As in `threshold`.

        Returns
        -------
        Series
            Packed graphs.

        Raises
        ------
        ValueError
            If k is negative, is not whole, or exceeds the number of scored pairs; names the row.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], nodes=["A", "B", "C"], encoding="row->column")
        >>> column.score.top_k(2).graph.to_strings()[0]
        'A -> B; B -> C'
        """
        check_choice(orient, ("both", "larger"), "orient")
        _check_magnitude(magnitude)
        numbers = self._numbers(k)

        def marks(row: int, cell: Scores) -> NDArray[np.bool_]:
            keys, wanted = _keys(cell, magnitude), numbers[row]
            pairs = np.triu(~np.isnan(keys), 1) if cell.symmetric else ~np.isnan(keys)
            ranked = np.sort(keys[pairs])[::-1]
            if wanted > len(ranked):
                raise ValueError(f"{self._where(row)}: asked for the {wanted} largest of {len(ranked)} scored pairs")
            kept = keys >= ranked[wanted - 1] if wanted else np.zeros(keys.shape, bool)
            return _marks(keys, kept, orient)

        return self._graphs(marks)

    def to_frame(self) -> pd.DataFrame:
        """Return a long table of the scores, one scored ordered pair per row.

        Returns
        -------
        DataFrame
            Columns `row` (label of the index), `source`, `target` and `score`, for types `directed`, `undirected` and,
            if any, `bidirected` besides; symmetric scores once per pair.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.score_column([[[0, 0.9], [0.2, 0]]], nodes=["A", "B"], encoding="row->column")
        >>> column.score.to_frame().values.tolist()
        [[0, 'A', 'B', 0.9], [0, 'B', 'A', 0.2]]
        """
        rows, parts = self._obj.index, []
        for row, cell in self._cells():
            values, d = cell.values, len(cell.nodes)
            kept = ~np.isnan(values)
            if cell.symmetric:
                kept &= np.triu(np.ones((d, d), bool))
            if not np.nansum(np.abs(values.diagonal())):
                kept &= ~np.eye(d, dtype=bool)  # an empty diagonal is how matrices are written, not a score
            source, target = np.nonzero(kept)
            names = np.array([*cell.nodes, ""], dtype=object)
            part = {"row": [rows[row]] * len(source), "source": names[source], "target": names[target]}
            part["score"] = values[source, target]
            if len(cell.planes) > 1:
                part |= {name: plane[source, target] for name, plane in zip(TYPE_PLANES, cell.planes, strict=False)}
            parts.append(pd.DataFrame(part))
        if not parts:
            return pd.DataFrame({"row": rows[:0], "source": [], "target": [], "score": np.empty(0)})
        return pd.concat(parts, ignore_index=True).astype({"source": "str", "target": "str"})

    def to_numpy(
        self, nodes: Sequence[str] | None = None, encoding: str = "row->column", plane: str | None = None
    ) -> Floats:
        """Return an (N, d, d) stack of matrices, for cells on the same nodes; NaN where a cell is missing.

        Parameters
        ----------
        nodes : sequence of str, optional
            Order of rows and columns; default code-point order.
        encoding : {"row->column", "column->row"}
            Where the score of i -> j stands.
        plane : {"directed", "undirected", "bidirected"}, optional
            Of cells of types of edge, the probabilities of one; default p(i -> j) + p(i -- j) / 2.

        Returns
        -------
        (N, d, d) float64
            The scores.

        Raises
        ------
        ValueError
            If cells have different nodes, or not the plane.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.score_column([[[0, 0.9], [0.2, 0]]], nodes=["A", "B"], encoding="row->column")
        >>> column.score.to_numpy(nodes=["B", "A"]).tolist()
        [[[0.0, 0.2], [0.9, 0.0]]]
        """
        check_choice(encoding, ("row->column", "column->row"), "encoding")
        check_choice(plane, (*TYPE_PLANES, None), "plane")
        cells = dict(self._cells())
        first = next(iter(cells.values()), None)
        known = () if first is None else first.nodes
        order = known if nodes is None else tuple(nodes)
        d = len(order)
        stack = np.full((len(self._obj), d, d), np.nan)
        for row, cell in cells.items():
            if cell.nodes != known or sorted(order) != list(known):
                expected = known if sorted(order) == list(known) else order
                raise ValueError(
                    f"{self._where(row)}: found the nodes {short(cell.nodes)}, expected {short(expected)}; take the "
                    "rows of one node set at a time"
                )
            at = -1 if plane is None else TYPE_PLANES.index(plane)
            if at >= 0 and (len(cell.planes) == 1 or at >= len(cell.planes)):
                raise ValueError(
                    f"{self._where(row)}: the cell holds {KINDS[cell.kind]} in {len(cell.planes)} plane(s), and not "
                    f"{plane!r}"
                )
            place = [known.index(name) for name in order]
            stack[row] = (cell.values if plane is None else cell.planes[at])[np.ix_(place, place)]
        return stack if encoding == "row->column" else np.ascontiguousarray(stack.transpose(0, 2, 1))

    def _where(self, row: int) -> str:
        return name_row(row, self._obj.index, self._obj.name)

    def _cells(self) -> list[tuple[int, Scores]]:
        """Return the cells that are not missing, with their rows."""
        column = unpack_column(self._obj)
        known: dict[int, Scores] = {}
        for block in column.blocks:
            for at, number in enumerate(block.rows.tolist()):
                nodes = column.node_sets[block.node_set[at]]
                x = block.scores
                known[number] = Scores(nodes, x.planes[at], x.values[at], int(x.kinds[at]), bool(x.symmetric[at]))
        return [(row, known[code]) for row, code in enumerate(column.codes.tolist()) if code >= 0]

    def _each(self, function: Callable[[Scores], Any]) -> pd.Series:
        """Apply a function to each cell."""
        outputs: list[Any] = [None] * len(self._obj)
        for row, cell in self._cells():
            outputs[row] = function(cell)
        return pd.Series(outputs, index=self._obj.index, name=self._obj.name, dtype=object)

    def _graphs(self, marks: Callable[[int, Scores], NDArray[np.bool_]]) -> pd.Series:
        """Make a column of packed graphs from the matrix of marks of each cell."""
        matrices: list[NDArray[np.int8] | None] = [None] * len(self._obj)
        nodes: list[tuple[str, ...] | None] = [None] * len(self._obj)
        for row, cell in self._cells():
            matrices[row], nodes[row] = marks(row, cell).astype(np.int8), cell.nodes
        graphs = graph_column(matrices, nodes=nodes, encoding="row->column", index=self._obj.index)
        graphs.name = self._obj.name
        return graphs

    def _numbers(self, k: Any) -> list[int]:
        """Return one whole number per row."""
        n_rows = len(self._obj)
        counts = one_per_row(k, n_rows, self._obj.index, "k", "the column") if isinstance(k, Iterable) else [k] * n_rows
        missing = self._obj.isna().to_numpy(bool)
        numbers = []
        for row, number in enumerate(counts):
            whole = isinstance(number, Real) and not isinstance(number, bool) and number == number // 1
            if not missing[row] and not (whole and number >= 0):
                raise ValueError(f"{self._where(row)}: k must be a whole number from 0, found {number!r}")
            numbers.append(0 if missing[row] else int(number))
        return numbers


def _check_magnitude(magnitude: bool | None) -> None:
    if magnitude is not None:
        check_flag(magnitude, "magnitude")


def _keys(cell: Scores, magnitude: bool | None) -> Floats:
    """Return what ranks ordered pairs; the diagonal is not ranked."""
    keys = np.abs(cell.values) if (cell.kind == WEIGHT if magnitude is None else magnitude) else cell.values.copy()
    np.fill_diagonal(keys, np.nan)
    return keys


def _marks(keys: Floats, kept: NDArray[np.bool_], orient: str) -> NDArray[np.bool_]:
    """Return the ordered pairs that a graph has as marks, of those that are kept."""
    return kept & ~(kept.T & (keys < keys.T)) if orient == "larger" else kept
