"""The methods of a report in sentences, each derived from the attributes of the cube and of its results."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import counted
from ..contract.field import FIELDS
from ..cubes.reading import cluster_setting, has_controls, null_references, seeds, strata_dims
from ..cubes.schema import values_of
from ..drawing import axis_label
from ..inference.statistical_test import TESTS
from ..statistics.stratum_statistic import COMBINATIONS
from ..statistics.words import COMPARED, CORRECTIONS, DASH, STATISTICS, effect_words, listed
from ..tables.history import calls
from ..versions import versions

#: keys of what is always cited for a step, in `references.bib`
_CITED = {"holm": "holm1979", "bh": "benjamini1995", "by": "benjamini2001", "wilcoxon": "wilcoxon1945"}
#: what words of `p_method` mean, by their beginning after a comma or none
_TESTED_BY = {
    "relabelling": "Where a stratum repeats a cluster, each draw relabels all estimates of that cluster alike.",
    "twice the mean p": "Where a stratum repeats a cluster whose estimates cannot be relabelled alike, p of a cluster "
    "is twice the mean of the p-values of its runs, and clusters are combined by Fisher's method.",
    "combinations": f"Where a stratum has several clusters, p counts {COMBINATIONS:,} random combinations of one draw, "
    "or the runs, of each cluster.",
}


class Sentence(NamedTuple):
    """A sentence and the keys of what it cites."""

    text: str
    cites: tuple[str, ...] = ()


_RANKS = (
    Sentence(
        "Ranks of the levels were compared by Friedman's test over clusters, and in pairs by the largest t statistic "
        "under sign flips, which limits the probability of any false difference.",
        ("friedman1937", "westfall1993"),
    ),
)


class Reference(NamedTuple):
    """An entry of the list of references."""

    #: what sentences cite it by: its key, or the DOI of one that the library lacks
    cited: str
    #: authors, year, title and place, as text
    text: str
    #: the same as BibTeX
    bibtex: str


def methods(
    cube: xr.Dataset, metrics: Sequence[str], results: Mapping[str, pd.DataFrame], *, ranked: bool = False
) -> list[Sentence]:
    """Return the methods paragraph."""
    tested = [name for name in metrics if has_controls(cube, name)]
    sentences = [*_scores(cube, metrics), *_clusters(cube)]
    if tested:
        sentences += [*_controls(cube, tested, results.get("summary")), *_tests(cube, results)]
    else:
        sentences.append(
            Sentence("No negative controls were drawn, so that nothing was tested against random guessing.")
        )
    return [*sentences, *_comparison(cube, results), *(_RANKS if ranked else ()), _software(cube)]


def references(sentences: Sequence[Sentence]) -> list[Reference]:
    """Return what sentences cite, in the order of the first citation."""
    known = _library()
    keys = dict.fromkeys(key for sentence in sentences for key in sentence.cites)
    return [known[key] if key in known else _bare(key) for key in keys]


def cited(doi: str) -> str:
    """Return the key of the reference with this DOI; one that is not in the library is its own key."""
    keys = {_doi(entry.bibtex): key for key, entry in _library().items()}
    return keys.get(doi, doi)


@lru_cache(maxsize=1)
def _library() -> dict[str, Reference]:
    """Return the entries of `references.bib` by their keys."""
    text = files("causaleval_pd.reports").joinpath("references.bib").read_text("utf-8")
    sources = {}
    for entry in text.strip().split("\n\n"):
        key = entry.partition("{")[2].partition(",")[0]
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))
        sources[key] = Reference(key, _as_text(fields), entry)
    return sources


def _as_text(fields: Mapping[str, str]) -> str:
    place = " ".join(filter(None, [fields.get("journal") or fields.get("booktitle", ""), fields.get("volume", "")]))
    if "pages" in fields:
        place += f", {fields['pages'].replace('--', DASH)}"
    elif "number" in fields:
        place += f"({fields['number']})"
    head = f"{fields['author'].replace(' and ', '; ')} ({fields['year']}). {fields['title']}"
    parts = [head, place, f"doi:{fields['doi']}" if "doi" in fields else ""]
    text = ". ".join(part for part in parts if part) + "."
    return text.replace("``", "“").replace("''", "”").replace("\\&", "&").replace("?.", "?")


def _doi(entry: str) -> str | None:
    doi_line = re.search(r"^  doi = \{(.*)\},$", entry, re.MULTILINE)
    return None if doi_line is None else doi_line[1]


def _bare(doi: str) -> Reference:
    """Return the reference of a metric that the library does not have; its DOI is all that is known of it."""
    key = "doi-" + re.sub(r"[^A-Za-z0-9]+", "-", doi).strip("-").lower()
    plain = re.sub(r"[{}\\\s]", "", doi)
    return Reference(doi, f"doi:{doi}.", f"@misc{{{key},\n  doi = {{{plain}}},\n}}")


def _scores(cube: xr.Dataset, metrics: Sequence[str]) -> list[Sentence]:
    """Describe the metrics and their conventions."""
    words, cites = [], []
    metrics = [name for name in metrics if name not in values_of(cube)]
    for name in metrics:
        attrs = cube[name].attrs
        label = axis_label(str(attrs.get("long_name", name)), str(attrs.get("direction", "none")))
        words.append(label if attrs.get("long_name", name) == name else f"{name}, {label}")
        if attrs.get("references"):
            cites.append(cited(str(attrs["references"])))
    sentences = [Sentence(f"Runs were scored by: {'; '.join(words)}.", tuple(dict.fromkeys(cites)))] if words else []
    for name in metrics:
        options = _json(cube[name].attrs.get("options"))
        if options:
            sentences.append(Sentence(f"Options of {name}: {_settings(options)}."))
    zero = cube.attrs.get("zero_division")
    if zero is not None:
        share = float(zero)
        how = "stayed undefined, and such runs are left out of means" if math.isnan(share) else f"count as {share:g}"
        sentences.append(Sentence(f"Ratios 0/0 {how}."))
    context = _json(cube.attrs.get("context"))
    if context:
        shown = {name: _shortened(value) for name, value in context.items()}
        sentences.append(Sentence(f"Metrics had further inputs: {_settings(shown)}."))
    chosen = _json(cube.attrs.get("best_of"))
    if chosen:
        levels = listed([str(x) for x in chosen["levels"]])
        sentences.append(
            Sentence(f"Of the levels of {chosen['column']} ({levels}) the best of each run counts, by metric.")
        )
    if not has_truths(cube):
        sentences.append(Sentence("There is no truth: estimates are judged by further inputs alone."))
    return sentences


def _shortened(value: object, most: int = 3) -> object:
    """Shorten the description of an input that differs by row to its first values."""
    parts = value.split("; ") if isinstance(value, str) and value.endswith(")") else []
    if len(parts) <= most:
        return value
    return f"{'; '.join(parts[:most])}; and {len(parts) - most} more)"


def has_truths(cube: xr.Dataset) -> bool:
    """Return whether estimates were compared with truths, by the history of the cube."""
    made = [one for one in calls(cube.attrs) if one["verb"] == "cube"]
    return "truth_id" in cube and not any("truth" in one and one["truth"] is None for one in made)


def truths_are_named(cube: xr.Dataset) -> bool:
    """Return whether equal truths are the same truth: equal answers to different questions are not."""
    fields = [x for x in str(cube.attrs.get("field", "")).split(", ") if x in FIELDS]
    return has_truths(cube) and all(FIELDS[x].truth_clusters for x in fields)


def _clusters(cube: xr.Dataset) -> list[Sentence]:
    setting = cluster_setting(cube)
    if setting == "none":
        return [Sentence("All runs were taken as independent.")]
    what = "on the same truth" if setting == "truth" else f"with the same value of {setting.removeprefix('column ')}"
    return [Sentence(f"Runs {what} depend on each other, so that they form one cluster in intervals and tests.")]


def _controls(cube: xr.Dataset, metrics: Sequence[str], table: pd.DataFrame | None) -> list[Sentence]:
    """Describe the negative controls and their null models."""
    names = null_models(cube, metrics)
    n_draws = int(cube.attrs["n_draws"])
    text = "For negative controls, each run that ended was compared with "
    text += f"{counted(n_draws, 'random estimate')} drawn under "
    text += f"{'the null model' if len(names) == 1 else 'each of the null models'} {'; '.join(null_words(cube, names))}"
    made_from = [str(seed) for seed in seeds(cube)]
    if made_from:
        text += f", from {'seed' if len(made_from) == 1 else 'seeds'} {listed(made_from)}"
    sentences = [Sentence(f"{text}.", ("petersen2025",))]
    options = _made(cube, "null_options")
    words = [f"{name}: {_settings(value)}" for name, value in _chosen_options(cube, options).items()]
    if words:
        sentences.append(Sentence(f"Options of null models: {'; '.join(words)}."))
    if cube.attrs.get("control_kind"):
        sentences.append(Sentence(f"Classes of the controls: {_by_null(str(cube.attrs['control_kind']), names)}."))
    points = null_references(cube)
    if points:
        sentences.append(Sentence(f"{listed(points)}: a point of reference that is not tested."))
    words = []
    for name in metrics:
        part = cube.get(f"{name}_control_mean")
        if part is not None and part.attrs.get("method"):
            words.append(f"{name} ({part.attrs['method']})")
    if words:
        sentences.append(Sentence(f"How means of the controls were found, by metric: {', '.join(words)}."))
    return [*sentences, *_skill(cube, table)]


def _chosen_options(cube: xr.Dataset, options: Any) -> dict[str, dict[str, Any]]:
    """Return the options of each null model that are not its defaults."""
    field = FIELDS.get(str(cube.attrs.get("field")))
    by_model = {}
    for name, settings in (options if isinstance(options, dict) else {}).items():
        usual = dict(field.nulls[name].options) if field is not None and name in field.nulls else {}
        if isinstance(settings, dict):
            by_model[name] = {key: value for key, value in settings.items() if key not in usual or usual[key] != value}
    return {name: chosen for name, chosen in by_model.items() if chosen}


def _by_null(words: str, names: Sequence[str]) -> str:
    """Return what is known of several null models with their names."""
    parts = words.split("; ")
    if len(parts) != len(names) or len(names) == 1:
        return words
    return "; ".join(f"{part} (“{name}”)" for part, name in zip(parts, names, strict=True))


def _skill(cube: xr.Dataset, table: pd.DataFrame | None) -> list[Sentence]:
    """Describe skill and its interval, where the table shows them."""
    if table is not None and not ("skill" in table and table["skill"].notna().any()):
        return []
    text = "Skill is 1 less the ratio of the mean distance of the runs from the optimum to that of their controls"
    if table is None or ("skill_low" in table and table["skill_low"].notna().any()):
        unit = "run" if cluster_setting(cube) == "none" else "cluster"
        text += f"; its interval leaves out one {unit} at a time (jackknife, on the log scale of the ratio)"
    return [Sentence(f"{text}.")]


def _tests(cube: xr.Dataset, results: Mapping[str, pd.DataFrame]) -> list[Sentence]:
    """Describe the tests against controls as they were made."""
    table = results.get("summary")
    if table is None or not has_controls(cube):
        return []
    table = table[table["null"].notna()]
    p = table["p_value"].notna()
    if not p.any():
        return [Sentence("No stratum has a test against its controls.")]
    settings = calls(table.attrs)[-1]
    statistic = STATISTICS[settings["statistic"]]
    by = Counter(table.loc[p, "p_method"].fillna("draws"))
    where = "In every stratum" if p.all() else "In every stratum that has a test"
    text = (
        f"{where} a one-sided randomisation test compared the {statistic} of the runs with that of the draws of their"
    )
    text += " controls"
    if any("combinations" not in str(x) for x in by):
        sentences = [Sentence(f"{text}; with R draws a simulated p-value is at least 1/(R + 1).", ("phipson2010",))]
    else:
        sentences = [Sentence(f"{text}.")]
    cites = ("vovk2020",) if any(str(x).startswith("twice") for x in by) else ()
    sentences.append(
        Sentence(f"How p-values were found: {'; '.join(f'{name} ({n})' for name, n in by.items())}.", cites)
    )
    sentences += [Sentence(text) for begin, text in _TESTED_BY.items() if any(f", {begin}" in f", {x}" for x in by)]
    sentences += _adjusted(settings.get("adjust"), int(p.sum()), apart=table["metric"].nunique() > 1)
    failed = int(table["n_failed"].sum())
    if failed:
        sentences.append(Sentence("Failed runs are not in means, skill and tests: results hold for runs that ended."))
    return sentences


def _comparison(cube: xr.Dataset, results: Mapping[str, pd.DataFrame]) -> list[Sentence]:
    """Describe the comparison of levels as it was made."""
    table = results.get("compare")
    if table is None or not len(table):
        return []
    settings = calls(table.attrs)[-1]
    names = sorted(set(table["test"].dropna()))
    test = " and ".join(_with_article(TESTS[x].long_name if x in TESTS else str(x)) for x in names)
    what = " and ".join(f" of {COMPARED[x]}" for x in dict.fromkeys(table["on"]) if x != "skill")
    size = " and ".join(sorted({effect_words(str(x)) for x in table["effect_size"]}))
    on = "on the same truths" if truths_are_named(cube) else "run by run"
    text = (
        f"The levels of {settings['dim']} were compared in pairs {on} by {test}, "
        f"{settings['alternative']}; the effect is the {size}{what}."
    )
    cites = tuple(_CITED[x] for x in names if x in _CITED)
    sentences = [Sentence(text, cites)]
    pooled = [dim for dim in strata_dims(cube) if dim not in (settings["dim"], "null", *settings.get("by", ()))]
    wide = [dim for dim in pooled if cube.sizes[dim] > 1]
    if wide:
        once = "" if cluster_setting(cube) == "none" else ", so that each cluster counts once"
        sentences.append(Sentence(f"The levels of {listed(wide)} were pooled{once}."))
    apart = table["metric"].nunique() > 1
    sentences += _adjusted(settings.get("adjust"), int(table["p_value"].notna().sum()), apart=apart)
    strata = results.get("compare by stratum")
    if strata is not None and len(strata):
        n = int(strata["p_value"].notna().sum())
        sentences.append(
            Sentence("The same tests were made in every stratum, whatever they show of all strata together.")
        )
        sentences += _adjusted(settings.get("adjust"), n, apart=apart)
    return sentences


def _with_article(name: str) -> str:
    """Put "the" before a name that is not a possessive, as McNemar's."""
    return name if "'s " in name.split(" of ", maxsplit=1)[0] and name[0].isupper() else f"the {name}"


