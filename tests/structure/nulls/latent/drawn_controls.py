"""Controls of single rows of graphs with latent confounders."""

from __future__ import annotations

import numpy as np

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.contract.null import Matching
from causaleval_pd.graphs.mixed import marks
from causaleval_pd.tables.matching import find_null


def controls_of(null, estimate, control_kind=None, truth=None, key=7):
    """The controls of one row; cells are edge strings with their classes."""
    columns = [ce.graph_column([text], kind=kind) for text, kind in (truth or estimate, estimate)]
    [(rows, pairs)] = get_field("graph").batches(*columns, None)
    model = find_null(get_field("graph"), null)
    kinds = None if control_kind is None else np.array([control_kind], object)
    matching = Matching(*columns, kinds, None, model.options)
    return model.match(matching)(rows, pairs, np.array([key], np.uint64))


def codes_of(controls, n_draws):
    """Draw controls as matrices of codes, and return those that were found."""
    pairs = controls.draw(0, n_draws)
    codes = marks.marks_from_planes(pairs.estimate.planes, pairs.n_nodes)
    return codes if pairs.lacking is None else codes[~pairs.lacking]
