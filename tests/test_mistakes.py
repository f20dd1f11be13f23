"""Mistakes of beginners: messages state what was found, what was expected and how to mend it."""

import functools
import io

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd import causal_kl as ck
from causaleval_pd import configurational as cf
from causaleval_pd import reasoning as cr

NET = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.1, 0.9]]})


def table(truth, estimate):
    return pd.DataFrame({"truth": truth, "estimate": estimate})


GRAPHS = table(["A -> B"], ["A -> B"])
PACKED = ce.graph_column(["A -> B"])
PRINTED = pd.DataFrame({"n_nodes": [6], "true_edges": [5], "estimated_edges": [4], "adjacency_recall": [0.6]})
EXPECTED = ce.expected_metric("shd", n_nodes=5, true_edges=4, estimated_edges=3)
ANSWERED = cr.make_tasks("candy_party", [[2, 2]], n_samples=5, rng=1).questionnaire().assign(answer=True)


@pytest.mark.parametrize(
    ("truth", "metric", "message"),
    [
        ([0, 1], "answer_accuracy", "row 0 .*found 0; make a column of 0 and 1 answers by .astype"),
        (["yes", "no"], "answer_accuracy", "row 0 .*found 'yes'; read replies of yes and no by ce.reas"),
        ([["A", "B"]] * 2, "shd", "row 0 .*found 'A' in a list.*write edges as one text, as 'A -> B; B -> C'"),
        (["A -> C"] * 2, "correctness", "row 0 .*'A -> C' reads as a graph, which takes metrics of the field 'graph'"),
        ([None, "A -> B; C"], "correctness", "row 1 .*'A -> B; C' reads as a graph"),
        (["A*b<->C"] * 2, "shd", "row 0 .*takes metrics of the field 'formula'"),
        (["A -> B"] * 2, "kl", "row 0 .*a graph has no parameters: give it some by ce.causal_kl.from_data"),
        ([[0.2]] * 2, "rae", r"row 0 .*is a finite number or missing, found \[0.2\]"),
    ],
)
def test_cells_of_another_kind(truth, metric, message):
    with pytest.raises((TypeError, ValueError), match=f"column 'truth', {message}"):
        ce.evaluate(table(truth, truth), [metric])


@pytest.mark.parametrize("truth", [["A -> B; C"], ce.graph_column(["A -> B; C"])], ids=["text", "packed"])
@pytest.mark.parametrize("metrics", [["auroc", "shd"], ["shd", "auroc"], ["relative_frobenius", "shd", "auroc"]])
@pytest.mark.parametrize("verb", [ce.evaluate, ce.with_controls])
def test_metrics_of_several_fields_name_those_that_the_cells_do_not_take(truth, metrics, verb):
    """Whichever cells there are, the message has the field of the cells and every metric of another one."""
    scores = ce.score_column([[[0, 3, 1], [0, 0, 2], [0, 0, 0]]], nodes=["A", "B", "C"], encoding="row->column")
    for estimate, field in ((scores, "scores"), (truth, "graph")):
        others = [name for name in metrics if ce.get_metric(name).field != field]
        message = f"the cells are of field '{field}', .*; {', '.join(others)} is of field '"
        with pytest.raises(ValueError, match=message):
            verb(table(truth, estimate), metrics)


SCORED = ce.score_column([[[0, 0.5], [0.2, 0]]], nodes=["A", "B"], encoding="row->column")


@pytest.mark.parametrize("truth", ["packed", "text"])
@pytest.mark.parametrize(
    ("column", "text", "metric", "maker", "kept"),
    [
        (ce.graph_column(["A -> B"]), "A -> B", "shd", "graph_column", ".graph.to_strings"),
        (
            ce.lagged_column(["A@-1 -> B"]),
            "A@-1 -> B",
            "lagged_f1",
            "lagged_column",
            "text that its .lagged.to_strings",
        ),
        (SCORED, "A -> B", "auroc", "score_column", ".score.to_frame"),
        (ce.network_column([NET]), "A -> B", "kl", "network_column", "not CSV$"),
    ],
    ids=["graphs", "lagged", "scores", "networks"],
)
def test_packed_cells_that_csv_wrote_as_text_name_their_own_maker(column, text, metric, maker, kept, truth):
    """Whatever the truths are, with metrics and without, and where a program cut the text."""
    read = pd.read_csv(io.StringIO(column.to_frame("estimate").to_csv(index=False)))["estimate"]
    message = f"row 0 .*found the text .*with {maker} before that, and store it as Parquet.*{kept}"
    for cells in (read, read.str[:250]):
        with pytest.raises(ValueError, match=message):
            getattr(ce, maker)(cells)
        if metric != "kl" or truth == "packed":
            runs = table(cells if truth == "packed" else [text], cells)
            for metrics in ([metric], None):
                with pytest.raises(ValueError, match=message):
                    ce.evaluate(runs, metrics)


