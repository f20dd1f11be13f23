"""Null models of networks: random DAGs that are parameterised as the estimate was."""
