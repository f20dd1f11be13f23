"""How results are written down, kept in a file, and compared."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import platform
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

#: functions without arguments, by name of the record
RECORDS: dict[str, Callable[[], Any]] = {}
#: arrays of more values than this are kept as a hash and sums
MOST_VALUES = 64
#: attributes that name no result
SKIPPED = re.compile(r"version|path|time|date|history")
RTOL = 1e-9
#: values of a metric hashed, by which verbs check a cube that was reshaped
HASHES = re.compile(r"\[\w+(?<!control)(?<!relabelled)_defined\]$")


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


def fingerprint() -> dict[str, Any]:
    """Return what the last bits of a sum may depend on."""
    from numpy._core._multiarray_umath import __cpu_features__ as features

    names = ("numpy", "scipy", "pandas", "numba", "llvmlite", "xarray", "statsmodels", "networkx")
    return {
        "packages": {name: version(name) for name in names},
        "python": ".".join(platform.python_version_tuple()[:2]),
        "machine": platform.machine(),
        "cpu": sorted(name for name, enabled in features.items() if enabled),
    }


def compute(name: str) -> dict[str, Any]:
    """Run a record's function and write its result down; warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # few draws keep records small
        warnings.filterwarnings("ignore", "no test can pass at", UserWarning)
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
        finite = numbers[np.isfinite(numbers)].astype(float).tolist()
        sums = {"sum": math.fsum(finite).hex(), "abs": math.fsum(map(abs, finite)).hex(), "finite": len(finite)}
        sums["squares"] = math.fsum(x * x for x in finite).hex()
        return entry | sums | {"float_sha256": hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()[:32]}
    written = [_scalar(x) for x in flat.tolist()]
    if len(written) <= MOST_VALUES and not any(isinstance(x, dict) and "sha256" in x for x in written):
        return entry | {"values": written}
    text = json.dumps(written, sort_keys=True).encode()
    total = sum(int(x) for x in flat.tolist()) if flat.dtype.kind in "iub" else None
    return entry | {"total": total, "first": written[:2], "sha256": hashlib.sha256(text).hexdigest()[:32]}


def load(path: Path) -> dict[str, Any]:
    """Read the file of records; an absent one holds none."""
    if not path.exists():
        return {"fingerprints": [], "records": {}}
    known = json.loads(gzip.decompress(path.read_bytes()))
    pool = known.pop("shared")
    for one in known["records"].values():
        one["entries"] = {k: pool[v["shared"]] if _is_reference(v) else v for k, v in one["entries"].items()}
    return known


def _is_reference(entry: Any) -> bool:
    return isinstance(entry, dict) and list(entry) == ["shared"]


def save(known: Mapping[str, Any], path: Path) -> None:
    """Write the file of records, the same bytes for the same records.

    Entries that recur are kept once; fingerprints that no record has are left out.
    """
    prints = {name: _text(known["fingerprints"][one["fingerprint"]]) for name, one in known["records"].items()}
    fingerprints = sorted(set(prints.values()))
    counts = Counter(_text(entry) for one in known["records"].values() for entry in one["entries"].values())
    pool = sorted(text for text, n in counts.items() if n > 1 and len(text) > 40)
    places = {text: {"shared": i} for i, text in enumerate(pool)}
    records = {
        name: {
            "entries": {key: places.get(_text(entry), entry) for key, entry in one["entries"].items()},
            "fingerprint": fingerprints.index(prints[name]),
        }
        for name, one in known["records"].items()
    }
    whole = {
        "fingerprints": list(map(json.loads, fingerprints)),
        "records": records,
        "shared": list(map(json.loads, pool)),
    }
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(_text(whole).encode(), compresslevel=9, mtime=0))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def differences(wanted: Mapping[str, Any], found: Mapping[str, Any], *, exact: bool) -> list[str]:
    """Say in what a result differs, a line a part.

    Unless `exact`, for records of another machine, floats may differ in their last digits, and so may their hashes.
    """
    lines = [f"{path}: is gone" for path in wanted if path not in found]
    lines += [f"{path}: is new" for path in found if path not in wanted]
    for path in wanted:
        if not exact and HASHES.search(path):
            if path in found and _missing(wanted[path]) != _missing(found[path]):
                lines.append(f"{path}: other values are missing")
        elif path in found and wanted[path] != found[path]:
            line = _difference(wanted[path], found[path], exact)
            if line:
                lines.append(f"{path or 'value'}: {line}")
    return lines


def _missing(entry: Mapping[str, Any]) -> Any:
    """Return which hashes are those of missing values, as far as an entry has them."""
    return [x == 0 for x in entry["values"]] if "values" in entry else entry["shape"]


def _difference(wanted: Any, found: Any, exact: bool) -> str:
    if isinstance(wanted, dict) and isinstance(found, dict) and "shape" in wanted and "shape" in found:
        for what in ("dtype", "shape", "missing"):
            if wanted.get(what) != found.get(what):
                return f"{what} was {wanted.get(what)}, is {found.get(what)}"
        if "floats" in wanted and "floats" in found:
            return _first_float(wanted["floats"], found["floats"], exact)
        if "float_sha256" in wanted and "float_sha256" in found:
            return _sums(wanted, found, exact)
        if "values" in wanted and "values" in found:
            wanted, found = wanted["values"], found["values"]
    if isinstance(wanted, dict) and isinstance(found, dict) and wanted.keys() == found.keys():
        for key in wanted:
            line = "" if wanted[key] == found[key] else _difference(wanted[key], found[key], exact)
            if line:
                return f"{key}: {line}"
        return ""
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for i, (old, new) in enumerate(zip(wanted, found, strict=True)):
            line = "" if old == new else _difference(old, new, exact)
            if line:
                return f"first at {i}: {line}"
        return ""
    if not exact and isinstance(wanted, str) and isinstance(found, str) and _both_floats(wanted, found):
        return _first_float([wanted], [found], exact)
    return f"was {wanted!r}, is {found!r}"


def _both_floats(*texts: str) -> bool:
    return all(re.fullmatch(r"-?0x[01]\.[0-9a-f]+p[+-]\d+", x) for x in texts)


def _first_float(wanted: list[str], found: list[str], exact: bool) -> str:
    for i, (old, new) in enumerate(zip(wanted, found, strict=True)):
        if old != new and (exact or not _close(float.fromhex(old), float.fromhex(new), abs(float.fromhex(old)))):
            return f"first at {i}: was {float.fromhex(old)!r}, is {float.fromhex(new)!r}"
    return ""


def _sums(wanted: Mapping[str, Any], found: Mapping[str, Any], exact: bool) -> str:
    size = float.fromhex(wanted["abs"])
    numbers = {key: (float.fromhex(wanted[key]), float.fromhex(found[key])) for key in ("sum", "abs", "squares")}
    if not exact and wanted["finite"] == found["finite"]:
        scale = {"sum": size, "abs": size, "squares": numbers["squares"][0]}
        if all(_close(old, new, scale[key]) for key, (old, new) in numbers.items()):
            return ""
    told = "; ".join(f"{key} was {old!r}, is {new!r}" for key, (old, new) in numbers.items() if old != new)
    return f"the bits differ ({told or 'sums agree'}; finite was {wanted['finite']}, is {found['finite']})"


def _close(old: float, new: float, scale: float) -> bool:
    if math.isnan(old) or math.isnan(new):
        return math.isnan(old) and math.isnan(new)
    if math.isinf(old) or math.isinf(new):
        return old == new
    return abs(old - new) <= RTOL * scale + 1e-12
