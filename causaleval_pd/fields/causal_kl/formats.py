"""Read networks of other programs: BIF files, objects of pgmpy and pyagrum, bnlearn as dicts.

BIF is the interchange format of bnlearn's repository: whole files or an error, never a part. The reader is ours, so
that probabilities have double precision: pyagrum reads them in single precision, pgmpy takes seconds for a file of
milliseconds, and neither refuses every damaged file. As cells of graph columns, networks in BIF are their graphs:
probabilities are read, and left out.
"""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import nearest, shown
from ...contract.encoding import Edges, Encoding, register_encoding
from ...graphs.files import NETWORK_READERS
from .cells import DiscreteNetwork, GaussianNetwork, Network, check_states, check_table, read_array, sort_states

Floats = NDArray[np.float64]

_MAX_FILE_BYTES = 64 * 2**20
#: programs print rounded probabilities: rows at most this far from 1 are normalised
_ROUNDING = 0.01
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
#: entries that a table without all its rows may have: it is made from few characters
_MAX_BY_DEFAULT = 2**20
#: what to do with files of other formats
_OTHERS = {
    suffix: f"{reader}, and give the network"
    for suffix, reader in (NETWORK_READERS | {".xml": NETWORK_READERS[".xmlbif"]}).items()
}
_OTHERS[".dsc"] = "write it as BIF by bnlearn in R: write.bif(file, read.dsc(path))"


