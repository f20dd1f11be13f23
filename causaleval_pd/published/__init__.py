"""Printed tables of results: the verdict on guessing from numbers alone."""

from __future__ import annotations
