"""Question sets and tasks of others, in files laid out as theirs; printed values."""

import io
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causaleval_pd import reasoning as cr
from causaleval_pd.fields.reasoning.published import parse_matrix, parse_printed


@pytest.fixture(scope="module")
def tasks():
    return cr.make_tasks("candy_party", [[3, 3], [4, 3]], n_samples=6, replicates=2, rng=3)


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
    monkeypatch.setattr(cr.published, "ROWS_AT_ONCE", 7)
    tables = cr.read_published(*files)
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
    factual = cr.read_published(files[0])
    assert set(factual.questionnaire()["world"]) == {"fact"}
    assert factual.worlds["task"].tolist() == [0, 1]
    assert len(factual.nodes) == 0
    raw = cr.read_published(files[2])
    assert len(raw.questionnaire()) == 0
    assert len(raw.contexts) == 24


def test_codes_stay_text():
    text = "Context ID,Sample ID,Effect,Context,Question,True\n0,0,1E10,c,q,1\n0,0,NA,c,r,0\n"
    rows = cr.read_published(io.StringIO(text)).questionnaire()
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
        cr.read_published(path)
    table.astype({"True": "object"}).replace({"True": {True: "maybe"}}).to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"column 'True', row \d+: expected True or False, found 'maybe'"):
        cr.read_published(path)
    table.drop(columns="Context").to_csv(path, index=False)
    with pytest.raises(ValueError, match="none of the published layouts"):
        cr.read_published(path)


@pytest.mark.slow
@pytest.mark.parametrize("layout", range(3))
def test_a_file_without_rows_has_no_tasks(files, tmp_path, layout):
    pd.read_csv(files[layout]).head(0).to_csv(tmp_path / "empty.csv", index=False)
    assert len(cr.read_published(tmp_path / "empty.csv").questions) == 0


@pytest.mark.slow
def test_a_truncated_matrix_is_refused(files, tmp_path):
    table = pd.read_csv(files[2])
    table["DAG adjacency matrix"] = str(np.triu(np.ones((40, 40), int), 1))
    table.to_csv(tmp_path / "raw.csv", index=False)
    with pytest.raises(ValueError, match=r"file .*raw\.csv: context 0 of the raw samples: a cell was cut"):
        cr.read_published(tmp_path / "raw.csv")
    table["DAG adjacency matrix"] = "[[0 1] [0 0]]"
    table.to_csv(tmp_path / "raw.csv", index=False)
    with pytest.raises(ValueError, match="a matrix of 2 rows"):
        cr.read_published(tmp_path / "raw.csv")


