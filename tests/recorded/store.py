"""How results are written down, kept in a file, and compared.

Counts, labels, texts, packed cells and whole numbers have to be equal. Other floats have to agree to `RTOL`: the last
bits of a sum, of a product of matrices and of a function such as `exp` depend on the processor, because NumPy and LLVM
choose the width of their vectors and fused operations by what it can do. A p-value that counts draws moves by far more
than that if one draw is counted otherwise.
"""

import gzip
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

#: functions without arguments, by name of the record
RECORDS: dict[str, Callable[[], Any]] = {}
#: arrays of more values than this are kept as sums, and a hash if their values are whole numbers
MOST_VALUES = 64
#: attributes that name no result
SKIPPED = re.compile(r"version|path|time|date|history")
RTOL = 1e-9
#: what is left of numbers that cancel may differ by this; of p-values nothing cancels
ATOL = 1e-12
P_VALUES = re.compile(r"(\b|_)p(_value|_adjusted)?\]$")


def add(name: str, function: Callable[..., Any], *arguments: Any, **settings: Any) -> None:
    """Register a record; a name stands for one function."""
    known = RECORDS.get(name)
    if known is not None and known.func.__qualname__ != function.__qualname__:  # type: ignore[attr-defined]
        raise ValueError(f"two records are called {name!r}")
    RECORDS[name] = partial(function, *arguments, **settings)


