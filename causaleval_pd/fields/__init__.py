"""Fields: what is judged, one folder each: cells, metrics, null models, formats and figures."""

from __future__ import annotations
