"""Published layout: files laid out as the published ones give the tables they were made from."""

from __future__ import annotations

import io
import json
import time

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import make_tasks, read_published, read_published_quantities
from causaleval_pd.reasoning.tasks import published_format


@pytest.fixture(scope="module")
def tasks():
    return make_tasks("candy_party", [[3, 3], [4, 3]], n_samples=6, replicates=2, rng=3)


@pytest.fixture
def files(tasks, tmp_path):
    """Write the tasks in the published layout: every row repeats its context, nested values are printed."""
    rows = tasks.questionnaire()
    told = tasks.worlds.set_index("task")["text"]
    samples = tasks.contexts.set_index(["task", "sample", "replicate"])["text"]
    asked = tasks.questions.set_index("question")["text"]
    keys = list(zip(rows["task"], rows["sample"], rows["replicate"], strict=True))
    whole = pd.DataFrame(
        {
            "Task ID": [f"{t}.{s}.{r}" for t, s, r in keys],
            "Context ID": rows["task"],
            "Sample ID": rows["sample"],
            "Replicate ID": rows["replicate"],
            "Context": [f"{told[key[0]]} {samples[key]}" for key in keys],
            "Question": asked[rows["question"]].to_numpy(),
        }
    )
    fact = rows["world"] == "fact"
    factual = whole[fact].assign(Effect=rows["effect"], True_=rows["truth"]).rename(columns={"True_": "True"})
    factual.to_csv(tmp_path / "factual.csv", index=False)
    one, zero = rows["world"] == "do1", rows["world"] == "do0"
    paired = whole[one].drop(columns="Question").assign(Cause=rows["cause"], Effect=rows["effect"])
    paired["Cause-effect pair"] = [str(pair) for pair in zip(paired["Cause"], paired["Effect"], strict=True)]
    for arm, name in ((one, "True"), (zero, "False")):
        paired[f"Question (cause = {name})"] = whole.loc[arm, "Question"].to_numpy()
        paired[f"True (cause = {name})"] = rows.loc[arm, "truth"].astype(int).to_numpy()
    paired.to_csv(tmp_path / "paired.csv.gz", index=False)
    raw = []
    for task, sample, replicate, text in tasks.contexts[["task", "sample", "replicate", "text"]].itertuples(
        index=False
    ):
        world = tasks.world(task)
        matrix = np.array([[(a, b) in world.edges for b in world.nodes] for a in world.nodes], int)
        raw.append(
            {
                "Context ID": task,
                "Sample ID": sample,
                "Replicate ID": replicate,
                "DAG adjacency matrix": str(matrix),
                "DAG nodes": str(list(world.nodes)),
                "CCT nodes": str(list(world.cut_nodes)),
                "Bernoulli parameters": str([np.float64(world.noise[node]) for node in world.nodes]),
                "Causal context": told[task],
                "Sample context": text,
            }
        )
    pd.DataFrame(raw).to_csv(tmp_path / "raw.csv", index=False)
    return [tmp_path / name for name in ("factual.csv", "paired.csv.gz", "raw.csv")]


@pytest.mark.slow
def test_files_of_one_data_set_give_its_tables(tasks, files, monkeypatch):
    monkeypatch.setattr(published_format, "ROWS_AT_ONCE", 7)
    tables = read_published(*files)
    keys = ["task", "sample", "replicate", "question"]
    ours, theirs = (x.questionnaire().sort_values(keys, ignore_index=True) for x in (tasks, tables))
    pd.testing.assert_frame_equal(theirs, ours)
    pd.testing.assert_frame_equal(
        tables.edges.sort_values(["task", "parent", "child"], ignore_index=True),
        tasks.edges.sort_values(["task", "parent", "child"], ignore_index=True),
    )
    pd.testing.assert_frame_equal(
        tables.nodes[["task", "node", "noise", "is_asked"]], tasks.nodes[["task", "node", "noise", "is_asked"]]
    )
    assert tables.nodes["function"].isna().all(), "raw files without queries tell no function"
    assert tables.worlds[["n_nodes", "n_edges"]].equals(tasks.worlds[["n_nodes", "n_edges"]])
    assert len(tables.contexts) == len(tasks.contexts)
    rows = ours.iloc[[5, 60]]
    expected = tasks.prompts(rows).str.replace("\n\n", " ", n=1, regex=False)
    assert tables.prompts(rows).tolist() == expected.tolist()


@pytest.mark.slow
def test_one_file_alone(tasks, files):
    factual = read_published(files[0])
    assert set(factual.questionnaire()["world"]) == {"fact"}
    assert factual.worlds["task"].tolist() == [0, 1]
    assert len(factual.nodes) == 0
    raw = read_published(files[2])
    assert len(raw.questionnaire()) == 0
    assert len(raw.contexts) == 24


def test_codes_stay_text():
    text = "Context ID,Sample ID,Effect,Context,Question,True\n0,0,1E10,c,q,1\n0,0,NA,c,r,0\n"
    rows = read_published(io.StringIO(text)).questionnaire()
    assert rows["effect"].tolist() == ["1E10", "NA"]
    assert rows["truth"].tolist() == [True, False]


@pytest.mark.slow
def test_contradictions_and_bad_cells_are_refused(files, tmp_path):
    table = pd.read_csv(files[0])
    twice = table.head(1).copy()
    twice["True"] = ~twice["True"]
    path = tmp_path / "bad.csv"
    pd.concat([table, twice]).to_csv(path, index=False)
    with pytest.raises(ValueError, match="contradict"):
        read_published(path)
    table.astype({"True": "object"}).replace({"True": {True: "maybe"}}).to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"column 'True', row \d+: expected True or False, found 'maybe'"):
        read_published(path)
    table.drop(columns="Context").to_csv(path, index=False)
    with pytest.raises(ValueError, match="none of the published layouts"):
        read_published(path)


