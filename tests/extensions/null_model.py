import numpy as np

import causaleval_pd as ce
from causaleval_pd.contract.null import Controls, Null, register_null
from causaleval_pd.execution.random_streams import uniforms
from causaleval_pd.graphs.pairs import GraphBatch, GraphPairs


class Turned(Controls):
    """Each row's estimate, or its reversal, with equal probability."""

    def __init__(self, pairs, keys):
        self.pairs, self.keys = pairs, keys

    @property
    def kind(self):
        return np.full(self.pairs.n, "dag", object)

    def draw(self, start, count):
        """Draw r of a row depends on its key and r alone."""
        rows = np.repeat(np.arange(self.pairs.n), count)
        turned = uniforms(self.keys, start, count).ravel() < 0.5
        planes = self.pairs.estimate.planes[self.pairs.estimate_index[rows]]
        # one plane per direction
        planes = np.where(turned[:, None, None], planes[:, ::-1], planes)
        graphs = GraphBatch(self.pairs.n_nodes, planes, np.zeros(len(rows), np.uint8))
        truth_index = self.pairs.truth_index[rows]
        return GraphPairs(self.pairs.truth, graphs, truth_index, np.arange(len(rows)))


def turned(matching, rows, pairs, keys):
    """Make the controls of rows."""
    return Turned(pairs, keys)


register_null("graph", Null("turned", "the estimate or its reversal", turned))
runs = ce.datasets.runs().query("algorithm == 'lingam'").head(9)
runs.ceval.with_controls(["shd"], null="turned", n_draws=50, rng=7)
