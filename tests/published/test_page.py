"""The page "Who beats guessing" is what its script writes from the shipped claims."""

import sys
from pathlib import Path

import pytest

import causaleval_pd as ce

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_the_page_is_written_by_its_script(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(DOCS))
    import who_beats_guessing as script

    monkeypatch.setattr(script, "FIGURE", tmp_path / "figure.png")
    anew = "write it anew by python docs/who_beats_guessing.py"
    assert script.page() == script.PAGE.read_text(encoding="utf-8"), anew
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    sys.modules.pop("who_beats_guessing")


def test_pages_count_the_shipped_claims():
    claims = ce.datasets.published_results()
    algorithms = claims["method"].str.casefold().nunique()
    for page, text in (
        ("index.md", f"{len(claims):,} printed results of {algorithms} methods"),
        ("../README.md", "6,081"),
    ):
        assert text in (DOCS / page).read_text(encoding="utf-8")
