"""Every call that a message proposes exists, with the keywords that it is given, and leads to the right result."""

import ast
import inspect
import io
import json
import re
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.metric import METRICS

PACKAGE = Path(ce.__file__).parent
#: a dotted name of the package, and a call of a verb or maker with its arguments up to the first bracket inside
NAME = re.compile(r"\bce\.[A-Za-z_][\w.]*[\w]")
CALL = re.compile(r"(?<![\w.])(?:ce\.|df\.ceval\.|cube\.ceval\.)?([a-z_]\w*)\(([^()]*)")
KEYWORD = re.compile(r"\b([a-z_]\w*)=(?!=)")


def _text_of(node: ast.AST) -> str | None:
    """Return the literal text of a constant or an f-string, with a mark in place of values."""
    if isinstance(node, ast.JoinedStr):
        return "".join(x.value if isinstance(x, ast.Constant) else "\0" for x in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@cache
def messages() -> tuple[tuple[str, str], ...]:
    """Return place and text of all sentences in the code, docstrings apart: errors, warnings, and parts of these."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = (node for node in ast.walk(tree) if isinstance(node, ast.Expr))
        docstrings = {id(node.value) for node in own}
        for node in ast.walk(tree):
            text = None if id(node) in docstrings else _text_of(node)
            if text and " " in text:
                found.append((f"{path.relative_to(PACKAGE)}:{node.lineno}", text))
    return tuple(found)


def callables() -> dict[str, object]:
    """Return the functions of the namespace by name; verbs of tables and cubes take the same keywords."""
    return {name: getattr(ce, name) for name in dir(ce) if callable(getattr(ce, name))}


def resolve(name: str) -> bool:
    """Return whether a dotted name exists in the package."""
    found: object = ce
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def test_messages_are_collected():
    assert len(messages()) > 2000
    assert sum(len(NAME.findall(text)) for _, text in messages()) > 40


def test_names_that_messages_propose_exist():
    wrong = [(place, name) for place, text in messages() for name in NAME.findall(text) if not resolve(name)]
    assert wrong == []


def test_keywords_that_messages_propose_are_taken():
    named, wrong = callables(), []
    for place, text in messages():
        for name, arguments in CALL.findall(text):
            if name not in named:
                continue
            taken = inspect.signature(named[name]).parameters
            if not any(x.kind is x.VAR_KEYWORD for x in taken.values()):
                wrong += [(place, name, keyword) for keyword in KEYWORD.findall(arguments) if keyword not in taken]
    assert wrong == []


LONG = pd.DataFrame([("A", "B", 0.9), ("B", "C", 0.2)], columns=["from", "to", "strength"])
GRAPHS = pd.DataFrame({"truth": ["A -> B; C"] * 2, "estimate": ["A -> B; B -> C"] * 2, "k": ["x", "y"]})
RUNS = ce.datasets.runs().query("density == 0.2 and n == 100")
MATRIX = np.array([[0, 1], [0, 0]])
SCORES = [[[0, 3, 1], [0, 0, 2], [0, 0, 0]]] * 2
RANKED = GRAPHS.assign(estimate=ce.score_column(SCORES, nodes=["A", "B", "C"], encoding="row->column"))
PRINTED = pd.DataFrame({"shd": [3], "n_nodes": 6, "true_edges": 5, "estimated_edges": 5, "n_runs": 1, "kind": "dag"})
YES = pd.DataFrame({"truth": ["yes", "no"], "estimate": ["yes", "yes"]})
REPLIES = pd.DataFrame({"truth": [f"Reply {i}\nAnswer: {'abc'[i % 3]}" for i in range(120)], "estimate": "a"})
PAGS = pd.DataFrame({"truth": ["A -> B; L -> B; L -> C; C -> D"]})
PAGS["estimate"] = ce.graph_column(["A o-> B; C o-> B; C o-o D"], kind="mixed")
LAGGED = ["lags 0..1: X@-1 -> Y"]
BOOTSTRAP = pd.DataFrame({"from": ["A", "B"], "to": ["B", "A"], "strength": 0.98, "direction": [0.1, 0.9]})
CNA = """--- Coincidence Analysis (CNA) ---
Atomic solution formulas:
Outcome E:
   condition consistency coverage
 D + G <-> E       1.000    1.000
"""
SEVERAL = pd.DataFrame({"algorithm": ["pc", "ges"], "from": ["A", "B"], "to": ["B", "A"]})
RANKS = SEVERAL.drop(columns="algorithm").assign(rank=[1, 2])
SCOPE = {
    **{"ce": ce, "pd": pd, "np": np, "json": json, "table": LONG, "nodes": ["A", "B", "C"], "edges": [("A", "B", 1)]},
    **callables(),
    **{"df": GRAPHS, "metrics": ["shd"], "metric": "shd", "column": ["[[0, 1], [0, 0]]"], "matrices": [MATRIX]},
    **{"truths": GRAPHS["truth"], "estimates": ["A -> B"] * 2, "runs": RUNS, "printed": PRINTED, "graph": "A -> B"},
    **{"data": pd.DataFrame({"A": [0, 1, 0, 1], "B": [0, 1, 1, 1]}), "replies": REPLIES["truth"],
     "labels": list("abc")},
    **{"ast": ast, "io": io, "nx": nx, "cna": CNA, "bootstrap": BOOTSTRAP, "several": SEVERAL, "ranks": RANKS},
    **{"yes": YES, "scores": SCORES, "other": ["X -> Y; Z"] * 2, "names": pd.Series(["A", "B"])},
}  # fmt: skip


@cache
def cube(n_draws=20):
    return ce.cube(RUNS, ["shd"], by=["algorithm"], n_draws=n_draws, rng=7)


def plain(truth, estimate):
    """Return the difference of the numbers of edges."""
    return abs(sum(1 for _ in truth.to_networkx().edges) - sum(1 for _ in estimate.to_networkx().edges))


def own_metric(decorator):
    """Return the scores of a function that was declared as the message writes it."""
    try:
        return GRAPHS.ceval.evaluate([decorator(plain)])["plain"].tolist()
    finally:
        METRICS.pop("plain", None)


def scored(metrics=("shd",), **columns):
    return GRAPHS.assign(**columns).ceval.evaluate(list(metrics))


#: a mistake, what of its message is followed, what must come of it, and what a person puts in the place of dots
FOLLOWED = {
    "edges by a threshold": (lambda: ce.as_graph(LONG), r"table\.loc\[.*?\]\]",
        lambda x: ce.as_graph(x).to_string() == "A -> B"),
    "weights as scores": (lambda: ce.as_graph(LONG), r"score_column\(.*\)", lambda x: x.score.n_scored.tolist() == [6]),
    "scores of bnlearn": (lambda: ce.as_graph(BOOTSTRAP), r"score_column\(.*\)",
        lambda x: RANKED[:1].assign(truth="A -> B", estimate=x).ceval.evaluate(["auroc"])["auroc"].tolist() == [0],
        {"table": "bootstrap", "nodes=nodes": "nodes=['A', 'B']"}),
    "several graphs in a table": (lambda: ce.as_graph(SEVERAL), r"\[g\..*?\)\]",
        lambda x: ce.graph_column(x).graph.to_strings().tolist() == ["B -> A", "A -> B"], {"table": "several"}),
    "several lists of scores in a table": (lambda: ce.score_column([SEVERAL.assign(score=0.5)]), r"\[g\..*?\)\]",
        lambda x: ce.score_column(x).score.n_scored.tolist() == [2, 2], {"table": "several.assign(score=0.5)"}),
    "several runs in a table": (
        lambda: ce.as_graph(SEVERAL.rename(columns={"algorithm": "run"}).assign(run=[1, 2], tool=["pc", None])),
        r"\[g\..*?\)\]", lambda x: ce.graph_column(x).graph.to_strings().tolist() == ["A -> B", "B -> A"],
        {"table": "several.rename(columns={'algorithm': 'run'}).assign(run=[1, 2])"}),
    "ranks": (lambda: ce.score_column([RANKS]), r"table\.assign.*?'rank'\)",
        lambda x: ce.score_column([x], kind="score").score.to_numpy()[0].round(2).tolist() == [[0, 0.5], [0.33, 0]],
        {"table": "ranks"}),
    "ranks in a graph": (lambda: ce.as_graph(RANKS.assign(rank=[1, 4])), r"table\.loc\[.*?\]\]",
        lambda x: ce.as_graph(x).to_string() == "A -> B", {"table": "ranks.assign(rank=[1, 4])"}),
    "signs of effects": (lambda: ce.as_graph(SEVERAL.rename(columns={"algorithm": "sign"}).assign(sign=["+", "-"])),
        r"table\[.*'sign'\)", lambda x: ce.as_graph(x).to_string() == "A -> B",
        {"table": "several.rename(columns={'algorithm': 'sign'}).assign(sign=['+', '-'])"}),
    "ones of edges": (lambda: ce.as_graph(RANKS.rename(columns={"rank": "edge"}).assign(edge=[1, 0])),
        r"table\[.*'edge'\)", lambda x: ce.as_graph(x).to_string() == "A -> B",
        {"table": "ranks.rename(columns={'rank': 'edge'}).assign(edge=[1, 0])"}),
    "weights under codes": (lambda: ce.graph_column([0.7 * MATRIX], encoding="gCastle"), r"abs\(W\) > 0\.3",
        lambda x: ce.as_graph(x, encoding="gCastle").to_string() == "0 -> 1", {"W": "(0.7 * matrices[0])"}),
    "weights under marks": (lambda: ce.graph_column([0.7 * MATRIX], encoding="bnmetrics"), r"'row->column'",
        lambda x: ce.as_graph(0.7 * MATRIX > 0.3, encoding=x).to_string() == "0 -> 1"),
    "nodes of the estimate alone": (lambda: scored(estimate=["A -> B; C; D"] * 2),
        r"ce\.graph_column\(truths, nodes=ce\.graph_column\(estimates\)\)",
        lambda x: scored(truth=x, estimate=["A -> B; C; D"] * 2)["shd"].tolist() == [0, 0],
        {"estimates": "['A -> B; C; D'] * 2"}),
    "one column of scores": (lambda: ce.score_column([LONG.assign(n=[3, 4])]), r"table\[\[.*\]\]",
        lambda x: ce.score_column([x]).notna().all()),
    "table of edges": (lambda: ce.as_graph([("A", "B", 1)]), r"pd\.DataFrame\(.*\)",
        lambda x: ce.as_graph(x).to_string() == "A -> B"),
    "two-cycles": (lambda: ce.as_graph("A -> B; B -> A"), r"lagged_column\(.*?\]\)",
        lambda x: x.lagged.to_strings().tolist() == ["lags 0..1: A@-1 -> B; B@-1 -> A"]),
    "knowledge": (lambda: ce.with_controls(RUNS.head(2), ["shd"], null="knowledge", n_draws=2),
        r"ce\.null_model\(.*\]\)", lambda x: x.name == "knowledge"),
    "latent nodes": (lambda: GRAPHS.ceval.with_controls(["shd"], null="latent_dag"), r"ce\.null_model\(.*\)",
        lambda x: x.name == "latent_dag"),
    "verb of cubes": (lambda: GRAPHS.ceval.summary(), r"df\.ceval\.cube.*", lambda x: x["mean"].tolist() == [1.0, 1.0],
        {"[...]": "['k']", "summary(...)": "summary()"}),
    "metric as verb": (lambda: GRAPHS.ceval.shd(), r"df\.ceval\.evaluate\(\['shd'\]\)",
        lambda x: x["shd"].tolist() == [1, 1]),
    "cube of a metric": (lambda: GRAPHS.ceval.shd(), r"df\.ceval\.cube\(.*\)",
        lambda x: x["shd"].to_numpy().tolist() == [[1.0], [1.0]], {"[...]": "['k']"}),
    "columns of graphs": (lambda: ce.shd(GRAPHS["truth"], GRAPHS["estimate"]), r"df\.ceval\.evaluate\(\[metric\]\)",
        lambda x: x["shd"].tolist() == [1, 1]),
    "encoding by row": (lambda: ce.graph_column([MATRIX]), r"graph_column\(\.\.\., encoding='row->column'\)",
        lambda x: x.graph.to_strings().tolist() == ["0 -> 1"], {"...": "matrices"}),
    "encoding by column": (lambda: ce.graph_column([MATRIX]), r"graph_column\(\.\.\., encoding='column->row'\)",
        lambda x: x.graph.to_strings().tolist() == ["1 -> 0"], {"...": "matrices"}),
    "matrix as text": (lambda: ce.graph_column(["[[0, 1], [0, 0]]"]), r"graph_column\(.*?'row->column'\)",
        lambda x: x.graph.to_strings().tolist() == ["0 -> 1"]),
    "list of edges as text": (lambda: ce.graph_column(["[('A', 'B')]"]), r"graph_column\(\[.*\]\)",
        lambda x: x.graph.to_strings().tolist() == ["A -> B"], {"in column": "in ['[(\\'A\\', \\'B\\')]']"}),
    "mapping as text": (lambda: ce.graph_column(['{"A": ["B"]}']), r"json\.loads\(text\)",
        lambda x: ce.as_graph(x, encoding="children").to_string() == "A -> B", {"text": '\'{"A": ["B"]}\''}),
    **{f"arrow {sign}": (lambda sign=sign: ce.graph_column([f"A {sign} B"]), r"text\.replace\(.*?\)",
        lambda x, edge=edge: ce.as_graph(x).to_string() == edge, {"text": f"'A {sign} B'"})
        for sign, edge in {"=>": "A -> B", "\u2192": "A -> B", "\u2190": "B -> A",
                           "\u2194": "A <-> B"}.items()},
    "pairs of nodes": (lambda: ce.graph_column(["A\tB\nB\tC"]), r"pd\.read_csv\(.*t'\)",
        lambda x: ce.as_graph(x).to_string() == "A -> B; B -> C", {"text": "'A\\tB\\nB\\tC'"}),
    "knowledge of Tetrad": (lambda: scored(truth=["/knowledge\nrequiredirect\nA B"] * 2),
        r"ce\.Knowledge\.from_tetrad\(text\)",
        lambda x: scored(["required_recall"], truth=[x, x])["required_recall"].tolist() == [1, 1],
        {"text": "'/knowledge\\nrequiredirect\\nA B'"}),
    "printed models": (lambda: ce.configurational.parse(CNA), r"ce\.configurational\.read_printout\(text\)",
        lambda x: x["model"].tolist() == ["D+G<->E"], {"text": "cna"}),
    "lags": (lambda: ce.graph_column([np.full((2, 2, 2), "-->")]), r"ce\.lagged_column",
        lambda x: x([np.array([[["", ""], ["", "-->"]], [["", ""], ["", ""]]])], nodes=["X", "Y"])[0]
        == ce.lagged_column(["lags 0..1: X@-1 -> Y"])[0]),
    "names of nodes": (lambda: ce.graph_column([MATRIX], nodes=pd.Series(["A", "B"]), encoding="row->column"),
        r"list\(nodes\)",
        lambda x: ce.graph_column([MATRIX], nodes=x, encoding="row->column").graph.to_strings().tolist() == ["A -> B"],
        {"nodes": "names"}),
    "nodes without edges": (lambda: scored(estimate=["A -> B"] * 2),
        r"ce\.graph_column\(estimates, nodes=ce\.graph_column\(truths\)\)",
        lambda x: scored(estimate=x)["shd"].tolist() == [0, 0]),
    "latent nodes of the truth": (lambda: PAGS.ceval.evaluate(["shd"]), r"\{'latents': \[\.\.\.\]\}",
        lambda x: PAGS.ceval.evaluate(["shd"], context=x)["shd"].tolist() == [0], {"...": "'L'"}),
    "other names": (lambda: scored(estimate=["X -> Y; Z"] * 2), r"ce\.graph_column\(estimates, rename=.*\}\)",
        lambda x: scored(estimate=x)["shd"].tolist() == [0, 0], {"estimates": "other", "...": "'Y': 'B', 'Z': 'C'"}),
    "names of matrices of differences": (
        lambda: ce.plot.difference_matrix(GRAPHS.assign(truth=["A -> B", "A -> C"], estimate=["A -> B", "A -> C"])),
        r"ce\.graph_column\(\.\.\., rename=\)", lambda x: x.graph.to_strings().tolist() == ["A -> B"],
        {"...": "['A -> C']", "rename=": "rename={'C': 'B'}"}),
    "names of lagged variables": (
        lambda: scored(["lagged_f1"], truth=ce.lagged_column(LAGGED * 2),
                       estimate=ce.lagged_column(["lags 0..1: X"] * 2)),
        r"lagged_column\(estimates, nodes=\[\.\.\.\]\)",
        lambda x: x.lagged.to_strings().tolist() == ["lags 0..1: X@-1 -> X; Y"],
        {"estimates": "['lags 0..1: X@-1 -> X']", "...": "'X', 'Y'"}),
    "what is good": (lambda: ce.metric(plain), r"ce\.metric\(direction='minimize', optimum=0\)",
        lambda x: own_metric(x) == [1, 1]),
    "declared functions": (lambda: GRAPHS.ceval.evaluate([plain]), r"ce\.metric\(direction='minimize', optimum=0\)",
        lambda x: own_metric(x) == [1, 1]),
    "metrics of one name": (lambda: scored(["shd", "shd"]), r"tweak\(name=\)",
        lambda x: scored(["shd", x])["again"].tolist() == [1, 1], {"name=": "'shd', name='again'"}),
    "column that is there": (lambda: scored().ceval.evaluate(["shd"]), r"tweak\(name=\)",
        lambda x: scored().ceval.evaluate([x])["again"].tolist() == [1, 1], {"name=": "'shd', name='again'"}),
    "another name": (lambda: GRAPHS.ceval.evaluate({"x": "shd"}), r"ce\.metric_set\(new=metric\)",
        lambda x: GRAPHS.ceval.evaluate(x)["new"].tolist() == [1, 1]),
    "options of metrics": (lambda: scored(["normalised_shd"]), r"ce\.tweak\('shd', normalised=True\)",
        lambda x: scored([x]).iloc[:, -1].tolist() == [1 / 3, 1 / 3]),
    "metrics of a field": (lambda: scored(["correctness"], truth=ce.graph_column(GRAPHS["truth"])),
        r"list_metrics\('graph'\)", lambda x: "shd" in x.index and "correctness" not in x.index),
    "controls": (lambda: ce.plot.heat_map(cube(None), "shd", x="algorithm", y="algorithm"),
        r"cube\(\.\.\., n_draws=1000\)", lambda x: set(x.ceval.summary()["verdict"]) == {"better"},
        {"...": "runs, ['shd'], by=['algorithm']"}),
    "draws that are lost": (lambda: cube().drop_vars("shd_control").ceval.summary(), r"cube\(\.\.\., n_draws=199\)",
        lambda x: set(x.ceval.summary()["verdict"]) == {"better"}, {"...": "runs, ['shd'], by=['algorithm']"}),
    "metrics of a cube": (lambda: cube()[["shd"]].ceval.summary(), r"summary\('shd'\)",
        lambda x: x.equals(cube().ceval.summary()), {"summary(": "study().ceval.summary("}),
    "metrics without a direction": (lambda: GRAPHS.ceval.with_controls(["estimated_edges"], n_draws=5),
        r"cube\(\.\.\., n_draws=None\)", lambda x: x["estimated_edges"].to_numpy().tolist() == [[2.0], [2.0]],
        {"...": "df, ['estimated_edges'], by=['k']"}),
    "several null models": (lambda: GRAPHS.ceval.with_controls(["shd"], null=["edges", "permutation"], n_draws=5),
        r"cube\(null=\[\.\.\.\]\)", lambda x: x.ceval.summary()["null"].tolist() == ["edges"] * 2 + ["permutation"] * 2,
        {"(null": "(df, ['shd'], by=['k'], n_draws=5, rng=1, null", "...": "'edges', 'permutation'"}),
    "null models of one name": (lambda: GRAPHS.ceval.cube(["shd"], by=["k"], null=["edges", "edges"], n_draws=5),
        r"ce\.null_model\(\.\.\., name=\)", lambda x: GRAPHS.ceval.cube(
            ["shd"], by=["k"], null=["edges", x], n_draws=5, rng=1)["null"].to_numpy().tolist() == ["edges", "again"],
        {"...": "'edges'", "name=": "name='again'"}),
    "order of arguments": (lambda: cube().ceval.compare(["shd"]), r"compare\('algorithm', \['shd'\]\)",
        lambda x: len(x) == 3, {"compare(": "study().ceval.compare("}),
    "table of a forest": (lambda: ce.plot.forest(GRAPHS), r"summary\(columns='full'\)",
        lambda x: len(ce.plot.forest(x).get_yticklabels()) >= 3, {"summary(": "summary(study(), "}),
    "limits of skill": (lambda: ce.wide(cube().ceval.summary(), "algorithm", "skill", interval=True),
        r"summary\(columns='full'\)", lambda x: "[" in ce.wide(x, "algorithm", "skill", interval=True).iloc[0, 0],
        {"summary(": "summary(study(), "}),
    "transformed columns": (lambda: cube().ceval.model("np.log(shd) ~ algorithm"), r"cube\(values=\)",
        lambda x: x.ceval.summary("y")["mean"].tolist() == [1.5] * 3,
        {"values=": "runs.assign(y=1.5), ['shd'], by=['algorithm'], n_draws=None, values={'y': 'minimize'}"}),
    "lazy cubes": (lambda: cube().chunk().ceval.report("never.html"), r"cube\.compute\(\)",
        lambda x: x.ceval.summary().equals(cube().ceval.summary()), {"cube": "study().chunk()"}),
    "judged results": (lambda: cube().ceval.plot.published("shd", PRINTED, by="algorithm"),
        r"ce\.from_published\(table, 'shd'\)", lambda x: x["shd_skill"].notna().all(), {"table": "printed"}),
    "nodes of printed truths": (
        lambda: ce.from_published(PRINTED[["shd", "n_nodes", "estimated_edges", "n_runs"]].assign(truth="A -> B")),
        r"ce\.graph_column\(\.\.\., nodes=\)", lambda x: x.graph.n_nodes.tolist() == [6],
        {"...": "['A -> B']", "nodes=": "nodes=list('ABCDEF')"}),
    "expectations by draws": (lambda: ce.expected_metric("sid", n_nodes=5, true_edges=3, estimated_edges=3),
        r"ce\.control_distribution\(.*\)", lambda x: x.set_index("metric")["mean"].between(2, 18).tolist() == [True],
        {"truth": "'A -> B; B -> C; C -> D; E'"}),
    "parameters": (lambda: ce.as_network("A -> B"), r"ce\.causal_kl\.from_data\(graph, data\)",
        lambda x: ce.as_network(x).nodes == ("A", "B")),
    "probabilities": (lambda: ce.plot.edge_probabilities(RANKED["estimate"][0]),
        r"score_column\(\.\.\., kind='probability'\)", lambda x: ce.plot.edge_probabilities(x[0]).get_xlabel() == "to",
        {"...": "[[[0, 0.5], [0.1, 0]]], nodes=['A', 'B'], encoding='row->column'"}),
    "names of scored nodes": (lambda: RANKED.assign(truth=["X -> Y; Z"] * 2).ceval.evaluate(["auroc"]),
        r"ce\.score_column\(\.\.\., nodes=ce\.graph_column\(truths\)\)",
        lambda x: scored(["auroc"], truth=["X -> Y; Z"] * 2, estimate=x)["auroc"].tolist() == [1, 1],
        {"...": "scores, encoding='row->column'", "truths": "other"}),
    "scores of sources": (lambda: RANKED.ceval.with_controls([ce.tweak("auroc", sources=["A"])], n_draws=5),
        r"ce\.null_model\(.*?\]\)", lambda x: RANKED.ceval.with_controls(
            [ce.tweak("auroc", sources=["A"])], null=x, n_draws=5)["auroc_p"].notna().all()),
    "yes and no": (lambda: YES.ceval.evaluate(["answer_accuracy"]), r"ce\.reasoning\.parse_answers",
        lambda x: YES.apply(x).ceval.evaluate(["answer_accuracy"])["answer_accuracy"].tolist() == [1, 0]),
    "labels of replies": (lambda: REPLIES.ceval.evaluate(["label_accuracy"]),
        r"ce\.reasoning\.parse_labels\(replies, labels\)",
        lambda x: REPLIES.assign(truth=x).ceval.evaluate(["label_accuracy"])["label_accuracy"].mean() == 1 / 3),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLLOWED)
def test_proposals_that_are_followed_give_the_right_result(name):
    mistake, proposal, result, dots = (*FOLLOWED[name], {})[:4]
    with pytest.raises((TypeError, ValueError, AttributeError)) as error:
        mistake()
    words = re.search(proposal, str(error.value))
    assert words is not None, error.value
    call = words[0]
    for old, new in dots.items():
        call = call.replace(old, new)
    assert result(eval(call, SCOPE | {"study": cube}))
