"""Random numbers: one seed per call, one stream per row, whatever the engine or the order of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import shown

RNGLike = int | np.integer | np.random.Generator | None


def resolve_seed(rng: RNGLike) -> int:
    """Turn `rng=` (None, an integer or a Generator) into the seed that results carry, in [0, 2**63)."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63 - 1))
    if rng is None:
        return int(np.random.default_rng().integers(2**63 - 1))
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool):
        if not 0 <= int(rng) < 2**63:
            raise ValueError(f"rng must be an integer from 0 to 2**63 - 1, found {rng}")
        return int(rng)
    raise TypeError(f"rng must be None, an integer or a numpy Generator, found {type(rng).__name__}")


def row_keys(table: pd.DataFrame, key: Hashable | Sequence[Hashable] | None, seed: int) -> NDArray[np.uint64]:
    """Name each row's random stream by (seed, key), the key being its index label or the columns `key`.

    Numbers are hashed by value (1, 1.0 and True agree), so the stream of a row does not depend on its place in the
    table, on chunks or on dtypes. Repeated keys are an error: two rows would share their draws.
    """
    parts = key_columns(table, key)
    keys = hash_rows(parts, seed)  # refuses values without a hash
    refuse_repeats(parts, key)
    return keys


def refuse_repeats(parts: Sequence[pd.Series], key: Hashable | Sequence[Hashable] | None) -> None:
    """Refuse keys that repeat; the message names the rows of the first key that does, and counts such keys."""
    # `duplicated` reads integers of Arrow beside a missing one as floats
    columns = [pd.factorize(p.array)[0] if isinstance(p.dtype, pd.ArrowDtype) else p.array for p in parts]
    keys = pd.DataFrame(dict(enumerate(columns)))
    repeated = keys.duplicated(keep=False).to_numpy()
    if not repeated.any():
        return
    # missing values are equal to one another
    number = keys[repeated].groupby(list(keys.columns), sort=False, dropna=False, observed=True).ngroup().to_numpy()
    rows = np.flatnonzero(repeated)[number == 0]
    first = [shown(p.iloc[rows[0]]) for p in parts]
    share = first[0] if len(first) == 1 else f"({', '.join(first)})"
    named = f"{rows[:5].tolist()}{f' and {len(rows) - 5} more' if len(rows) > 5 else ''}"
    n_others = int(number.max())
    others = f", and {n_others} more {'key repeats' if n_others == 1 else 'keys repeat'}" if n_others else ""
    what = "the index labels" if key is None else f"columns {[key] if isinstance(key, Hashable) else list(key)}"
    raise ValueError(
        f"{what} repeat: rows {named} share the key {share}{others}, "
        "so their random draws would be the same; name columns that tell rows apart by key=, or reset the index"
    )


def hash_rows(parts: Sequence[pd.Series], seed: int = 0) -> NDArray[np.uint64]:
    """Return one number per row, equal where all parts are equal by value."""
    state = np.full(len(parts[0]), seed, np.uint64)
    for part in parts:
        state = _mix(state ^ _mix(_hash_values(part)))
    return state


def key_columns(table: pd.DataFrame, key: Hashable | Sequence[Hashable] | None) -> list[pd.Series]:
    """Return the columns, or the index levels where `key` is None, that name a row."""
    if key is None:
        frame = table.index.to_frame(index=False)
        return [frame.iloc[:, i] for i in range(frame.shape[1])]
    known = {*table.columns, *table.index.names} - {None}
    one = isinstance(key, Hashable) and key in known
    names = [key] if one or isinstance(key, str) or not isinstance(key, Sequence) else list(key)
    missing = [name for name in names if not isinstance(name, Hashable) or name not in known]
    if missing:
        raise ValueError(f"key names columns that the table lacks: {missing}; its columns: {list(table.columns)}")
    if not names:
        raise ValueError("key names no column; leave it out to use the index")
    return [
        cast(
            pd.Series,
            table[name] if name in table.columns else table.index.get_level_values(cast(str, name)).to_series(),
        )
        for name in names
    ]


def _hash_values(values: pd.Series) -> NDArray[np.uint64]:
    """Hash each value to 64 bits: numbers by value, integers beyond 64 bits and everything else by its text."""
    if pd.api.types.is_bool_dtype(values.dtype) or pd.api.types.is_integer_dtype(values.dtype):
        # not by way of floats, which hold only every second integer beyond 2**53
        hashed, here = np.repeat(_hash_values(pd.Series([np.nan])), len(values)), values.notna().to_numpy()
        hashed[here] = _mix(values[here].astype("int64").to_numpy().astype(np.uint64))
        return hashed
    if isinstance(values.dtype, np.dtype) and values.dtype.kind == "f":
        numbers = values.to_numpy(np.float64)
        whole = np.isfinite(numbers) & (np.floor(numbers) == numbers) & (np.abs(numbers) < 2.0**63)
        as_integer = np.where(whole, numbers, 0.0).astype(np.int64).astype(np.uint64)
        as_bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
        return np.where(whole, _mix(as_integer), _mix(as_bits ^ np.uint64(0xF10A7)))
    try:
        codes, uniques = pd.factorize(values, use_na_sentinel=False)
    except TypeError:
        # a tuple may hold a list
        kind = next((type(value).__name__ for value in values if not isinstance(value, Hashable)), "tuple")
        raise TypeError(
            f"column {values.name!r} holds values of type {kind}, which name no rows; make them texts"
        ) from None
    hashed = np.array([_hash_one(value) for value in uniques], np.uint64)
    return np.asarray(hashed[codes], np.uint64) if len(values) else np.empty(0, np.uint64)


def _hash_one(value: Any) -> int:
    if isinstance(value, int):
        by_value = -(2**63) <= value < 2**64
    else:
        by_value = isinstance(value, (float, np.bool_, np.integer, np.floating)) and not np.isnan(value)
    if by_value:
        return int(_hash_values(pd.Series([value]))[0])
    if isinstance(value, str):
        text = f"text:{value}"
    else:
        text = "missing" if pd.api.types.is_scalar(value) and pd.isna(value) else f"{type(value).__name__}:{value}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words by the finaliser of splitmix64 (doi:10.1145/2660193.2660195)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uniforms(keys: NDArray[np.uint64], start: int, count: int) -> NDArray[np.float64]:
    """Return one number in [0, 1) for each stream and each draw start .. start + count - 1, as (n, count)."""
    return np.asarray((random_words(keys, start, count) >> np.uint64(11)) * 2.0**-53, np.float64)


def random_words(keys: NDArray[np.uint64], start: int, count: int) -> NDArray[np.uint64]:
    """Return 64 random bits for each stream and each draw start .. start + count - 1, as (n, count)."""
    draws = _mix(np.arange(start, start + count, dtype=np.uint64) ^ np.uint64(0xA5A5A5A5A5A5A5A5))
    return _mix(keys[:, None] ^ draws[None, :])
