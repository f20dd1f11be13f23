"""Causal worlds with exact quantities: binary and linear ones, drawn at random or given."""
