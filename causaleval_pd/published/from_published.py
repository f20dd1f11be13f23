"""The verb that judges a printed table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..contract.checks import check_known, check_number, check_type, check_whole, name_row
from ..contract.metric import METRICS, Metric, bind_zero_division
from ..execution.random_streams import RNGLike, resolve_seed
from ..tables.history import call, calls, metric_settings, remember
from ..tables.matching import check_directions
from ..tables.row_summary import skill
from ..tables.tasks import Metrics, select
from .consistency import check_range
from .controls import Draws
from .guesses import MEAN_METHODS, P_METHODS, Guesses, Printed, best_of, judged
from .printed_answers import answer_guesses, read_questions
from .printed_graphs import graph_guesses, printed_deviations
from .printed_numbers import PrintedNumber, decimals_of, half_unit, read_column, read_counts
from .printed_rankings import RANKING_METRICS, check_ranking, ranking_guesses, read_rankings
from .printed_rows import check_names, is_metric

__all__ = ["from_published"]


def from_published(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    constant: str | Sequence[str] = (),
    digits: int | Mapping[str, int] | None = None,
    n_draws: int = 1000,
    rng: RNGLike = None,
    level: float = 0.95,
    zero_division: float = math.nan,
    spread: Literal["sd", "se"] | None = None,
) -> pd.DataFrame:
    """Judge a printed table of results against random guessing, and name what is missing where it cannot be judged.

    Random guesses are graphs with the estimates' numbers of edges (`null="edges"` of `with_controls`), shuffled scores
    of the candidates, and answers shuffled among the questions.

    Parameters
    ----------
    table : DataFrame
        A row is what a paper prints of one or more runs: one column per metric, and columns that describe the runs.

        - Metrics of graphs, named as in `ce.list_metrics("graph")`: `n_nodes`; `true_edges` and `estimated_edges`, the
          numbers of edges of one run, or their means over the runs, or lists of one number per run (an undirected edge
          is one edge); `kind`, optional, the class of the estimates, "dag" or "cpdag"; `truth`, optional, the true
          graph of all runs of the row, which replaces `n_nodes` and `true_edges`; `<metric>_sd`, optional, the
          standard deviation of the metric over the runs; `shd_convention`, optional, how the distance charges
          differences: "any difference 1" (default), "reversal 2", "cdt" (entries of the matrices), "tetrad" (an absent
          directed edge costs 2) or "skeleton".
        - Mean `auroc` and `average_precision` of rankings: `candidates` and `true_candidates`, one number or one per
          graph; `tied`, whether scores tie; `estimated_candidates`, how many have a score of 1 where scores are 0 or 1.
        - `accuracy` of answers: `n_questions`, or the printed standard error `accuracy_se`; of yes and no `true_yes`
          and `answered_yes`, of several classes `class_counts` and `answered_counts`, one number per class.
        - `n_runs` or `n_graphs`, the number of runs (graphs) that values are means of, 1 for a single run and for
          answers; for all, `n_settings`, of how many settings the value is the best (p is corrected, skill is not).

        Numbers may be text as it is printed: "12.3 ± 1.1", "12.3 (1.1)", "85 %", in bold by Markdown or LaTeX, and
        lists "9, 9, 8". Missing numbers are missing values, "-" or "n/a". Further columns are kept.
    metrics : str, Metric or iterable of these, optional
        Which metrics; default every column that is named after one.
    constant : str or sequence of str
        Which of "true_edges" and "estimated_edges" are the same in every run of a row, and no means.
    digits : int or mapping of metrics to int, optional
        How many decimals were printed; default the most that a number of the column has, or of all ratios.
    n_draws : int
        Number of simulated controls, where `truth` is given and no closed form exists.
    rng : int, Generator or None
        Seed.
    level : float
        Probability between `m_control_low` and `m_control_high`; verdicts are at 1 - level.
    zero_division : float
        What the table counts 0/0 as.
    spread : {"sd", "se"}, optional
        What follows the means in text such as "12.3 ± 1.1": standard deviations of the runs, or standard errors of the
        means. By default it is not used, because tables print either.

    Returns
    -------
    DataFrame
        The table with columns for each metric `m`: `m_control_mean`; `m_control_low` and `m_control_high` (of single
        runs); `m_skill`; `m_p`, where the law of guesses is known, and its Monte Carlo error `m_p_se`; `m_p_low` and
        `m_p_high`, between which p lies; `m_p_adjusted`, the latter by Holm's method over the rows; `m_verdict`;
        `m_mean_method` ("exact", "simulated", or "approximate": the mean number of edges is rounded, or the mean is not
        linear in it); `m_p_method`; and `m_needed`, which names what an exact answer would need, missing if nothing.
        `control_null` and `control_seed` end the table.

    Raises
    ------
    ValueError
        If a column has another name, or a row's numbers fit no graphs, rankings or answers: more edges than pairs of
        nodes, values out of their range, values that contradict one another, or means that no whole counts have. The
        message names the row.

    Notes
    -----
    The verdict is "better" where adjusted p is at most 1 - level even at its upper limit ("better than a coin" where
    nothing but the number of questions is known); "not better" where it is larger at its lower limit ("among 20 rows"
    where the row alone would be better), or the value is no better than the mean of guesses; "cannot be judged: needs
    ..." in between; and "cannot be judged: too small" where the best estimate with as many edges (ranking, answers)
    would not be told from a guess.

    p is the probability that guesses, or means of as many guesses as there are runs, are as good as the printed value
    or better. Printed values are rounded: p is taken at the worst value that rounds to the printed one, `m_p_low` at
    the best one, and `m_needed` gives both where more digits would change p. `m_p_method` is

    - "exact": the law of one run: hypergeometric for shared adjacencies, that of Mann and Whitney for AUROC, that of
      coincidences for answers;
    - "exact convolution": the law of the mean of independent runs;
    - "simulated": draws of one run, or of the mean of all runs, on a known truth; its smallest value is
      1/(n_draws + 1), below which the next method takes over;
    - "bound": the shared adjacencies alone limit p of distances and of counts of directions, the total number of
      estimated edges limits p of means [3]_, ties cannot make p of AUROC larger, and terms of average precision are
      rounded up to 1/20,000;
    - "normal" and "Pearson III": laws with the moments of the guesses, where there are too many runs for these;
    - "normal bound": the normal law of AUROC without ties, of 30 graphs or more;
    - "coin": fair coins, where no numbers of yes are known;
    - "t": a t test of the runs' mean against the controls' mean, where a standard deviation is printed, numbers of
      edges are constant and there is nothing better. It asks whether the method is better on average, assuming
      independent runs. Standard deviations are taken as divided by the number of runs, not by one less, which makes p
      larger if they are not.

    p of the best of several settings is multiplied by their number, whatever their dependence. p of a mean takes runs
    as independent. The mean of the controls is exact if it is linear in the numbers of edges that vary, as the means of
    precision, recall and SHD are for one number of true edges; that of F1 is not. A printed mean number of edges is
    exact if only one whole number of edges in all runs rounds to it, as 13.4 in ten runs; else it is rounded.

    Means of counts, such as SHD, over n runs are multiples of 1/n, and so are means of ratios that have the same
    numbers of edges in all runs, in their steps. A printed mean to which none of these rounds is an error: 3.37 is not
    the mean of ten counts (the GRIM test [2]_). Other means of ratios, such as F1, can have any value. Nothing is
    checked where `n_runs` is missing.

    References
    ----------
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
       evaluating causal discovery algorithms. UAI 2025. doi:10.48550/arXiv.2412.10039
    .. [2] Brown, N. J. L., & Heathers, J. A. J. (2017). The GRIM test: A simple technique detects numerous anomalies in
       the reporting of results in psychology. Social Psychological and Personality Science 8(4).
       doi:10.1177/1948550616673876
    .. [3] Hoeffding, W. (1956). On the distribution of the number of successes in independent trials. Annals of
       Mathematical Statistics 27, 713-721. doi:10.1214/aoms/1177728178

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> import pandas as pd
    >>> printed = pd.DataFrame(
    ...     {"n_nodes": 11, "true_edges": 20, "estimated_edges": [17, 24], "adjacency_f1": ["0.76", "0.41"]}
    ... )
    >>> judged = ce.from_published(printed.assign(n_runs=1))
    >>> judged[["adjacency_f1_control_mean", "adjacency_f1_p_high", "adjacency_f1_verdict"]].round(4)
       adjacency_f1_control_mean  adjacency_f1_p_high adjacency_f1_verdict
    0                     0.3342               0.0000               better
    1                     0.3967               0.5497           not better
    """
    chosen = _chosen(table, metrics, zero_division)
    check_type(constant, (str, Sequence), "a column or several columns", "constant")
    fixed = [constant] if isinstance(constant, str) else list(constant)
    for name in fixed:
        check_known(name, ("true_edges", "estimated_edges"), "column of constant")
    check_number(level, "level", "(0, 1)")
    places = _digits(digits, chosen)
    draws = Draws(check_whole(n_draws, "n_draws", 1), resolve_seed(rng), float(level))
    if spread is not None:
        check_known(spread, ("sd", "se"), "spread")
    numbers = {m: read_column(table, m.name) for m in chosen}
    slack = _half_units(numbers, places)
    printed = {m: [Printed(x.value, s) for x, s in zip(numbers[m], slack[m], strict=True)] for m in chosen}
    for m in chosen:
        for i, x in enumerate(printed[m]):
            if not math.isnan(x.value):
                check_range(name_row(i, table.index), m, x.value)
    stated = _with_runs(table)
    guesses: dict[Metric, list[Guesses]] = {}
    of_graphs = [m for m in chosen if m.field == "graph"]
    if of_graphs:
        deviations = {m: printed_deviations(table, m, numbers[m], spread) for m in of_graphs}
        guesses |= graph_guesses(stated, {m: printed[m] for m in of_graphs}, deviations, fixed, spread, draws)
    ranked = [m for m in chosen if m.name in RANKING_METRICS]
    if ranked:
        guesses |= _guesses_of_rankings(stated, {m: printed[m] for m in ranked}, 1 - draws.level)
    for m in chosen:
        if m.name == "accuracy":
            questions = read_questions(stated)
            guesses[m] = [answer_guesses(*of_row) for of_row in zip(questions, printed[m], strict=True)]
    settings_tried = _settings_tried(table)
    columns: dict[str, Any] = {}
    for m in chosen:
        columns |= _columns(m, printed[m], best_of(guesses[m], settings_tried), 1 - draws.level)
    taken = [name for name in columns if name in table]
    if taken:
        raise ValueError(f"the table has the column {taken[0]!r} already; drop or rename it")
    nulls = ["edges"] * bool(of_graphs) + ["shuffle"] * (len(of_graphs) < len(chosen))
    result = table.assign(**columns, control_null=" and ".join(nulls), control_seed=draws.seed)
    settings = metric_settings(chosen) | {"null": nulls, "constant": fixed, "digits": digits, "level": draws.level}
    settings |= {
        "adjust": "holm",
        "spread": spread,
        "n_draws": draws.n_draws,
        "zero_division": zero_division,
        "seed": draws.seed,
    }
    return remember(result, [*calls(table.attrs), call("from_published", settings)], table.attrs)


def _chosen(table: pd.DataFrame, metrics: Metrics, zero_division: float) -> list[Metric]:
    """Return the metrics that are named, or those of every column that is named after one."""
    if metrics is None:
        check_names(table, None)
        named: list[Any] = [x for x in table.columns if is_metric(x)]
    else:
        check_type(metrics, (str, Metric, Iterable), "a metric or several, by name or as Metric", "metrics")
        named = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    # a printed accuracy is the mean of a metric of labels
    accuracy = replace(METRICS["label_accuracy"], name="accuracy")
    chosen = [accuracy if x == "accuracy" else bind_zero_division(select([x])[0], zero_division) for x in named]
    if metrics is not None:
        check_names(table, [m.name for m in chosen])
    check_directions(chosen)
    for m in chosen:
        if m.field != "graph" and m.name not in (*RANKING_METRICS, "accuracy"):
            raise ValueError(
                f"{m.name} is a metric of the field {m.field!r}; printed tables get guesses for metrics of graphs, "
                "'auroc', 'average_precision' and 'accuracy'"
            )
    return chosen


def _with_runs(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with numbers of runs, which are called numbers of graphs as well."""
    if "n_graphs" not in table:
        return table
    if "n_runs" in table:
        raise ValueError("the table has the columns 'n_runs' and 'n_graphs', which mean the same; drop one")
    return table.assign(n_runs=table["n_graphs"])


