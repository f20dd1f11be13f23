"""The value `LaggedGraph`: links between variables at lags, their marks, and which lags were searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...graphs.packing.header import check_names
from . import packed
from .marks import KINDS, SIGN_OF_CODE, Codes, check_size, fault, infer_kinds
from .text import write_lagged


@dataclass(frozen=True, eq=False, repr=False)
class LaggedGraph:
    """A graph of a stationary time series: links from variables at t - lag to variables at t.

    Make one with `as_lagged`. Two graphs are equal if they have the same variables, searched lags, class and links.

    Attributes
    ----------
    nodes : tuple of str
        Names of the variables, in code-point order.
    codes : (max_lag + 1, d, d) uint8
        Marks of the link from variable i at t - lag to variable j at t in cell (lag, i, j): the mark at i plus four
        times that at j, where 1 is a tail, 2 an arrow and 3 a circle; 0 no link. Links at lag 0 stand in both cells.
    min_lag : int
        Smallest lag that was searched: 0, or 1 where links at lag 0 were not looked for.
    kind : {"ts_dag", "ts_pdag", "ts_pag"}
        Class: directed, and acyclic at lag 0; without circles and bidirected links; any.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> graph = ce.as_lagged("X@-1 -> Y; X@-2 -> X; Y -> Z")
    >>> graph.kind, graph.max_lag, graph.n_links
    ('ts_dag', 2, 3)
    >>> graph
    LaggedGraph('lags 0..2: X@-1 -> Y; X@-2 -> X; Y -> Z', kind='ts_dag')
    """

    nodes: tuple[str, ...]
    codes: Codes
    min_lag: int
    kind: str

    def __post_init__(self) -> None:
        wrong = check_names(self.nodes)
        if wrong:
            raise ValueError(f"the graph {wrong}")
        d = len(self.nodes)
        codes = np.array(self.codes, np.uint8)
        check_size(codes.shape, d)
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind {self.kind!r}; classes of lagged graphs are {', '.join(KINDS)}")
        if self.min_lag not in (0, 1) or self.min_lag > len(codes) - 1:
            raise ValueError(
                f"min_lag must be 0, or 1 where max_lag is at least 1, found min_lag {self.min_lag!r} and max_lag "
                f"{len(codes) - 1}"
            )
        if self.min_lag and codes[0].any():
            raise ValueError("min_lag is 1, but the graph has links at lag 0, which then was searched; pass min_lag=0")
        wrong = fault(codes, self.nodes, KINDS.index(self.kind))
        if wrong:
            raise ValueError(f"the graph {wrong}")
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)

    @classmethod
    def of(cls, names: Sequence[str], codes: NDArray[Any], min_lag: int, kind: str | None = None) -> Self:
        """Make a graph of codes whose variables are in any order; its class is the narrowest unless it is declared."""
        order = sorted(range(len(names)), key=names.__getitem__)
        codes = np.asarray(codes, np.uint8)[:, order][:, :, order]
        nodes = tuple(names[i] for i in order)
        if kind is None:
            # the class of a faulty graph is not looked for
            wrong = fault(codes, nodes, len(KINDS) - 1) if codes.size else None
            if wrong:
                raise ValueError(f"the graph {wrong}")
            kind = KINDS[int(infer_kinds(codes[None])[0])]
        return cls(nodes, codes, min_lag, kind)

    @classmethod
    def from_bytes(cls, cell: bytes) -> Self:
        """Read the canonical bytes of a lagged graph, as cells of packed columns are.

        Parameters
        ----------
        cell : bytes
            A cell of a column made by `lagged_column`.

        Returns
        -------
        LaggedGraph
            The graph.

        Raises
        ------
        ValueError
            If these are not the canonical bytes of a lagged graph.
        """
        if not isinstance(cell, bytes):
            raise TypeError(f"expected the bytes of a packed lagged graph, found {type(cell).__name__}")
        head = packed.read_head(cell)
        return cls(head.nodes, packed.read_codes([cell], head)[0], head.min_lag, KINDS[packed.kind_of(cell)])

    def to_bytes(self) -> bytes:
        """Return the canonical bytes."""
        return packed.pack_cell(self.nodes, self.codes, self.min_lag, KINDS.index(self.kind))

    @property
    def max_lag(self) -> int:
        """Largest lag that was searched."""
        return len(self.codes) - 1

    @property
    def n_links(self) -> int:
        """Number of links; one at lag 0 counts once."""
        return int(np.count_nonzero(self.codes[1:]) + np.count_nonzero(self.codes[0]) // 2)

    def to_frame(self) -> pd.DataFrame:
        """Return the links, one a row.

        Returns
        -------
        DataFrame
            source, target, lag, and the link as text: "->", "--" (undirected), "<->", "o->" or "o-o". At lag 0 the
            source of a directed link is its cause.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.as_lagged("X@-1 -> Y; X -- Y").to_frame()
          source target  lag link
        0      X      Y    0   --
        1      X      Y    1   ->
        """
        rows = [(self.nodes[i], self.nodes[j], lag, sign) for lag, i, j, sign in links_of(self.codes)]
        return pd.DataFrame(rows, columns=["source", "target", "lag", "link"]).astype(
            {"source": "str", "target": "str", "lag": "int64", "link": "str"}
        )

    def to_string(self) -> str:
        """Return the graph as text, which `as_lagged` reads: ``"lags 0..2: X@-1 -> Y; Y -> Z"``."""
        return write_lagged(self.nodes, links_of(self.codes), self.min_lag, self.max_lag)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LaggedGraph) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"LaggedGraph({self.to_string()!r}, kind={self.kind!r})"


def links_of(codes: Codes) -> list[tuple[int, int, int, str]]:
    """Return the links of a graph (L + 1, d, d) as (lag, source, target, sign), sorted; one at lag 0 stands once."""
    found = []
    for lag, i, j in np.argwhere(codes).tolist():
        sign = SIGN_OF_CODE[int(codes[lag, i, j])]
        turned = sign[0] == "<" and sign != "<->"
        if lag == 0 and (turned or (i > j and (sign == sign[::-1] or sign == "<->")) or sign == "--o"):
            continue
        found.append((lag, i, j, sign))
    return found
