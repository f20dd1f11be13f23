"""Printed tables of results: the controls' mean and p from numbers alone."""

from __future__ import annotations
