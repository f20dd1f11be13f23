"""Small data that ship with the package: real measurements and real runs; nothing is fetched."""

from __future__ import annotations

from functools import cache as _cache
from importlib.resources import files
from typing import Any, Literal

import pandas as pd

from .contract.checks import check_flag as _check_flag
from .graphs.column import graph_column

_SACHS = {
    20: "raf -> mek; mek -> erk; plc -> pip2; plc -> pkc; pip2 -> pkc; pip3 -> plc; pip3 -> pip2; pip3 -> akt; "
    "erk -> akt; pka -> raf; pka -> mek; pka -> erk; pka -> akt; pka -> p38; pka -> jnk; pkc -> raf; pkc -> mek; "
    "pkc -> pka; pkc -> p38; pkc -> jnk",
    17: "raf -> mek; mek -> erk; plc -> pip2; plc -> pip3; pip3 -> pip2; erk -> akt; pka -> raf; pka -> mek; "
    "pka -> erk; pka -> akt; pka -> p38; pka -> jnk; pkc -> raf; pkc -> mek; pkc -> pka; pkc -> p38; pkc -> jnk",
}


_LIPSET = """
    Austria 101100; Belgium 111111; Czechoslovakia 111111; Estonia 001010; Finland 101011; France 101111;
    Germany 111100; Greece 000000; Hungary 001000; Ireland 101011; Italy 000010; Netherlands 111111; Poland 001000;
    Portugal 000000; Romania 000010; Spain 000000; Sweden 101111; United-Kingdom 111111
"""
#: countries with a gross national product a head of 850 US dollars or more
_LIPSET_RICH = ["Belgium", "France", "Netherlands", "Sweden", "United Kingdom"]


def sachs() -> pd.DataFrame:
    """Return the protein signalling data of Sachs et al. (2005): 7466 cells, 11 proteins and phospholipids.

    Returns
    -------
    DataFrame
        One row per cell, 11 float columns, fluorescence intensities in arbitrary units, at least 1. With the names of
        the published files: raf (praf), mek (pmek), plc (plcg), pip2 (PIP2), pip3 (PIP3), erk (p44/42), akt (pakts473),
        pka (PKA), pkc (PKC), p38 (P38), jnk (pjnk).

    Notes
    -----
    The cells of nine experimental conditions, activators and inhibitors among them, stand one condition after another:
    together they are not a sample of one distribution. The first 853 cells are those of general stimulation alone
    (anti-CD3/CD28), often used as the observational data. Values are skewed to the right; take logarithms before
    methods that assume linearity. The values are those of the file that the package cdt 0.6.0 distributes under the MIT
    licence.

    References
    ----------
    .. [1] Sachs, K., Perez, O., Pe'er, D., Lauffenburger, D. A., Nolan, G. P. (2005). Causal protein-signaling networks
       derived from multiparameter single-cell data. doi:10.1126/science.1105809

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.datasets.sachs().shape
    (7466, 11)
    """
    return _read("sachs.csv.gz", dtype="float64")


def sachs_truth(n_edges: Literal[20, 17] = 20) -> str:
    """Return a graph used as the truth of `sachs`, as an edge string.

    Parameters
    ----------
    n_edges : {20, 17}
        The two graphs in use: 20 edges, the conventionally accepted signalling network; 17 edges, the network that
        Sachs et al. inferred. The former has three edges more (plc -> pkc, pip2 -> pkc, pip3 -> akt) and one the other
        way round (pip3 -> plc). Results against different truths cannot be compared: say which.

    Returns
    -------
    str
        Edges separated by semicolons.

    Raises
    ------
    ValueError
        If no graph has that size.

    References
    ----------
    .. [1] Sachs et al. (2005), doi:10.1126/science.1105809
    .. [2] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
       evaluating causal discovery algorithms. UAI 2025. doi:10.48550/arXiv.2412.10039

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.as_graph(ce.datasets.sachs_truth(17)).n_edges
    17
    """
    if not isinstance(n_edges, int) or n_edges not in _SACHS:
        raise ValueError(f"n_edges must be 20 or 17, the sizes of the two graphs in use, found {n_edges!r}")
    return _SACHS[n_edges]


