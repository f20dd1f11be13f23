"""Numbers with their nouns."""

import pytest

from causaleval_pd.contract.words import counted


@pytest.mark.parametrize(("n", "text"), [(0, "0 runs"), (1, "1 run"), (10_000, "10,000 runs")])
def test_numbers_have_their_noun(n, text):
    assert counted(n, "run") == text
