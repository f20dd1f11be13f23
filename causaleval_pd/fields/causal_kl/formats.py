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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import nearest, shown
from ...contract.encoding import Edges, Encoding, register_encoding
from ...graphs.files import NETWORK_READERS
from .cells import MAX_STATES, DiscreteNetwork, GaussianNetwork, Network, check_table, read_array

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
    suffixes = [s.lower() for s in path.suffixes]
    compressed = suffixes[-1:] == [".gz"]
    suffix = "".join((suffixes[:-1] if compressed else suffixes)[-1:])
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
        return read_bif(_decode(_read_bytes(path, compressed)))
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is not read as a network: {error}") from None


def _read_bytes(path: Path, compressed: bool) -> bytes:
    try:
        with gzip.open(path, "rb") if compressed else path.open("rb") as stream:
            raw = stream.read(_MAX_FILE_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"it is not a whole gzip file: {error}") from None
    if len(raw) > _MAX_FILE_BYTES:
        raise ValueError(f"it has more than {_MAX_FILE_BYTES} bytes")
    return raw


def _decode(raw: bytes) -> str:
    raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = raw.count(b"\n", 0, error.start) + 1, raw[error.start]
        raise ValueError(f"line {line}: found the byte {byte:#04x}, expected UTF-8; save the file as UTF-8") from None


def read_bif(text: str) -> DiscreteNetwork:
    """Read the text of a BIF file; anything but whole blocks `network`, `variable`, `probability` is refused."""
    tokens = Tokens(text)
    states: dict[str, list[str]] = {}
    parents: dict[str, list[str]] = {}
    tables: dict[str, NDArray[np.float64]] = {}
    if tokens.accept("network"):
        if not tokens.at("{"):
            tokens.name("the name of the network")
        tokens.expect("{")
        while not tokens.accept("}"):
            tokens.expect("property", "}")
            tokens.skip_past(";")
    while tokens.kind != "end":
        if tokens.expect("variable", "probability") == "variable":
            name, listed = _read_variable(tokens)
            if name in states:
                raise tokens.fault_before(f"variable {name!r} is declared twice")
            states[name] = listed
            continue
        name, table_parents = _read_head(tokens, states)
        if name in tables:
            raise tokens.fault_before(f"variable {name!r} has a second table")
        tables[name] = _read_table(tokens, name, table_parents, states)
        parents[name] = table_parents
    if not states:
        raise tokens.fault_before("found no variable; a network has at least one")
    lacking = [name for name in states if name not in tables]
    if lacking:
        raise tokens.fault_before(f"the variables {shown(lacking)} have no table; is the file cut short?")
    return DiscreteNetwork(parents, tables, states)


def _read_variable(tokens: Tokens) -> tuple[str, list[str]]:
    """Read the name of a variable and its states."""
    name = tokens.name("the name of a variable")
    tokens.expect("{")
    states: list[str] | None = None
    while not tokens.accept("}"):
        if tokens.expect("type", "property") == "property":
            tokens.skip_past(";")
            continue
        if states is not None:
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
    if states is None:
        raise tokens.fault_before(f"variable {name!r} has no type; expected 'type discrete [ n ] {{ states }};'")
    if not 1 <= len(states) <= MAX_STATES:
        raise tokens.fault_before(f"variable {name!r} has {len(states)} states, expected 1 to {MAX_STATES}")
    if len(set(states)) < len(states) or not all(states):
        raise tokens.fault_before(f"variable {name!r} has the states {shown(states)}; state names differ and have text")
    return name, states


def _list(tokens: Tokens, end: str, what: str, count: int) -> list[str]:
    """Read names up to a mark: separated by commas, or by spaces where several are expected and there is no comma."""
    names: list[list[str]] = [[]]
    while not tokens.accept(end):
        if names[-1] and tokens.accept(","):
            names.append([])
        elif tokens.kind in ("word", "quoted"):
            names[-1].append(tokens.advance().strip())
        else:
            raise tokens.expected(what)
    if len(names) == 1 and (count > 1 or not names[0]):
        return names[0]
    if not names[-1]:
        raise tokens.fault(f"found a comma before {end!r}, expected {what}")
    return [" ".join(words) for words in names]