def test_answers_without_a_metric_are_taken_for_answers():
    answers = table(["yes", "yes"], ["yes", "no"])
    with pytest.raises(ValueError, match=r"row 1 .*as in evaluate\(\['label_accuracy'\]\)"):
        ce.evaluate(answers)
    assert ce.evaluate(answers, ["label_accuracy"])["label_accuracy"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_draws": None}, "n_draws must be a positive integer, found None"),
        ({"n_draws": "many"}, "n_draws must be a positive integer or 'auto', found 'many'"),
        ({"n_draws": float("nan")}, "n_draws must be a positive integer, found nan"),
        ({"level": "95"}, "level must lie between 0 and 1, found '95'"),
        ({"null": "edgs"}, "unknown null 'edgs' for field 'graph'; did you mean 'edges'"),
        ({"method": ["auto"]}, r"unknown method \['auto'\]"),
        ({"control_kind": ["dag"]}, "control_kind must be a class of graphs or the name of a column"),
        ({"context": GRAPHS}, "context must be a mapping of names to inputs, .*found a DataFrame"),
        ({"rng": "seven"}, "rng must be None, an integer or a numpy Generator"),
    ],
)
def test_settings_of_controls(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ce.with_controls(GRAPHS, **{"metrics": ["shd"], "n_draws": 5} | settings)


@functools.cache
def made_cube():
    return ce.cube(ce.datasets.runs().head(9), ["shd"], by=["n"], n_draws=5, rng=7)


STRATA = "by must be the name of a column, several names, or \\[\\] for one stratum of all runs, found"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GRAPHS.ceval.cube(), r"^cube\(\) missing"),
        (lambda: ce.cube(GRAPHS, ["shd"], by=None, n_draws=None), STRATA),
        (lambda: ce.cube(GRAPHS, ["shd"], by=3, n_draws=None), STRATA),
        (lambda: ce.cube(GRAPHS, ["shd"], by=[], values=3),
         "values must be a list of columns or {.*direction}, found 3"),
        (lambda: made_cube().ceval.summary([]), "metrics names no metric; the cube has 'shd'"),
        (lambda: made_cube().ceval.summary(3), "metrics must be the names of metrics of the cube, found 3"),
        (lambda: made_cube().ceval.summary(adjust="bonferoni"),
         r"'bonferoni' \(adjust=\); did you mean 'bonferroni'\?"),
        (lambda: ce.set_options(n_jobs="all"), "n_jobs must be a positive integer, found 'all'"),
        (lambda: ce.evaluate(table([["A -> B"]], ["A -> B"])), "found 'A -> B' in a list.*write edges as one text"),
        (lambda: ce.shd("A -> B", "A; B", reversal=2), "no option 'reversal'; did you mean 'reversal_cost'"),
        (lambda: ce.shd("A -> B", "A; B", reversal_cost="two"), "reversal_cost must be a number from 0, found 'two'"),
        (lambda: ce.f_beta("A<->B", "A<->B", beta="two"), "beta must be a number from 0, found 'two'"),
        (lambda: ce.adjacency_f_beta("A -> B", "A; B", beta=None), "beta must be a positive number, found None"),
        (lambda: ce.answer_accuracy(1, 0), "an answer is True or False, found 1; make a column of 0 and 1"),
        (lambda: ce.correctness("A -> C", "A -> C"), "'A -> C' reads as a graph"),
        (lambda: ce.tweak("shd", name=3), "must be an identifier .* found 3"),
        (lambda: ce.as_graph("A -> B", nodes=3), "nodes must be a list of node names, found 3"),
        (lambda: ce.as_graph("A -> B", kind=3), "kind must be one of 'dag'"),
        (lambda: ce.expected_metric("shd", n_nodes="ten", true_edges=3, estimated_edges=3), "n_nodes must hold whole"),
        (lambda: ce.skeleton_test([None], 4, 3, 5), "tp is nan, impossible with 4 true and 3 estimated edges"),
        (lambda: ce.skeleton_test(2, 4, 3, 2**70), "n_nodes must hold whole numbers from 0 to 2,147,483,647, found"),
        (lambda: ce.skeleton_test(2, 2**40, 3, 5), "true_edges must hold whole numbers from 0 to 2,147,483,647"),
        (lambda: ce.from_published(PRINTED, 1.5), "metrics must be a metric or several, by name or as Metric, found"),
        (lambda: ce.from_published(PRINTED, constant=1), "constant must be a column or several columns, found 1"),
        (lambda: ce.style(EXPECTED, directions=np.array([])), "directions must be a mapping of metrics to directions"),
        (lambda: ce.pool(ANSWERED, "run", weight=[1]), r"weight must be the name of a column, found \[1\]"),
        (lambda: ce.pool(ANSWERED, "run", log_weight={}), r"log_weight must be the name of a column, found {}"),
        (lambda: ce.skeleton_test("three", 5, 5, 6), "tp must hold whole numbers from 0, found 'three'"),
        (lambda: ce.DiscreteNetwork({"A": []}, [[0.5, 0.5]]), "cpts must be a mapping with one entry per node"),
        (lambda: ce.DiscreteNetwork({"A": 1}, {"A": [0.5, 0.5]}), "parents must map node names to lists"),
        (lambda: ce.GaussianNetwork({"A": []}, None, {"A": 1}), "coefficients must be a mapping"),
        (lambda: ck.from_joint("A -> B", "A -> B"), "network must be a DiscreteNetwork or a GaussianNetwork"),
        (lambda: ck.sample(NET, "ten"), "n must be an integer from 0, found 'ten'"),
        (lambda: ck.sample(NET, 3, rng="seven"), "rng must be None, an integer or a numpy Generator"),
        (lambda: ck.metastatic(coma_given_serum="high"), r"coma_given_serum must lie in \[0, 1\], found 'high'"),
        (lambda: cf.redundancy_free(["A<->B"]), "expected a model as text"),
        (lambda: cf.simulate_data("A<->B", "ten"), "n_cases must be a positive integer, found 'ten'"),
        (lambda: cf.simulate_data("A<->B", domains=["A"]), "domains must be a mapping of factors to their values"),
        (lambda: cf.simulate_data("A<->B", domains={"A": 3}), "domains must map factors to lists .* found 'A': 3"),
        (lambda: cf.random_models(1, 4, disjuncts="two"), "disjuncts must be a number from 1, or"),
        (lambda: cf.random_models(1, 4, negated="half"), "negated must lie in"),
        (lambda: cr.World("A -> B", {"B": "or"}, {"A": 0.5, "B": 0.5}),
         "edges must be a list of .parent, child. pairs"),
        (lambda: cr.World([("A", "B")], {"B": "or"}, [0.5]), "noise must be a mapping of every node"),
        (lambda: cr.sample_world("33"),
         "sizes must hold the numbers of nodes of the components, as .3, 3., found '33'"),
        (lambda: cr.sample_world([3], noise=("low", "high")), "noise must lie in"),
        (lambda: cr.required_samples("many"), "a PNS must be a probability from 0 to 1; found other values in 'many'"),
        (lambda: cr.random_reasoner(0.2, "ten"), "n must be a positive integer, found 'ten'"),
        (lambda: cr.answer_scores(ANSWERED, by=3), "by must be a name or a list of names, found 3"),
        (lambda: cr.answer_scores(ANSWERED, level="95"), "level must lie between 0 and 1, found '95'"),
        (lambda: cr.quantities(ANSWERED, worlds="tasks"), "worlds must be the tasks, a World, or a mapping"),
        (lambda: cr.quantities(ANSWERED, which=[]), "which names no quantity; known are"),
        (lambda: cr.judge("quantities"), "quantities must be a DataFrame made by ce.reasoning.quantities"),
        (lambda: cr.ask("questions", print), "questions must be a DataFrame with one row per question"),
        (lambda: cr.ask(ANSWERED, "model"), "reasoner must be a function from a prompt to a reply, found 'model'"),
        (lambda: cr.join_answers(ANSWERED, None), "answers must be a DataFrame with one row per question, found None"),
        (lambda: cr.parse_answers("Yes."), "replies must be a column or a list of texts, found 'Yes.'"),
        (lambda: cr.make_tasks("candy_party", 3), "sizes must hold one sequence of numbers of nodes per graph"),
        (lambda: cr.make_tasks("candy_party", [[2, 2]], n_samples="ten"), "n_samples must be a positive integer"),
        (lambda: cr.sample_world([3], kind=3), "kind must be one of 'cycle', 'wheel' or 'mixed', or one a component"),
        (lambda: ck.from_data("A -> B", ck.sample(NET, 9, rng=1), states={}), "states lacks the nodes .'A', 'B'."),
        (lambda: ce.plot.expected_curves("shd", n_nodes="ten", true_edges=3), "n_nodes must be an integer from 0"),
        (lambda: ce.plot.expected_curves("shd", n_nodes=9, true_edges=None), "true_edges must be a number, or numbers"),
        (lambda: ce.summary(GRAPHS), r"cube must be a Dataset made by cube\(\), found a DataFrame"),
        (lambda: ce.plot.strata(GRAPHS, "shd", x="n"), r"cube must be a Dataset made by cube\(\), found a DataFrame"),
        (lambda: ce.evaluate(table(PACKED, PACKED), ["correctness"]),
         "the cells are of field 'graph', .*; correctness is of field 'formula'"),
        (lambda: made_cube()[["shd"]].ceval.summary(),
         r"lacks the cube's variable 'status'; keep the whole cube .* summary\('shd'\)"),
        *((lambda name=name: ce.get_metric(name), f"unknown metric '{name}'; {message}") for name, message in (
            ("directed_auroc", r"scores of edges and graphs have 'auroc' \(.*, 'adjacency_balanced_accuracy'"),
            ("edge_auroc", "scores of edges and graphs have 'auroc'"),
            ("skeleton_auprc", "scores of edges and graphs have 'average_precision'"),
            ("adjacency_ap", "scores of edges and graphs have 'average_precision'"),
            ("normalized_shd", r"ce.tweak\('shd', normalised=True\) divides by the number of pairs of nodes: 'shd'"),
        )),
        (lambda: made_cube().ceval.model("shd ~ algorithm + (1|truth)"), "errors allow for clusters in every model;"),
        (lambda: made_cube().ceval.model("log(seconds) ~ algorithm"),
         r"'log\(seconds\)' is not a name; carry a transformed column by cube\(values=\)"),
        (lambda: GRAPHS.ceval.plot, r"'plot', .* of cubes; use df.ceval.cube\(metrics, by=\[...\]\).ceval.plot$"),
        (lambda: GRAPHS.ceval.report("r.html"), r"'report', which is one of cubes; .*\.ceval.report\(...\)$"),
        (lambda: GRAPHS.ceval.strata, r"which is a figure; use cube.ceval.plot.strata\("),
        (lambda: GRAPHS.ceval.forest, r"which is a figure; use ce.plot.forest\("),
        (lambda: GRAPHS.ceval.shd(), r"which is a metric; use df.ceval.evaluate\(\['shd'\]\)"),
        (lambda: GRAPHS.ceval.evaluat(), "a table of runs has no verb 'evaluat'; did you mean 'evaluate'"),
        (lambda: made_cube().ceval.with_controls(["shd"]), "'with_controls', .* of tables of runs; use df.ceval.with"),
        (lambda: made_cube().ceval.cube(["shd"]), "'cube', which is one of tables of runs"),
        (lambda: made_cube().ceval.heat_map(), r"which is a figure; use cube.ceval.plot.heat_map\("),
        (lambda: made_cube().ceval.compere(), "a cube has no verb 'compere'; did you mean 'compare'"),
    ],
)  # fmt: skip
def test_other_arguments_and_names(call, message):
    with pytest.raises((TypeError, ValueError, AttributeError), match=message):
        call()


