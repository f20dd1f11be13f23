"""Tests of conditional independence, each done once a data set, pair of nodes and conditioning set."""