def _adjusted(adjust: Any, n: int, *, apart: bool = False) -> list[Sentence]:
    """Describe the multiplicity correction of several p-values; `apart` is whether each metric is a family."""
    if n < 2:
        return []
    if adjust in (None, "none"):
        return [Sentence(f"The {n:,} p-values of these tests were not adjusted.")]
    family = ", each metric by itself" if apart else ""
    how, cites = CORRECTIONS.get(str(adjust), str(adjust)), tuple(filter(None, [_CITED.get(str(adjust))]))
    return [Sentence(f"The {n:,} p-values of these tests were adjusted by {how}{family}.", cites)]


def _software(cube: xr.Dataset) -> Sentence:
    """Name the versions that made the cube, and those of the report where they differ."""
    now = versions()
    made: list[dict[str, Any]] = []
    for one in calls(cube.attrs):
        packages = one.get("versions")
        if isinstance(packages, dict) and packages and packages not in made:
            made.append(packages)
    if not made and "causaleval_pd_version" in cube.attrs:
        made = [{"causaleval_pd": cube.attrs["causaleval_pd_version"]}]
    parts = [", ".join(f"{name} {number}" for name, number in one.items()) for one in made]
    text = (
        f"Scores were computed by {' and by '.join(parts)}" if parts else "The versions behind the scores are unknown"
    )
    if now not in made:
        text += f"; tables and tests by {', '.join(f'{name} {number}' for name, number in now.items())}"
    return Sentence(f"{text}.")


