"""Printed output of cna and QCA, also of broken layouts; and writers, whose texts are read back."""

import itertools

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.configurational import fit_by_atom, parse, random_models, read_printout, write_models
from causaleval_pd.configurational import parse as parse_text
from causaleval_pd.fields.configurational.reader import parse_set

EDUCATION = """> cna(d.educate)
--- Coincidence Analysis (CNA) ---

Factors: U, D, L, G, E

Minimally sufficient conditions:
--------------------------------
Outcome D:
  condition consistency coverage
 L*u   -> D       1.000    0.500
 E*g*u -> D       1.000    0.250

Atomic solution formulas:
-------------------------
Outcome E:
       condition consistency coverage
 D + G + U <-> E       1.000    1.000
 G + L     <-> E       1.000    1.000

Outcome L:
   condition consistency coverage
 D + U <-> L       1.000    1.000

Complex solution formulas:
--------------------------
                           condition consistency coverage
 (D + G + U <-> E)  *  (D + U <-> L)       1.000    1.000
     (G + L <-> E)  *  (D + U <-> L)       1.000    1.000
"""

RELEASE_3 = """Atomic solution formulas:
-------------------------
Outcome W:
solution                     consistency coverage complexity  inus
A*C + a*f*r + F*R + l*R <-> W       1.000    0.917          9  TRUE
A*C + a*l + F*R <-> W               1.000    0.917          6 FALSE
 ... (total no. of formulas: 12)

Complex solution formulas:
--------------------------
Same as asf
"""

RELEASE_4 = """--- Coincidence Analysis (CNA) ---

Factors: A, B, C
Outcome: C=2

Atomic solution formulas:
-------------------------
Outcome C=2:
solution               con   cov complexity
A=1*B=0 + A=2 <-> C=2 0.8   0.75          3
"""

TABLE = """  outcome condition                      consistency coverage complexity exhaustiveness
1 E,L     (G + L <-> E)*(D + U <-> L)          1.000    1.000          4              1
2 L       D + U <-> L                          1.000    1.000          2             NA
"""

DETAILS = """
      M1: S*R + (L*P) -> JSR
      M2: S*R + (P*~V) -> JSR

                                    -------------------
               inclS   PRI   covS   covU   (M1)   (M2)
      -------------------------------------------------
      1   S*R  0.871  0.821  0.610  0.231  0.256  0.335
      -------------------------------------------------
      2   L*P  0.979  0.955  0.506  0.014  0.152
      3  P*~V  0.950  0.883  0.417  0.004         0.142
      -------------------------------------------------
           M1  0.883  0.821  0.762
           M2  0.874  0.813  0.752
"""

WRAPPED = """
From C1P1:

M1:    FED[0]*FIN[1]*HIS[1] + FED[2]*URB[0]*GER[1] +
       FIN[1]*GER[1]*HIS[1] -> ACC[1]

From C2P1:

M1:    FED[0]*FIN[1] <-> ACC[1]
"""


def test_every_section_of_an_early_release():
    table = read_printout(EDUCATION)
    assert table["section"].tolist() == ["msc"] * 2 + ["asf"] * 3 + ["csf"] * 2
    assert table["outcome"].tolist() == ["D", "D", "E", "E", "L", "E,L", "E,L"]
    assert table["model"].tolist()[0] == "L*u=>D"
    assert table.loc[1, ["consistency", "coverage"]].tolist() == [1, 0.25]
    solutions = table[table["section"] != "msc"]
    published = ce.datasets.education_models()
    assert sorted(solutions["model"]) == sorted(str(ce.configurational.parse(m)) for m in published["model"])
    for row in table.itertuples():
        fit = fit_by_atom(row.model.replace("=>", "<->"), ce.datasets.education())
        assert fit[["consistency", "coverage"]].min().round(3).tolist() == [row.consistency, row.coverage]


def test_later_releases_print_complexity_and_cut_tables():
    table = read_printout(RELEASE_3)
    assert table["section"].tolist() == ["asf", "asf", "csf", "csf"]
    assert table["complexity"].tolist() == [9, 6, 9, 6]
    assert table["coverage"].eq(0.917).all()
    assert table.attrs["n_unprinted"] == 10


def test_release_four_and_values():
    [row] = read_printout(RELEASE_4).to_dict("records")
    assert row.pop("model") == "A=1*B=0+A=2<->C=2"
    assert row == {"section": "asf", "outcome": "C=2", "consistency": 0.8, "coverage": 0.75, "complexity": 3}


def test_tables_with_row_numbers_and_outcomes():
    table = read_printout(TABLE)
    assert table["model"].tolist() == ["(G+L<->E)*(D+U<->L)", "D+U<->L"]
    assert table["section"].isna().all()


