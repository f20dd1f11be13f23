"""Null models of networks (to come below)."""

NULLS: dict = {}