def test_models_may_be_text_wherever_a_model_is_expected():
    text, model = "A+C<->E", cf.parse("A*b+C<->E")
    assert cf.submodels(text, model)["shared"].all() and cf.redundancy_free(text)
    assert cf.ideal_data(text).equals(cf.ideal_data(cf.parse(text)))


def test_arrows_are_read_as_models_where_the_metric_or_column_requires_models():
    assert ce.correctness("A*b+C -> E", "A -> E", arrows="equivalence") == 1.0
    cells = table(["A+B -> C", "A -> C"], ["A<->C", "A<->C"])
    found = ce.evaluate(cells, [ce.tweak("correctness", arrows="equivalence", name="c")])
    assert found["c"].tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match=r"row 0 .*, where truth is one-way.*arrows='equivalence'\) \(=> and <="):
        ce.evaluate(cells, ["correctness"])


def test_tables_and_arrays_are_not_names():
    for odd in (GRAPHS, GRAPHS["truth"], np.arange(3), ["edges"], {}):
        with pytest.raises(ValueError, match="unknown"):
            ce.list_metrics(odd)


def test_names_that_tools_look_for_are_missing_without_a_hint():
    for thing in (GRAPHS, made_cube()):
        with pytest.raises(AttributeError, match="Accessor' object has no attribute '_repr_latex_'$"):
            getattr(thing.ceval, "_repr_latex_")  # noqa: B009