@pytest.mark.slow
@pytest.mark.parametrize("layout", range(3))
def test_a_file_without_rows_has_no_tasks(files, tmp_path, layout):
    pd.read_csv(files[layout]).head(0).to_csv(tmp_path / "empty.csv", index=False)
    assert len(read_published(tmp_path / "empty.csv").questions) == 0


@pytest.mark.slow
def test_a_truncated_matrix_is_refused(files, tmp_path):
    table = pd.read_csv(files[2])
    table["DAG adjacency matrix"] = str(np.triu(np.ones((40, 40), int), 1))
    table.to_csv(tmp_path / "raw.csv", index=False)
    with pytest.raises(ValueError, match=r"file .*raw\.csv: context 0 of the raw samples: a cell was cut"):
        read_published(tmp_path / "raw.csv")
    table["DAG adjacency matrix"] = "[[0 1] [0 0]]"
    table.to_csv(tmp_path / "raw.csv", index=False)
    with pytest.raises(ValueError, match="a matrix of 2 rows"):
        read_published(tmp_path / "raw.csv")


def test_quantities_from_json_and_never_from_pickles(tmp_path):
    stored = {0: {("X", "Y"): np.float64(0.25), (("X", "C"), ("C", "Y")): 0.2}, 1: {("X", "C", "Y"): np.nan}}
    np.save(tmp_path / "pns.npy", stored, allow_pickle=True)
    with pytest.raises(ValueError, match="pickled"):
        read_published_quantities(tmp_path / "pns.npy")
    # the recipe of the documentation
    loaded = np.load(tmp_path / "pns.npy", allow_pickle=True).item()
    plain = {str(c): {str(k): float(v) for k, v in inner.items()} for c, inner in loaded.items()}
    (tmp_path / "pns.json").write_text(json.dumps(plain))
    table = read_published_quantities(tmp_path / "pns.json")
    assert table["path"].tolist() == ["X>Y", "X>C>Y", "X>C>Y"]
    assert table["n_factors"].tolist() == [1, 2, 2]
    assert table["task"].tolist() == [0, 0, 1]
    np.testing.assert_array_equal(table["value"], [0.25, 0.2, np.nan])
    (tmp_path / "pns.json").write_text('{"0": {"3": 1}}')
    with pytest.raises(ValueError, match="expected a printed pair"):
        read_published_quantities(tmp_path / "pns.json")
    (tmp_path / "pns.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match="must map each context"):
        read_published_quantities(tmp_path / "pns.json")


@pytest.mark.slow
def test_damaged_files_are_named(files, tmp_path):
    whole = files[1].read_bytes()
    assert files[1].suffix == ".gz"
    path = tmp_path / "cut.csv.gz"
    for size in range(0, len(whole), max(1, len(whole) // 50)):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"file .*cut\.csv\.gz is not a complete CSV file"):
            read_published(path)
    plain = tmp_path / "plain.csv"
    for content in (b"", b"\xff\xfea,b\n", b"Context ID,Sample ID\n1,2,3,4\n1,2,3,4,5,6,7\n", b'a,"b\n'):
        plain.write_bytes(content)
        with pytest.raises(ValueError, match=r"plain\.csv"):
            read_published(plain)


@pytest.mark.parametrize("column", ["DAG nodes", "CCT nodes", "Bernoulli parameters"])
@pytest.mark.parametrize("cell", ["'XY'", "5", "{'X': 1}", "None", "9" * 5000])
def test_cells_that_are_no_lists_are_refused(files, column, cell):
    table = pd.read_csv(files[2], dtype=str)
    table[column] = cell
    with pytest.raises(ValueError, match=r"context 0 of the raw samples: "):
        read_published(io.StringIO(table.to_csv(index=False)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "must map each context"),
        ('{"0": {"(\'X\', \'Y\')": "much"}}', "context '0', key .*the value must be a number or null, found 'much'"),
        ("{\"0\": {\"('X', 'Y')\": [1]}}", "context '0', key .*the value must be a number or null"),
        ("{\"0\": {\"('X', 'Y')\": 1%s}}" % ("0" * 400), "context '0', key .*int too large"),
        ("{\"0\": {\"('X', 'Y')\": 1%s}}" % ("0" * 5000), "is not a JSON file"),
        ('{"0": {"(\'X\')": 1}}', "context '0', key .*expected a printed pair"),
        ('{"0": {"{(1, [2]): 3}": 1}}', "context '0', key .*holds a list or a map"),
        ('{"0": {}, "0": {}}', "the key '0' is repeated"),
        ("{\"0\": {\"('X', 'Y')\": 1, \"['X', 'Y']\": 0}}", "has two values of"),
        ("[" * 100_000, "is not a JSON file"),
    ],
)
def test_faulty_quantities_are_named(text, message, tmp_path):
    path = tmp_path / "pns.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"file .*pns\.json.*{message}"):
        read_published_quantities(path)


@pytest.mark.slow
def test_published_tables_are_read_in_linear_time(monkeypatch):
    monkeypatch.setattr(published_format, "ROWS_AT_ONCE", 100)
    times = []
    for n in (1_000, 8_000):
        rows = "".join(f"{i},{i},Y,context {i},Is Y on?,True\n" for i in range(n))
        text = "Context ID,Sample ID,Effect,Context,Question,True\n" + rows
        spent = []
        for _ in range(2):
            start = time.process_time()
            assert len(read_published(io.StringIO(text)).contexts) == n
            spent.append(time.process_time() - start)
        times.append(min(spent))
    assert times[1] < 24 * times[0] + 0.1
