"""The README says what the package does: metric table, commands, links. `python tests/test_readme.py` writes the table
anew."""

from __future__ import annotations

import pathlib
import re

import causaleval_pd as ce

README = pathlib.Path(__file__).parents[1] / "README.md"
TABLE = re.compile(r"(?<=<!-- metrics: begin -->\n).*(?=<!-- metrics: end -->)", re.DOTALL)


def metric_table() -> str:
    """Render the registry as a Markdown table."""
    lines = ["| metric | meaning | better | range | exact | source |", "|---|---|---|---|---|---|"]
    for name, row in ce.list_metrics().sort_index().iterrows():
        better = {"minimize": "lower", "maximize": "higher", "zero": "near 0"}.get(row["direction"], "")
        source = f"doi:{row['reference']}" if row["reference"] else ""
        low, high = (f"{x:g}".replace("inf", "∞") for x in (row["low"], row["high"]))
        exact = row["closed_form"] if isinstance(row["closed_form"], str) else ""
        lines.append(f"| `{name}` | {row['long_name']} | {better} | {low} to {high} | {exact} | {source} |")
    return "\n".join(lines) + "\n"


def test_the_metric_table_is_the_registry():
    assert TABLE.search(README.read_text(encoding="utf-8")).group() == metric_table()


def test_links_and_pictures_exist():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target


def test_every_example_is_listed():
    listed = re.findall(r"^\| \[(.+\.py)\]\(examples/\1\)", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(p.name for p in (README.parent / "examples").glob("*.py"))


def test_there_are_exactly_two_set_up_commands():
    [block] = re.findall(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert block.splitlines() == [
        "pip install . && python examples/01_better_than_random.py",
        'pip install -e ".[test]" && pytest',
    ]


if __name__ == "__main__":
    README.write_text(TABLE.sub(lambda _: metric_table(), README.read_text(encoding="utf-8")), encoding="utf-8")