def _read_head(tokens: Tokens, states: Mapping[str, list[str]]) -> tuple[str, list[str]]:
    """Read `( child | parent, parent )`, or the older `( child parent parent )`."""
    tokens.expect("(")
    if tokens.kind == "quoted":
        name, others = tokens.advance().strip(), []
        while tokens.kind == "quoted":
            others.append(tokens.advance().strip())
    else:
        name, others = tokens.name("the name of a variable"), []
        if name not in states and not tokens.at("|"):
            name, *others = name.split()
    if others or not tokens.accept("|"):
        tokens.expect(")")
    elif not tokens.accept(")"):
        others = [tokens.name("the name of a parent")]
        while not tokens.accept(")"):
            tokens.accept(",")
            others.append(tokens.name("the name of a parent"))
    return name, others


def _shape(tokens: Tokens, name: str, parents: list[str], states: Mapping[str, list[str]]) -> tuple[int, ...]:
    """Return the shape (parents.., child) of a table."""
    unknown = [one for one in (name, *parents) if one not in states]
    if unknown:
        raise tokens.fault_before(
            f"a table names the undeclared variables {shown(unknown)}; declare them before their tables"
        )
    if len({name, *parents}) <= len(parents):
        raise tokens.fault_before(f"the table of {name!r} names a variable twice: {shown([name, *parents])}")
    shape = (*(len(states[p]) for p in parents), len(states[name]))
    tokens.checked(check_table, name, shape)
    return shape


def _read_table(tokens: Tokens, name: str, parents: list[str], states: Mapping[str, list[str]]) -> NDArray[np.float64]:
    """Read the block of a table, (parents.., child)."""
    shape = _shape(tokens, name, parents, states)
    at = [{state: i for i, state in enumerate(states[p])} for p in parents]
    rows: dict[tuple[int, ...], list[float]] = {}
    default: list[float] | None = None
    table: list[float] | None = None
    tokens.expect("{")
    while not tokens.accept("}"):
        if tokens.accept("property"):
            tokens.skip_past(";")
        elif tokens.accept("table"):
            if table is not None:
                raise tokens.fault(f"the table of {name!r} is given twice")
            table = _numbers(tokens, name, math.prod(shape))
        elif tokens.accept("default"):
            if default is not None:
                raise tokens.fault(f"variable {name!r} has a second default")
            default = _numbers(tokens, name, shape[-1])
        else:
            tokens.expect("(", "table", "default", "property", "}")
            labels = _list(tokens, ")", "the state of a parent", len(parents))
            row = tuple(known.get(state, -1) for state, known in zip(labels, at, strict=False))
            if len(labels) != len(parents) or -1 in row:
                raise tokens.fault(f"found the row {shown(labels)}, expected a state of each of {shown(parents)}")
            if row in rows:
                raise tokens.fault(f"the table of {name!r} has the row {shown(labels)} twice")
            rows[row] = _numbers(tokens, name, shape[-1])
    if table is not None:
        if rows or default is not None:
            raise tokens.fault_before(f"variable {name!r} has a table and rows; give one of them")
        # the child's state changes slowest
        array = np.moveaxis(np.reshape(table, (shape[-1], *shape[:-1])), 0, -1)
        return np.asarray(tokens.checked(normalise_rows, array, name))
    n_rows = math.prod(shape[:-1])
    if len(rows) < n_rows and (default is None or math.prod(shape) > _MAX_BY_DEFAULT):
        missing = next(row for row in np.ndindex(*shape[:-1]) if row not in rows)
        known = [states[p][i] for p, i in zip(parents, missing, strict=True)]
        raise tokens.fault_before(
            f"the table of {name!r} has {len(rows)} rows, expected {n_rows}; the row of {shown(known)} is missing"
        )
    array = np.array([rows.get(row, default) for row in np.ndindex(*shape[:-1])], np.float64).reshape(shape)
    return np.asarray(tokens.checked(normalise_rows, array, name))


def _numbers(tokens: Tokens, name: str, count: int) -> list[float]:
    """Read as many numbers as are expected, and the semicolon."""
    numbers: list[float] = []
    while not tokens.accept(";"):
        if len(numbers) == count:
            raise tokens.fault(f"the table of {name!r} has more than {count} numbers here, found {shown(tokens.token)}")
        numbers.append(tokens.number())
        if tokens.accept(",") and tokens.at(";"):
            raise tokens.expected("a number")
    if len(numbers) != count:
        raise tokens.fault_before(f"the table of {name!r} has {len(numbers)} numbers here, expected {count}")
    return numbers


