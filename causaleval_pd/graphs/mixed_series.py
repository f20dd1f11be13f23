"""Methods of ``series.graph`` for graphs with latent confounders: projections, classes, ancestors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice, name_row
from . import classes
from .kernels.planes import CPDAG, KINDS, MAG, PAG, PDAG, PLAIN_KINDS, SKELETON, a_kind
from .mixed import marks as mixed
from .mixed import relations
from .packing import Block, pack_column, unpack_column
from .projections import Projection, completed, read_latents
from .results import check_classes, counts, stacked


class MixedGraphMethods:
    """The methods; `SeriesGraphAccessor` has them."""

    _obj: pd.Series

    def mag(self, latents: Any = None) -> pd.Series:
        """Return the maximal ancestral graphs over the observed nodes.

        Observed nodes are adjacent iff no set of observed nodes separates them, and A -> B iff A is an ancestor of B.

        Parameters
        ----------
        latents : list of str, or one list per row (list or Series), optional
            Latent nodes of dags, admgs and mags, by name; a missing list gives a missing graph. Default none.

        Returns
        -------
        Series
            Packed mags. Of a pag it is a mag of its class with as few bidirected edges as any; which of these depends
            on the order of the node names.

        Raises
        ------
        ValueError
            If a latent is not a node, or a graph is of another class; names the row.

        References
        ----------
        Richardson & Spirtes (2002), Ancestral graph Markov models, Annals of Statistics 30, doi:10.1214/aos/1031689015.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> dags = ce.graph_column(["A -> B; L -> B; L -> C; C -> D", "A -> L -> B"])
        >>> dags.graph.mag(latents=["L"]).graph.to_strings().tolist()
        ['A -> B; B <-> C; C -> D', 'A -> B']
        """
        return _projected(self._obj, latents, "mags")

    def pag(self, latents: Any = None) -> pd.Series:
        """Return the partial ancestral graphs: the marks that the Markov equivalence class over observed nodes shares.

        Two graphs are Markov equivalent over their observed nodes iff their PAGs are equal. There is no selection bias.

        Parameters
        ----------
        latents : list of str, or one list per row (list or Series), optional
            Latent nodes of dags, admgs and mags, by name; a missing list gives a missing graph. Default none.

        Returns
        -------
        Series
            Packed pags. Of a cpdag it is the pag of the dags of its class.

        Raises
        ------
        ValueError
            If a latent is not a node, or a graph is of another class; names the row.

        References
        ----------
        Zhang (2008), On the completeness of orientation rules for causal discovery in the presence of latent
        confounders and selection bias, Artificial Intelligence 172, doi:10.1016/j.artint.2008.08.001.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> dags = ce.graph_column(["A -> B; L -> B; L -> C; D -> C"] * 2)
        >>> dags.graph.pag(latents=[["L"], []]).graph.to_strings().tolist()
        ['A o-> B; B <-> C; D o-> C', 'A o-> B; D o-> C; L o-> B; L o-> C']
        """
        return _projected(self._obj, latents, "pags")

    def admg(self, latents: Any = None) -> pd.Series:
        """Return the acyclic directed mixed graphs over the observed nodes.

        A -> B iff a directed path leads from A to B by latent nodes only. A <-> B iff such a path without colliders has
        arrowheads at both ends. A pair may have both edges.

        Parameters
        ----------
        latents : list of str, or one list per row (list or Series), optional
            Latent nodes of dags, admgs and mags, by name; a missing list gives a missing graph. Default none.

        Returns
        -------
        Series
            Packed admgs.

        Raises
        ------
        ValueError
            If a latent is not a node, or a graph is of another class; names the row.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.graph_column(["A -> B; L -> A; L -> B"]).graph.admg(latents=["L"]).graph.to_strings().tolist()
        ['A -> B; A <-> B']
        """
        return _projected(self._obj, latents, "admgs")

    def maximal(self) -> pd.Series:
        """Return the mags that complete ancestral graphs: A <-> B is added where an inducing path joins A and B.

        The graphs have the same m-separations.

        Returns
        -------
        Series
            Packed mags.

        Raises
        ------
        ValueError
            If a graph is not ancestral; names the row and the reason.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.graph_column(["A <-> B <-> C <-> D; B -> D; C -> A"])
        >>> column.graph.kind.tolist(), column.graph.maximal().graph.to_strings().tolist()
        (['admg'], ['A <-> B; A <-> D; B <-> C; B -> D; C -> A; C <-> D'])
        """
        column = completed(unpack_column(self._obj), lambda row: name_row(row, self._obj.index, self._obj.name))
        return pack_column(column, index=self._obj.index, name=self._obj.name)

    def faults(self, kind: str) -> pd.Series:
        """Return why each graph is not in a class, in words; missing where it is.

        Parameters
        ----------
        kind : {"dag", "cpdag", "pdag", "digraph", "mag", "pag", "admg", "skeleton", "mixed"}
            The class.

        Returns
        -------
        Series
            The first reason, in the order of the definition of the class.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> column = ce.graph_column(["A o-> B <-o C", "A o-> B <-o C; B o-o D"])
        >>> column.graph.kind.tolist()
        ['pag', 'mixed']
        >>> column.graph.faults("pag").tolist()
        [nan, 'has B o-o D where the PAG of its equivalence class has B -> D']
        """
        check_choice(kind, KINDS, "kind")
        from .mixed.classes import fault_of

        column, code = unpack_column(self._obj), KINDS.index(kind)
        found = np.full(column.n_rows, None, dtype=object)
        for every in column.blocks:
            block, planes = every, mixed.lift(every.planes)
            if code < len(PLAIN_KINDS):
                plain = mixed.has_plain_marks(planes)
                found[every.rows[~plain]] = "has edges with circles or <->"
                block, planes = every.take(np.flatnonzero(plain)), mixed.lower(planes[plain])
            wrong = classes.not_in_class(planes, block.n_nodes, np.full(len(planes), code, np.uint8))
            for i in np.flatnonzero(wrong).tolist():
                names = column.node_sets[block.node_set[i]]
                if code < len(PLAIN_KINDS):
                    reason = classes.explain_kind(planes[i], names, code).partition(", but ")[2]
                    found[block.rows[i]] = reason.partition(";")[0]
                else:
                    found[block.rows[i]] = fault_of(planes[i], names, code)
        return pd.Series(found, index=self._obj.index, name=self._obj.name, dtype="str")

    def ancestors(
        self, nodes: Sequence[str] | None = None, definite: Literal["exact", "path"] = "exact"
    ) -> NDArray[Any]:
        """Return which nodes are ancestors of which, as far as the marks determine it, for graphs on the same nodes.

        A possible ancestor of a node has a possibly directed path to it: no arrowhead points back, no tail points
        forward. In dags, digraphs, mags and admgs ancestors are definite. Of a mixed graph the paths are followed as in
        a pag, although no class of graphs shares its marks.

        Parameters
        ----------
        nodes : sequence of str, optional
            Order of rows and columns; default code-point order.
        definite : {"exact", "path"}, default "exact"
            What makes a definite ancestor in a pag: "exact" what all graphs of the class share, that is a directed path
            or two uncovered possibly directed paths whose first nodes are not adjacent; "path" a directed path only.

        Returns
        -------
        (N, d, d) array
            In cell (u, v) 0 if u is not an ancestor of v, 1 if it is a possible one, 2 if a definite one. int8; float64
            with NaN matrices if graphs are missing.

        Raises
        ------
        ValueError
            If the graphs have different nodes, or one is a cpdag, pdag or skeleton, whose PAG may be taken first.

        Examples
        --------
        >>> import causaleval_pd as ce
        >>> ce.graph_column(["A o-> B; B -> C; D o-> B"]).graph.ancestors()[0].tolist()
        [[0, 1, 1, 0], [0, 0, 2, 0], [0, 0, 0, 0], [0, 1, 1, 0]]
        """
        check_choice(definite, ("exact", "path"), "definite")
        column = unpack_column(self._obj)
        check_classes(column, self._obj)

        def matrices(block: Block) -> NDArray[Any]:
            odd = np.isin(block.kinds, (CPDAG, PDAG, SKELETON))
            if odd.any():
                at = int(odd.argmax())
                where = name_row(int(block.rows[at]), self._obj.index, self._obj.name)
                raise ValueError(
                    f"{where}: the graph is {a_kind(block.kinds[at])}, whose undirected edges are neither tails nor "
                    "circles; take its PAG, by .graph.pag(), or pass a dag, digraph, mag, pag, admg or mixed graph"
                )
            return relations.ancestors(block.planes, block.n_nodes, definite).astype(np.int8)

        return stacked(self._obj, column, matrices, nodes)

    def visible_edges(self) -> pd.Series:
        """Return the number of visible edges of mags and pags: A -> B that no latent node confounds in any graph.

        References
        ----------
        Zhang (2008), Causal reasoning with ancestral graphs, Journal of Machine Learning Research 9.
        """
        column = unpack_column(self._obj)
        check_classes(column, self._obj)

        def count(block: Block) -> NDArray[Any]:
            odd = ~np.isin(block.kinds, (MAG, PAG))
            if odd.any():
                at = int(odd.argmax())
                where = name_row(int(block.rows[at]), self._obj.index, self._obj.name)
                raise ValueError(
                    f"{where}: the graph is {a_kind(block.kinds[at])}; edges are visible in a mag or a pag, which "
                    ".graph.mag() and .graph.pag() return"
                )
            return relations.visible_edges(block.planes, block.n_nodes).sum(axis=(1, 2))

        return counts(self._obj, count)


def _projected(series: pd.Series, latents: Any, target: str) -> pd.Series:
    column = unpack_column(series)
    check_classes(column, series)

    def where(row: int) -> str:
        return name_row(row, series.index, series.name)

    projection = Projection(column, read_latents(latents, len(series), series.index), where)
    return pack_column(getattr(projection, target)(), index=series.index, name=series.name)