def record(name: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register the decorated function."""

    def register(function: Callable[[], Any]) -> Callable[[], Any]:
        add(name, function)
        return function

    return register


def compute(name: str) -> dict[str, Any]:
    """Run a record's function and write its result down."""
    return dict(write(RECORDS[name](), ""))


def write(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield (path, entry) for the parts of a result."""
    if isinstance(value, pd.DataFrame):
        yield f"{path}[columns]", [str(x) for x in value.columns]
        yield from write(value.index, f"{path}[index]")
        for column in value.columns:
            yield from write(value[column].array, f"{path}[{column}]")
    elif isinstance(value, pd.Series):
        yield from write(value.index, f"{path}[index]")
        yield from write(value.array, path)
    elif isinstance(value, pd.MultiIndex):
        yield from write(value.to_frame(index=False), path)
    elif isinstance(value, pd.Index):
        yield f"{path}.name", _scalar(value.name)
        yield from write(value.array, path)
    elif isinstance(value, pd.Categorical):
        yield f"{path}.categories", [_scalar(x) for x in value.categories]
        yield path, _array(np.asarray(value.codes), f"category, ordered={value.ordered}")
    elif isinstance(value, pd.api.extensions.ExtensionArray):
        yield path, _array(value.to_numpy(object), str(value.dtype))
    elif isinstance(value, (xr.Dataset, xr.DataArray)):
        yield from _write_cube(value, path)
    elif isinstance(value, np.ndarray):
        yield path, _array(value, str(value.dtype))
    elif isinstance(value, Mapping):
        yield f"{path}.keys", [str(x) for x in value]
        for key, part in value.items():
            yield from write(part, f"{path}/{key}")
    elif isinstance(value, (list, tuple)):
        if all(_is_scalar(x) for x in value):
            yield path, _array(_objects(value), type(value).__name__)
        else:
            yield f"{path}.length", len(value)
            for i, part in enumerate(value):
                yield from write(part, f"{path}/{i}")
    else:
        yield path, _scalar(value)


def _write_cube(value: xr.Dataset | xr.DataArray, path: str) -> Iterator[tuple[str, Any]]:
    yield f"{path}.attrs", _attrs(value.attrs)
    parts = value.variables if isinstance(value, xr.Dataset) else {"values": value.variable, **value.coords}
    for name in sorted(parts, key=str):
        variable = parts[name]
        yield f"{path}[{name}].dims", [str(x) for x in variable.dims]
        yield f"{path}[{name}].attrs", _attrs(variable.attrs)
        yield from write(np.asarray(variable.values), f"{path}[{name}]")


def _attrs(attrs: Mapping[Any, Any]) -> dict[str, Any]:
    kept = {str(k): v for k, v in attrs.items() if not SKIPPED.search(str(k))}
    return {
        k: [_scalar(x) for x in v] if isinstance(v, (list, tuple, np.ndarray)) else _scalar(v) for k, v in kept.items()
    }


def _is_scalar(value: Any) -> bool:
    return value is None or value is pd.NA or isinstance(value, (bool, int, float, str, bytes, np.generic))


def _objects(values: Any) -> np.ndarray:
    found = np.empty(len(values), object)
    found[:] = list(values)
    return found


def _scalar(value: Any) -> Any:
    """Return a value that JSON holds; floats become exact text in a list of their own."""
    if value is None or value is pd.NA:
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return {"float": float(value).hex()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return {"sha256": hashlib.sha256(value).hexdigest()[:32]}
    if isinstance(value, (tuple, list)):
        return [_scalar(x) for x in value]
    raise TypeError(f"a record holds a {type(value).__name__}; make numbers, text or arrays of it")


def _array(values: np.ndarray, dtype: str) -> dict[str, Any]:
    """Write an array down: its values, or of a large one hash and sums."""
    shape, flat = list(values.shape), values.ravel()
    entry: dict[str, Any] = {"dtype": dtype, "shape": shape}
    if flat.dtype.kind == "O":
        missing = np.array([x is None or x is pd.NA for x in flat], bool)
        known = flat[~missing]
        if len(known) and all(isinstance(x, (float, np.floating)) for x in known):
            entry["missing"] = int(missing.sum())
            flat = np.where(missing, np.nan, flat).astype(float)
    if flat.dtype.kind == "f":
        numbers = np.where(np.isnan(flat), np.nan, flat)
        if len(flat) <= MOST_VALUES:
            return entry | {"floats": [x.hex() for x in numbers.astype(float).tolist()]}
        return entry | _sums(numbers.astype(float))
    written = [_scalar(x) for x in flat.tolist()]
    if len(written) <= MOST_VALUES and not any(isinstance(x, dict) and "sha256" in x for x in written):
        return entry | {"values": written}
    text = json.dumps(written, sort_keys=True).encode()
    total = sum(int(x) for x in flat.tolist()) if flat.dtype.kind in "iub" else None
    return entry | {"total": total, "first": written[:2], "sha256": hashlib.sha256(text).hexdigest()[:32]}


def _sums(numbers: np.ndarray) -> dict[str, Any]:
    """Return sums of a large array, none of which cancels, one weighted by place, and a hash of whole numbers."""
    finite = np.isfinite(numbers)
    values = np.where(finite, numbers, 0.0)
    place = np.arange(1, len(values) + 1) / len(values)
    parts = {"positive": np.maximum(values, 0), "negative": np.maximum(-values, 0), "squares": values**2}
    parts["placed"] = place * np.abs(values)
    sums: dict[str, Any] = {"finite": int(finite.sum())} | {key: math.fsum(x).hex() for key, x in parts.items()}
    if np.array_equal(values, np.rint(values)):
        sums["sha256"] = hashlib.sha256((numbers + 0.0).tobytes()).hexdigest()[:32]
    return sums


def load(path: Path) -> dict[str, dict[str, Any]]:
    """Read the file of records: the parts of each result by path, by name of the record; an absent file holds none."""
    if not path.exists():
        return {}
    known = json.loads(gzip.decompress(path.read_bytes()))
    pool = known["shared"]
    return {
        name: {key: pool[part["shared"]] if _is_reference(part) else part for key, part in entries.items()}
        for name, entries in known["records"].items()
    }


def _is_reference(entry: Any) -> bool:
    return isinstance(entry, dict) and list(entry) == ["shared"]


def save(known: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Write the file of records, the same bytes for the same records; parts that recur are kept once."""
    counts = Counter(_text(part) for entries in known.values() for part in entries.values())
    pool = sorted(text for text, n in counts.items() if n > 1 and len(text) > 40)
    places = {text: {"shared": i} for i, text in enumerate(pool)}
    records = {
        name: {key: places.get(_text(part), part) for key, part in entries.items()} for name, entries in known.items()
    }
    whole = {"records": records, "shared": list(map(json.loads, pool))}
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(_text(whole).encode(), compresslevel=9, mtime=0))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def differences(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Return a line for each part of a result that differs."""
    lines = [f"{path}: is gone" for path in wanted if path not in found]
    lines += [f"{path}: is new" for path in found if path not in wanted]
    for path in wanted:
        if path in found and wanted[path] != found[path]:
            line = _difference(wanted[path], found[path], 0.0 if P_VALUES.search(path) else ATOL)
            if line:
                lines.append(f"{path or 'value'}: {line}")
    return lines


def _difference(wanted: Any, found: Any, atol: float) -> str:
    """Return where two parts differ first, and by what; empty if they agree."""
    if isinstance(wanted, dict) and isinstance(found, dict) and wanted.keys() == found.keys():
        parts = wanted.keys()
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        parts = range(len(wanted))
    elif _are_floats(wanted, found):
        old, new = float.fromhex(wanted), float.fromhex(found)
        return "" if _close(old, new, atol) else f"was {old!r}, is {new!r}"
    else:
        return f"was {wanted!r}, is {found!r}"
    for part in parts:
        line = "" if wanted[part] == found[part] else _difference(wanted[part], found[part], atol)
        if line:
            return f"{part}: {line}"
    return ""


def _are_floats(*values: Any) -> bool:
    return all(isinstance(x, str) and re.fullmatch(r"-?0x[01]\.[0-9a-f]+p[+-]\d+|-?inf|nan", x) for x in values)


def _close(old: float, new: float, atol: float) -> bool:
    if math.isfinite(old) and math.isfinite(new):
        return abs(old - new) <= RTOL * abs(old) + atol
    return old == new or (math.isnan(old) and math.isnan(new))