@pytest.mark.parametrize(
    ("role", "other"),
    [("estimate", "prediction"), ("estimate", "Learned"), ("truth", "ground_truth"), ("truth", "gold")],
)
def test_columns_that_are_often_called_otherwise(role, other):
    runs = GRAPHS.assign(density=0.2).rename(columns={role: other})
    with pytest.raises(ValueError, match=rf"no column '{role}' \({role}\); did you mean '{other}'\? its columns"):
        runs.ceval.evaluate(["shd"])
    with pytest.raises(ValueError, match=rf"no column 'trth' \({role}\); did you mean 'truth'\?"):
        GRAPHS.ceval.evaluate(["shd"], **{role: "trth"})


@pytest.mark.parametrize("verb", ["compare", "rank_test"])
def test_metrics_that_lost_their_attributes(verb):
    cube = ce.datasets.runs().head(30).ceval.cube(["shd", "adjacency_f1"], by=["algorithm"], n_draws=None)
    bare = cube.assign(shd=cube["shd"].drop_attrs())
    with pytest.raises(ValueError, match=r"shd has lost its attributes \(direction, optimum\); keep them, as by"):
        getattr(bare.ceval, verb)("algorithm")
    if verb == "compare":
        assert len(bare.ceval.compare("algorithm", metrics="adjacency_f1", columns="full")) == 3