def sachs_estimates() -> pd.DataFrame:
    """Return four published estimates of the network of `sachs`: PC, LiNGAM, GES and BOSS by Tetrad.

    Returns
    -------
    DataFrame
        Four rows: `algorithm`, `kind` ("cpdag", "dag": the class of graphs that the algorithm searches, meant for
        `control_kind`) and `estimate` (packed graphs over the eleven nodes; two of the CPDAGs have undirected edges).

    Notes
    -----
    The graphs are those of the code that accompanies the reference, released under CC0. A fifth estimate of its Table
    6, by NOTEARS, was published by its numbers alone: SHD 22 with 16 edges; see `control_distribution`.

    References
    ----------
    .. [1] Petersen, A. H. (2025). Are you doing better than random guessing? A call for using negative controls when
       evaluating causal discovery algorithms. UAI 2025. doi:10.48550/arXiv.2412.10039

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.sachs_estimates().assign(truth=ce.datasets.sachs_truth(20))
    >>> runs.ceval.evaluate(["shd"]).set_index("algorithm")["shd"].to_dict()
    {'pc': 23.0, 'lingam': 30.0, 'ges': 30.0, 'boss': 35.0}
    """
    table = _read("sachs_estimates.csv")
    return table.assign(estimate=graph_column(table["estimate"]))


def causal_learn_results() -> pd.DataFrame:
    """Return graphs that causal-learn stores as results of PC and FCI on nine networks of the bnlearn repository.

    Returns
    -------
    DataFrame
        18 rows: `network`, `algorithm` ("pc", "fci"), `kind` ("cpdag", "pag": the class of graphs that the algorithm
        searches, meant for `control_kind`), `truth` (DAGs over X1, X2, ..., of 5 to 76 nodes) and `estimate`.

    Notes
    -----
    The estimates are those of the project's `tests/TestData`: chi-squared tests of level .05 on 10,000 rows drawn from
    each network. No node is latent, so that FCI's target is the PAG of the truth: score with `context={"latents": []}`.
    Four of FCI's graphs are the PAG of no graph. MIT licence, copyright (c) 2022 cmu-phil,
    https://github.com/py-why/causal-learn.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.causal_learn_results()
    >>> runs.loc[runs["algorithm"] == "pc", "estimate"].graph.n_edges.tolist()
    [46, 6, 4, 4, 40, 17, 6, 31, 79]
    """
    table = _read("causal_learn_results.csv.gz")
    table.insert(2, "kind", table["algorithm"].map({"pc": "cpdag", "fci": "pag"}))
    return table.assign(truth=graph_column(table["truth"]), estimate=graph_column(table["estimate"]))


def published_results() -> pd.DataFrame:
    """Return results that others printed, one row per claim, for `from_published`.

    Returns
    -------
    DataFrame
        Where a claim stands: `source`, `commit`, `locator`, `licence`. What it is about: `group` ("simulated" graphs;
        real data with an "agreed" truth; "rankings" of slots of time series; "questions"), `condition`, `method`,
        `setting`. What was printed: `metric`, `value` (text, with its digits), `digits`, `convention` of distances,
        `kind`. What is known of the runs: `n_runs`, `n_nodes`, `true_edges`, `estimated_edges`, `candidates`,
        `true_candidates`, `tied`, `n_questions`. `truth` is the true graph, packed, missing where it is not known.

    Notes
    -----
    Numbers are facts and stand as they were printed; codes of failure (a distance of -99) are left out. Three sources
    are under the MIT licence, whose text ships beside the file; commits are those from which numbers were copied.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> claims = ce.datasets.published_results()
    >>> claims.groupby("group", sort=False)["method"].nunique().to_dict()
    {'simulated': 10, 'agreed': 5, 'rankings': 7, 'questions': 5}
    """
    whole = ["n_runs", "n_nodes", "true_edges", "candidates", "n_questions", "digits"]
    types: dict[str, Any] = dict.fromkeys(whole, "Int64") | {"estimated_edges": "float64", "tied": "boolean"}
    texts = ("source", "commit", "locator", "licence", "group", "condition", "method", "setting", "metric", "value")
    types |= dict.fromkeys((*texts, "convention", "kind", "true_candidates"), "str")
    claims = _read("published_results.csv.gz", dtype=types)
    truths = _read("published_truths.csv", dtype="str")
    cells = graph_column(truths["truth"].tolist()).set_axis(pd.MultiIndex.from_frame(truths[["source", "condition"]]))
    keys = pd.MultiIndex.from_frame(claims[["source", "condition"]])
    return claims.assign(truth=cells.reindex(keys).array)


