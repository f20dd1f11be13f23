"""CPU time of the first call, in fresh processes with an empty cache: `python tests/benchmarks/bench_first_call.py`.

Each line is one process: it imports pandas and the package, reads graphs, evaluates, scores controls and builds a cube.
The first call compiles what it needs; the column "again" is the time of the same calls once more, in the same process.
Arguments are names of metrics (all of them if there is none); "default" stands for the default metrics,
"null=permutation" for the default metrics with controls of that null model, and "field=network" for the default metrics
of another field.
"""

import json
import os
import subprocess
import sys
import tempfile

STEPS = ("read", "evaluate", "with_controls", "cube")
KINDS = ("dag", "cpdag", "pag")
FIELDS = ("scores", "lagged", "without_truth", "network", "formula", "large_formula", "answer", "quantity")


def measure(name: str, kind: str) -> None:
    """Print the CPU seconds of each step as JSON; run in a fresh process."""
    import time

    import numpy as np
    import pandas as pd
    import xarray  # noqa: F401

    began = time.process_time()
    import causaleval_pd as ce

    spent = {"import": time.process_time() - began}
    null = name.removeprefix("null=") if name.startswith("null=") else None
    field = name.removeprefix("field=") if name.startswith("field=") else None
    metrics = None if name == "default" or null or field else [name]
    controls = {} if null is None else {"null": null}
    columns: dict[str, object] = {}
    if field == "without_truth":
        columns = {"truth": None, "context": {"data": pd.DataFrame(np.random.default_rng(1).normal(size=(200, 10)))}}
        controls = {"null": "permutation"}
        metrics = ["separation_share", "bic"]
    elif field == "quantity":
        columns = {"context": ce.reasoning.COUNTS}
    elif field == "network":
        columns = {"context": {"estimator": "joint"}}
    elif field in ("formula", "large_formula"):
        columns = {"context": {"factors": list("ABCDE" if field == "formula" else "ABCDEFGHI")}}
        metrics = ["correctness", "completeness", "f_beta"]
    rng = np.random.default_rng(7)
    matrices = np.triu(rng.random((2, 24, 10, 10)) < 0.3, 1).astype(np.int8)

    def read() -> pd.DataFrame:
        if field:
            return pd.DataFrame({**cells_of_field(field), "group": np.arange(24) % 3})
        truth, estimate = (ce.graph_column(block, encoding="row->column") for block in matrices)
        if kind == "cpdag":
            estimate = estimate.graph.cpdag()
        elif kind == "pag":
            truth, estimate = truth.graph.pag(), estimate.graph.pag()
        return pd.DataFrame({"truth": truth, "estimate": estimate, "group": np.arange(24) % 3})

    for round_ in ("first", "again"):
        start = time.process_time()
        table = read()
        steps = [time.process_time()]
        table.ceval.evaluate(metrics, invalid="nan", **columns)
        steps.append(time.process_time())
        scored = table.ceval.with_controls(metrics, rng=1, invalid="nan", **columns, **controls)
        steps.append(time.process_time())
        scored.ceval.cube(by=["group"], metrics=metrics, invalid="nan", **columns, **(controls if field else {}))
        steps.append(time.process_time())
        if round_ == "first":
            spent |= dict(zip(STEPS, np.diff([start, *steps]).tolist(), strict=True))
        spent[round_] = steps[-1] - start
    sys.stdout.write(json.dumps(spent))


def cells_of_field(field: str) -> dict[str, object]:
    """Return 24 pairs of cells of a field other than graphs."""
    import numpy as np

    import causaleval_pd as ce

    rng = np.random.default_rng(7)
    if field in ("answer", "quantity"):
        one, zero = rng.random((2, 24, 40)) < 0.6
        if field == "answer":
            return {"truth": one[:, 0], "estimate": zero[:, 0]}
        tables = [f"pns 40 {a.sum()} 40 {b.sum()} {(a & b).sum()}" for a, b in zip(one, zero, strict=True)]
        return {"truth": rng.random(24) / 2, "estimate": (one & ~zero).mean(axis=1), "counts": tables}
    if field == "formula":
        return {
            "truth": ["A*B+C<->D"] * 24,
            "estimate": [("A*b+C<->D", "A+B*C<->D", "B+C<->D")[i % 3] for i in range(24)],
        }
    if field == "large_formula":  # too many differ for Python to evaluate them
        signs = np.array(["".join(pair) for pair in zip("ABCDEFGH", "abcdefgh", strict=True)])
        models = []
        for _ in range(25):
            drawn = [rng.choice(8, size, replace=False) for size in (2, 3, 3)]
            disjuncts = ["*".join(signs[f][rng.integers(2)] for f in sorted(factors)) for factors in drawn]
            models.append("+".join(disjuncts) + "<->I")
        return {"truth": models[:1] * 24, "estimate": models[1:]}
    if field == "lagged":
        chosen = [[f"{a}@-1 -> {b}" for a in "XYZ" for b in "XYZ" if a != b and rng.random() < 0.4] for _ in range(48)]
        own = [f"{a}@-1 -> {a}" for a in "XYZ"]
        cells = ce.lagged_column(["; ".join([*own, *links]) for links in chosen])
        return {"truth": cells[:24].reset_index(drop=True), "estimate": cells[24:].reset_index(drop=True)}
    matrices = np.triu(rng.random((2, 24, 10, 10)) < 0.3, 1).astype(np.int8)
    truth, graphs = (ce.graph_column(block, encoding="row->column") for block in matrices)
    if field == "without_truth":
        return {"estimate": graphs}
    if field == "scores":
        return {"truth": truth, "estimate": ce.score_column(list(rng.random((24, 10, 10))), encoding="row->column")}
    from causaleval_pd.causal_kl import from_joint, metastatic

    network = metastatic()
    guesses = ("S -> M; M -> B; C", "S -> M; S -> C; B -> C", "M -> S; C -> B")
    return {"truth": [network] * 24, "estimate": [from_joint(guesses[i % 3], network) for i in range(24)]}


def fresh(name: str, kind: str) -> dict[str, float]:
    """Measure in a process of its own whose cache is empty."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--measure", name, kind]
        done = subprocess.run(command, env=os.environ | {"NUMBA_CACHE_DIR": cache}, stdout=subprocess.PIPE, check=True)
    return {key: float(value) for key, value in json.loads(done.stdout).items()}


def main(names: list[str]) -> None:
    """Print one line per metric and kind of estimates, and one line per field."""
    columns = ("import", *STEPS, "first", "again")
    print(f"{'metric':<28}{'estimates':<11}" + "".join(f"{column:>14}" for column in columns), flush=True)
    for name in names:
        for kind in ("",) if name.startswith("field=") else KINDS:
            spent = fresh(name, kind)
            print(f"{name:<28}{kind:<11}" + "".join(f"{spent[column]:>14.2f}" for column in columns), flush=True)


def every_metric() -> list[str]:
    """Return the defaults, and each metric and null model of rows of graphs."""
    import causaleval_pd as ce

    metrics = ce.list_metrics()
    nulls = ce.list_nulls("graph").index.get_level_values("name")
    return [
        "default",
        *metrics.index[metrics["field"] == "graph"],
        *(f"null={x}" for x in nulls),
        *(f"field={x}" for x in FIELDS),
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:4])
    else:
        main(sys.argv[1:] or every_metric())