#: what stands for the end of a text
END = "the end of the file"
_MARKS = re.escape("{}()[]|,;")
# possessive, so that no text is looked at twice
_SPACE = r"(?>(?:\s++|//[^\n]*+|/\*(?s:.*?)\*/)*)"
_BLANK = re.compile(_SPACE)
_TOKEN = re.compile(
    rf'{_SPACE}(?:(?P<mark>[{_MARKS}])|"(?P<quoted>[^"]*+)"|(?P<word>(?>(?:(?!//|/\*)[^\s"{_MARKS}])+)))'
)


class Tokens:
    """The tokens of a text without comments, // and /* */: the current one, and whether it is a word or quoted."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._start = self._stop = self._before = 0
        self.token, self.kind = "", ""
        self.advance()

    def advance(self) -> str:
        """Move to the next token, and return the one that was current."""
        left, self._before = self.token, self._start
        match = _TOKEN.match(self.text, self._stop)
        if match is None:
            blank = _BLANK.match(self.text, self._stop)
            self._start = blank.end() if blank else self._stop
            if self._start < len(self.text):
                excerpt = self.text[self._start : self._start + 20]
                raise self.fault(f"found {excerpt!r}, a quoted text or a comment that is not closed")
            self.token, self.kind, self._stop = END, "end", self._start
            return left
        self.kind = str(match.lastgroup)
        self.token, self._start, self._stop = match[self.kind], match.start(self.kind), match.end()
        return left

    def fault(self, message: str) -> ValueError:
        """Return the error of a message at the current token."""
        return self._fault_at(self._start, message)

    def fault_before(self, message: str) -> ValueError:
        """Return the error of a message at the token before the current one: of what has just been read."""
        return self._fault_at(self._before, message)

    def _fault_at(self, place: int, message: str) -> ValueError:
        return ValueError(f"line {self.text.count(chr(10), 0, place) + 1}: {message}")

    def checked(self, check: Callable[..., Any], *values: Any) -> Any:
        """Return what a check returns of what has just been read."""
        try:
            return check(*values)
        except ValueError as error:
            raise self.fault_before(str(error)) from None

    def expected(self, what: str) -> ValueError:
        """Return the error of another token than the expected one."""
        return self.fault(f"expected {what}, found {self.token if self.kind == 'end' else shown(self.token)}")

    def at(self, token: str) -> bool:
        """Check whether the current token is a mark or an unquoted word."""
        return self.token == token and self.kind in ("mark", "word")

    def accept(self, token: str) -> bool:
        """Move on if the current token is this mark or word."""
        if self.at(token):
            self.advance()
            return True
        return False

    def expect(self, *tokens: str) -> str:
        """Move on over one of these marks or words, and return it; refuse anything else."""
        if not any(self.at(token) for token in tokens):
            wrong = self.expected(" or ".join(map(repr, tokens)))
            hint = nearest(self.token, tokens) if self.kind == "word" else ""
            raise ValueError(f"{wrong}; {hint}".removesuffix("; ").strip())
        return self.advance()

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
        is_number = self.kind == "word" and _NUMBER.fullmatch(self.token)
        if not is_number or not math.isfinite(float(self.token)):
            raise self.expected("a number")
        return float(self.advance())

    def skip_past(self, mark: str) -> None:
        """Move on past the next such character, whatever stands before it."""
        stop = self.text.find(mark, self._start)
        if stop < 0:
            raise self.expected(f"{mark!r} after it")
        self._stop = stop + 1
        self.advance()


def normalise_rows(table: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Undo the rounding of printed probabilities; refuse rows that are not close to a distribution."""
    if (table < 0).any():
        raise ValueError(f"node {name!r}: probabilities must lie between 0 and 1, found {table[table < 0][0]:.6g}")
    with np.errstate(over="ignore", invalid="ignore"):
        total = table.sum(axis=-1, keepdims=True)
    # a row that is NaN throughout is undefined
    off = ~(np.abs(total - 1) <= _ROUNDING) & ~np.isnan(table).all(axis=-1, keepdims=True)
    if off.any():
        row = table[off[..., 0]][0]
        raise ValueError(f"node {name!r}: the row {shown(row.tolist())} of its table sums to {row.sum():.6g}, not to 1")
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


