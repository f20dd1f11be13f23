"""Records of the fields of answers and quantities: worlds, tasks, reasoners, tables, judgements."""

import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd import reasoning as cr
from causaleval_pd.fields.reasoning.published import parse_matrix, parse_printed
from causaleval_pd.fields.reasoning.tasks import INSTRUCTIONS
from causaleval_pd.fields.reasoning.themes import THEMES
from causaleval_pd.fields.reasoning.worlds import component_edges, compositions, n_compositions

from .store import add, record

QUANTITY_NULLS = (
    "permute_answers", "random_answers", "biased_answers", "exchange_arms", "majority_answers", "always_yes",
    "always_no",
)  # fmt: skip
ANSWER_NULLS = ("permute_answers", "random_answers", "majority_answers", "always_yes", "always_no")
MODELS = ["perfect", "noisy", "random", "parrots_do"]


@cache
def tasks() -> cr.Tasks:
    return cr.make_tasks(["candy_party", "flower_garden"], [[2, 3], [3, 3]], n_samples=60, replicates=2, rng=2)


@cache
def answers() -> pd.DataFrame:
    """Return what four baselines answer; some answers are missing."""
    found = cr.reasoners.baselines(tasks().questionnaire(), tasks(), names=MODELS, error=0.2, rng=1)
    return found.assign(answer=found["answer"].astype("boolean").mask(np.arange(len(found)) % 97 == 5))


@cache
def quantities() -> pd.DataFrame:
    return cr.quantities(answers(), by="model", worlds=tasks(), truth="exact")


@record("reasoning/world")
def world() -> dict[str, Any]:
    sampled = cr.sample_world([4, 3, 4], "cycle", "random", min_pns=0.05, rng=7)
    mixed = cr.sample_world([3, 4], ["wheel", "cycle"], "and", noise=0.6, rng=8)
    return {
        "edges": [f"{a}>{b}" for a, b in sampled.edges],
        "functions": dict(sorted(sampled.functions.items())),
        "noise": dict(sorted(sampled.noise.items())),
        "cut_nodes": list(sampled.cut_nodes),
        "truths": sampled.truths(),
        "cut": sampled.truths("cut"),
        "values": sampled.sample(20, rng=3),
        "bits": sampled.answers(sampled.sample(20, rng=3), "all"),
        "compositions": [">".join(x) for x in sampled.compositions()],
        "mixed": mixed.truths(),
        "example": cr.example_world(0.3, "and").truths(),
        "edges of parts": [[f"{a}>{b}" for a, b in component_edges(5, kind)] for kind in ("cycle", "wheel")],
        "n": [n_compositions(n) for n in (3, 5, 21)],
        "paths": [">".join(x) for x in compositions(["X", "C", "D", "Y"])],
    }


@record("reasoning/tasks")
def all_tables() -> dict[str, Any]:
    found = tasks()
    names = ("worlds", "nodes", "edges", "quantities", "questions", "contexts", "truths")
    questions = tasks().questionnaire()
    prompts = {k: tasks().prompts(questions.head(8), k) for k in sorted(INSTRUCTIONS)}
    return {name: getattr(found, name) for name in names} | {"questionnaire": questions, "prompts": prompts}


@record("reasoning/tasks/options")
def other_tasks() -> dict[str, Any]:
    made = {
        "all": cr.make_tasks("flu_vaccine", [[3, 3]], "wheel", "or", n_samples=5, pairs="all", detail=False, rng=3),
        "worlds": cr.make_tasks("candy_party", worlds=[cr.example_world()], n_samples=5, rng=3),
        "noise": cr.make_tasks(
            "candy_party", [[2, 2]], "mixed", n_tasks=2, noise=0.5, min_pns=0.05, n_samples=5, rng=4
        ),
    }
    return {name: [x.questionnaire(), x.contexts, x.quantities] for name, x in made.items()}


@record("reasoning/themes")
def themes() -> dict[str, Any]:
    return {
        name: cr.make_tasks(name, [[2, 3]], n_samples=2, rng=1).prompts(
            cr.make_tasks(name, [[2, 3]], n_samples=2, rng=1).questionnaire().head(4)
        )
        for name in sorted(THEMES)
    }