def runs() -> pd.DataFrame:
    """Return runs of PC, GES and LiNGAM on simulated data of three densities and three sample sizes.

    Twenty random truths over 10 nodes per density.

    Returns
    -------
    DataFrame
        540 rows, one run per row: `algorithm` ("pc", "ges", "lingam"), `kind` ("cpdag", "dag": the class of graphs that
        the algorithm searches, meant for `control_kind`), `n_nodes`, `density` (share of adjacent pairs in the truth),
        `n` (sample size), `replicate` (the truth's number within a density, shared by all algorithms and sample sizes),
        `seconds` (wall time), `truth` (DAGs) and `estimate` (packed graphs; missing where an algorithm failed, which
        none of these did).

    Notes
    -----
    Linear models with logistic noise, data standardised; PC (stable, Fisher's z, alpha .05) and GES (BIC) of
    causal-learn, DirectLiNGAM. `examples/04_how_the_runs_were_made.py` is the script that made the table. An estimate's
    own class need not be `kind`: PC and GES sometimes leave no edge undirected, and 15 results of PC are not valid
    CPDAGs (5 have a directed cycle), because tests on finite data contradict one another.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.datasets.runs().groupby("algorithm").size().to_dict()
    {'ges': 180, 'lingam': 180, 'pc': 180}
    """
    return _runs().copy()


@_cache
def _runs() -> pd.DataFrame:
    """Read the table of `runs` once."""
    table = _read("runs.csv.gz")
    return table.assign(truth=graph_column(table["truth"]), estimate=graph_column(table["estimate"]))


def lipset(*, multi_value: bool = False) -> pd.DataFrame:
    """Return the conditions for the survival of democracy in 18 European countries between the wars.

    Parameters
    ----------
    multi_value : bool, default False
        Whether development has three values: 0, 1 (550 US dollars or more) and 2 (850 or more).

    Returns
    -------
    DataFrame
        One row per country, six columns of 0 and 1: DEV (gross national product a head of 550 US dollars or more), URB
        (half of the people or more live in towns of 20,000), LIT (three quarters or more can read), IND (30 % or more
        of the labour force in industry), STB (fewer than ten cabinets in the period), SURV (democracy survived).

    Raises
    ------
    TypeError
        If `multi_value` is not a bool.

    Notes
    -----
    The standard data of textbooks on Qualitative Comparative Analysis: facts of Lipset's (1959) study in the table and
    with the thresholds of Rihoux and De Meur (2009), and for three values of Cronqvist and Berg-Schlosser (2009),
    entered by hand. Nine of the 32 configurations of the conditions are observed. There is no known truth;
    `lipset_models` are models that were published.

    References
    ----------
    .. [1] Lipset, S. M. (1959). Some social requisites of democracy: economic development and political legitimacy.
       American Political Science Review 53. doi:10.2307/1951731
    .. [2] Rihoux, B., Ragin, C. C. (eds.) (2009). Configurational comparative methods, chapters 3 (Rihoux and De Meur,
       crisp sets) and 4 (Cronqvist and Berg-Schlosser, several values). doi:10.4135/9781452226569

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> data = ce.datasets.lipset()
    >>> data.shape, int(data["SURV"].sum()), len(data.drop(columns="SURV").drop_duplicates())
    ((18, 6), 8, 9)
    >>> ce.datasets.lipset(multi_value=True)["DEV"].value_counts().to_dict()
    {0: 8, 1: 5, 2: 5}
    """
    _check_flag(multi_value, "multi_value")
    rows = [country.split() for country in _LIPSET.split(";")]
    table = pd.DataFrame([[int(value) for value in values] for _, values in rows], dtype="int64")
    table.columns = pd.Index(["DEV", "URB", "LIT", "IND", "STB", "SURV"])
    table = table.set_axis(pd.Index([name.replace("-", " ") for name, _ in rows], name="country"))
    if multi_value:
        table.loc[_LIPSET_RICH, "DEV"] = 2
    return table


def lipset_models() -> pd.DataFrame:
    """Return models of the `lipset` data that were published, with their fit.

    Returns
    -------
    DataFrame
        One row per model: outcome, solution ("conservative": without configurations that were not observed,
        "parsimonious": with any that make it shorter), model, consistency and coverage as printed, to three decimals.
        Outcomes with a value, as `SURV=1`, are those of the data with `multi_value=True`.

    Notes
    -----
    The crisp models are those of Rihoux and De Meur (2009). The multi-value models and all fit are printed by the R
    package QCA; configurations of a single case are left out of the search for multi-value models, but not of their
    coverage.

    References
    ----------
    .. [1] Rihoux, B., De Meur, G. (2009). Crisp-set qualitative comparative analysis (csQCA). doi:10.4135/9781452226569

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.datasets.lipset_models()["model"].tolist()[:3]
    ['DEV*LIT*IND*STB+DEV*urb*LIT*STB<->SURV', 'DEV*STB<->SURV', 'dev+stb<->surv']
    """
    return _models("lipset")


