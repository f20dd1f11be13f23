"""Network files are read from the first to the last byte, or refused with the path, the line and what was found."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

#: the same network in each format, as pgmpy and pyagrum write it
NETWORK = ce.DiscreteNetwork(
    {"A": [], "B": ["A"], "C": ["A", "B"]},
    {
        "A": [0.3, 0.7],
        "B": [[0.9, 0.1], [0.2, 0.8]],
        "C": [[[0.1, 0.7, 0.2], [0.2, 0.5, 0.3]], [[0.3, 0.1, 0.6], [0.4, 0.5, 0.1]]],
    },
    {"A": ["n", "y"], "B": ["n", "y"], "C": ["hi", "lo", "mid"]},
)
BIF = """network unknown {
  // a comment
}
variable A {
    type discrete [ 2 ] { n, y };
}
variable B {
    type discrete[2] {n, y};
    property unit = none ;
}
variable C {
    type discrete [ 3 ] { lo, mid, hi };
}
probability ( A ) {
    table 0.3, 0.7 ;
}
probability ( B | A ) {
    ( n ) 0.9, 0.1;
    ( y ) 0.2, 0.8;
}
probability (C | B, A) {
    (n, n) 0.7 0.2 0.1;
    (n, y) 0.1 0.6 0.3;
    (y, n) 0.5 0.3 0.2;
    (y, y) 0.5 0.1 0.4;
}
"""
NET = """net {
  name = unknown;
  node_size = (50 50);
}
node A { states = ("n" "y"); label = "A"; }
discrete node B { states = (n y); }
node C { states = ("lo" "mid" "hi"); }
potential (A |) { data = (0.3 0.7); }
potential (B | A) {
  data = ((0.9 0.1)   % A=n
          (0.2 0.8)); % A=y
}
potential (C | A B) {
  data = (((0.7 0.2 0.1) (0.5 0.3 0.2)) ((0.1 0.6 0.3) (0.5 0.1 0.4)));
}
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>
<VARIABLE TYPE="nature"><NAME>A</NAME><OUTCOME>n</OUTCOME><OUTCOME>y</OUTCOME><PROPERTY/></VARIABLE>
<VARIABLE TYPE="nature"><NAME>B</NAME><OUTCOME>n</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>C</NAME><OUTCOME>lo</OUTCOME><OUTCOME>mid</OUTCOME><OUTCOME>hi</OUTCOME></VARIABLE>
<DEFINITION><FOR>A</FOR><TABLE>0.3 0.7</TABLE></DEFINITION>
<DEFINITION><FOR>B</FOR><GIVEN>A</GIVEN><TABLE>0.9 0.1 <!-- A=y --> 0.2 0.8</TABLE></DEFINITION>
<DEFINITION><FOR>C</FOR><GIVEN>A</GIVEN><GIVEN>B</GIVEN>
<TABLE>0.7 0.2 0.1 0.5 0.3 0.2 0.1 0.6 0.3 0.5 0.1 0.4</TABLE></DEFINITION>
</NETWORK>
</BIF>
"""
DSC = """belief network "unknown"
node A {
  type : discrete [ 2 ] = { "n", "y" };
}
node B {
  name: "B; of {A}";
  type: discrete[2] = {"n","y"};
  position: (10, 20);
}
node C { type : discrete [ 3 ] = { lo, mid, hi }; }
probability ( A ) {
   0.3, 0.7;
}
probability ( B | A ) {
  (0) : 0.9, 0.1;
  (1) : 0.2, 0.8; // A=y
}
probability(C | B, A) {
  (0, 0): 0.7, 0.2, 0.1;
  (0, 1): 0.1, 0.6, 0.3;
  (1, 0): 0.5, 0.3, 0.2;
  (1, 1): 0.5, 0.1, 0.4;
}
"""
TEXTS = {"bif": BIF, "net": NET, "xmlbif": XML, "bifxml": XML, "dsc": DSC}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def close(left: ce.DiscreteNetwork, right: ce.DiscreteNetwork) -> bool:
    return left.structure == right.structure and np.allclose(left.parameters, right.parameters, rtol=0, atol=1e-12)


@pytest.mark.parametrize("suffix", TEXTS)
def test_formats(suffix, tmp_path):
    for name, content in (
        (f"j.{suffix}", TEXTS[suffix].encode()),
        (f"j.{suffix}.gz", gzip.compress(TEXTS[suffix].encode())),
    ):
        assert close(ce.as_network(written(tmp_path, name, content)), NETWORK)
    for end in ("\r\n", "\r"):
        other = written(tmp_path, f"ends.{suffix}", TEXTS[suffix].replace("\n", end))
        assert close(ce.as_network(other), NETWORK)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["j.bif", "j.net", "j.xmlbif", "j.dsc", "j.bif.gz", "j.net.gz"])
def test_every_truncation_is_refused_or_the_whole_network(name, tmp_path):
    whole = TEXTS[name.removesuffix(".gz").split(".")[1]].encode()
    whole = gzip.compress(whole) if name.endswith("gz") else whole
    refused = 0
    for stop in range(len(whole)):
        path = written(tmp_path, name, whole[:stop])
        try:
            found = ce.as_network(path)
        except ValueError as error:
            assert "j." in str(error)
            refused += 1
        else:
            assert close(found, NETWORK)
    assert refused >= len(whole.rstrip()) - 1


@pytest.mark.slow
def test_every_truncation_of_packed_bytes_is_refused():
    cell = NETWORK.to_bytes()
    for stop in range(len(cell)):
        with pytest.raises(ValueError, match="found|digest"):
            ce.as_network(cell[:stop])
        with pytest.raises(ValueError, match=r"row 1 \(index 'b'\)"):
            ce.network_column(pd.Series([cell, cell[:stop]], index=["a", "b"], dtype=object))


BROKEN = [
    ("bif", "hello world", "line 1: expected 'variable' or 'probability', found 'hello'"),
    ("bif", "", "found no variable"),
    ("bif", BIF.replace("variable C", "varable C"), "line 11: .*found 'varable'.*did you mean 'variable'"),
    ("bif", BIF + "probability ( A ) { table 0.5, 0.5; }", "line 27: variable 'A' has a second table"),
    ("bif", BIF + "variable A { type discrete [ 2 ] { n, y }; }", "line 2.: variable 'A' is declared twice"),
    ("bif", BIF.replace("[ 3 ] { lo, mid, hi }", "[ 3 ] { lo, mid }"), "has 2 states .*but declares 3"),
    ("bif", BIF.replace("[ 3 ]", "[ 999999999999 ]"), "but declares 1e\\+12"),
    ("bif", BIF.replace("lo, mid, hi", "lo, mid, lo"), "state names differ"),
    ("bif", BIF.replace("B | A", "B | Z"), "undeclared variables \\['Z'\\]"),
    ("bif", BIF.replace("C | B, A", "C | B, B"), "names a variable twice"),
    (
        "bif",
        BIF.replace("    (y, n) 0.5 0.3 0.2;\n", ""),
        "line 25: .* has 3 rows, expected 4; the row of \\['y', 'n'\\] is missing",
    ),
    ("bif", BIF.replace("(y, n) 0.5", "(n, n) 0.5"), "line 24: .*row \\['n', 'n'\\] twice"),
    ("bif", BIF.replace("(y, n) 0.5", "(y, q) 0.5"), "line 24: found the row \\['y', 'q'\\]"),
    ("bif", BIF.replace("(y, n) 0.5 0.3 0.2", "(y, n) 0.5 0.5"), "line 24: .* has 2 numbers here, expected 3"),
    ("bif", BIF.replace("(y, n) 0.5 0.3 0.2", "(y, n) 0.5 0.3 0.1 0.1"), "more than 3 numbers"),
    (
        "bif",
        BIF.replace("(y, n) 0.5 0.3 0.2", "(y, n) 0 0 0"),
        "line 26: node 'C': the row \\[0.0, 0.0, 0.0\\] of its table sums to 0, not to 1",
    ),
    ("bif", BIF.replace("(y, n) 0.5 0.3 0.2", "(y, n) nan nan nan"), "line 24: expected a number, found 'nan'"),
    ("bif", BIF.replace("(y, n) 0.5 0.3 0.2", "(y, n) 1e999 0 0"), "expected a number"),
    ("bif", BIF.replace("(y, n) 0.5 0.3 0.2", "(y, n) 1.5 -0.3 -0.2"), "line 26: node 'C': .* between 0 and 1"),
    ("bif", BIF.replace("(y, n) 0.5", "(y, n) x").replace("\n", "\r"), "line 24: expected a number, found 'x'"),
    ("bif", BIF.replace("discrete [ 3 ]", "continuous [ 3 ]"), "expected 'discrete', found 'continuous'"),
    ("bif", BIF.replace("// a comment", "/* a comment"), "not closed"),
    ("bif", BIF.replace("( A ) {", "( A | C ) {").replace("table 0.3, 0.7 ;", "(lo) 1 0; default 0.3, 0.7;"), "cycle"),
    ("bif", BIF.encode().replace(b"lo", b"\xff\xfe"), "line 12: found the byte 0xff, expected UTF-8"),
    ("net", "hello world", "line 1: expected 'node'"),
    ("net", NET.replace("node C", "nod C"), "line 7: .*did you mean 'node'"),
    ("net", NET.replace("discrete node", "continuous node"), "found 'continuous'"),
    ("net", NET.replace("B | A", "B | Z"), "undeclared variables \\['Z'\\]"),
    ("net", NET.replace("(0.2 0.8))", "(0.2 0.8 0.0))"), "more than 2 entries"),
    ("net", NET.replace("(0.2 0.8))", "(0.2 0.8) (0.2 0.8))"), "more than 2 entries"),
    ("net", NET.replace("(0.2 0.8)", "(0.2 x)"), "expected a number, found 'x'"),
    ("net", NET.replace("((0.9 0.1)", "((0.9) (0.1)"), "have 1 entries here, expected 2"),
    ("net", NET + "potential (A) { data = (0.5 0.5); }", "variable 'A' has a second table"),
    ("net", NET.replace("data = (0.3 0.7)", "function = (0.3 0.7)"), "has no data"),
    ("xmlbif", "hello world", "not well-formed XML"),
    ("xmlbif", XML + XML, "not well-formed XML"),
    ("xmlbif", XML.replace("<NETWORK>", "<NETWORK><UTILITY/>"), "line 4: found the element 'UTILITY' in NETWORK"),
    ("xmlbif", XML.replace("<OUTCOME>hi</OUTCOME>", ""), "has 12 numbers, expected 8"),
    ("xmlbif", XML.replace("<GIVEN>B</GIVEN>", "<GIVEN>Z</GIVEN>"), "undeclared variables \\['Z'\\]"),
    ("xmlbif", XML.replace('<VARIABLE TYPE="nature"><NAME>C', '<VARIABLE TYPE="utility"><NAME>C'), "only 'nature'"),
    ("xmlbif", XML.replace("0.3 0.7<", "0.3 x<"), "expected numbers"),
    ("xmlbif", XML.replace("<FOR>A</FOR>", ""), "expected one element FOR"),
    (
        "xmlbif",
        XML.replace("DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]", 'DOCTYPE BIF SYSTEM "bif.dtd"').replace(
            "<NAME>C<", "<NAME>C&more;<"
        ),
        "line 8: the file refers to the XML entity 'more'",
    ),
    ("xmlbif", XML.replace("<NAME>C<", "<NAME>C&more;<"), "undefined entity: line 8, column 31$"),
    ("xmlbif", "<BIF>" * 100_000, "found the element 'BIF' in BIF"),
    ("xmlbif", XML.replace('"utf-8"', '"utf-99"'), "not well-formed"),
    ("bif.gz", BIF, "not a whole gzip file"),
    ("dsc", "hello world", "line 1: expected 'node' or 'probability', found 'hello'"),
    ("dsc", "", "found no variable"),
    ("dsc", DSC.replace("node C", "nod C"), "line 10: .*did you mean 'node'"),
    ("dsc", DSC.replace("[ 3 ]", "[ 2 ]"), "line 10: node 'C' has 3 states .*but declares 2"),
    ("dsc", DSC.replace("lo, mid, hi", "lo, mid hi, lo"), "state names differ"),
    ("dsc", DSC.replace("type : discrete [ 3 ] = { lo, mid, hi };", "name : c;"), "node 'C' has no type"),
    ("dsc", DSC.replace("(1, 0)", "(0, 0)"), "line 21: .*row \\[0, 0\\] twice"),
    ("dsc", DSC.replace("(1, 0)", "(2, 0)"), "line 21: found the state 2"),
    ("dsc", DSC.replace("(1, 0)", "(1)"), "found 1 states"),
    ("dsc", DSC.replace("(1, 0)", "(1, 0, 0)"), "line 21: found the state 0"),
    ("dsc", DSC.replace("  (1, 0): 0.5, 0.3, 0.2;\n", ""), "has 3 rows, expected 4"),
    ("dsc", DSC.replace("0.5, 0.3, 0.2", "0.5, 0.5"), "has 2 numbers here, expected 3"),
    ("dsc", DSC.replace("0.5, 0.3, 0.2", "0.5, 0.3, 0.1, 0.1"), "more than 3 numbers"),
    ("dsc", DSC.replace("B | A", "B | Z"), "undeclared variables \\['Z'\\]"),
    ("dsc", DSC + "probability ( A ) { 0.5, 0.5; }", "variable 'A' has a second table"),
    ("dsc", DSC + "node A { type : discrete [ 1 ] = { n }; }", "variable 'A' is declared twice"),
]


@pytest.mark.parametrize(("suffix", "content", "words"), BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_network_is_refused(suffix, content, words, tmp_path):
    path = written(tmp_path, f"j.{suffix}", content)
    with pytest.raises(ValueError, match=words) as caught:
        ce.as_network(path)
    assert f"j.{suffix}" in str(caught.value)
    with pytest.raises(ValueError, match=r"row 1 \(index 1\): .*j\."):
        ce.network_column([NETWORK, path])


def of_many_parents(suffix: str, n: int) -> str:
    """Write a network whose last node has n parents of one state each."""
    names = [f"P{i}" for i in range(n)]
    if suffix == "bif":
        parts = [
            f"variable {name} {{ type discrete [ 1 ] {{ a }}; }} probability ( {name} ) {{ table 1; }}"
            for name in names
        ]
        last = f"probability ( X | {', '.join(names)} ) {{ table .5, .5; }}"
        return "\n".join([*parts, "variable X { type discrete [ 2 ] { a, b }; }", last])
    parts = [f"node {name} {{ states = (a); }} potential ({name}) {{ data = (1); }}" for name in names]
    nested = f"{'(' * (n + 1)}.5 .5{')' * (n + 1)}"
    return "\n".join(
        [*parts, "node X { states = (a b); }", f"potential (X | {' '.join(names)}) {{ data = {nested}; }}"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["bif", "net"])
def test_tables_with_too_many_axes_are_refused(suffix, tmp_path):
    found = ce.as_network(written(tmp_path, f"j.{suffix}", of_many_parents(suffix, 30)))
    assert found.n_arcs == 30
    for n in (31, 70, 1500):
        path = written(tmp_path, f"j.{suffix}", of_many_parents(suffix, n))
        with pytest.raises(ValueError, match=f"line {n + 2}: node 'X' has {n} parents; at most 30 are supported"):
            ce.as_network(path)


def test_entities_are_refused_in_every_encoding(tmp_path):
    levels = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))
    bomb = f'<?xml version="1.0" encoding="%s"?><!DOCTYPE BIF [<!ENTITY e0 "lol">{levels}]><BIF>&e9;</BIF>'
    outside = (
        '<?xml version="1.0" encoding="%s"?><!DOCTYPE BIF [<!ENTITY x SYSTEM "file:///etc/hostname">]><BIF>&x;</BIF>'
    )
    for text in (bomb, outside):
        for encoding in ("utf-8", "utf-16"):
            path = written(tmp_path, "j.xml", (text % encoding).encode(encoding))
            with pytest.raises(ValueError, match="declares XML entities"):
                ce.as_network(path)


def test_a_declared_encoding_is_read(tmp_path):
    text = XML.replace("utf-8", "iso-8859-1").replace("<OUTCOME>hi<", "<OUTCOME>größte<")
    found = ce.as_network(written(tmp_path, "j.xml", text.encode("latin-1")))
    assert found.states["C"] == ("größte", "lo", "mid")


def test_names_with_spaces_defaults_and_the_older_form(tmp_path):
    text = """network "a b" { }
    variable "dog out" { type discrete [2] { "yes" "no" }; }
    variable low age { type discrete [ 2 ] { below 40, 40 to 50 }; }
    probability ( "dog out" ) { table 0.25 0.75; }
    probability ( low age | dog out ) { default 0.5 0.5; (no) 0.1 0.9; }"""
    found = ce.as_network(written(tmp_path, "j.bif", text))
    assert found.table("low age").loc["no"].to_dict() == {"40 to 50": 0.9, "below 40": 0.1}
    assert found.table("low age").loc["yes"].tolist() == [0.5, 0.5]
    older = BIF.replace("( B | A ) {\n    ( n ) 0.9, 0.1;\n    ( y ) 0.2, 0.8;", '( "B" "A" ) { table 0.9 0.2 0.1 0.8;')
    assert close(ce.as_network(written(tmp_path, "j.bif", older)), NETWORK)


def test_a_few_bytes_ask_for_no_large_table(tmp_path):
    names = [f"v{i}" for i in range(26)]
    text = "".join(f"variable {name} {{ type discrete [ 2 ] {{ n, y }}; }}\n" for name in ["x", *names])
    text += "".join(f"probability ( {name} ) {{ table 0.5 0.5; }}\n" for name in names)
    for k, words in ((25, "has 0 rows, expected 33554432"), (26, "entries; at most")):
        path = written(tmp_path, "j.bif", text + f"probability ( x | {', '.join(names[:k])} ) {{ default 0.5 0.5; }}")
        with pytest.raises(ValueError, match=words):
            ce.as_network(path)


def test_rows_are_normalised(tmp_path):
    text = """variable X { type discrete [ 4 ] { s0, s2, s3, s1 }; }
    probability ( X ) { table 0.17473118, 0.04569892, 0.42741935, 0.35215054; }"""
    found = ce.as_network(written(tmp_path, "j.bif", text))
    assert abs(found.parameters.sum() - 1) < 1e-15 and found.parameters[0] == pytest.approx(0.17473118, abs=1e-8)
    rounded = ce.as_network({"X": {"parents": [], "prob": [0.3333, 0.3333, 0.3333]}})
    assert rounded.parameters.tolist() == [1 / 3] * 3


def chain(suffix: str, n: int) -> str:
    """Return a chain of n variables."""
    names = [f"v{i}" for i in range(n)]
    pairs = list(zip(names[1:], names, strict=False))
    if suffix == "bif":
        text = "".join(f"variable {v} {{ type discrete [ 2 ] {{ n, y }}; }}\n" for v in names)
        text += "probability ( v0 ) { table 0.5 0.5; }\n"
        return text + "".join(f"probability ( {v} | {p} ) {{ (n) 0.5 0.5; (y) 0.1 0.9; }}\n" for v, p in pairs)
    if suffix == "net":
        text = "net { }\n" + "".join(f"node {v} {{ states = (n y); }}\n" for v in names)
        text += "potential (v0) { data = (0.5 0.5); }\n"
        return text + "".join(f"potential ({v} | {p}) {{ data = ((0.5 0.5) (0.1 0.9)); }}\n" for v, p in pairs)
    if suffix == "dsc":
        text = "".join(f"node {v} {{ type : discrete [ 2 ] = {{ n, y }}; }}\n" for v in names)
        text += "probability ( v0 ) { 0.5, 0.5; }\n"
        return text + "".join(f"probability ( {v} | {p} ) {{ (0): 0.5, 0.5; (1): 0.1, 0.9; }}\n" for v, p in pairs)
    text = "".join(f"<VARIABLE><NAME>{v}</NAME><OUTCOME>n</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>\n" for v in names)
    text += "<DEFINITION><FOR>v0</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>\n"
    text += "".join(
        f"<DEFINITION><FOR>{v}</FOR><GIVEN>{p}</GIVEN><TABLE>0.5 0.5 0.1 0.9</TABLE></DEFINITION>\n" for v, p in pairs
    )
    return f"<BIF><NETWORK><NAME>chain</NAME>{text}</NETWORK></BIF>"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", TEXTS)
def test_files_are_read_in_linear_time(suffix, tmp_path):
    times = []
    for n in (250, 2000):
        path = written(tmp_path, f"{n}.{suffix}", chain(suffix, n))
        spent = []
        for _ in range(3):
            start = time.process_time()
            ce.as_network(path)
            spent.append(time.process_time() - start)
        times.append(min(spent))
    assert times[1] < 24 * times[0] + 0.05


@pytest.mark.parametrize("text", ["// " * 2, "/* ", '"', "x ", "{", "(", "%", "variable a ", "\n"])
@pytest.mark.parametrize("suffix", ["bif", "net", "dsc"])
def test_junk_is_refused_in_linear_time(suffix, text, tmp_path):
    times = []
    for n in (20_000, 160_000):
        path = written(tmp_path, f"j.{suffix}", text * n)
        start = time.process_time()
        with pytest.raises(ValueError, match="j."):
            ce.as_network(path)
        times.append(time.process_time() - start)
    assert times[1] < 24 * times[0] + 0.1


@pytest.mark.slow
def test_files_are_read_without_the_packages_that_write_them(tmp_path):
    path = written(tmp_path, "j.bif", BIF)
    code = f"import sys, causaleval_pd as ce; ce.as_network({str(path)!r}); sys.exit('pgmpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