def null_models(cube: xr.Dataset, metrics: Sequence[str]) -> list[str]:
    """Return the null models whose draws metrics were compared with."""
    if "null" in cube.coords:
        return [str(x) for x in np.atleast_1d(cube["null"].to_numpy())]
    words = [str(cube[name].attrs.get("control_null", cube.attrs.get("control_null", ""))) for name in metrics]
    return list(dict.fromkeys(word for word in words if word))


def null_words(cube: xr.Dataset, names: Sequence[str]) -> list[str]:
    """Return null models with what they draw, where the field has them."""
    words = []
    for name in names:
        known = [
            FIELDS[x].nulls[name]
            for x in str(cube.attrs.get("field", "")).split(", ")
            if x in FIELDS and name in FIELDS[x].nulls
        ]
        words.append(f"“{name}” ({known[0].long_name})" if known else f"“{name}”")
    return words


def _made(cube: xr.Dataset, name: str) -> Any:
    """Return a setting of the call that made the cube, None where several calls differ or none has it."""
    settings = [one.get(name) for one in calls(cube.attrs) if one["verb"] == "cube"]
    return settings[0] if settings and all(x == settings[0] for x in settings) else None


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {_plain(value)}" for name, value in values.items())


def _plain(value: Any) -> str:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _json(text: Any) -> Any:
    """Return what an attribute holds as JSON, or an empty mapping if it is missing."""
    if text is None:
        return {}
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {"": text}
