"""Areas and average precisions beside scikit-learn, and exact p-values: `python tests/benchmarks/bench_scores.py`.

CPU seconds of one thread; scikit-learn is measured on 200 of the matrices and scaled. The ratio is the result.
"""

from timing import seconds

# isort: split
import numpy as np
import pandas as pd

import causaleval_pd as ce

N_NODES, N_MATRICES, N_PEER = 20, 100_000, 200


def main() -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score

    rng = np.random.default_rng(0)
    names = [f"X{i:02d}" for i in range(N_NODES)]
    scores = rng.random((N_MATRICES, N_NODES, N_NODES))
    marks = [np.triu(rng.random((N_NODES, N_NODES)) < 0.1, 1).astype(int) for _ in range(20)]
    truths = ce.graph_column(marks, nodes=names, encoding="row->column")
    table = pd.DataFrame({"truth": truths.iloc[np.arange(N_MATRICES) % 20].array})
    table["estimate"] = ce.score_column(scores, nodes=names, encoding="row->column").array
    table.head(20).ceval.evaluate(["auroc", "average_precision"])
    table.head(20).ceval.with_controls(["auroc"], null="ranking", rng=1)

    ours = seconds(table.ceval.evaluate, ["auroc", "average_precision"])
    found, off = table.head(N_PEER).ceval.evaluate(["auroc", "average_precision"]), ~np.eye(N_NODES, dtype=bool)

    def compare() -> None:
        for i in range(N_PEER):
            y, s = marks[i % 20][off], scores[i][off]
            assert abs(roc_auc_score(y, s) - found["auroc"][i]) < 1e-12
            assert abs(average_precision_score(y, s) - found["average_precision"][i]) < 1e-12

    peer = seconds(compare) / N_PEER * N_MATRICES
    print(f"area and precision, {N_MATRICES} matrices: {ours:.1f} s, scikit-learn {peer:.0f} s, {peer / ours:.0f}x")
    spent = seconds(lambda: table.ceval.with_controls(["auroc"], null="ranking", rng=1))
    print(f"with exact p-values of the area: {spent:.1f} s")


if __name__ == "__main__":
    main()
