import html
import re

import pandas as pd

from causaleval_pd.reports.methods import Sentence, references
from causaleval_pd.reports.rendering import Section, rendered
from causaleval_pd.reports.style import Shown


def page(text="A sentence.", *cites, table=None):
    sentences = [Sentence(text, cites)]
    return rendered("A title", None, [Section("Methods", sentences, table)], references(sentences))


def test_citations_stand_before_the_full_stop():
    assert "A sentence [1, 2]." in page("A sentence.", "holm1979", "westfall1993")
    assert "A sentence." in page()


def test_references_are_bibtex():
    found = page("A.", "holm1979", "westfall1993")
    [text] = re.findall(r"<summary>BibTeX</summary>\n<pre>(.*?)</pre>", found, re.DOTALL)
    text = html.unescape(text)
    assert text.count("@") == 2 and text.count("{") == text.count("}") and text.endswith("}")
    assert "BibTeX" not in page()


def test_tables_can_be_copied_as_latex():
    texts = pd.DataFrame({"a_b": ["<i>", "x & y"], "p": ["≤ 0.01", "1.0"]})
    bold = pd.DataFrame({"a_b": [True, False], "p": [False, False]})
    found = page(table=Shown(texts, bold, []))
    [text] = re.findall(r"<summary>LaTeX of the table</summary>\n<pre>(.*?)</pre>", found, re.DOTALL)
    lines = html.unescape(text).split("\n")
    assert lines[0] == r"\begin{tabular}{ll}" and lines[-1] == r"\end{tabular}"
    assert lines[2] == r"a\_b & p \\" and r"\toprule" in lines
    assert r"\textbf{\textless{}i\textgreater{}} & $\leq$ 0.01 \\" in lines and r"x \& y & 1.0 \\" in lines


def test_boxes_that_scroll_show_on_narrow_screens_that_they_go_on():
    [narrow] = re.findall(r"@media screen and \(max-width: \d+rem\) \{\n(.*?)\n\}", page(), re.DOTALL)
    [shadows] = re.findall(r"\.wide, pre \{.*? background: (.*?); \}", narrow)
    assert shadows.count("local") == shadows.count("scroll") == 2, "covers move along, shadows stay at the edges"
    # pictures are as white as paper, and would hide the shadow
    assert ".wide img { mix-blend-mode: multiply; }" in narrow and "<script" not in page()
