"""Writers of models: what they write is what cna and QCA read, and is read back."""

from __future__ import annotations

import pytest

from causaleval_pd.configurational import parse, random_models, write_models
from causaleval_pd.configurational.reader import parse_set


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
    with pytest.raises(ValueError, match="QCA writes one outcome a model, and .* has 2"):
        write_models("(A<->B)*(B<->C)", "qca")
    with pytest.raises(ValueError, match="unknown notation 'fsqca'"):
        write_models("A<->B", "fsqca")
