"""The files around the package agree with it: versions, requirements, addresses, names of checks."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import causaleval_pd as ce
from causaleval_pd.__main__ import main

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
ARCHIVE = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
RECIPE = yaml.safe_load((ROOT / ".ci/conda/recipe.yaml").read_text(encoding="utf-8"))
STEPS = sorted((ROOT / ".ci/steps").iterdir())


def test_the_version_is_one():
    assert {CITATION["version"], ARCHIVE["version"], RECIPE["context"]["version"]} == {ce.__version__}


def test_the_newest_version_of_the_changelog_is_the_package():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest and newest[1] == ce.__version__


def test_the_conda_recipe_requires_what_the_package_requires():
    def bare(line: str) -> str:
        return line.replace(" ", "").replace("matplotlib-base", "matplotlib")

    needed = {bare(line) for line in PROJECT["dependencies"]} | {f"python{PROJECT['requires-python']}"}
    assert {bare(line) for line in RECIPE["requirements"]["run"]} == needed


def test_descriptions_and_keywords_are_one():
    assert CITATION["abstract"] == ARCHIVE["description"] == PROJECT["description"]
    assert CITATION["keywords"] == ARCHIVE["keywords"] == PROJECT["keywords"]


def test_addresses_of_the_repository_are_written_once():
    source = PROJECT["urls"]["Source"]
    assert [name for name in ("Homepage", "Issues", "Changelog") if not PROJECT["urls"][name].startswith(source)] == []
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").glob("*.py"), ROOT / "CITATION.cff"]
    assert [path.name for path in pages if "github.com/OWNER" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("step", STEPS, ids=lambda path: path.name)
def test_every_check_says_what_it_does(step):
    assert re.match(r"# \w.*\w$", step.read_text(encoding="utf-8").splitlines()[1])


@pytest.mark.parametrize("script", [*STEPS, ROOT / ".ci/common.sh"], ids=lambda path: path.name)
def test_tests_that_checks_name_exist(script):
    named = re.findall(r"(?<![\w/])tests/[\w/.*]+", script.read_text(encoding="utf-8"))
    assert [pattern for pattern in named if not list(ROOT.glob(pattern))] == []


def test_the_command_prints_versions(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"causaleval_pd {ce.__version__}\n")
    main([])
    assert capsys.readouterr().out.startswith("causaleval_pd  ")