@pytest.mark.slow
def test_damaged_files_are_named(files, tmp_path):
    whole = files[1].read_bytes()
    assert files[1].suffix == ".gz"
    path = tmp_path / "cut.csv.gz"
    for size in range(0, len(whole), max(1, len(whole) // 50)):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"file .*cut\.csv\.gz is not a complete CSV file"):
            cr.read_published(path)
    plain = tmp_path / "plain.csv"
    for content in (b"", b"\xff\xfea,b\n", b"Context ID,Sample ID\n1,2,3,4\n1,2,3,4,5,6,7\n", b'a,"b\n'):
        plain.write_bytes(content)
        with pytest.raises(ValueError, match=r"plain\.csv"):
            cr.read_published(plain)


@pytest.mark.parametrize("column", ["DAG nodes", "CCT nodes", "Bernoulli parameters"])
@pytest.mark.parametrize("cell", ["'XY'", "5", "{'X': 1}", "None", "9" * 5000])
def test_cells_that_are_no_lists_are_refused(files, column, cell):
    table = pd.read_csv(files[2], dtype=str)
    table[column] = cell
    with pytest.raises(ValueError, match=r"context 0 of the raw samples: "):
        cr.read_published(io.StringIO(table.to_csv(index=False)))


def test_published_tables_are_read_in_linear_time(monkeypatch):
    """Rows are compared for repeats some ten times each, not once for each of the forty parts of the file."""
    compared = []
    drop_duplicates = pd.DataFrame.drop_duplicates

    def counted(table, *args, **options):
        compared.append(len(table))
        return drop_duplicates(table, *args, **options)

    monkeypatch.setattr(cr.published, "ROWS_AT_ONCE", 10)
    monkeypatch.setattr(pd.DataFrame, "drop_duplicates", counted)
    n = 400
    rows = "".join(f"{i},{i},Y,context {i},Is Y on?,True\n" for i in range(n))
    text = "Context ID,Sample ID,Effect,Context,Question,True\n" + rows
    assert len(cr.read_published(io.StringIO(text)).contexts) == n
    assert n < sum(compared) < 20 * n


def raw_file(observations):
    """A raw file of A -> C <- B with given (values of A, B, C, noise of C)."""
    head = "Context ID,Sample ID,DAG adjacency matrix,DAG nodes,CCT nodes,Bernoulli parameters,Causal context,"
    lines = [head + "Sample context,Factual queries"]
    for sample, (a, b, c, u) in enumerate(observations):
        values = {"A": a, "B": b, "C": c}
        noise = {"U_A": a, "U_B": b, "U_C": u}
        query = str({"C": {"all true endogenous": values, "all true exogenous": noise, "true response": c}})
        cells = ["[[0 0 1] [0 0 1] [0 0 0]]", "['A', 'B', 'C']", "['A', 'C']", "[.5, .5, .5]", "w", "s", query]
        lines.append(",".join([f"0,{sample}", *(f'"{cell}"' for cell in cells)]))
    return io.StringIO("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("observations", "function"),
    [
        ([(1, 1, 1, 1)], None),  # all three agree
        ([(1, 1, 1, 1), (0, 1, 0, 1)], "and"),
        ([(0, 0, 0, 0), (0, 1, 1, 0), (1, 1, 1, 0)], "or"),
        ([(0, 0, 0, 0), (0, 1, 1, 0), (1, 1, 0, 0)], "xor"),
        ([(0, 0, 0, 0)], None),
    ],
)
def test_the_function_that_agrees(observations, function):
    nodes = cr.read_published(raw_file(observations)).nodes.set_index("node")["function"]
    found = None if nodes.isna()["C"] else nodes["C"]
    assert found == function
    assert nodes[["A", "B"]].isna().all()


def test_functions_are_joined_over_the_parts_of_files():
    seen = [(1, 1, 1, 1), (0, 1, 0, 1), (1, 1, 1, 1)]
    parts = [raw_file(seen[:1]), raw_file(seen[1:2]), raw_file(seen[2:])]
    assert cr.read_published(*parts).nodes["function"].tolist()[2] == "and"
    with pytest.raises(ValueError, match="rows contradict each other: .*'and'.*'or'"):
        cr.read_published(raw_file([(0, 1, 0, 1)]), raw_file([(0, 1, 1, 0)]))


def test_values_of_other_nodes_and_those_that_fit_no_function_are_refused():
    # C is true though its noise and both parents are false
    with pytest.raises(ValueError, match="the values of node 'C' agree neither with AND nor with OR nor XOR"):
        cr.read_published(raw_file([(0, 0, 1, 0)]))
    text = raw_file([(1, 1, 1, 1)]).getvalue().replace("'U_A': 1, ", "")
    with pytest.raises(ValueError, match="expected a value of 0 or 1 for each of 3 variables, found 2"):
        cr.read_published(io.StringIO(text))


ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False),
    st.text("aB' \"\\\n,:[](){}é#.\r\t\0\x7f\x85\xa0\u2028\ufeff\ud800\U0001f600", max_size=8),
    st.text(max_size=8),
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(
            st.one_of(st.text("ab", max_size=3), st.tuples(st.text("XY", max_size=2), st.integers())), inner, max_size=3
        ),
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(VALUES)
def test_whatever_python_prints_is_read_back(value):
    assert parse_printed(repr(value)) == value


def test_whatever_numpy_prints_is_read_back():
    rng = np.random.default_rng(0)
    for array in (
        rng.integers(0, 2, (5, 5)),
        rng.integers(0, 2, (3, 3)).astype(float),
        np.array(["Ab", "C d", "it's", "a\rb", "\xa0", "\u2028"]),
        np.array([[-1, 2], [3, -4]]),
        np.array([0.5, -np.inf]),
        np.array([(1, "a b"), ("c", 2)], dtype="O"),
    ):
        assert parse_printed(str(array)) == array.tolist()
        assert parse_printed(repr(array)) == array.tolist() or array.dtype == object
        assert parse_printed(repr(array.tolist())) == array.tolist()
    assert parse_printed(repr([np.float64(0.5), np.int64(3), np.str_("a"), np.bool_(True)])) == [0.5, 3, "a", True]
    assert parse_printed("{('X', 'Y'): np.float64(inf)}") == {("X", "Y"): math.inf}
    assert math.isnan(parse_printed("nan"))
    assert parse_printed("array([[1, 2], [3, 4]])") == [[1, 2], [3, 4]]
    assert parse_printed("((1),)") == (1,)
    assert parse_printed("()") == ()


def test_matrices():
    upper = np.triu(np.ones((31, 31), int), 1)
    np.testing.assert_array_equal(parse_matrix(str(upper)), upper)
    with pytest.raises(ValueError, match="cut short"):
        parse_matrix(str(np.triu(np.ones((33, 33), int), 1)))
    for wrong in ("[[0 1] [0]]", "[[0 2] [0 0]]", "3", "[0 1]", "[[0, 1], [1, 'a']]"):
        with pytest.raises(ValueError, match="square matrix"):
            parse_matrix(wrong)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__import__('os').system('true')", "not a printed Python value"),
        ("np.float64(__import__('os'))", "not a printed Python value"),
        ("open('x')", "not a printed Python value"), ("[1, 2", "never closed"), ("", "no value"),
        ("1 2", "more than one value"), ("{1: 2, 3}", "expected after dictionary key"), ("{[1]: 2}", "a list or a map"),
        ("[1: 2]", "not a printed Python value"), ("np.float64(1, 2)", "expected one value"),
        ("[" * 5000 + "]" * 5000, "nest"), ("[" * 25 + "]" * 25, "nests values more than 20 deep"), ("]", "unmatched"),
        ("1" * (2**24 + 1), "characters"), ("1" * 5000, "not a printed Python value"),
        ("[1 # 2\n]", "not a printed Python value at '# 2"), ("1], [2", "more than one value"),
        ("1] + [2", "not a printed Python value"), ("[1 - 2]", "not a printed Python value"),
        ("[x for x in (1, 2)]", "not a printed Python value"), ("{**{1: 2}}", "not a printed Python value"),
        ("b'a'", "not a printed Python value"), ("f'{1}'", "not a printed Python value"),
        ("1j", "not a printed Python value"), ("'a", "not a printed Python value"),
        ("'\0'", "not a printed Python value"),
        # a pattern that reads the rest of the text at each character would take hours
        *(("[" + piece * 1_000_000, message) for piece, message in (
            (" ", "never closed"), ("'", "unterminated"), ("\\'", "not a printed Python value at"),
            ("1", "not a printed Python value"), ("(", "too many nested"),
        )),
    ],
)  # fmt: skip
def test_anything_else_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_printed(text)