def test_qca_with_details():
    table = read_printout(DETAILS)
    assert table["model"].tolist() == ["L*P+R*S=>JSR", "P*v+R*S=>JSR"]
    assert table[["consistency", "coverage"]].to_numpy().tolist() == [[0.883, 0.762], [0.874, 0.752]]


def test_qca_breaks_lines_and_numbers_solutions_anew():
    table = read_printout(WRAPPED)
    assert table["complexity"].tolist() == [9, 2]
    assert table["consistency"].isna().all()


def test_models_go_into_a_table_of_estimates():
    read = read_printout(EDUCATION).query("section == 'csf'")
    runs = pd.DataFrame({"truth": "(G+L<->E)*(D+U<->L)", "estimate": read["model"]})
    assert runs.ceval.evaluate(["correctness"])["correctness"].tolist()[1] == 1


@pytest.mark.parametrize(
    "text",
    [
        "Atomic solution formulas:\n-------------------------\n*none*\n",
        "\nError: None of the values in OUT is explained. Please check the truth table.\n\n",
        "#> Error: There are no solutions, given these constraints.\n",
    ],
)
def test_no_solution_is_an_empty_table(text):
    """Of cna, and of QCA, which stops with an error."""
    assert read_printout(text).empty


LOWER = """
M1: fs*pt + ec <-> iri
M2: ~fs*pt + ec{1} <-> ~iri

           inclS   PRI   covS
      ------------------------
       M1  1.000  1.000  1.000
       M2  0.900  0.800  0.700
"""
UPPER = LOWER.replace("fs", "FS").replace("pt", "PT").replace("ec", "EC").replace("iri", "IRI")


@pytest.mark.parametrize("unknown", ["NaN", "-", "NA", "-0.25", "1e-05"])
def test_one_value_that_is_no_number_leaves_the_others(unknown):
    header = "\n\n       inclS   PRI   covS   covU\n-----\n"
    for cells, expected in ((["1.000", unknown, "0.8"], (1.0, 0.8)), (["1.", unknown, ".5", unknown], (1.0, 0.5))):
        table = read_printout("M1: A*~B -> Y" + header + " M1 " + "  ".join(cells))
        assert table[["consistency", "coverage"]].values.tolist() == [list(expected)]
    if unknown in ("NaN", "-", "NA"):
        table = read_printout(f"M1: A*~B -> Y{header} M1  {unknown} 0.5  0.8")
        assert table["consistency"].isna().all() and table["coverage"].tolist() == [0.8]


def test_names_in_lower_case_are_refused_until_their_reading_is_named():
    refused = r"line \d: all names are in lower case, so 'fs' .*lower='name'.*lower='absent'"
    for text in (LOWER, LOWER.replace("~", ""), "M1: fs*pt + ec <-> iri", "M1: fs -> iri\n\nM1: pt -> iri"):
        with pytest.raises(ValueError, match=refused):
            read_printout(text)
    named = read_printout(LOWER, lower="name")
    pd.testing.assert_frame_equal(named, read_printout(UPPER))
    assert named["model"].tolist() == ["EC+FS*PT<->IRI", "EC+fs*PT<->iri"]
    assert named[["consistency", "coverage"]].to_numpy().tolist() == [[1, 1], [0.9, 0.7]]
    assert read_printout("M1: fs*pt + ec <-> iri", lower="absent")["model"].tolist() == ["ec+fs*pt<->iri"]


def test_the_reading_has_the_printed_fit():
    rows = list(itertools.product((0, 1), repeat=3))
    data = pd.DataFrame([(fs, pt, ec, (fs & pt) | ec) for fs, pt, ec in rows], columns=["fs", "pt", "ec", "iri"])
    for lower, fits in (("name", True), ("absent", False)):
        model = read_printout("M1: fs*pt + ec <-> iri", lower=lower)["model"].iloc[0]
        fit = fit_by_atom(model, data)[["consistency", "coverage"]].min()
        assert (fit == 1).all() == fits


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("M1: ~ER*It*W + ER*It*L -> O", "ER*IT*L+er*IT*W=>O"),
        ("M1: fINST*fGINI -> fEROSION", "FGINI*FINST=>FEROSION"),
        ("M1: a.b_1*~c2 + d -> y", "A.B_1*c2+D=>Y"),
        ("M1: \u00e9tat*~b -> y", "b*\u00c9TAT=>Y"),
        ("M1: fed[0]*fin[1] + ~x -> acc[1]", "FED=0*FIN=1+x=0=>ACC=1"),
    ],
)
def test_names_are_as_printed_where_tilde_negates(text, model):
    assert parse_text(read_printout(text, lower="name")["model"].iloc[0]) == parse_text(model)


@pytest.mark.parametrize("text", ["M1: A*b -> y", "M1: a*b -> Y", "M1: a{1}*b{0} -> y{1}", "M1: ~A*B -> Y"])
def test_names_in_both_cases_or_with_values_have_one_reading(text):
    assert len(read_printout(text)) == 1
    assert read_printout(text, lower="absent")["model"].tolist() == read_printout(text)["model"].tolist()