def _settings_tried(table: pd.DataFrame) -> list[int | None]:
    """Return of how many settings each row is the best, None where it is not known."""
    if "n_settings" not in table:
        return [1] * len(table)
    n_settings = []
    for i, cell in enumerate(table["n_settings"]):
        counts = read_counts(cell, f"{name_row(i, table.index)}: n_settings", 1)
        if counts is not None and len(counts) > 1:
            raise ValueError(f"{name_row(i, table.index)}: n_settings is one number, found {len(counts)}")
        n_settings.append(None if counts is None else counts[0])
    return n_settings


def _guesses_of_rankings(
    table: pd.DataFrame, printed: Mapping[Metric, Sequence[Printed]], alpha: float
) -> dict[Metric, list[Guesses]]:
    """Return the shuffled rankings of each row."""
    guesses: dict[Metric, list[Guesses]] = {m: [] for m in printed}
    for i, rankings in enumerate(read_rankings(table)):
        for m, x in printed.items():
            check_ranking(rankings, m.name, x[i])
            guesses[m].append(ranking_guesses(rankings, m.name, x[i], alpha))
    return guesses


def _digits(digits: int | Mapping[str, int] | None, metrics: Sequence[Metric]) -> int | dict[str, int] | None:
    """Return checked numbers of decimals."""
    if digits is None:
        return None
    if not isinstance(digits, Mapping):
        return check_whole(digits, "digits", 0, 17)
    for name in digits:
        check_known(name, [m.name for m in metrics], "metric of digits")
    return {name: check_whole(x, f"digits of {name}", 0, 17) for name, x in digits.items()}


