"""Tables of tasks in normal form, and their joins: the questionnaire, and the prompts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ...contract.checks import check_known, check_type
from ..worlds.exact_quantities import EXACT_QUANTITIES
from ..worlds.world import World

__all__ = ["INSTRUCTIONS", "TaskTables"]

#: instructions of prompts, by name; all but "brief" ask for what `parse_answers` reads by default
INSTRUCTIONS = {
    "last_line": "Close with a line that reads 'Answer: yes' or 'Answer: no'.",
    "brief": "Begin with yes or no and keep the answer short.",
    "json": 'Reply with one JSON object and nothing else: {"answer": "yes"} or {"answer": "no"}.',
    "chain_of_thought": "Work through the rules in writing, one by one, and then decide. Close with a line "
    "that reads 'Answer: yes' or 'Answer: no'.",
    "chain_of_thought_json": "Work through the rules in writing, one by one, and then decide. Close with one JSON "
    'object on a line of its own: {"answer": "yes"} or {"answer": "no"}.',
}

_CONTEXT = ["task", "sample", "replicate"]

# bytes of prompts that are joined at once; the allocator reuses memory of this size
_BYTES_AT_ONCE = 4 * 2**20

#: columns of a questionnaire
QUESTIONNAIRE = [*_CONTEXT, "cause", "effect", "world", "truth", "question"]


#: columns of each table
COLUMNS = {
    "worlds": ["task", "theme", "n_nodes", "n_edges", "text"],
    "nodes": ["task", "node", "function", "noise", "is_asked", "condition"],
    "edges": ["task", "parent", "child"],
    "quantities": ["task", "cause", "effect", *EXACT_QUANTITIES],
    "questions": ["task", "question", "cause", "effect", "world", "text"],
    "contexts": ["task", "sample", "replicate", "noise", "text"],
    "truths": ["task", "sample", "question", "truth"],
}


@dataclass(frozen=True, eq=False)
class TaskTables:
    """Stored tasks: worlds, contexts, questions and truths, each fact once.

    Parameters
    ----------
    worlds : DataFrame
        task, theme, n_nodes, n_edges, text.
    nodes : DataFrame
        task, node, function, noise, is_asked, condition, in topological order.
    edges : DataFrame
        task, parent, child.
    quantities : DataFrame
        task and the columns of `World.truths`: exact.
    questions : DataFrame
        task, question (key), cause (missing in fact), effect, world, text.
    contexts : DataFrame
        task, sample, replicate, noise (0 or 1 by node), text.
    truths : DataFrame
        task, sample, question, truth.

    Examples
    --------
    >>> from causaleval_pd.reasoning import make_tasks
    >>> tables = make_tasks("candy_party", [[3, 3]], n_samples=2, rng=1).tables
    >>> tables.questionnaire()["world"].value_counts().to_dict()
    {'do1': 6, 'do0': 6, 'fact': 4}
    """

    worlds: pd.DataFrame
    nodes: pd.DataFrame
    edges: pd.DataFrame
    quantities: pd.DataFrame
    questions: pd.DataFrame
    contexts: pd.DataFrame
    truths: pd.DataFrame

    def __repr__(self) -> str:
        return f"TaskTables({len(self.worlds)} tasks, {len(self.contexts)} contexts, {len(self.questions)} questions)"

    def world(self, task: int) -> World:
        """Build the world of a task from the stored nodes and edges."""
        check_known(task, self.nodes["task"].unique().tolist(), "task")
        nodes = self.nodes[self.nodes["task"] == task]
        edges = self.edges.loc[self.edges["task"] == task, ["parent", "child"]]
        known = nodes.dropna(subset=["function"])
        functions = dict(zip(known["node"].tolist(), known["function"].tolist(), strict=True))
        noise = dict(zip(nodes["node"].tolist(), nodes["noise"].tolist(), strict=True))
        return World(edges.itertuples(index=False, name=None), functions, noise)

    def questionnaire(self) -> pd.DataFrame:
        """Return every question about every context, with its true answer, as `Tasks.questionnaire` does."""
        return join_questionnaire(self.truths, self.questions, self.contexts)

    def prompts(self, rows: pd.DataFrame | None = None, instruction: str | None = "last_line") -> pd.Series:
        """Return the prompts for rows of the questionnaire, as `Tasks.prompts` does."""
        rows = self.questionnaire() if rows is None else rows
        return join_prompts(rows, self.worlds, self.contexts, self.questions, instruction)


def join_questionnaire(truths: pd.DataFrame, questions: pd.DataFrame, contexts: pd.DataFrame) -> pd.DataFrame:
    """Join true answers (task, sample, question, truth) with their questions and the replicates of their contexts.

    Rows are ordered by context, then as the truths are.
    """
    known = questions[["question", "cause", "effect", "world"]]
    asked = contexts[_CONTEXT].merge(truths, on=["task", "sample"], how="inner")
    asked = asked.merge(known, on="question", how="left", validate="m:1")
    asked["truth"] = asked["truth"].astype("boolean")
    return asked[QUESTIONNAIRE]


def join_prompts(
    rows: pd.DataFrame, worlds: pd.DataFrame, contexts: pd.DataFrame, questions: pd.DataFrame, instruction: str | None
) -> pd.Series:
    """Join the texts of world, context and question, and the instruction, for each row.

    Rows have task, sample, replicate and question. A row whose text is missing is refused.
    """
    last = instruction_text(instruction)
    keys = contexts[_CONTEXT].assign(place=np.arange(len(contexts)))
    asked = rows[_CONTEXT].merge(keys, how="left", on=_CONTEXT, validate="m:1")["place"].fillna(-1).to_numpy(np.int64)
    question = pd.Index(questions["question"]).get_indexer(rows["question"])
    world = pd.Index(worlds["task"]).get_indexer(rows["task"])
    lost = (asked < 0) | (question < 0) | (world < 0)
    if lost.any():
        row = int(lost.argmax())
        raise ValueError(f"row {row} asks {rows.iloc[row][[*_CONTEXT, 'question']].to_dict()}, which has no text here")
    used, first, context = np.unique(asked, return_index=True, return_inverse=True)
    # where each context describes the world, the world's own text is empty
    intro = _arrow((worlds["text"] + "\n\n").where(worlds["text"] != "", "")).take(pa.array(world[first]))
    opening = _joined(intro, _arrow(contexts["text"].take(used)), "")
    asks = _arrow(questions["text"] + last)
    length = opening.nbytes // max(1, len(opening)) + asks.nbytes // max(1, len(asks))
    step = max(1, _BYTES_AT_ONCE // max(1, length))
    joined = [
        _joined(opening.take(pa.array(context[i : i + step])), asks.take(pa.array(question[i : i + step])), "\n\n")
        for i in range(0, len(rows), step)
    ]
    prompts = pd.array(pa.chunked_array(joined, pa.large_string()), dtype="str")
    return pd.Series(prompts, rows.index, name="prompt")


def instruction_text(instruction: str | None) -> str:
    """Return what follows a question: a named instruction, a sentence of your own, or nothing for None."""
    if instruction is None:
        return ""
    check_type(instruction, str, "the name of an instruction, a sentence of your own, or None", "instruction")
    if " " not in instruction.strip():
        check_known(
            instruction, INSTRUCTIONS, "instruction (a sentence of your own has spaces, None is no instruction):"
        )
    return " " + INSTRUCTIONS.get(instruction, instruction)


def _joined(left: pa.Array, right: pa.Array, separator: str) -> pa.Array:
    return pc.binary_join_element_wise(left, right, pa.scalar(separator, pa.large_string()))


def _arrow(texts: pd.Series) -> pa.Array:
    found = pa.array(texts, pa.large_string())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