def is_network(cell: Any) -> bool:
    """Check whether a cell, neither text nor bytes, is a network of a known program."""
    if isinstance(cell, Network):
        return True
    if isinstance(cell, Mapping):
        return bool(cell) and all(isinstance(node, Mapping) and "parents" in node for node in cell.values())
    return _program(cell) in ("pgmpy", "pyagrum")


def read_network(cell: Any) -> Network:
    """Read one network in any known format; raise a TypeError for anything else."""
    if isinstance(cell, Network):
        return cell
    if isinstance(cell, bytes):
        return Network.from_bytes(cell)
    if isinstance(cell, (str, Path)):
        return read_file(cell)
    if isinstance(cell, Mapping) and is_network(cell):
        return from_bnlearn(cell)
    program = _program(cell)
    if program == "pyagrum" and hasattr(cell, "cpt"):
        return from_pyagrum(cell)
    if program == "pgmpy" and hasattr(cell, "get_cpds"):
        return from_pgmpy(cell)
    raise TypeError(
        f"expected a DiscreteNetwork, a GaussianNetwork, a network of pgmpy or pyagrum, a dict of nodes with parents "
        f"and prob, or the path of a BIF file, found {type(cell).__name__}"
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
    named: dict[str, dict[str, list[str]]] = {}
    for name, cpd in cpds.items():
        if not hasattr(cpd, "state_names"):
            raise TypeError(f"node {name!r} has a {type(cpd).__name__}; only tables and linear-Gaussian CPDs are read")
        named[name] = {str(v): [str(s) for s in x] for v, x in cpd.state_names.items()}
    states = {name: of_axes[name] for name, of_axes in named.items()}
    tables, parents = {}, {}
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
        parent_names = node["parents"]
        parents[name] = [parent_names] if isinstance(parent_names, str) else list(parent_names)
    if all("coefficients" in node for node in nodes.values()):
        return _gaussian_bnlearn(nodes, parents)
    lacking = [name for name, node in nodes.items() if "prob" not in node]
    if lacking:
        raise ValueError(f"the nodes {lacking} have no `prob` (or not all nodes have `coefficients` and `sd`)")
    tables = {}
    for name, node in nodes.items():
        table = read_array(name, node["prob"], "prob")
        tables[name] = normalise_rows(np.moveaxis(table, 0, -1), name) if table.ndim else table
    with_states = [name for name, node in nodes.items() if "states" in node]
    if with_states and len(with_states) < len(nodes):
        raise ValueError(f"the nodes {sorted(set(nodes) - set(with_states))} have no `states`, others have")
    return DiscreteNetwork(parents, tables, {n: nodes[n]["states"] for n in nodes} if with_states else None)


def _gaussian_bnlearn(nodes: Mapping[str, Mapping[str, Any]], parents: Mapping[str, list[str]]) -> GaussianNetwork:
    coefficients: dict[str, Any] = {}
    intercepts: dict[str, Any] = {}
    variances: dict[str, Any] = {}
    for name, node in nodes.items():
        weights = node["coefficients"]
        if isinstance(weights, Mapping):
            unknown = sorted(set(weights) - {"(Intercept)", *parents[name]})
            lacking = sorted(set(parents[name]) - set(weights))
            if unknown or lacking:
                raise ValueError(f"node {name!r}: its coefficients lack {lacking} and have the unknown {unknown}")
            intercepts[name] = weights.get("(Intercept)", 0.0)
            coefficients[name] = [weights[p] for p in parents[name]]
        else:
            values = np.atleast_1d(read_array(name, weights, "coefficients"))
            if values.shape != (len(parents[name]) + 1,):
                raise ValueError(
                    f"node {name!r} has {values.size} coefficients, expected the intercept and one for each of the "
                    f"parents {parents[name]}"
                )
            intercepts[name], coefficients[name] = values[0], values[1:]
        sd = read_array(name, node.get("sd", np.nan), "sd")
        if sd.size != 1 or (sd <= 0).any():
            raise ValueError(f"node {name!r}: its sd must be one positive number, found {node.get('sd')!r:.60}")
        variances[name] = sd**2
    return GaussianNetwork(parents, coefficients, variances, intercepts)
