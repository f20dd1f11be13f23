"""Truths that are known in part: required and forbidden edges, and tiers. Importing it registers the field."""

from __future__ import annotations

from . import field as field
