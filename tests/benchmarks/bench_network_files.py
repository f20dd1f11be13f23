"""Readers of BIF files, ours and pyagrum's: `python tests/benchmarks/bench_network_files.py` prints times and refusals.

The files are the networks of bnlearn's repository that pgmpy ships, and a small network with one fault at a time.
"""

import gzip
import tempfile
import warnings
from pathlib import Path

import numpy as np
from timing import seconds

import causaleval_pd as ce

SMALL = """network small { }
variable A { type discrete [ 2 ] { yes, no }; }
variable B { type discrete [ 2 ] { yes, no }; }
probability ( A ) { table 0.3, 0.7; }
probability ( B | A ) { (yes) 0.2, 0.8; (no) 0.9, 0.1; }
"""
FAULTS = {
    "none": SMALL,
    "a row sums to .9": SMALL.replace("0.3, 0.7", "0.2, 0.7"),
    "a probability below 0": SMALL.replace("0.3, 0.7", "-0.3, 1.3"),
    "a probability that is no number": SMALL.replace("0.3, 0.7", "nan, 0.7"),
    "a row is missing": SMALL.replace(" (no) 0.9, 0.1;", ""),
    "a row stands twice": SMALL.replace("(no)", "(yes)"),
    "a row of an unknown state": SMALL.replace("(no) 0.9", "(maybe) 0.9"),
    "a value too few": SMALL.replace("0.3, 0.7", "0.3"),
    "a table is missing": SMALL[: SMALL.index("probability ( B")],
    "a cycle": SMALL.replace("( A ) { table 0.3, 0.7; }", "( A | B ) { (yes) 0.3, 0.7; (no) 0.3, 0.7; }"),
    "the end is cut off": SMALL[:-30],
    "text after the end": SMALL + "garbage {",
    "none, but states such as 5-12": SMALL.replace("yes", "5-12"),
}


def main() -> None:
    warnings.simplefilter("ignore")
    import pgmpy
    import pyagrum as gum

    folder = Path(pgmpy.__file__).parent / "utils" / "example_models"
    print("| network | nodes | arcs | probabilities | ours | pyagrum | largest difference |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for packed in sorted(folder.glob("*.bif.gz")):
            path = Path(scratch) / packed.name.removesuffix(".gz")
            path.write_bytes(gzip.decompress(packed.read_bytes()))
            found, ours = ce.as_network(path), seconds(ce.as_network, path)
            size = f"{path.stem} | {len(found.nodes)} | {found.n_arcs} | {len(found.parameters)} | {ours:.3f} s"
            try:
                peer, theirs = gum.loadBN(str(path)), seconds(gum.loadBN, str(path))
            except gum.GumException:
                print(f"| {size} | refused | |")
                continue
            apart = np.abs(found.parameters - ce.as_network(peer).parameters).max()
            print(f"| {size} | {theirs:.3f} s | {apart:.0e} |")
        print("\n| fault | ours | pyagrum |\n|---|---|---|")
        path = Path(scratch) / "small.bif"
        for fault, text in FAULTS.items():
            path.write_text(text, encoding="utf-8")
            results = []
            for read in (ce.as_network, lambda path: gum.loadBN(str(path))):
                try:
                    read(path)
                    results.append("read")
                except (ValueError, gum.GumException):
                    results.append("refused")
            print(f"| {fault} | {' | '.join(results)} |")


if __name__ == "__main__":
    main()
