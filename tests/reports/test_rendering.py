from __future__ import annotations

import pytest

from causaleval_pd.reports.methods import Sentence, references
from causaleval_pd.reports.rendering import FORMATS, Section, bibtex, rendered


def page(output, title="A title", text="A sentence."):
    sentences = [Sentence(text, ("holm1979",))]
    return rendered(output, title, None, [Section("Methods", sentences)], references(sentences), "r_files")


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("html", "A sentence [1]."),
        ("markdown", r"A sentence \[1\]."),
        ("latex", r"A sentence~\cite{holm1979}."),
    ],
)
def test_citations_stand_before_the_full_stop(output, words):
    assert words in page(output)
    assert output in FORMATS.values()


def test_characters_that_latex_would_lose_are_an_error_of_latex():
    assert "tracinglostchars" not in page("latex", "Größe, “ł” ≤ 1 €")
    text = page("latex", "λ 因", "因 again.")
    assert "lacks λ因" in text and r"\tracinglostchars=3" in text
    assert "tracinglostchars" not in page("html", "λ 因")


def test_references_are_bibtex():
    entries = references([Sentence("A.", ("holm1979", "westfall1993"))])
    text = bibtex(entries)
    assert text.count("@") == 2 and text.count("{") == text.count("}") and text.endswith("}\n")