def women_in_parliaments() -> pd.DataFrame:
    """Return the conditions for high representation of women in the parliaments of 22 western countries.

    Returns
    -------
    DataFrame
        One row per country, six columns of 0 and 1: ES (proportional electoral system), QU (quotas for women), WS
        (social-democratic welfare state), WM (autonomous women's movement), LP (strong left parties), WNP (high share
        of women in parliament).

    Notes
    -----
    Facts of Krook (2010) as printed in the truth tables of Thiem and Duşa (2013) and, with the countries of each
    configuration, of the R package QCA; both agree. 14 of the 32 configurations are observed. There is no known truth;
    `women_in_parliaments_models` are models that were published.

    References
    ----------
    .. [1] Krook, M. L. (2010). Women's representation in parliament: a qualitative comparative analysis. Political
       Studies 58, 886-908. doi:10.1111/j.1467-9248.2010.00833.x
    .. [2] Thiem, A., Duşa, A. (2013). QCA: a package for qualitative comparative analysis. The R Journal 5(1).
       doi:10.32614/RJ-2013-009

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> data = ce.datasets.women_in_parliaments()
    >>> data.shape, int(data["WNP"].sum()), data.index[data["WS"] == 1].tolist()
    ((22, 6), 11, ['Denmark', 'Finland', 'Iceland', 'Norway', 'Sweden'])
    """
    return _read("women_in_parliaments.csv", index_col=0)


def women_in_parliaments_models() -> pd.DataFrame:
    """Return models of the `women_in_parliaments` data that were published, with their fit.

    Returns
    -------
    DataFrame
        One row per model: outcome, solution ("conservative", "intermediate": with configurations that agree with the
        expectation that every condition helps, "parsimonious", with two models), model, consistency and coverage
        as printed.

    References
    ----------
    .. [1] Thiem, A., Duşa, A. (2013). QCA: a package for qualitative comparative analysis. The R Journal 5(1).
       doi:10.32614/RJ-2013-009

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.datasets.women_in_parliaments_models().query("solution == 'parsimonious'")["model"].tolist()
    ['WS+ES*WM+QU*LP+es*LP<->WNP', 'WS+ES*WM+QU*LP+WM*LP<->WNP']
    """
    return _models("women_in_parliaments")


def education() -> pd.DataFrame:
    """Return the made-up conditions for a high level of education in eight countries, with two outcomes.

    Returns
    -------
    DataFrame
        One row per case, five columns of 0 and 1: U (strong unions), D (high disparity), L (strong left parties), G
        (high gross national product), E (high level of education).

    Notes
    -----
    The textbook example of Coincidence Analysis, entered from Table 1 of the second reference (CC BY): a common
    cause and a chain fit these data equally well, see `education_models`.

    References
    ----------
    .. [1] Baumgartner, M. (2009). Inferring causal complexity. Sociological Methods & Research 38, 71-101.
       doi:10.1177/0049124109339369
    .. [2] Baumgartner, M., Thiem, A. (2015). Identifying complex causal dependencies in configurational data with
       coincidence analysis. The R Journal 7(1). doi:10.32614/RJ-2015-014

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.datasets.education().sum().to_dict()
    {'U': 4, 'D': 4, 'L': 6, 'G': 4, 'E': 7}
    """
    return _read("education.csv", index_col=0)


def education_models() -> pd.DataFrame:
    """Return models of the `education` data that were published, with their fit.

    Returns
    -------
    DataFrame
        One row per model: outcome ("E,L" of models with two), solution ("atomic", "complex"), model, consistency and
        coverage as printed.

    References
    ----------
    .. [1] Baumgartner, M., Thiem, A. (2015). The R Journal 7(1). doi:10.32614/RJ-2015-014

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.datasets.education_models().query("solution == 'complex'")["model"].tolist()
    ['(D+G+U<->E)*(D+U<->L)', '(G+L<->E)*(D+U<->L)']
    """
    return _models("education")


def _read(name: str, **options: Any) -> pd.DataFrame:
    """Read a shipped table; the options are those of `read_csv`."""
    return pd.read_csv(str(files(__package__) / "data" / name), **options)


def _models(name: str) -> pd.DataFrame:
    """Return the published models of some data."""
    types = {"consistency": "float64", "coverage": "float64"}
    table = _read("configurational_models.csv", dtype=types)
    return table[table["data"] == name].drop(columns="data").reset_index(drop=True)
