"""Formats of graphs, one module per tool: what a cell looks like and how it is read.

Every module of this folder declares encodings (`contract.encoding`) and registers them when it is imported; all are
imported here. To add a format, add a module and its test.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