@pytest.mark.parametrize("piece", ["1,", "[1],", "'a' ", " ", "'", "\\'", "np.float64(1),", "1", "("])
def test_parsing_takes_linear_time(piece, count_lines):
    once, twice = (count_lines(parse_printed, "[" + piece * n + "]") for n in (500, 1000))
    assert twice < 2 * once + 100


GRAPHS = ("chain", "fork")
MODELS = [{"model_id": i, "background": f"Lamp {i} lights lamp {i + 1}."} for i in range(4)]


def cladder(n=48):
    """Questions of three rungs over two graphs and four models; the answer alternates within each."""
    return [
        {
            "question_id": 100 + i,
            "given_info": f"Lamp 1 is lit in {i} % of cases." if i % 2 else "",
            "question": "Is lamp 2 lit more often?",
            "answer": "yes" if i // 12 % 2 else "no",
            "meta": {
                "rung": 1 + i % 3,
                "query_type": ("marginal", "ate", "ett")[i % 3],
                "graph_id": GRAPHS[i // 3 % 2],
                "model_id": i % 4,
                "story_id": "lamps",
            },
        }
        for i in range(n)
    ]


def write(path, content, *, lines=False):
    text = "\n".join(map(json.dumps, content)) if lines else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def test_cladder_with_backgrounds(tmp_path):
    models = write(tmp_path / "models.json", MODELS)
    found = cr.read_cladder(write(tmp_path / "questions.json", cladder()), models, instruction=None)
    assert len(found) == 48
    assert found["prompt"][1] == "Lamp 1 lights lamp 2. Lamp 1 is lit in 1 % of cases. Is lamp 2 lit more often?"
    assert found["prompt"][0] == "Lamp 0 lights lamp 1. Is lamp 2 lit more often?"
    row = found.iloc[5]
    assert (row["question"], row["rung"], row["query"], row["graph"], row["cluster"]) == ("105", 3, "ett", "fork", "1")
    assert found["truth"].tolist() == [i // 12 % 2 == 1 for i in range(48)]
    lines = cr.read_cladder(write(tmp_path / "questions.jsonl", cladder(), lines=True), models, instruction=None)
    pd.testing.assert_frame_equal(lines, found)
    with pytest.raises(ValueError, match=r"record 0: the background of model 0 is missing; pass models="):
        cr.read_cladder(tmp_path / "questions.json")
    assert cr.read_cladder(tmp_path / "questions.json", background=False)["prompt"].str.endswith("'Answer: no'.").all()


def test_the_flat_table_of_cladder(tmp_path):
    path = tmp_path / "flat.csv"
    path.write_text(
        "id,prompt,label,reasoning,graph_id,story_id,rung,query_type\n"
        '3,"Imagine a lamp, lit.\nIs it lit?",yes,,fork,lamps,1,marginal\n',
        encoding="utf-8",
    )
    [row] = cr.read_cladder(path, instruction=None).to_dict("records")
    assert row["prompt"] == "Imagine a lamp, lit.\nIs it lit?"
    assert (row["question"], row["rung"], row["truth"]) == ("3", 1, True)


def test_corr2cause(tmp_path):
    path = tmp_path / "test.csv"
    text = "Premise: Suppose there is a closed system of 3 variables, A, B and C.\nHypothesis: A directly causes B."
    pd.DataFrame({"input": [text, text.replace("3", "4")], "label": [1, 0]}).to_csv(path, index=False)
    found = cr.read_corr2cause(path, instruction=None)
    assert found["truth"].tolist() == [True, False]
    assert found["graph"].tolist() == ["3 variables", "4 variables"]
    assert found["rung"].isna().all()
    assert found["prompt"][0] == f"{text}\n\nDoes the hypothesis follow from the premise?"
    relations = ["entailment", "neutral", "contradiction"]
    parts = [{"premise": "Of 2 variables.", "hypothesis": f"H{i}.", "relation": r} for i, r in enumerate(relations)]
    three = cr.read_corr2cause(write(tmp_path / "test.json", parts))
    assert three["truth"].tolist() == [True, False, False]
    assert three["cluster"].nunique() == 1


OTHER_LAYOUTS = {
    "rung": (lambda r: r | {"meta": r["meta"] | {"rung": 2.7}}, "its rung must be 1, 2 or 3, found 2.7"),
    "meta": (lambda r: r | {"meta": None}, "its field 'meta' must be an object, found None"),
    "number": (lambda r: r | {"given_info": 5}, "its field 'given_info' must be text, found 5"),
    "blank": (lambda r: r | {"question": " "}, "its field 'question' must be text"),
    "list": (lambda r: r | {"given_info": ["a"]}, "its field 'given_info' must be text"),
    "bool": (lambda r: r | {"answer": True}, "the answer must be yes or no, found True"),
    "relation": (lambda r: r | {"answer": "entailment"}, "the answer must be yes or no"),
    "words": (lambda r: r | {"answer": "Yes, because"}, "the answer must be yes or no"),
    "key": (lambda r: r | {"question_id": {"a": 1}}, "its key must be text or a whole number"),
    "perhaps": (lambda r: r | {"answer": "perhaps"}, "the answer must be yes or no, found 'perhaps'"),
    "no answer": (lambda r: {k: v for k, v in r.items() if k != "answer"}, "it has no field 'answer'"),
    "text": (lambda r: r | {"meta": r["meta"] | {"rung": "two"}}, "its rung must be 1, 2 or 3, found 'two'"),
    "repeated": (lambda r: r | {"question_id": 100}, "the key '100' is repeated"),
    "no object": (lambda r: 7, "expected an object with fields, found 7"),
}


@pytest.mark.parametrize("kind", OTHER_LAYOUTS)
def test_another_layout_and_damage_are_refused_and_never_guessed(kind, tmp_path):
    change, message = OTHER_LAYOUTS[kind]
    records = cladder(3)
    records[1] = change(records[1])
    with pytest.raises(ValueError, match=f"record 1: {message}"):
        cr.read_cladder(write(tmp_path / "q.json", records), background=False)


def test_the_layout_of_another_set_is_refused(tmp_path):
    sets = {cr.read_cladder: cladder(3), cr.read_corr2cause: [{"input": "Premise: P. Hypothesis: H.", "label": 1}]}
    for read in sets:
        for other, records in sets.items():
            if other is not read:
                with pytest.raises(ValueError, match="record 0: "):
                    read(
                        write(tmp_path / "q.json", records), **({"background": True} if read is cr.read_cladder else {})
                    )
    for records, message in (
        ([{"input": "Premise: P.", "label": 1}], "has no 'Hypothesis:'"),
        ([{"input": "Premise: P. Hypothesis: H.", "label": "yes"}], "the answer must be 1 or 0"),
        ([{"input": 7, "label": 1}], "its field 'input' must be text, found 7"),
    ):
        with pytest.raises(ValueError, match=f"record 0: .*{message}"):
            cr.read_corr2cause(write(tmp_path / "q.json", records))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.json", '[{"answer": "yes", "answer": "no"}]', "a record has two fields 'answer'"),
        ("q.json", '[{"question": NaN}]', "found NaN, which is not JSON"),
        ("q.csv", "question,answer,answer\na,yes,no\n", "a record has two fields 'answer'"),
        ("q.csv", "question,answer\na,yes\nb,no,yes\n", "line 3 has 3 cells, the first line 2"),
        ("q.csv", "question,answer\na\n", "line 2 has 1 cells, the first line 2"),
    ],
)
def test_tables_that_would_lose_a_value_are_refused(name, text, message, tmp_path):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        cr.read_corr2cause(path)