def _half_units(
    cells: Mapping[Metric, Sequence[PrintedNumber]], digits: int | Mapping[str, int] | None
) -> dict[Metric, list[float]]:
    """Return half a unit of the last printed digit of each value.

    Text has all its digits. Trailing zeros are lost when numbers are read, so that a column has the most decimals that
    one of its numbers has. Ratios of one table are taken to have the same number of decimals.
    """
    n_decimals = {m: [decimals_of(x.value) if x.decimals is None else x.decimals for x in cells[m]] for m in cells}
    most = {m: max(n_decimals[m], default=0) for m in cells}
    of_ratios = max((most[m] for m in cells if math.isfinite(m.range[1])), default=0)
    half_units = {}
    for m, numbers in cells.items():
        n_digits = digits.get(m.name) if isinstance(digits, Mapping) else digits
        inferred = of_ratios if math.isfinite(m.range[1]) else most[m]
        places = [inferred if x.decimals is None else x.decimals for x in numbers]
        half_units[m] = [half_unit(x if n_digits is None else n_digits) for x in places]
    return half_units


def _columns(metric: Metric, printed: list[Printed], guesses: list[Guesses], alpha: float) -> dict[str, Any]:
    """Return the columns that one metric adds."""
    name = metric.name
    parts = pd.DataFrame(guesses, columns=list(Guesses._fields))
    mean = parts["mean"].to_numpy(np.float64)
    # |control - optimum| has the mean's distance only where the optimum is an end of the range
    loss = np.abs(mean - metric.optimum) if metric.optimum in metric.range else np.full(len(mean), np.nan)
    values = np.array([x.value for x in printed], np.float64)
    needed = [
        "; ".join(x) if x and not math.isnan(value) else None for x, value in zip(parts["needed"], values, strict=True)
    ]
    adjusted, words = judged(metric, printed, guesses, alpha)
    floats = {"control_mean": "mean", "control_low": "low", "control_high": "high", "p": "p", "p_se": "p_se"}
    floats |= {"p_low": "p_low", "p_high": "p_high"}
    return {f"{name}_{column}": parts[part].to_numpy(np.float64) for column, part in floats.items()} | {
        f"{name}_p_adjusted": adjusted,
        f"{name}_skill": skill(metric.optimum, values, loss),
        f"{name}_verdict": pd.array(words, dtype="str"),
        f"{name}_mean_method": pd.Categorical(parts["mean_method"], categories=MEAN_METHODS),
        f"{name}_p_method": pd.Categorical(parts["p_method"], categories=P_METHODS),
        f"{name}_needed": pd.array(needed, dtype="str"),
    }