@record("reasoning/published_format")
def published() -> dict[str, Any]:
    head = "Context ID,Sample ID,Effect,Context,Question,True\n"
    rows = [f'{i},{j},Y,"Context {i}. Sample {j}.",Is Y on?,{(i + j) % 2 == 0}' for i in range(2) for j in range(3)]
    matrix = "Context ID,Sample ID,Replicate ID,DAG adjacency matrix,DAG nodes,CCT nodes,Bernoulli parameters"
    row = "0,0,0,\"[[0 1]\n [0 0]]\",\"['X', 'Y']\",\"['X', 'Y']\",\"[np.float64(0.5), np.float64(0.25)]\",Told,Seen"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "factual.csv").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
        (folder / "raw.csv").write_text(f"{matrix},Causal context,Sample context\n{row}\n", encoding="utf-8")
        factual, raw = cr.read_published(folder / "factual.csv"), cr.read_published(folder / "raw.csv")
        return {
            "asked": factual.questionnaire(),
            "nodes": raw.nodes,
            "edges": raw.edges,
            "printed": list(parse_printed("{('X', 'Y'): np.float64(0.25), 'n': [1, 2]}").values()),
            "matrix": parse_matrix("[[0. 1.], [0. 0.]]"),
        }


@record("reasoning/baselines")
def baselines() -> pd.DataFrame:
    found = cr.reasoners.baselines(tasks().questionnaire(), tasks(), rng=1)
    return found.drop(columns=["question"])


@record("reasoning/ask")
def asked() -> pd.DataFrame:
    questions = tasks().questionnaire().head(12).assign(prompt=lambda q: tasks().prompts(q))
    found = cr.ask(questions, lambda prompt: "Yes." if len(prompt) % 2 else "Final answer: no", workers=2)
    return found[["task", "sample", "replicate", "question", "reply", "answer"]]


