"""Made-up names of people, genes and codes, so that no answer can be known from elsewhere."""

from __future__ import annotations

from itertools import product

import numpy as np

_ONSETS = ("B", "D", "F", "G", "H", "J", "K", "L", "M", "N", "P", "R", "S", "T", "V", "Z", "Dr", "Kl", "Pr", "St")
_MIDDLES = ("al", "em", "ir", "on", "ud", "ael", "in", "or", "et", "um")
_ENDINGS = ("a", "o", "i", "as", "en", "is", "u", "ek")

# without letters and digits that look alike
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_DIGITS = "23456789"


def people(n: int, rng: np.random.Generator) -> list[str]:
    """Draw different made-up names of people, as in Dralek or Nuda.

    Parameters
    ----------
    n : int
        How many.
    rng : Generator
        Source of randomness.

    Returns
    -------
    list of str
        Names of two syllables while these last, then numbered ones.
    """
    return _drawn(["".join(parts) for parts in product(_ONSETS, _MIDDLES, _ENDINGS)], n, rng)


def genes(n: int, rng: np.random.Generator) -> list[str]:
    """Draw different made-up gene symbols, as in Vor7 or Kin2."""
    return _drawn([f"{a}{b}{digit}" for a, b, digit in product(_ONSETS, _MIDDLES, _DIGITS)], n, rng)


def codes(n: int, rng: np.random.Generator) -> list[str]:
    """Draw different codes of letter, digit, letter, digit, as in K3T8."""
    return _drawn(["".join(parts) for parts in product(_LETTERS, _DIGITS, _LETTERS, _DIGITS)], n, rng)


def _drawn(pool: list[str], n: int, rng: np.random.Generator) -> list[str]:
    rounds = -(-n // len(pool))
    names = pool + [f"{name} {i}" for i in range(2, rounds + 1) for name in pool]
    return [names[i] for i in rng.choice(len(names), n, replace=False)]