def test_objects_that_are_no_tables():
    for wrong in (made_cube(), made_cube()["shd"], None, [GRAPHS]):
        with pytest.raises(TypeError, match="table must be a table of compare or summary, found"):
            ce.plot.forest(wrong)
        with pytest.raises(TypeError, match="table must be a table of runs, found"):
            ce.placebo(wrong)


def test_a_column_with_brackets_is_a_response():
    runs = ce.datasets.runs().head(60).rename(columns={"seconds": "time (s)"})
    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=None, values=["time (s)"])
    assert set(cube.ceval.model("`time (s)` ~ algorithm")["response"]) == {"time (s)"}


@pytest.mark.parametrize("null", [lambda estimate: estimate, lambda: "A -> B", lambda a, b, c: a])
def test_functions_that_are_no_null_models(null):
    named = ce.null_model(null, name="same")
    for call in (
        lambda: GRAPHS.ceval.with_controls(["shd"], null=named, n_draws=9),
        lambda: GRAPHS.assign(x=0).ceval.cube(["shd"], by=["x"], null=named, n_draws=9),
        lambda: ce.control_distribution("A -> B", n_edges=1, kind="dag", null=named),
    ):
        message = r"the null model 'same' takes \(.*\), and is called by same\(estimate, rng\)"
        with pytest.raises(TypeError, match=message):
            call()
    for right in (lambda estimate, rng, more=1: estimate, lambda *given: given[0]):
        assert GRAPHS.ceval.with_controls(["shd"], null=right, n_draws=9)["shd_p"].tolist() == [1.0]


