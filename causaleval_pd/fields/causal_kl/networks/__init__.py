"""Networks as values, in columns, in pairs, and as other programs write them."""

from . import formats as formats