def read_file(path: str | Path) -> DiscreteNetwork:
    """Read a BIF file, perhaps compressed by gzip; a ValueError names the path and the line of a fault."""
    path = Path(path)
    compressed = path.suffix.lower() == ".gz"
    suffix = (path.with_suffix("") if compressed else path).suffix.lower()
    if suffix in _OTHERS:
        raise ValueError(f"{str(path)!r} is not a BIF file; {_OTHERS[suffix]}")
    if suffix != ".bif":
        raise ValueError(
            f"{str(path)!r} is not the path of a network; files end in .bif, perhaps with .gz; a graph has no "
            "parameters: give it some by ce.causal_kl.from_data(graph, data)"
        )
    if not path.is_file():
        raise ValueError(f"the file {str(path)!r} does not exist")
    try:
        with gzip.open(path, "rb") if compressed else path.open("rb") as stream:
            raw = stream.read(_MAX_FILE_BYTES + 1)
        if len(raw) > _MAX_FILE_BYTES:
            raise ValueError(f"it has more than {_MAX_FILE_BYTES} bytes")
        return read_bif(raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").decode("utf-8-sig"))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        fault = f"it is not a whole gzip file: {error}"
    except UnicodeDecodeError as error:
        line, byte = error.object.count(b"\n", 0, error.start) + 1, error.object[error.start]
        fault = f"line {line}: found the byte {byte:#04x}, expected UTF-8; save the file as UTF-8"
    except ValueError as error:
        fault = str(error)
    raise ValueError(f"{str(path)!r} is not read as a network: {fault}")


def read_bif(text: str) -> DiscreteNetwork:
    """Read the text of a BIF file; anything but whole blocks `network`, `variable`, `probability` is refused."""
    tokens = Tokens(text)
    states: dict[str, list[str]] = {}
    parents: dict[str, list[str]] = {}
    tables: dict[str, Floats] = {}
    if tokens.accept("network"):
        if not tokens.at("{"):
            tokens.name("the name of the network")
        for _ in tokens.block():
            pass
    while tokens.kind != "end":
        if tokens.expect("variable", "probability") == "variable":
            name, listed = _read_variable(tokens)
            if name in states:
                raise tokens.fault(f"variable {name!r} is declared twice")
            states[name] = listed
        else:
            name, table_parents = _read_head(tokens, states)
            if name in tables:
                raise tokens.fault(f"variable {name!r} has a second table")
            tables[name], parents[name] = _read_table(tokens, name, table_parents, states), table_parents
    lacking = [name for name in states if name not in tables]
    if lacking or not states:
        what = f"the variables {shown(lacking)} have no table" if lacking else "found no variable"
        raise tokens.fault(f"{what}; is the file cut short?")
    return DiscreteNetwork(parents, tables, states)


def _read_variable(tokens: Tokens) -> tuple[str, list[str]]:
    """Read the name of a variable and its states."""
    name = tokens.name("the name of a variable")
    states: list[str] = []
    for _ in tokens.block("type"):
        if states:
            raise tokens.fault(f"variable {name!r} has a second type")
        tokens.expect("discrete")
        tokens.expect("[")
        count = tokens.number()
        tokens.expect("]")
        tokens.expect("{")
        states = _list(tokens, "}", "the name of a state", int(count))
        if len(states) != count:
            raise tokens.fault(f"variable {name!r} has {len(states)} states {shown(states)}, but declares {count:g}")
        tokens.expect(";")
    if not states:
        raise tokens.fault(f"variable {name!r} has no states; expected 'type discrete [ n ] {{ states }};'")
    tokens.checked(check_states, name, sort_states(states))
    return name, states


def _list(tokens: Tokens, end: str, what: str, count: int) -> list[str]:
    """Read names up to a mark: separated by commas, or by spaces where several are expected and there is no comma."""
    names: list[list[str]] = [[]]
    # after a comma, there is a name
    while (len(names) > 1 and not names[-1]) or not tokens.accept(end):
        if names[-1] and tokens.accept(","):
            names.append([])
        elif tokens.kind in ("word", "quoted"):
            names[-1].append(tokens.advance().strip())
        else:
            raise tokens.expected(what)
    if len(names) == 1 and (count > 1 or not names[0]):
        return names[0]
    return [" ".join(words) for words in names]


def _read_head(tokens: Tokens, states: Mapping[str, list[str]]) -> tuple[str, list[str]]:
    """Read `( child | parent, parent )`, or the older `( child parent parent )`."""
    tokens.expect("(")
    name, *parents = [tokens.name("the name of a variable")]
    while tokens.kind == "quoted":
        parents.append(tokens.name("the name of a parent"))
    if tokens.at(")") and not parents and name not in states:
        name, *parents = name.split()
    if not tokens.accept("|"):
        tokens.expect(")")
        return name, parents
    while not tokens.accept(")"):
        if parents:
            tokens.accept(",")
        parents.append(tokens.name("the name of a parent"))
    return name, parents


def _read_table(tokens: Tokens, name: str, parents: list[str], states: Mapping[str, list[str]]) -> Floats:
    """Read the block of a table, (parents.., child)."""
    unknown = [one for one in (name, *parents) if one not in states]
    if unknown:
        raise tokens.fault(f"a table names the undeclared variables {shown(unknown)}; declare them before their tables")
    if len({name, *parents}) <= len(parents):
        raise tokens.fault(f"the table of {name!r} names a variable twice: {shown([name, *parents])}")
    shape = (*(len(states[p]) for p in parents), len(states[name]))
    tokens.checked(check_table, name, shape)
    at = [{state: i for i, state in enumerate(states[p])} for p in parents]
    entries: dict[Any, list[float]] = {}
    for keyword in tokens.block("(", "table", "default"):
        key: Any = keyword
        if keyword == "(":
            labels = _list(tokens, ")", "the state of a parent", len(parents))
            key = tuple(known.get(state, -1) for state, known in zip(labels, at, strict=False))
            if len(labels) != len(parents) or -1 in key:
                raise tokens.fault(f"found the row {shown(labels)}, expected a state of each of {shown(parents)}")
        if key in entries:
            what = keyword if keyword != "(" else f"row {shown(labels)}"
            raise tokens.fault(f"the table of {name!r} has the {what} twice")
        entries[key] = _numbers(tokens, name, math.prod(shape) if keyword == "table" else shape[-1])
    if "table" in entries:
        if len(entries) > 1:
            raise tokens.fault(f"variable {name!r} has a table and rows; give one of them")
        # the child's state changes slowest
        table = np.moveaxis(np.reshape(entries["table"], (shape[-1], *shape[:-1])), 0, -1)
    else:
        default, n_rows = entries.pop("default", None), math.prod(shape[:-1])
        if len(entries) < n_rows and (default is None or math.prod(shape) > _MAX_BY_DEFAULT):
            missing = next(row for row in np.ndindex(*shape[:-1]) if row not in entries)
            known = [states[p][i] for p, i in zip(parents, missing, strict=True)]
            raise tokens.fault(
                f"the table of {name!r} has {len(entries)} rows, expected {n_rows}; the row of {shown(known)} is "
                "missing"
            )
        table = np.array([entries.get(row, default) for row in np.ndindex(*shape[:-1])], np.float64).reshape(shape)
    return np.asarray(tokens.checked(normalise_rows, table, name))


def _numbers(tokens: Tokens, name: str, count: int) -> list[float]:
    """Read as many numbers as are expected, and the semicolon."""
    numbers = [tokens.number()]
    while not tokens.accept(";"):
        tokens.accept(",")
        numbers.append(tokens.number())
    if len(numbers) != count:
        raise tokens.fault(f"the table of {name!r} has {len(numbers)} numbers here, expected {count}")
    return numbers


_MARKS = re.escape("{}()[]|,;")
# possessive, so that no text is looked at twice; `open` is the start of a text or comment that is not closed
_TOKEN = re.compile(
    r"(?>(?:\s++|//[^\n]*+|/\*(?s:.*?)\*/)*)"
    rf'(?:(?P<mark>[{_MARKS}])|"(?P<quoted>[^"]*+)"|(?P<word>(?>(?:(?!//|/\*)[^\s"{_MARKS}])+))|(?P<end>\Z)|(?P<open>.))'
)


class Tokens:
    """The tokens of a text without comments, // and /* */: the current one, and whether it is a word or quoted."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._matches = _TOKEN.finditer(text)
        self._start = 0
        self.token, self.kind = "", ""
        self.advance()

    def advance(self) -> str:
        """Move to the next token, and return the one that was current."""
        left, self._before = self.token, self._start
        match = next(self._matches)
        self.kind = str(match.lastgroup)
        self.token, self._start = match[self.kind], match.start(self.kind)
        if self.kind == "open":
            excerpt = self.text[self._start : self._start + 20]
            raise self.fault(f"found {excerpt!r}, a quoted text or a comment that is not closed", self._start)
        return left

    def fault(self, message: str, place: int | None = None) -> ValueError:
        """Return the error of a message at a place, by default of what has just been read."""
        line = self.text.count("\n", 0, self._before if place is None else place) + 1
        return ValueError(f"line {line}: {message}")

    def expected(self, what: str, hint: str = "") -> ValueError:
        """Return the error of another token than the expected one."""
        found = "the end of the file" if self.kind == "end" else shown(self.token)
        return self.fault(f"expected {what}, found {found}; {hint}".removesuffix("; ").strip(), self._start)

    def checked(self, check: Callable[..., Any], *values: Any) -> Any:
        """Return what a check returns of what has just been read."""
        try:
            return check(*values)
        except ValueError as error:
            raise self.fault(str(error)) from None

    def at(self, token: str) -> bool:
        """Check whether the current token is a mark or an unquoted word."""
        return self.token == token and self.kind in ("mark", "word")

    def accept(self, token: str) -> bool:
        """Move on if the current token is this mark or word."""
        accepted = self.at(token)
        if accepted:
            self.advance()
        return accepted

    def expect(self, *tokens: str) -> str:
        """Move on over one of these marks or words, and return it; refuse anything else."""
        if not any(map(self.at, tokens)):
            hint = nearest(self.token, tokens) if self.kind == "word" else ""
            raise self.expected(" or ".join(map(repr, tokens)), hint)
        return self.advance()

    def block(self, *keywords: str) -> Iterator[str]:
        """Read a block of statements, and yield the first word of each but properties, which are left out."""
        self.expect("{")
        while not self.accept("}"):
            keyword = self.expect(*keywords, "property", "}")
            if keyword != "property":
                yield keyword
                continue
            while not self.accept(";"):
                if self.kind == "end":
                    raise self.expected("';' after a property")
                self.advance()

    def name(self, what: str) -> str:
        """Read words or one quoted text as a name; words that follow each other are joined by a space."""
        if self.kind == "quoted":
            return self.advance().strip()
        words = []
        while self.kind == "word":
            words.append(self.advance())
        if not words:
            raise self.expected(what)
        return " ".join(words)

    def number(self) -> float:
        """Read a number."""
        if self.kind != "word" or not _NUMBER.fullmatch(self.token) or not math.isfinite(float(self.token)):
            raise self.expected("a number")
        return float(self.advance())


def normalise_rows(table: Floats, name: str) -> Floats:
    """Undo the rounding of printed probabilities; refuse rows that are not close to a distribution."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = table.sum(axis=-1, keepdims=True)
    close = (np.abs(total[..., 0] - 1) <= _ROUNDING) & (table >= 0).all(axis=-1)
    # a row that is NaN throughout is undefined
    off = ~close & ~np.isnan(table).all(axis=-1)
    if off.any():
        row = table[off][0]
        raise ValueError(
            f"node {name!r}: the row {shown(row.tolist())} of its table sums to {row.sum():.6g}; probabilities lie "
            "between 0 and 1 and sum to 1 but for rounding"
        )
    return np.asarray(table / total)


_NETWORK = re.compile(r"(?>(?:\s|//[^\n]*\n|/\*.*?\*/)*)network\b[^{};\n<>-]*+\s*+\{", re.S)


def read_graph(text: str) -> Edges:
    """Read the graph of a Bayesian network."""
    structure = read_bif(text).structure
    return Edges.from_arcs(structure.nodes, sorted(structure.arcs))


BIF = register_encoding(
    Encoding(
        name="BIF",
        tool="bnlearn, pgmpy, pyagrum",
        cells="BIF",
        meaning="the graph of a Bayesian network: probability ( C | A, B ) the node C with the parents A and B",
        mark="an edge i -> j is the i behind the bar of j",
        example="'network n {} variable A { type discrete [ 2 ] { y, n }; } probability ( A ) { table 0.5, 0.5; }'",
        read=read_graph,
        types=(str,),
        recognise=lambda text: bool(_NETWORK.match(text)),
        # a column of such texts is one of networks
        is_likely=lambda text: False,
    )
)


def is_path(cell: Any) -> bool:
    """Return whether a cell is the path of a BIF file."""
    return isinstance(cell, (str, Path)) and re.search(r"\.bif(\.gz)?$", str(cell), re.I) is not None


def is_network(cell: Any) -> bool:
    """Check whether a cell, neither text nor bytes, is a network of a known program."""
    if isinstance(cell, Network):
        return True
    if isinstance(cell, Mapping):
        return bool(cell) and all(isinstance(node, Mapping) and "parents" in node for node in cell.values())
    return _program(cell) in ("pgmpy", "pyagrum")


def as_network(value: Any) -> Network:
    """Read one network in any format of `network_column`.

    Parameters
    ----------
    value : network
        A cell as in `network_column`.

    Returns
    -------
    DiscreteNetwork or GaussianNetwork
        The network.

    Raises
    ------
    TypeError
        If the format is unknown.
    ValueError
        If it is not well-formed; names the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.as_network({"A": {"parents": [], "prob": [.3, .7]},
    ...                "B": {"parents": ["A"], "prob": [[.9, .2], [.1, .8]]}})
    DiscreteNetwork(2 nodes, 1 arcs: A -> B)
    """
    if isinstance(value, Network):
        return value
    if isinstance(value, bytes):
        return Network.from_bytes(value)
    if isinstance(value, (str, Path)):
        return read_file(value)
    if isinstance(value, Mapping) and is_network(value):
        return from_bnlearn(value)
    program = _program(value)
    if program == "pyagrum" and hasattr(value, "cpt"):
        return from_pyagrum(value)
    if program == "pgmpy" and hasattr(value, "get_cpds"):
        return from_pgmpy(value)
    raise TypeError(
        f"expected a DiscreteNetwork, a GaussianNetwork, a network of pgmpy or pyagrum, a dict of nodes with parents "
        f"and prob, or the path of a BIF file, found {type(value).__name__}"
    )


def _program(cell: Any) -> str:
    """Return the name of the package that defines a cell's class, or ""."""
    for kind in type(cell).__mro__:
        package = kind.__module__.partition(".")[0].lower()
        if package in ("pgmpy", "pyagrum"):
            return package
    return ""


def from_pgmpy(model: Any) -> Network:
    """Read a discrete or linear-Gaussian network of pgmpy."""
    cpds = {str(cpd.variable): cpd for cpd in model.get_cpds()}
    missing = sorted({str(node) for node in model.nodes()} - set(cpds))
    if missing:
        raise ValueError(f"the nodes {missing} have no CPD; fit the network first")
    if all(hasattr(cpd, "beta") for cpd in cpds.values()):
        parents = {name: [str(e) for e in cpd.evidence or []] for name, cpd in cpds.items()}
        betas = {name: np.asarray(cpd.beta, np.float64) for name, cpd in cpds.items()}
        return GaussianNetwork(
            parents,
            {name: beta[1:] for name, beta in betas.items()},
            {name: float(cpd.std) ** 2 for name, cpd in cpds.items()},
            {name: beta[0] for name, beta in betas.items()},
        )
    parents, tables, named = {}, {}, {}
    for name, cpd in cpds.items():
        if not hasattr(cpd, "state_names"):
            raise TypeError(f"node {name!r} has a {type(cpd).__name__}; only tables and linear-Gaussian CPDs are read")
        named[name] = {str(v): [str(s) for s in x] for v, x in cpd.state_names.items()}
    states = {name: of_axes[name] for name, of_axes in named.items()}
    for name, cpd in cpds.items():
        parents[name] = [str(v) for v in cpd.variables[1:]]  # the child stands first
        # every axis in the order of its variable's own states
        at: list[list[int]] = []
        for axis in [*parents[name], name]:
            if sorted(named[name][axis]) != sorted(states[axis]):
                raise ValueError(
                    f"node {name!r}: its table has the states {named[name][axis]} of {axis!r}, which has {states[axis]}"
                )
            at.append([named[name][axis].index(s) for s in states[axis]])
        table = np.moveaxis(np.asarray(cpd.values, np.float64), 0, -1)
        tables[name] = normalise_rows(table, name)[np.ix_(*at)]
    return DiscreteNetwork(parents, tables, states)


def from_pyagrum(model: Any) -> DiscreteNetwork:
    """Read a discrete network of pyagrum."""
    parents: dict[str, list[str]] = {}
    tables, states = {}, {}
    for node in model.nodes():
        cpt = model.cpt(node)
        # the axes of the array are the variables from the last to the first, which is the child
        axes = [str(name) for name in cpt.names]
        name = axes[0]
        parents[name] = axes[:0:-1]
        states[name] = [str(s) for s in model.variable(node).labels()]
        tables[name] = normalise_rows(np.asarray(cpt.toarray(), np.float64), name)
    return DiscreteNetwork(parents, tables, states)


def from_bnlearn(nodes: Mapping[str, Mapping[str, Any]]) -> Network:
    """Read a fitted network of bnlearn written as dicts: `prob` has the child first, as in bnlearn."""
    parents = {}
    for name, node in nodes.items():
        parents[name] = [node["parents"]] if isinstance(node["parents"], str) else list(node["parents"])
    if all("coefficients" in node for node in nodes.values()):
        coefficients, variances = {}, {}
        for name, node in nodes.items():
            coefficients[name] = _coefficients(name, node["coefficients"], ["(Intercept)", *parents[name]])
            sd = read_array(name, node.get("sd", np.nan), "sd")
            if sd.size != 1 or (sd <= 0).any():
                raise ValueError(f"node {name!r}: its sd must be one positive number, found {node.get('sd')!r:.60}")
            variances[name] = sd**2
        weights = {name: values[1:] for name, values in coefficients.items()}
        return GaussianNetwork(parents, weights, variances, {name: values[0] for name, values in coefficients.items()})
    for what in ("prob", "states"):
        lacking = [name for name, node in nodes.items() if what not in node]
        if lacking and (what == "prob" or len(lacking) < len(nodes)):
            raise ValueError(f"the nodes {lacking} have no `{what}` (or not all nodes have `coefficients` and `sd`)")
    tables = {}
    for name, node in nodes.items():
        table = np.atleast_1d(read_array(name, node["prob"], "prob"))
        tables[name] = normalise_rows(np.moveaxis(table, 0, -1), name)
    return DiscreteNetwork(parents, tables, None if lacking else {name: node["states"] for name, node in nodes.items()})


def _coefficients(name: str, found: Any, expected: list[str]) -> Floats:
    """Return the intercept and the weights of a node's parents, listed or by name."""
    if isinstance(found, Mapping):
        found = {"(Intercept)": 0.0, **found}
        if set(found) != set(expected):
            raise ValueError(f"node {name!r}: its coefficients are those of {list(found)}, expected {expected}")
        found = [found[term] for term in expected]
    values = np.atleast_1d(read_array(name, found, "coefficients"))
    if values.shape != (len(expected),):
        raise ValueError(f"node {name!r} has {values.size} coefficients, expected those of {expected}")
    return values
