"""The README is short, lists every example, and has the two set-up commands that `.ci/run` takes from it."""

from __future__ import annotations

import re
from pathlib import Path

import causaleval_pd as ce

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_links_and_pictures_exist():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", TEXT):
        assert (README.parent / target).exists(), target


def test_every_example_is_listed():
    listed = re.findall(r"^\| \[(.+\.py)\]\(examples/\1\)", TEXT, re.MULTILINE)
    assert sorted(listed) == sorted(p.name for p in (README.parent / "examples").glob("*.py"))


def test_there_are_exactly_two_set_up_commands():
    [block] = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    assert block.splitlines() == [
        'pip install ".[report]" && python examples/01_better_than_random.py',
        'pip install -e ".[test]" && pytest',
    ]


def test_it_is_short():
    assert TEXT.count("\n") < 200


def test_what_is_not_handled_is_named():
    limits = TEXT.split("## Limits")[1].split("\n## ")[0]
    assert all(word in limits for word in ("MAGs", "Latent confounding", "independent", "without a known truth"))


def test_advice_names_metrics_and_null_models_that_exist():
    metrics = TEXT.split("## Which metric")[1].split("\n## ")[0]
    nulls = TEXT.split("## Which null model")[1].split("\n## ")[0]
    named = {name for line in metrics.splitlines() if line.startswith("|") for name in re.findall(r"`(\w+)`", line)}
    assert len(named) >= 8 and named <= set(ce.list_metrics("graph").index)
    models = set(re.findall(r'`"(\w+)"`', nulls))
    assert {"edges", "permutation", "orientation"} == models <= set(ce.list_nulls("graph").loc["graph"].index)
    assert "doi:10.48550/arXiv.2412.10039" in TEXT.split("## How to cite")[1]