@pytest.mark.parametrize(
    ("text", "cna", "qca"),
    [
        ("C+A*b<->D", ["A*b+C<->D"], ["A*~B + C <-> D"]),
        ("a<->b; ~A*C<->b", ["a*C<->b", "a<->b"], ["~A*C <-> ~B", "~A <-> ~B"]),
        ("A=2*B=0<->Y=1", ["A=2*B=0<->Y=1"], ["A[2]*B[0] <-> Y[1]"]),
        ("{}", [], []),
    ],
)
def test_what_is_written(text, cna, qca):
    assert write_models(text) == cna
    assert write_models(text, "qca") == qca
    for written in (cna, qca):
        assert parse_set("; ".join(written) or "{}") == parse_set(text)


@pytest.mark.parametrize("notation", ["cna", "qca"])
def test_random_models_are_read_back(notation):
    for text in random_models(20, 6, domains={"A": [0, 1, 2]}, rng=2):
        [written] = write_models(text, notation)
        assert parse(written) == parse(text)


def test_one_sided_arrows_belong_to_qca():
    assert write_models("A+B => C", "qca") == ["A + B -> C"]
    assert write_models("A+B <= C", "qca") == ["A + B <- C"]
    assert write_models("(A<->B)*(B<->C)") == ["(A<->B)*(B<->C)"]
    with pytest.raises(ValueError, match=r"cna writes solutions as equivalences, and A=>B has other arrows"):
        write_models("A=>B")
    with pytest.raises(ValueError, match="QCA writes one outcome per model, and .* has 2"):
        write_models("(A<->B)*(B<->C)", "qca")
    with pytest.raises(ValueError, match="unknown notation 'fsqca'"):
        write_models("A<->B", "fsqca")


@pytest.mark.parametrize(
    ("line", "model"),
    [
        ("M1: ~N + A*C + (~A*B + B*C) -> P", "a*B+A*C+B*C+n=>P"),
        ("M1: A + (B + C) <-> Y", "A+B+C<->Y"),
        ("M1: A*B + (C) <-> Y", "A*B+C<->Y"),
    ],
)
@pytest.mark.parametrize("mark", ["", "# ", "## ", "#> "])
def test_ties_of_qca_and_marks_of_comments(line, model, mark):
    assert read_printout(f"{mark}{line}\n{mark}\n")["model"].tolist() == [model]


def test_marks_of_comments_before_a_table_of_cna():
    lines = [
        "Atomic solution formulas:",
        "Outcome E:",
        " condition consistency coverage",
        "  D + G <-> E  1.000  0.500",
    ]
    found = read_printout("\n".join(f"## {line}" for line in lines))
    assert found[["model", "coverage"]].to_numpy().tolist() == [["D+G<->E", 0.5]]


HEAD = "condition consistency coverage\n"


@pytest.mark.parametrize(
    ("text", "lower", "message"),
    [
        ("", None, "no models found"),
        ("condition\n A <-> B\n", None, "line 1: the table has no consistency"),
        (" A + C <-> B   1.000  0.5", None, "line 1: a formula without the header"),
        (f"{HEAD} A + C <-> B   1.000", None, "line 2: expected a formula and 2 values"),
        (f"{HEAD} A + + C <-> B   1.000 1", None, "line 2: expected a literal"),
        ("solution con cov complexity\n A + C <-> B   1.000 1  3", None, "line 2: .* has complexity 2, printed is 3"),
        ("M1: A*B + C", None, "line 1: expected"),
        ([EDUCATION], None, "printed output as text, found list"),
        (" " * 2_000_001, None, "at most 2000000 characters"),
        ("M1: It*W -> O", None, r"line 1: 'It' is neither upper .* pass lower='name'"),
        ("M1: a*A -> y", "name", "line 1: the names 'A' and 'a' differ in case only|the names 'a' and 'A' differ"),
        ("M1: ~a*b -> y", "absent", "~a negates twice"),
        ("M1: dev.a*~lit.b + STB -> SURV", None, "~lit.b negates twice"),
        ("M1: dev*~lit + stb -> SURV", None, "~lit negates twice if lower case means absent; pass lower='name'"),
        ("M1: a -> y", "lower", "lower must be 'name' or 'absent', found 'lower'"),
        (EDUCATION, "name", "lower= reads the output of QCA"), ("M1: stra\u00dfe -> y", "name", "do not correspond"),
        ("  model score tokens\n1 A+B<->C 2 3\n", None, "line 1: found the table of frscore.., which has no cons"),
        ("M1: A[1] <-> ~E[3]\n", None, "~ applies to values 0 and 1, found E=3.*; recode E to 1 where it is 3 and 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(text, lower, message):
    with pytest.raises((ValueError, TypeError), match=message):
        read_printout(text, lower=lower)