@record("reasoning/parse_answers")
def parsed() -> Any:
    texts = ["**Yes**, she is.", "So no one ... Final answer: NO.", '{"answer": true}', "Perhaps.", "", None, "no. yes"]
    questions = pd.DataFrame({"question": ["a", "b"], "truth": [True, False]})
    replies = pd.DataFrame({"question": ["b"], "model": "m", "reply": ["No."]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unread replies
        read = cr.parse_answers(texts)
    return (read, cr.join_answers(questions, replies, on=["question"]))


@record("reasoning/quantities")
def all_quantities() -> pd.DataFrame:
    return quantities()


@record("reasoning/quantities/options")
def other_quantities() -> dict[str, Any]:
    given = answers()
    return {
        "sample": cr.quantities(given, by="model", worlds=tasks(), truth="sample", which=["pns"], n_compositions=1),
        "no worlds": cr.quantities(given, by="model", which=["p_do1", "p_do0"]),
    }


def table_verb(name: str, **settings: Any) -> Any:
    return getattr(cr, name)(quantities(), **settings)


add("reasoning/judge", table_verb, "judge")
add("reasoning/judge/options", table_verb, "judge", delta=0.3, floor=0.05, level=0.8, multiplier=2.0)
_PAPER = {"published": {"convention": "paper"}, "fixed": {"convention": "paper", "multiplier": None}}
for _rule, _how in ({"equivalence": {"floor": 0.01}} | _PAPER).items():
    add(f"reasoning/taxonomy/{_rule}", table_verb, "taxonomy", by="model", delta=0.3, **_how)


@record("reasoning/answer_scores")
def scores() -> Any:
    return cr.answer_scores(answers(), by="model"), cr.answer_scores(
        answers(), by="model", within=["world", "task"], level=0.8
    )


@record("reasoning/luck")
def luck() -> dict[str, Any]:
    return {
        "random": cr.random_reasoner([0.05, 0.25], n=500, p_yes=0.4),
        "perfect": cr.perfect_reasoner([0.01, 0.25], n=500),
        "required": np.asarray(cr.required_samples([0.21, 0.027], 0.2, level=0.9)),
    }


@record("quantity/evaluate")
def evaluate() -> pd.DataFrame:
    names = list(ce.list_metrics("quantity").index)
    return quantities().ceval.evaluate(names, context=cr.COUNTS, invalid="nan")[names]


@record("quantity/evaluate/options")
def options() -> pd.DataFrame:
    metrics = [ce.tweak("rae", floor=0.1, name="rae_floor"), ce.tweak("log_error", floor=0.1, name="log_floor"), "rae"]
    with ce.set_options(zero_division=9.0):
        return quantities().ceval.evaluate(metrics, context=cr.COUNTS)[["rae_floor", "log_floor", "rae"]]


def with_controls(null: str, method: str, **settings: Any) -> pd.DataFrame:
    table = quantities().iloc[::7].head(24)
    metrics = ["rae", "quantity_error", "log_error", "quantity_bias"]
    how = {"n_draws": 60, "rng": 7, "context": cr.COUNTS} | settings
    found = table.ceval.with_controls(metrics, null=null, method=method, **how, columns="full")
    return found[["truth", "estimate", *(x for x in found.columns if x not in table.columns)]]


for _null in QUANTITY_NULLS:
    for _method in ("auto", "simulate"):
        add(f"quantity/null/{_null}/{_method}", with_controls, _null, _method)


@record("quantity/with_controls/kinds")
def kinds() -> pd.DataFrame:
    table = quantities()
    pns, ate = (table[table["quantity"] == x].head(8) for x in ("pns", "ate"))
    how: dict[str, Any] = {"n_draws": 50, "rng": 7, "context": cr.COUNTS}
    found = [
        pns.ceval.with_controls(["pns_error"], **how, columns="full"),
        ate.ceval.with_controls(["ate_error"], **how, columns="full"),
    ]
    return pd.concat([x[[c for c in x.columns if c not in table.columns]] for x in found])


def cube_of(**settings: Any) -> Any:
    table = quantities().query("relation == 'external' and quantity in ['pns', 'ate']").reset_index(drop=True)
    how: dict[str, Any] = {"by": ["model", "quantity"], "n_draws": 40, "rng": 7, "context": cr.COUNTS} | settings
    cube = table.ceval.cube(["quantity_error", "quantity_bias"], **how)
    return cube, cube.ceval.summary(columns="full"), cube.ceval.summary(columns="full")


add("quantity/cube", cube_of)
add("quantity/cube/draws", cube_of)
add("quantity/cube/nulls", cube_of, null=["permute_answers", "exchange_arms", "always_yes"])


@cache
def answer_table() -> pd.DataFrame:
    return answers().rename(columns={"answer": "estimate"}).iloc[::11].reset_index(drop=True)


NAMES = ["answer_accuracy", "answer_false_yes", "answer_false_no"]


@record("answer/evaluate")
def evaluate_answers() -> pd.DataFrame:
    return answer_table().ceval.evaluate(NAMES)[NAMES]


def answer_controls(null: str, method: str = "auto", **settings: Any) -> pd.DataFrame:
    table = answer_table().iloc[::3].head(40)[["model", "truth", "estimate"]]
    return table.ceval.with_controls(NAMES, null=null, method=method, n_draws=50, rng=7, **settings, columns="full")


for _null in ANSWER_NULLS:
    for _method in ("auto", "simulate"):
        add(f"answer/null/{_null}/{_method}", answer_controls, _null, _method)
add("answer/null/permute_answers/group", answer_controls, "permute_answers", context={"group": "model"})


@record("answer/cube")
def answer_cube() -> Any:
    table = answer_table()
    how: dict[str, Any] = {"by": ["model", "world"], "n_draws": 40, "rng": 7, "cluster": None}
    cube = table.ceval.cube(NAMES[:1], **how)
    both = table.ceval.cube(NAMES[:1], null=["permute_answers", "random_answers", "always_no"], **how)
    return cube, both, both.ceval.summary(columns="full"), cube.ceval.compare("world", test="welch_t", columns="full")


@record("answer/clusters")
def answer_clusters() -> Any:
    how: dict[str, Any] = {
        "by": ["model"], "n_draws": 40, "rng": 7, "cluster": "sample", "context": {"group": "question"},
    }  # fmt: skip
    found = answer_table().ceval.cube(NAMES[:1], null=["permute_answers", "random_answers"], **how)
    return found, found.ceval.summary(columns="full"), found.ceval.summary(columns="full")
