"""A metric and a null model of one's own: which algorithms find the nodes without causes.

The study is 9 lines. A metric is a function of two graphs, a null model one of an estimate and a random generator; both
work in every verb as those of the package do.
"""

import causaleval_pd as ce

runs = ce.datasets.runs().query("density == 0.4 and n == 1600")


# the study
@ce.metric(direction="minimize", optimum=0)
def root_error(truth, estimate):
    """Return the number of nodes that have no cause in only one of the graphs."""
    roots = [{node for node, n in graph.to_networkx().in_degree() if n == 0} for graph in (truth, estimate)]
    return len(roots[0] ^ roots[1])


def other_names(estimate, rng):
    """Return the estimate with its nodes exchanged."""
    return ce.as_graph(estimate, rename=dict(zip(estimate.nodes, rng.permutation(estimate.nodes), strict=True)))


cube = runs.ceval.cube(["root_error"], by=["algorithm"], null=other_names, n_draws=39, rng=7)
print(cube.ceval.summary()[["algorithm", "mean", "control_mean", "skill", "verdict"]].round(2).to_string(index=False))
print(cube.ceval.compare("algorithm")[["comparison", "effect", "ci_low", "ci_high"]].round(2).to_string(index=False))
