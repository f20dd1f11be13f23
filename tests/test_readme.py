"""The README is short, answers questions in a stranger's order, and has the two commands that `.ci/run` takes."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")
EXAMPLES = README.parent / "examples"


def test_every_example_is_listed():
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(.+\.py)\]\(\1\)", text, re.MULTILINE)
    assert sorted(listed) == sorted(p.name for p in EXAMPLES.glob("*.py"))


def test_there_are_exactly_two_set_up_commands():
    [block] = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    assert block.splitlines() == [
        'pip install ".[report]" && python examples/01_better_than_random.py',
        'pip install -e ".[test]" && pytest',
    ]


def test_it_is_short():
    assert TEXT.count("\n") < 150


def test_it_answers_questions_in_the_order_of_a_stranger():
    picture, *headings = re.findall(r"^!\[|^## (.+)$", TEXT, re.MULTILINE)
    assert picture == "", "the picture comes first"
    order = ["Start", "What it found", "Compared with other packages", "Limits", "How to cite", "Where to go on"]
    assert headings == order


def test_what_is_not_handled_is_named():
    limits = TEXT.split("## Limits")[1].split("\n## ")[0]
    assert all(word in limits for word in ("MAGs", "Latent confounding", "independent", "without a known truth"))


def test_the_method_is_cited():
    cited = TEXT.split("## How to cite")[1]
    assert "doi:10.48550/arXiv.2412.10039" in cited and "PMLR 286:3465" in cited