@pytest.mark.parametrize(("value", "kind"), [(["a"], "list"), ({"a": 1}, "dict"), (([1],), "tuple")])
@pytest.mark.parametrize("setting", ["key", "cluster"])
def test_columns_that_name_rows_hold_no_lists(value, kind, setting):
    runs = table(["A -> B", "B -> A"], ["A -> B", "A -> B"]).assign(q=[value, value], n=1)
    with pytest.raises(TypeError, match=f"^column 'q' holds values of type {kind}, which name no rows; make them te"):
        ce.cube(runs, ["shd"], by=["n"], n_draws=5, rng=1, **{setting: "q"})


TRUTH = "A -> B; B -> C; C -> D; A -> D"
LATENTS = {"context": {"latents": []}}
AS_PAG = {"context": {"latents": [], "target": "pag"}}
GOT = r"^column 'got', row 1 \(index 'r2'\): "


@pytest.mark.parametrize(
    ("estimate", "settings", "message"),
    [
        ("A o-> B; C <-> D; A -- D", AS_PAG, f"{GOT}the estimate is a mixed graph, not the PAG of any MAG"),
        ("A -- B; C <- D; A -> D", AS_PAG,
         f"{GOT}the estimate is a pdag, compared as a mixed graph by context 'target', not the PAG"),
        ("A -> B; C; D", {**AS_PAG, "control_kind": "kind"},
         f"{GOT}the estimate is a dag, compared as a mag by context 'target', and control_kind is 'dag'; .* or pag"),
        ("A o-o B; C; D", {**LATENTS, "control_kind": "kind"},
         f"{GOT}the estimate is a pag, and control_kind is 'dag'; controls of pag"),
        ("A o-o B; C; D", {**LATENTS, "null": "degree"},
         r"^column 'true', row 1 \(index 'r2'\): the truth is a dag, compared as a pag by the class of the estimate"),
        ("A -> B; C; D", {"null": "empty", **AS_PAG},
         r"^column 'true', row . \(index 'r.'\): the truth is a dag, compared as a pag by context 'target', and this"),
        ("A -> B; C; D", {"null": ce.null_model("latent_dag", n_latents=2)}, "the estimate is a dag, and null='lat"),
        ("A -> B; C; D", {"null": lambda estimate, rng: estimate if estimate.n_edges > 1 else None},
         f"{GOT}null '<lambda>' returned None"),
        ("A -> B; C; D", {"control_kind": "other"}, f"{GOT}control_kind is 'odd'; expected one of dag"),
        ("A -> B; B -> C; C -> A; D", {"null": ce.null_model("edges", permute=False)}, f"{GOT}the .* is a digraph"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("verb", [ce.with_controls, functools.partial(ce.cube, by=["n"])], ids=["controls", "cube"])
def test_null_models_name_the_cell_that_they_refuse(verb, estimate, settings, message):
    """Row, index label and column, and the class of the user's cell where another one is compared."""
    first = "A -> B; C -> D" if "control_kind" not in settings or "o" not in estimate else "A o-o B; C o-o D"
    runs = pd.DataFrame({"true": [TRUTH] * 2, "got": [first, estimate]}, index=["r1", "r2"])
    runs = runs.assign(n=1, kind=[None, "dag"], other=[None, "odd"])
    with pytest.raises(ValueError, match=message):
        verb(runs, ["shd"], truth="true", estimate="got", n_draws=5, rng=1, **settings)


@pytest.mark.parametrize("estimate", ["A -> B; C; D", "A -- B; B -- C; D", "A o-o B; C; D"])
@pytest.mark.parametrize("context", [{"latents": ["Q"]}, {"latents": ["C", "Q"]}, {"latents": ["Q"], "target": "pag"}])
def test_latent_nodes_that_no_truth_has_are_named_whatever_the_estimate_is(estimate, context):
    runs = pd.DataFrame({"truth": [TRUTH], "estimate": [estimate]}, index=["r1"])
    message = r"^row 0 \(index 'r1'\): latents names 'Q', which is not a node of the graph; its nodes are \['A', 'B'"
    for verb in (ce.evaluate, functools.partial(ce.with_controls, n_draws=5, rng=1)):
        with pytest.raises(ValueError, match=message):
            verb(runs, ["shd"], context=context)
