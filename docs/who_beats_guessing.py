"""Write the page "Who beats guessing" and its figure from the printed results that ship with the package.

`python docs/who_beats_guessing.py` writes docs/who_beats_guessing.md and docs/_static/who_beats_guessing.png.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import causaleval_pd as ce

DOCS = Path(__file__).parent
PAGE, FIGURE = DOCS / "who_beats_guessing.md", DOCS / "_static/who_beats_guessing.png"
TEXT = DOCS / "who_beats_guessing.txt"
#: metric of a skeleton, of directions, and how many random graphs stand beside each run for the latter
SKELETON, DIRECTIONS, N_DRAWS = "adjacency_f1", "arrowhead_recall", 200


def claims(metric: str, group: str, n_runs: int | None = None) -> pd.DataFrame:
    """Return the claims of one metric, in a column of its name."""
    rows = ce.datasets.published_results().query("metric == @metric and group == @group")
    if n_runs is not None:
        rows = rows[rows["n_runs"] == n_runs]
    named = rows.rename(columns={"value": metric, "convention": f"{metric}_convention"})
    return named.dropna(axis=1, how="all").reset_index(drop=True)


def best_of_settings(metric: str) -> pd.DataFrame:
    """Return the best setting of each method and condition, judged as the best of as many as were printed."""
    rows = claims(metric, "simulated").drop(columns="truth")
    groups = ce.from_published(rows, metric).groupby(["condition", "method"])[f"{metric}_p"]
    best = rows.loc[groups.idxmin()].assign(n_settings=groups.size().to_numpy())
    return ce.from_published(best.reset_index(drop=True), metric)


def leaderboard(judged: pd.DataFrame, metric: str, **further: pd.Series) -> pd.DataFrame:
    """Return how many conditions each method beats guessing in, and its mean skill."""
    verdict = judged[f"{metric}_verdict"]
    counts = {
        "conditions": verdict.notna(),
        "beats guessing": verdict.str.startswith("better"),
        "does not": verdict.str.startswith("not better"),
        "cannot be judged": verdict.str.startswith("cannot"),
    }
    by_method = judged.assign(**counts).groupby("method")
    table = by_method[list(counts)].sum().assign(**{"mean skill": by_method[f"{metric}_skill"].mean()}, **further)
    return table.sort_values(["beats guessing", "mean skill"], ascending=False)


def as_text(table: pd.DataFrame) -> str:
    """Return a table as Markdown."""
    shown = table.reset_index()
    cells = [
        [f"{round(x, 2) + 0:.2f}" if isinstance(x, float) else str(x) for x in row]
        for row in shown.itertuples(index=False)
    ]
    lines = [list(map(str, shown.columns)), ["---"] * shown.shape[1], *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def directions(judged: pd.DataFrame) -> pd.Series:
    """Return the mean skill of directions by method, beside graphs that share as many adjacencies with the truth."""
    keys = ["condition", "method", "setting"]
    rows = claims(DIRECTIONS, "simulated").fillna({"setting": ""}).set_index(keys)
    best = judged.fillna({"setting": ""})
    shared = best[SKELETON].astype(float) * (best["true_edges"] + best["estimated_edges"]) / 2
    found = pd.Series(index=best.index, dtype=float)
    for i, row in best.iterrows():
        key = tuple(row[keys])
        if key not in rows.index:
            continue
        null = ce.null_model("skeleton", shared=round(float(shared[i])))
        guesses = ce.control_distribution(
            rows.loc[key, "truth"],
            n_edges=int(row["estimated_edges"]),
            kind="cpdag",
            observed={DIRECTIONS: float(rows.loc[key, DIRECTIONS])},
            null=null,
            n_draws=N_DRAWS,
            rng=7,
        )
        found[i] = guesses["skill"].item()
    return found.groupby(best["method"]).mean()


def draw(judged: pd.DataFrame) -> None:
    """Draw the skill of the skeletons by condition."""
    import matplotlib

    matplotlib.use("agg")
    import seaborn as sns

    parts = judged["condition"].str.split("_", expand=True).astype(int)
    shown = judged.assign(
        nodes=parts[0],
        degree=parts[1],
        skill=judged[f"{SKELETON}_skill"],
        better=judged[f"{SKELETON}_verdict"] == "better",
    )
    order = shown.groupby("method")["skill"].mean().sort_values(ascending=False).index.tolist()
    grid = sns.FacetGrid(shown, col="nodes", col_wrap=3, height=2.1, aspect=1.15, hue="method", hue_order=order)
    grid.map_dataframe(sns.lineplot, x="degree", y="skill", lw=1)
    for nodes, ax in grid.axes_dict.items():
        for method, line in zip(order, ax.get_lines(), strict=False):
            points = shown[(shown["nodes"] == nodes) & (shown["method"] == method)]
            for better, fill in ((True, line.get_color()), (False, "white")):
                some = points[points["better"] == better]
                ax.scatter(
                    some["degree"], some["skill"], s=14, color=fill, edgecolor=line.get_color(), lw=0.8, zorder=3
                )
        ax.axhline(0, color="0.4", lw=0.8)
        ax.grid(axis="y", lw=0.4, color="0.88")
    grid.set_titles("{col_name} nodes").set_axis_labels("average degree of the truth", "skill of the skeleton")
    grid.set(ylim=(-0.2, 1.05))
    grid.add_legend(title="")
    FIGURE.parent.mkdir(exist_ok=True)
    grid.savefig(FIGURE, dpi=110, metadata={"Software": None})


def sources() -> pd.DataFrame:
    """Return where each number comes from."""
    rows = ce.datasets.published_results().fillna({"commit": ""})
    rows["locator"] = rows["locator"].str.replace(r"result_\w+", "result_*", regex=True)
    rows["locator"] = rows["locator"].str.replace(r"results/.*_3-shot", "results/*_3-shot", regex=True)
    counts = rows.groupby(["source", "commit", "locator", "licence"], sort=False).size().rename("claims").reset_index()
    return counts.assign(commit=counts["commit"].str[:10]).set_index("source")


def page() -> str:
    """Return the page: the text with its tables and numbers."""
    judged = best_of_settings(SKELETON)
    skeletons = claims(SKELETON, "simulated")
    rows = ce.from_published(skeletons.drop(columns="truth"), SKELETON)
    better = rows[rows[f"{SKELETON}_verdict"] == "better"]
    shd = claims("shd", "simulated", 1)
    distances = ce.from_published(shd.drop(columns="truth"), "shd")
    # the most that "any difference costs 1" allows is an edge for each adjacency of either graph
    keys = ["condition", "method", "setting"]
    f1 = skeletons.fillna({"setting": ""}).set_index(keys)[SKELETON].astype(float)
    f1_of_shd = f1.loc[pd.MultiIndex.from_frame(shd.fillna({"setting": ""})[keys])].to_numpy()
    impossible = shd["shd"].astype(float) > (1 - f1_of_shd / 2) * (shd["true_edges"] + shd["estimated_edges"]) + 0.01
    rankings = ce.from_published(claims("auroc", "rankings"), "auroc")
    questions = ce.from_published(claims("accuracy", "questions"), "accuracy")
    sachs = ce.from_published(claims("shd", "agreed"), "shd", n_draws=50_000, rng=7)
    beyond = directions(judged)
    one = pd.concat(
        [leaderboard(rankings, "auroc"), leaderboard(questions, "accuracy")], keys=["rankings", "questions"]
    )
    numbers = {
        "simulated": as_text(leaderboard(judged, SKELETON, **{"skill of directions": beyond})),
        "agreed": as_text(leaderboard(sachs, "shd")),
        "others": as_text(one.rename_axis(["", "method"])),
        "sources": as_text(sources()),
        "n_all": f"{len(ce.datasets.published_results()):,}",
        "n_rows": f"{len(rows):,}",
        "raw": f"{(rows[f'{SKELETON}_p'] <= 0.05).sum():,}",
        "holm": f"{len(better):,}",
        "lowest": f"{better[SKELETON].astype(float).min():.2f}",
        "too_small": str(rows[f"{SKELETON}_verdict"].str.contains("too small").sum()),
        "beyond_bidag": f"{beyond['bidag']:.2f}",
        "beyond_pc": f"{beyond['pc']:.2f}",
        "beyond_dagma": f"{beyond['dagma']:.2f}".replace("-", "\N{MINUS SIGN}"),
        "n_shd": f"{len(distances):,}",
        "shd_better": f"{(distances['shd_p_high'] <= 0.05).sum():,}",
        "shd_other": str(impossible.sum()),
        "shd_not": str((distances["shd_p_low"] > 0.05).sum()),
        "worse_rankings": str((rankings["auroc"].astype(float) < 0.5).sum()),
        "n_rankings": str(len(rankings)),
        "raw_questions": str((questions["accuracy_p"] <= 0.05).sum()),
        "sachs_p": f"{sachs.set_index('method')['shd_p']['NOTEARS']:.3f}",
    }
    draw(judged)
    text = TEXT.read_text(encoding="utf-8")
    for name, value in numbers.items():
        text = text.replace(f"<{name}>", value)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
