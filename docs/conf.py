"""Sphinx configuration of the site: `sphinx-build -W --keep-going docs build/site`, without network."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import generate

import causaleval_pd

SOURCE = tomllib.loads((generate.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]

project = "causaleval_pd"
author = "The causaleval_pd authors"
project_copyright = author
version = release = causaleval_pd.__version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser", "sphinx_autosummary_accessors", "sphinx_copybutton"]
root_doc = "index"
nitpicky = True
smartquotes = False  # what is quoted is typed
myst_heading_anchors = 3

autodoc_typehints = "none"  # the sections of parameters have the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
toc_object_entries = False  # headings name the objects
# `name` in a docstring is a link where it is a name of the package, and code elsewhere
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", "(?s).*")]

# code is copied without prompts, and outputs are not copied
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_selector = "div:not(.highlight-output) > div.highlight > pre"

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_js_files = ["open.js"]
html_sidebars = {page: [] for page in ("index", "generated/examples", "generated/contributing", "generated/changelog")}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "collapse_navigation": True,
    "icon_links": [{"name": "Repository", "url": SOURCE, "icon": "fa-brands fa-github"}]
    if "OWNER" not in SOURCE
    else [],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def complete_page(app: Any, name: str, text: list[str]) -> None:
    """Show pages of docs as `generate` completes them."""
    if not name.startswith("generated/"):
        text[0] = generate.on_site(name, text[0])


def link_chapters(app: Any, name: str, template: str, context: dict[str, Any], page: Any) -> None:
    """Lead from each chapter of the guide to the one before and after it; other pages have no order."""
    context["theme_show_prev_next"] = name.startswith("guide/")


def leave_out(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Leave out of docstrings what their page states once.

    The table or cube of an accessor's verb, whose docstring is that of the function; the pairs, values and errors of a
    metric, and the source, which its entry links.
    """
    if isinstance(value, causaleval_pd.Metric):
        text = "\n".join(lines)
        for section in ("Returns", "Raises", *(["References"] if "]_" not in text else [])):
            text = re.sub(rf"^{section}\n-+\n(?:.*\n)*?(?=^\w[\w ]*\n-+\n|\Z)", "", text, flags=re.MULTILINE)
        text = re.sub(r"^A metric (?:to|closest|of|without).*\n\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^pairs : .*\n(?:    .*\n)+", "", text, flags=re.MULTILINE)
        lines[:] = re.sub(r"^Parameters\n-+\n\s*(?=^\w[\w ]*\n-+\n|\Z)", "", text, flags=re.MULTILINE).split("\n")
        return
    first = next((i + 2 for i, line in enumerate(lines[:-2]) if line == "Parameters"), None)
    if first is not None and re.match(r"(pandas|xarray|dask\.dataframe)\.\w+\.ceval\.\w+$", name):
        last = next(i for i in range(first + 1, len(lines)) if not lines[i].startswith(" "))
        del lines[first : last if lines[last] else first]


def forget_parts(app: Any, page: Any) -> None:
    """Make all nodes of a page its own: those of docstrings would be stored with the whole environment."""
    for node in page.findall():
        node.document = page


def setup(app: Any) -> None:
    """Write the generated pages before files are listed, and complete the others when they are read."""
    generate.write()
    app.connect("source-read", complete_page)
    app.connect("autodoc-process-docstring", leave_out, priority=400)  # before numpydoc
    app.connect("doctree-read", forget_parts)
    app.connect("html-page-context", link_chapters)
