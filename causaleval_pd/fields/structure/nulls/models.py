"""The null models of graphs: importing this module registers them, in the order of `ce.list_nulls`."""

# isort: off
from . import (  # noqa: F401
    random_graphs,
    relabelling,
    skeletons,
    extreme_graphs,
    degree,
    knowledge,
    latent_dags,
)