@pytest.mark.parametrize("content", [b"", b"[]", b"[1", b"{", b"\xff\xfe", b"[" * 100_000, b'"text"'])
def test_files_that_hold_no_questions_are_refused(content, tmp_path):
    path = tmp_path / "q.json"
    path.write_bytes(content)
    for read in (cr.read_cladder, cr.read_corr2cause):
        with pytest.raises(ValueError, match=r"q\.json"):
            read(path)


@pytest.mark.slow
def test_answers_are_scored_beside_shuffled_ones(tmp_path):
    questions = cr.read_cladder(write(tmp_path / "q.json", cladder(240)), background=False)
    truth = dict(zip(questions["question"], questions["truth"], strict=True))
    answers = []
    for model, right in (("perfect", 1.0), ("kind", None)):
        generator = np.random.default_rng(1)

        def reply(prompt, model=model, generator=generator):
            return "Answer: yes"

        asked = cr.ask(questions, reply, key=["question"]).assign(model=model)
        if right:
            asked["answer"] = asked["question"].map(truth).astype("boolean")
        else:  # the usual answer of each kind of question
            asked["answer"] = (asked["query"] == "ate").astype("boolean")
        answers.append(asked)
    table = pd.concat(answers, ignore_index=True)
    for within in ("rung", "graph", ["rung", "graph"]):
        worlds = cr.score_questions(table, by="model", within=within).set_index("model")
        assert (worlds["n_clusters"] <= 4).all()
        found = cr.score_questions(table.drop(columns="cluster"), by="model", within=within).set_index("model")
        assert (found.loc["perfect", "accuracy"] == 1).all()
        np.testing.assert_allclose(found.loc["kind", "accuracy"], found.loc["kind", "control_accuracy"])
        assert (found["n"] > 0).all()
    with pytest.raises(ValueError, match="question {'question': '100'} is answered more than once.*'replicate'"):
        cr.score_questions(table)
    with pytest.raises(ValueError, match="unknown column 'rungs'; did you mean 'rung'"):
        cr.score_questions(table, by="model", within="rungs")
