"""The worlds and simulated reasoners of tests/known_answers; the reader of prompts is importable by name."""

import pathlib
import sys

import pandas as pd
import pytest

from causaleval_pd.reasoning import World

sys.path.append(str(pathlib.Path(__file__).parent))
KNOWN = pathlib.Path(__file__).parents[1] / "known_answers"


@pytest.fixture(scope="session")
def known():
    return lambda name: pd.read_csv(KNOWN / f"reasoning_{name}.csv.gz")


@pytest.fixture(scope="session")
def known_worlds(known):
    edges = known("edges").groupby("task")
    return {
        task: World(
            edges.get_group(task)[["parent", "child"]].itertuples(index=False),
            dict(zip(nodes["node"], nodes["function"], strict=True)),
            dict(zip(nodes["node"], nodes["p"], strict=True)),
        )
        for task, nodes in known("nodes").groupby("task")
    }


@pytest.fixture(scope="session")
def known_answers(known):
    """Answers of nine reasoners and of one without error; a factual question is asked anew for every pair."""
    wide = known("answers")
    reasoners = ["oracle", *dict.fromkeys(c.split("__")[0] for c in wide.columns if "__" in c)]
    parts = []
    for reasoner in reasoners:
        for world, truth in {"fact": "fact_effect", "do1": "do1", "do0": "do0"}.items():
            given = truth if reasoner == "oracle" else f"{reasoner}__{world}"
            part = wide[["task", "sample", "cause", "effect"]].assign(world=world, model=reasoner)
            parts.append(part.assign(truth=wide[truth].astype(bool), answer=wide[given].astype(bool)))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="session")
def interventions(known_answers):
    return known_answers[known_answers["world"] != "fact"]
