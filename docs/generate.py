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
from markup import DOCS, GENERATED, ROOT, fold, moved, sections, toctree


def pages() -> dict[str, str]:
    """Return all generated pages by their paths in docs/generated."""
    return {**dict(reference.api_pages()), **dict(example_pages()), **dict(copied_pages()), **dict(group_pages())}


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
    """Yield the page of examples: their list, and of each its docstring, the figures that it writes, its code."""
    figures = sorted((ROOT / "examples/figures").glob("*.png"))
    readme = ROOT / "examples/README.md"
    parts = [moved(readme.read_text(encoding="utf-8"), readme, GENERATED / "examples.md")]
    for path in sorted((ROOT / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        tree = ast.parse(code)
        below = "".join(code.splitlines(keepends=True)[tree.body[0].end_lineno :]).strip("\n")
        parts += [f"({path.stem})=\n## {path.stem}\n", f"{ast.get_docstring(tree)}\n"]
        for figure in figures:
            if re.search(rf"\b{figure.stem}\b", code):
                parts.append(f"![{figure.stem.replace('_', ' ')}](../../examples/figures/{figure.name})\n")
        parts.append(fold(f"code-{path.stem}", "code", f"```python\n{below}\n```"))
    yield "examples.md", "\n".join(parts)


def copied_pages() -> Iterator[tuple[str, str]]:
    """Yield pages that are Markdown files outside docs."""
    for name in ("CONTRIBUTING", "CHANGELOG"):
        page, file = f"{name.lower()}.md", ROOT / f"{name}.md"
        yield page, moved(file.read_text(encoding="utf-8"), file, GENERATED / page)


def groups() -> dict[str, str]:
    """Return the lists of pages in docs/index.md by their captions."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^### (.+)\n\n((?:.+\n)*\n?(?:- .+\n(?:  .+\n)*)+)", text, re.MULTILINE))


def linked_pages(text: str) -> list[str]:
    """Return the pages that a text links, in order."""
    return list(dict.fromkeys(re.findall(r"\]\((?!\w+:)([\w./-]+)\.md(?:#[\w-]*)?\)", text)))


def group_pages() -> Iterator[tuple[str, str]]:
    """Yield one page per list of pages in docs/index.md, which the navigation shows."""
    for caption, listed in groups().items():
        page = f"{caption.lower().replace(' ', '_')}.md"
        text = moved(listed, DOCS / "index.md", GENERATED / page)
        yield page, f"# {caption}\n\n{text}\n{toctree(linked_pages(text))}"


def on_site(name: str, text: str) -> str:
    """Return the text of a page in docs for the site: links to files lead to pages, and lists have their entries."""
    page = DOCS / f"{name}.md"
    text = moved(text, page, page)
    if name == "metrics":
        return reference.metrics(text)
    if name == "null_models":
        return reference.nulls(text)
    if name == "index":
        return front_page(text)
    if name == "guide/index":
        return text + toctree(x for x in linked_pages(text) if "/" not in x)
    return text


def front_page(text: str) -> str:
    """Return the first page: that of docs, sections of the README, and the navigation."""
    readme = sections(ROOT / "README.md")
    parts = [text]
    for heading in ("Compared with other packages", "Limits", "How to cite"):
        parts += [f"\n## {heading}\n", moved(readme[heading], ROOT / "README.md", DOCS / "index.md")]
    tree = ["guide/index", *(f"generated/{Path(path).stem}" for path, _ in group_pages())]
    tree += [f"generated/{name}" for name in ("api/index", "examples", "contributing", "changelog")]
    return "".join([*parts, toctree(tree)])


if __name__ == "__main__":
    write()
