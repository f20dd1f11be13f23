"""Reports and styled tables: what a cube shows, for a page or a paper."""

from __future__ import annotations
