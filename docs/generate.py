"""Write the pages of the site that follow from the package and from files outside docs, and complete those of docs.

`conf.py` calls `write` at each build; the pages go into docs/generated, which is not committed. Nothing but the package
is needed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import reference
from markup import DOCS, GENERATED, ROOT, moved, sections, toctree


def pages() -> dict[str, str]:
    """Return all generated pages by their paths in docs/generated."""
    return {**dict(reference.pages()), **dict(example_pages()), **dict(copied_pages()), **dict(group_pages())}


def write(folder: Path = GENERATED) -> None:
    """Write the generated pages; those that did not change are left as they are, and those of other builds removed."""
    wanted = pages()
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def example_pages() -> Iterator[tuple[str, str]]:
    """Yield one page per example: its docstring, the stored figures that it writes, its code; and their index."""
    figures = sorted((ROOT / "examples/figures").glob("*.png"))
    names, gallery = [], []
    for path in sorted((ROOT / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        tree = ast.parse(code)
        below = "".join(code.splitlines(keepends=True)[tree.body[0].end_lineno :]).strip("\n")
        shown = [x for x in figures if re.search(rf"\b{x.stem}\b", code)]
        parts = [
            f"# {path.stem}\n",
            f"{ast.get_docstring(tree)}\n",
            *(f"![{x.stem.replace('_', ' ')}](../../../examples/figures/{x.name})\n" for x in shown),
            "```python",
            below,
            "```\n",
        ]
        yield f"examples/{path.stem}.md", "\n".join(parts)
        names.append(path.stem)
        gallery += [
            f"[![{x.stem.replace('_', ' ')}](../../../examples/figures/{x.name})]({path.stem}.md)" for x in shown
        ]
    listed = moved(sections(ROOT / "README.md")["Examples"], ROOT / "README.md", GENERATED / "examples/index.md")
    yield "examples/index.md", "\n".join(["# Examples\n", listed, "## Figures\n", *gallery, toctree(names)])


def copied_pages() -> Iterator[tuple[str, str]]:
    """Yield pages that are Markdown files outside docs."""
    for name in ("CONTRIBUTING", "CHANGELOG"):
        page, file = f"{name.lower()}.md", ROOT / f"{name}.md"
        yield page, moved(file.read_text(encoding="utf-8"), file, GENERATED / page)


def groups() -> dict[str, str]:
    """Return the lists of pages in docs/index.md by their captions."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^(\w[\w ]*)\n\n((?:- .+\n(?:  .+\n)*)+)", text, re.MULTILINE))


def linked_pages(text: str) -> list[str]:
    """Return the pages that a text links, in order."""
    return list(dict.fromkeys(re.findall(r"\]\((?!\w+:)([\w./-]+)\.md(?:#[\w-]*)?\)", text)))


def group_pages() -> Iterator[tuple[str, str]]:
    """Yield one page per list of pages in docs/index.md, which the navigation shows."""
    for caption, listed in groups().items():
        page = f"{caption.lower().replace(' ', '_')}.md"
        text = moved(listed, DOCS / "index.md", GENERATED / page)
        # the guide is an entry of its own
        names = [name for name in linked_pages(text) if name != "../guide/index"]
        if names:
            yield page, f"# {caption}\n\n{text}\n{toctree(names)}"


def on_site(name: str, text: str) -> str:
    """Return the text of a page in docs for the site: links to files lead to pages, and lists lead to their entries."""
    page = DOCS / f"{name}.md"
    text = moved(text, page, page)
    if name == "metrics":
        entry = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
        text = entry.sub(r"| [`\1`](generated/metrics/\1.md) |", text)
        return text + toctree(f"generated/metrics/{metric}" for metric in reference.metric_names())
    if name == "null_models":
        for field, null in reference.null_names():
            # the table of a field follows its heading
            entry = re.compile(rf"(^## {field}\n(?:(?!## ).*\n)*?\| )`{null}`", re.MULTILINE)
            text = entry.sub(rf"\1[`{null}`](generated/nulls/{field}-{null}.md)", text)
        return text + toctree(f"generated/nulls/{field}-{null}" for field, null in reference.null_names())
    if name == "index":
        return front_page()
    if name == "guide/index":
        return text + toctree(x for x in linked_pages(text) if "/" not in x)
    return text


def front_page() -> str:
    """Return the first page: the README, with the lists of pages after its example, and the navigation."""
    file, page = ROOT / "README.md", DOCS / "index.md"
    parts = []
    for heading, body in sections(file).items():
        if heading in ("Examples", "Contributing"):  # entries of the navigation
            continue
        parts += [f"## {heading}\n" * bool(heading), moved(body, file, page)]
        if heading == "Example":
            lists = "\n".join(f"**{caption}**\n\n{listed}" for caption, listed in groups().items())
            parts += ["## Where to go on\n\n", moved(lists, page, page), "\n"]
    tree = [*(["guide/index"] if (DOCS / "guide/index.md").exists() else [])]
    tree += [f"generated/{Path(path).stem}" for path, _ in group_pages()]
    tree += [f"generated/{name}" for name in ("examples/index", "api/index", "contributing", "changelog")]
    return "".join([*parts, toctree(tree)])


if __name__ == "__main__":
    write()
