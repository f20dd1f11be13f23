"""The null models of graphs: importing this module registers them, in the order of `ce.list_nulls`."""

from . import random_graphs, relabelling, oriented_skeletons, uniform_dags, knowledge  # noqa: F401, I001
